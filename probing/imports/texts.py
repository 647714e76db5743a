"""Results on the texts of a corpus that were made elsewhere: span probabilities, counterparts."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.imports.import_kind import (
    ImportColumn,
    ImportRequest,
    ImportRow,
    ReadRows,
)
from annotation.imports.options import CORPUS, find_corpus
from annotation.models import Corpus
from probing.imports.run_import import RunImport, read_value, refuse_empty
from probing.measures.base import ResultKind
from probing.measures.text_stimuli import TextStimuli
from probing.runs.result_storage import COUNTERPART_REASON_LENGTH, Row
from probing.runs.text_stimuli import load_text_stimuli

PAIR = ImportColumn("pair", "slug of the pair in its corpus", needed=True)


class Texts:
    """The pairs of a corpus, as rows of a file name them. Two queries."""

    def __init__(self, request: ImportRequest) -> None:
        self.corpus: Corpus = find_corpus(request)
        self.stimuli = load_text_stimuli(self.corpus)
        self.pairs = {pair.slug: pair for pair in self.stimuli.pairs}

    def read(self, row: ImportRow) -> tuple[str, str]:
        """Return pair and variety; what is wrong with them is left with the row."""
        pair, variety = row.text("pair", needed=True), row.text("variety", needed=True)
        varieties = (self.corpus.source_variety, self.corpus.target_variety)
        if pair and pair not in self.pairs:
            why = f"which “{self.corpus.name}” does not have to evaluate."
            row.refuse("pair", pair, "the slug of a pair", why=why)
        if variety and variety not in varieties:
            row.refuse("variety", variety, " or ".join(varieties))
        return pair, variety

    def named_in(self, rows: Sequence[Row]) -> TextStimuli:
        """Return the pairs that rows are about, in the corpus's order."""
        refuse_empty(rows)
        named = {row["pair"] for row in rows}
        return TextStimuli(
            self.stimuli.source_variety,
            self.stimuli.target_variety,
            tuple(pair for pair in self.stimuli.pairs if pair.slug in named),
        )


class Spans(RunImport):
    """Values of hidden spans, one a row."""

    name = "spans"
    title = "Span probabilities"
    purpose = (
        "Perplexities or entropies of hidden spans, one for each text, condition and trial, on the "
        "pairs of a corpus."
    )
    result = ResultKind.TEXT_SCORES
    own_options = (CORPUS,)
    value_columns = (
        PAIR,
        ImportColumn("variety", "that of the text", needed=True),
        ImportColumn("value", "the value; empty where there is none", needed=True),
        ImportColumn("name", "span_perplexity or top5_entropy; empty: span_perplexity"),
        ImportColumn("condition", "random, noun_phrase, verb_phrase or given; empty: random"),
        ImportColumn("trial", "counts from 0; empty: 0"),
        ImportColumn("reason", "why there is no value"),
        ImportColumn("n", "how many tokens went in"),
    )
    NAMES = ("span_perplexity", "top5_entropy")
    CONDITIONS = ("random", "noun_phrase", "verb_phrase", "given")

    @classmethod
    def measures(cls) -> list[tuple[str, str]]:
        """Return the one measure of hidden spans; others of texts have no conditions and trials."""
        return [found for found in super().measures() if found[0] == "span_prediction"]

    def count(self, rows: Sequence[Row]) -> dict[str, int]:
        return {"values": len(rows), "pairs": len({row["pair"] for row in rows})}

    def read(
        self, request: ImportRequest, read: ReadRows
    ) -> tuple[list[Row], TextStimuli, Corpus | None]:
        texts = Texts(request)
        lines: dict[tuple[object, ...], int] = {}
        rows: list[Row] = []
        for row in read.rows:
            pair, variety = texts.read(row)
            found = {
                "name": row.text("name") or self.NAMES[0],
                "pair": pair,
                "variety": variety,
                "condition": row.text("condition") or self.CONDITIONS[0],
                "trial": row.whole("trial", most=1000) or 0,
                **read_value(row),
            }
            for name, known in (("name", self.NAMES), ("condition", self.CONDITIONS)):
                if found[name] not in known:
                    row.refuse(name, found[name], ", ".join(known))
            key = tuple(found[name] for name in ("name", "pair", "variety", "condition", "trial"))
            if not row.faults and key in lines:
                row.fault(f"the same value stands on line {lines[key]}.")
            if not row.faults:
                lines[key] = row.line
                rows.append(found)
        return rows, texts.named_in(rows), texts.corpus


class Counterparts(RunImport):
    """Rewritings by a model, one a row."""

    name = "counterparts"
    title = "Counterparts"
    purpose = "Rewritings of the texts of a corpus by a model, in one direction or in both."
    result = ResultKind.COUNTERPARTS
    own_options = (CORPUS,)
    value_columns = (
        PAIR,
        ImportColumn("variety", "that of the counterpart", needed=True),
        ImportColumn(
            "counterpart",
            "what the model wrote; empty: nothing",
            needed=True,
            other_names=("body",),
        ),
        ImportColumn("reason", "why it is empty, or a remark"),
        ImportColumn("original", "the text that was rewritten, to be compared with the corpus"),
    )
    ignored = ("run", "reference")

    def count(self, rows: Sequence[Row]) -> dict[str, int]:
        return {"counterparts": len(rows), "pairs": len({row["pair"] for row in rows})}

    def read(
        self, request: ImportRequest, read: ReadRows
    ) -> tuple[list[Row], TextStimuli, Corpus | None]:
        texts = Texts(request)
        lines: dict[tuple[str, str], int] = {}
        rows: list[Row] = []
        for row in read.rows:
            pair, variety = texts.read(row)
            body = row.text("counterpart", as_written=True)
            reason = row.text("reason", longest=COUNTERPART_REASON_LENGTH)
            if not row.faults:
                self._check(row, texts, pair, variety, lines)
            if not row.faults:
                lines[pair, variety] = row.line
                reason = reason or ("" if body else "empty in the file that was imported")
                rows.append({"pair": pair, "variety": variety, "body": body, "reason": reason})
        return rows, texts.named_in(rows), texts.corpus

    def _check(
        self,
        row: ImportRow,
        texts: Texts,
        pair: str,
        variety: str,
        lines: dict[tuple[str, str], int],
    ) -> None:
        if before := lines.get((pair, variety)):
            row.fault(f"the counterpart of “{pair}” in {variety} stands on line {before}.")
        found = texts.pairs[pair]
        into_target = variety == texts.corpus.target_variety
        original = (found.source if into_target else found.target).body
        given = row.text("original")
        if given and given != original:
            row.fault(f"“original” is not the text of “{pair}” in the corpus.")
