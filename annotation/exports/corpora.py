"""A corpus as tables: its texts and its pairs, in CSV and in JSON lines that can be imported."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.http import StreamingHttpResponse
from django.utils import timezone

from annotation.common.table_formats import TABLE_FORMATS
from annotation.common.tables import (
    Cell,
    Column,
    ColumnType,
    Table,
    choice_column,
)
from annotation.exports.downloads import build_attachment
from annotation.models import Corpus, Split, Text, TextPair

ROWS_PER_READ = 500

COMMON_COLUMNS = (
    Column("source", ColumnType.TEXT, "text", "where the text was drawn from"),
    Column("context", ColumnType.TEXT, "text", "what surrounds it; models never see it"),
    choice_column("split", Split, "training texts are not evaluated"),
)
TEXT_COLUMNS = (
    Column("id", ColumnType.TEXT, "slug", "the text's name in the corpus, the key to scores"),
    Column("text", ColumnType.TEXT, "text", "the text itself"),
    Column("variety", ColumnType.TEXT, "name", "the language variety of the text"),
    *COMMON_COLUMNS,
)
ORIGIN_COLUMN = Column(
    "study", ColumnType.TEXT, "public id", "whose annotators wrote it; empty: imported"
)


def build_text_table(corpus: Corpus) -> Table:
    """Return the table of all texts, in both varieties. One query each time that it is read."""

    def load() -> Iterator[Sequence[Cell]]:
        fields = ("slug", "body", "variety", "source", "context", "split")
        return _texts(corpus).values_list(*fields).iterator(chunk_size=ROWS_PER_READ)

    return Table("texts", TEXT_COLUMNS, load)


def build_pair_table(corpus: Corpus) -> Table:
    """Return the table of all pairs. One query each time that it is read."""
    columns = (
        Column("id", ColumnType.TEXT, "slug", "the pair's name in the corpus"),
        Column("source_text", ColumnType.TEXT, "text", f"the text in {corpus.source_variety}"),
        Column("target_text", ColumnType.TEXT, "text", f"its counterpart: {corpus.target_variety}"),
        *COMMON_COLUMNS,
        ORIGIN_COLUMN,
    )

    def load() -> Iterator[Sequence[Cell]]:
        fields = (
            "slug",
            "source_text__body",
            "target_text__body",
            "source_text__source",
            "source_text__context",
            "source_text__split",
            "study__public_id",
        )
        return _pairs(corpus).values_list(*fields).iterator(chunk_size=ROWS_PER_READ)

    return Table("pairs", columns, load)


def stream_text_lines(corpus: Corpus) -> Iterator[bytes]:
    """Yield all texts as JSON lines, as the import reads them. One query."""
    for text in _texts(corpus).iterator(chunk_size=ROWS_PER_READ):
        line = {
            "id": text.slug,
            "text": text.body,
            "variety": text.variety,
            "source": text.source,
            "context": text.context,
            "split": text.split,
        }
        yield _line({**line, "spans": text.spans} if text.spans else line)


def stream_pair_lines(corpus: Corpus) -> Iterator[bytes]:
    """Yield all pairs as JSON lines, as the import reads them. One query."""
    for pair in (
        _pairs(corpus)
        .select_related("source_text", "target_text")
        .iterator(chunk_size=ROWS_PER_READ)
    ):
        text, target = pair.source_text, pair.target_text
        spans = {
            name: side.spans
            for name, side in (("source_text", text), ("target_text", target))
            if side.spans
        }
        line = {
            "id": pair.slug,
            "source_text": text.body,
            "target_text": target.body,
            "source": text.source,
            "context": text.context,
            "split": text.split,
        }
        yield _line({**line, "spans": spans} if spans else line)


TABLES: dict[str, Callable[[Corpus], Table]] = {
    "texts": build_text_table,
    "pairs": build_pair_table,
}
# JSON lines hold what the import reads, spans included.
LINES: dict[str, Callable[[Corpus], Iterator[bytes]]] = {
    "texts": stream_text_lines,
    "pairs": stream_pair_lines,
}
CORPUS_EXPORTS = {
    f"{name}{end}": (name, form) for name in TABLES for end, form in TABLE_FORMATS.items()
}


def build_corpus_download(corpus: Corpus, name: str, *, bom: bool = False) -> StreamingHttpResponse:
    """Return the streamed file ``name`` of `CORPUS_EXPORTS`.

    The caller has checked who asks. Raises `KeyError` for an unknown name, and `ValueError` for a
    table that its format cannot hold.
    """
    table, form = CORPUS_EXPORTS[name]
    stem, _, suffix = name.rpartition(".")
    file_name = (
        f"stereoscope-corpus-{corpus.public_id}-{stem}-{timezone.localdate():%Y-%m-%d}.{suffix}"
    )
    if form.end == ".jsonl":
        chunks = LINES[table](corpus)
    else:
        chunks = form.stream([TABLES[table](corpus)], bom)
    return build_attachment(chunks, file_name, media_type=form.media_type)


def _texts(corpus: Corpus) -> Any:
    return Text.objects.filter(corpus=corpus).order_by("pk")


def _pairs(corpus: Corpus) -> Any:
    return TextPair.objects.filter(corpus=corpus).order_by("pk")


def _line(entry: dict[str, Any]) -> bytes:
    return json.dumps(entry, ensure_ascii=False).encode("utf-8", errors="replace") + b"\n"
