"""Counterparts: what models make of texts in either direction, against gold counterparts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pandas as pd
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.models import Corpus, Counterpart
from evaluation.analyses import from_plain, to_plain
from evaluation.analyses.counterpart_metrics import (
    CounterpartOptions,
    CounterpartResult,
    analyse_counterparts,
)
from evaluation.analyses.counterpart_scores import HUMAN, REPEAT, Similarity, score_counterparts
from evaluation.analyses.direction_gaps import DirectionOptions
from evaluation.models import Report
from evaluation.reports.corpus_inputs import corpus_record, hash_rows, run_labels, text_run_record
from evaluation.reports.counterparts_document import lay_out_counterparts
from evaluation.reports.data_statement import load_statement
from evaluation.reports.document import Document
from evaluation.reports.errors import ReportError
from evaluation.reports.examples import draw
from evaluation.reports.formatting import number
from evaluation.reports.kinds.base import Chosen, CorpusInput, Loaded, ReportKind, RunsInput
from evaluation.reports.kinds.encoders import check_encoder, load_similarity
from evaluation.reports.kinds.options import (
    WordListParameters,
    Words,
    check_word_list,
    load_words,
    word_list_choices,
)
from evaluation.reports.provenance import run_key
from probing.models import Run

COLUMNS = ("pair", "source", "variety", "producer", "input", "output", "reference", "reason")


class CounterpartParameters(WordListParameters):
    """The options of a counterpart report."""

    test: Literal["student", "welch", "paired"] = Field(
        "student",
        description="Test of the gaps: Student's with equal variances, as in the paper, Welch's, "
        "or paired.",
    )
    stemming: bool = Field(False, description="Compare Porter stems instead of words in Rouge.")
    pooling: Literal["corpus", "mean"] = Field(
        "corpus",
        description="Toxicity removed from all texts together, or the mean over texts with a hit.",
    )
    encoder: str | None = Field(
        None,
        description="Encoder of BERTScore: the name of a registered model, a folder, or a hub id. "
        "The paper takes microsoft/deberta-large-mnli. Without one BERTScore is not computed.",
    )
    encoder_layer: int | None = Field(
        None,
        ge=1,
        le=200,
        description="Layer whose embeddings are compared, counted from 1; by default the one that "
        "bert-score recommends for the encoder.",
    )
    encoder_idf: bool = Field(
        False,
        description="In BERTScore, weigh tokens by how rare they are among the gold texts (idf).",
    )
    encoder_rescaled: bool = Field(
        False,
        description="Rescale BERTScore by the baseline that bert-score measured for the encoder "
        "and layer on unrelated English texts. The level that the paper prints, 51 to 54, suggests "
        "that it did.",
    )
    examples: int = Field(6, ge=0, le=100, description="Texts drawn as examples.")


class Counterparts(ReportKind):
    name = "counterparts"
    title = _("Counterparts by models")
    question = _("How close do models come to people’s counterparts, in either direction?")
    Parameters = CounterpartParameters
    corpus = CorpusInput(_("The corpus whose pairs the models rewrote."))
    runs = RunsInput(
        _("Runs of counterpart generation on that corpus. The report waits for all of them."),
        measures=("counterpart_generation",),
        most=None,
    )

    def choices(self, parameter: str) -> list[tuple[str, str]] | None:
        return word_list_choices() if parameter == "word_list" else None

    def check(self, chosen: Chosen, parameters: CounterpartParameters) -> None:
        """Two queries."""
        check_word_list(parameters.word_list)
        check_encoder(
            parameters.encoder,
            parameters.encoder_layer,
            idf=parameters.encoder_idf,
            rescaled=parameters.encoder_rescaled,
        )

    def default_title(self, chosen: Chosen) -> str:
        return f"How do models rewrite {chosen.the_corpus}?"

    def load(self, chosen: Chosen, parameters: CounterpartParameters) -> Loaded:
        corpus = chosen.the_corpus
        labels = run_labels(chosen.runs, reserved=(HUMAN, REPEAT))
        rows: list[list[str]] = []
        hashes: dict[str, str] = {}
        missing: list[dict[str, Any]] = []
        for run in chosen.runs:
            found, unanswered = _load_run(run, corpus, labels[run.pk])
            hashes[run_key({"public_id": run.public_id})] = hash_rows(found)
            rows += found
            if unanswered:
                missing.append({"producer": labels[run.pk], "n": unanswered})
        if not rows:
            raise ReportError("The runs have no counterpart of any pair.")
        words = load_words(parameters.word_list)
        if words:
            hashes["word list"] = words.record["hash"]
        return Loaded(
            record={
                "corpus": corpus_record(corpus),
                "runs": [text_run_record(run, labels[run.pk]) for run in chosen.runs],
                "word_list": words.record if words else None,
                "missing": missing,
                "n_pairs": len({row[0] for row in rows}),
                "statement": load_statement(corpus),
            },
            data=(pd.DataFrame(rows, columns=list(COLUMNS)), words),
            hashes=hashes,
        )

    def compute(self, loaded: Loaded, parameters: CounterpartParameters) -> dict[str, Any]:
        counterparts: pd.DataFrame
        words: Words | None
        counterparts, words = loaded.data
        corpus = loaded.record["corpus"]
        similarity, encoder = _similarity(parameters)
        scored = score_counterparts(
            counterparts,
            source_variety=corpus["source_variety"],
            words=words.words if words else None,
            stemming=parameters.stemming,
            similarity=similarity,
        )
        result = analyse_counterparts(
            scored,
            CounterpartOptions(
                directions=DirectionOptions(
                    source_variety=corpus["source_variety"],
                    target_variety=corpus["target_variety"],
                    test=parameters.test,
                    seed=parameters.seed,
                    n_resamples=parameters.resamples,
                    level=parameters.level,
                ),
                pooling=parameters.pooling,
            ),
        )
        eligible = _eligible(counterparts)
        return {
            "analysis": to_plain(result),
            "encoder": encoder,
            "n_eligible": len(eligible),
            "examples": draw(eligible, parameters.examples, seed=parameters.seed),
        }

    def document(self, report: Report, view: Mapping[str, str]) -> Document:
        stored = report.result or {}
        return lay_out_counterparts(report, from_plain(CounterpartResult, stored["analysis"]))

    def headline(self, result: dict[str, Any]) -> str:
        gaps = [
            gap["estimate"]["value"]
            for gap in result["analysis"]["gaps"]
            if gap["metric"] == "rouge1" and gap["split"] == "all" and gap["producer"] != REPEAT
        ]
        known = [gap for gap in gaps if gap is not None]
        if not known:
            return ""
        low, high = (number(part, 1, signed=True) for part in (min(known), max(known)))
        return f"Rouge-1 gap {low}" if low == high else f"Rouge-1 gap {low} to {high}"


def _similarity(
    parameters: CounterpartParameters,
) -> tuple[Similarity | None, dict[str, Any] | None]:
    if parameters.encoder is None:
        return None, None
    return load_similarity(
        parameters.encoder,
        parameters.encoder_layer,
        idf=parameters.encoder_idf,
        rescaled=parameters.encoder_rescaled,
    )


def _load_run(run: Run, corpus: Corpus, label: str) -> tuple[list[list[str]], int]:
    """Return the rows of a run, and how many of its texts have no stored answer. One query.

    Inputs and references are those that the run worked on, whatever has become of the corpus.
    """
    answers = {
        (slug, variety): (body, reason)
        for slug, variety, body, reason in Counterpart.objects.filter(
            run=run.public_id, text__corpus=corpus
        ).values_list("text__slug", "variety", "body", "reason")
    }
    asked = {variety for _, variety in answers}
    rows, unanswered = [], 0
    for pair in sorted(run.stimuli.get("pairs", ()), key=lambda entry: entry["slug"]):
        for variety, given, gold in (
            (corpus.source_variety, pair["target"], pair["source"]),
            (corpus.target_variety, pair["source"], pair["target"]),
        ):
            if variety not in asked:
                continue
            answer = answers.get((given["slug"], variety))
            unanswered += answer is None
            body, reason = answer or ("", "the run stored no answer")
            rows.append(
                [
                    pair["slug"],
                    pair.get("origin", ""),
                    variety,
                    label,
                    given["body"],
                    body,
                    gold["body"],
                    reason,
                ]
            )
    return rows, unanswered


def _eligible(counterparts: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the texts that every producer of that direction rewrote, as examples show them."""
    found = []
    for variety, some in counterparts.groupby("variety", sort=False):
        producers: Sequence[str] = list(dict.fromkeys(some["producer"]))
        for pair, rows in some.groupby("pair", sort=False):
            outputs = dict(zip(rows["producer"], rows["output"], strict=True))
            if all(outputs.get(producer, "").strip() for producer in producers):
                first = rows.iloc[0]
                found.append(
                    {
                        "pair": str(pair),
                        "direction": f"generating {variety}",
                        "input": first["input"],
                        "reference": first["reference"],
                        "outputs": {producer: outputs[producer] for producer in producers},
                    }
                )
    return found
