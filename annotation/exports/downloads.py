"""HTTP answers that stream a table, and the names of their files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from django.http import StreamingHttpResponse
from django.utils import timezone

from annotation.common.tables import Table, stream_codebook, stream_csv, stream_zip
from annotation.exports.payments import build_payment_table
from annotation.exports.ratings import build_page_table, build_rating_table
from annotation.exports.step_answers import build_answer_table
from annotation.exports.submissions import build_submission_table
from annotation.models import Study

# The tables of data; each takes the origins to include besides the submissions that count.
TABLES: dict[str, Callable[..., Table]] = {
    "ratings": build_rating_table,
    "pages": build_page_table,
    "submissions": build_submission_table,
    "answers": build_answer_table,
}
# How a table is streamed, by the end of the file's name. The flag asks for a byte order mark.
FORMATS: dict[str, Callable[[Table, bool], Iterator[bytes]]] = {
    ".zip": lambda table, bom: stream_zip([table]),
    ".csv": lambda table, bom: stream_csv(table, bom=bom),
    "-codebook.csv": lambda table, bom: stream_codebook(table, bom=bom),
}
DATA_EXPORTS = {f"{name}{end}": (name, end) for name in TABLES for end in FORMATS}
PAYMENT_EXPORTS = {"payments.csv"}


def build_download(
    study: Study, name: str, *, bom: bool = False, include: Collection[str] = ()
) -> StreamingHttpResponse:
    """Return the streamed file ``name`` of `DATA_EXPORTS` or `PAYMENT_EXPORTS`.

    ``include``: pilot, preview. The caller has checked who asks. Raises `KeyError` for an unknown
    name.
    """
    if name in PAYMENT_EXPORTS:
        chunks = stream_csv(build_payment_table(study), bom=bom)
    else:
        table, end = DATA_EXPORTS[name]
        chunks = FORMATS[end](TABLES[table](study, include=include), bom)
    return build_attachment(chunks, f"stereoscope-{study.public_id}-{_date(name)}")


def build_attachment(chunks: Iterator[bytes], file_name: str) -> StreamingHttpResponse:
    """Return a streamed attachment; the browser keeps no copy of data about people."""
    kind = "application/zip" if file_name.endswith(".zip") else "text/csv; charset=utf-8"
    response = StreamingHttpResponse(chunks, content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="{file_name}"'
    response["Cache-Control"] = "no-store"
    return response


def _date(name: str) -> str:
    stem, _, suffix = name.rpartition(".")
    return f"{stem}-{timezone.localdate():%Y-%m-%d}.{suffix}"
