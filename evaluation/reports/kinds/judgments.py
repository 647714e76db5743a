"""Judgments: how judges rate people's and models' counterparts without knowing who wrote them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Literal

import pandas as pd
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.judgments.ratings import JudgmentRow, load_judgments
from annotation.models import ASPECTS, JudgmentItem, Study, StudyKind, TaskState
from evaluation.analyses import from_plain, to_plain
from evaluation.analyses.direction_gaps import DirectionOptions
from evaluation.analyses.judgment_analysis import HUMAN, JudgmentResult, analyse_judgments
from evaluation.metrics.toxicity import count_hits
from evaluation.models import Report
from evaluation.reports.corpus_inputs import corpus_record, hash_rows
from evaluation.reports.data_statement import load_statement
from evaluation.reports.document import Document
from evaluation.reports.errors import ReportError
from evaluation.reports.examples import draw
from evaluation.reports.formatting import number
from evaluation.reports.judgments_document import lay_out_judgments
from evaluation.reports.kinds.base import Chosen, Loaded, ReportKind, StudyInput
from evaluation.reports.kinds.options import (
    WordListParameters,
    Words,
    check_word_list,
    load_words,
    word_list_choices,
)


class JudgmentParameters(WordListParameters):
    """The options of a judgment report."""

    test: Literal["student", "welch", "paired"] = Field(
        "student",
        description="Test of the gaps: Student's with equal variances, as in the paper, Welch's, "
        "or paired.",
    )
    measurement: Literal["nominal", "ordinal", "interval", "ratio"] = Field(
        "ordinal",
        description="Level at which Krippendorff's alpha of the judges takes the ratings.",
    )
    examples: int = Field(
        4,
        ge=0,
        le=50,
        description="Texts drawn where a model is rated above people, and as many where below.",
    )


class Judgments(ReportKind):
    name = "judgments"
    title = _("Judgments of counterparts")
    question = _(
        "How do people rate counterparts by people and models, not knowing whose they are?"
    )
    Parameters = JudgmentParameters
    study = StudyInput(StudyKind.COUNTERPART_JUDGMENT, _("Judging studies with judgments."))
    libraries = (*ReportKind.libraries, "krippendorff")

    def fitting_studies(self, studies: QuerySet[Study]) -> QuerySet[Study]:
        return (
            super().fitting_studies(studies).filter(judgment_tasks__state=TaskState.DONE).distinct()
        )

    def choices(self, parameter: str) -> list[tuple[str, str]] | None:
        return word_list_choices() if parameter == "word_list" else None

    def check(self, chosen: Chosen, parameters: JudgmentParameters) -> None:
        """Two queries."""
        study = chosen.the_study
        if not study.judgment_tasks.filter(state=TaskState.DONE).exists():
            raise ReportError(f"Nobody has judged a counterpart in “{study}” yet.")
        check_word_list(parameters.word_list)

    def default_title(self, chosen: Chosen) -> str:
        return f"How are the counterparts of {chosen.the_study} judged?"

    def load(self, chosen: Chosen, parameters: JudgmentParameters) -> Loaded:
        study = chosen.the_study
        rows = load_judgments(study)
        if not rows:
            raise ReportError(f"Nobody has judged a counterpart in “{study}” yet.")
        labels = _labels(rows)
        items = _load_items(study)
        words = load_words(parameters.word_list)
        corpus = study.judging.corpus
        hashes = {
            "judgments": hash_rows(rows),
            "counterparts": hash_rows([[pk, *texts] for pk, texts in sorted(items.items())]),
        }
        if words:
            hashes["word list"] = words.record["hash"]
        frame = pd.DataFrame([asdict(row) for row in rows])
        frame["producer"] = [labels[row.producer, row.run] for row in rows]
        return Loaded(
            record={
                "study": {
                    "public_id": study.public_id,
                    "title": study.title,
                    "origin": study.origin,
                    "overlap_percent": study.judging.overlap_percent,
                    "wording": study.judging.wording,
                    "left_out": study.judging.left_out,
                    "open": study.judgment_tasks.filter(state=TaskState.OPEN).count(),
                },
                "corpus": corpus_record(corpus),
                "producers": {
                    label: {"producer": producer, "run": run}
                    for (producer, run), label in labels.items()
                },
                "word_list": words.record if words else None,
                "statement": load_statement(corpus),
            },
            data=(frame, items, words),
            hashes=hashes,
        )

    def compute(self, loaded: Loaded, parameters: JudgmentParameters) -> dict[str, Any]:
        frame: pd.DataFrame
        items: dict[int, tuple[str, str]]
        words: Words | None
        frame, items, words = loaded.data
        corpus = loaded.record["corpus"]
        result = analyse_judgments(
            frame,
            toxic=_toxic(frame, items, words, corpus) if words else None,
            options=DirectionOptions(
                source_variety=corpus["source_variety"],
                target_variety=corpus["target_variety"],
                test=parameters.test,
                seed=parameters.seed,
                n_resamples=parameters.resamples,
                level=parameters.level,
            ),
            measurement=parameters.measurement,
        )
        above, below = _beside_people(frame, items)
        return {
            "analysis": to_plain(result),
            "n_above": len(above),
            "n_below": len(below),
            "above": draw(above, parameters.examples, seed=parameters.seed),
            "below": draw(below, parameters.examples, seed=parameters.seed),
        }

    def document(self, report: Report, view: Mapping[str, str]) -> Document:
        stored = report.result or {}
        return lay_out_judgments(report, from_plain(JudgmentResult, stored["analysis"]))

    def headline(self, result: dict[str, Any]) -> str:
        alphas = [
            row["alpha"]["value"]
            for row in result["analysis"]["agreement"]
            if row["alpha"]["value"] is not None
        ]
        if not alphas:
            return f"{result['analysis']['n_judgments']} judgments"
        return f"α {number(min(alphas))} to {number(max(alphas))}"


def _labels(rows: list[JudgmentRow]) -> dict[tuple[str, str], str]:
    """Return how tables name each producer: a model's name, with its run where two share it."""
    found = list(dict.fromkeys((row.producer, row.run) for row in rows))
    names = {key: key[0].rpartition("@")[0] or key[0] for key in found}
    times = list(names.values())
    return {
        key: HUMAN
        if not key[1] and key[0] == HUMAN
        else (name if times.count(name) == 1 and name != HUMAN else f"{name} (run {key[1]})")
        for key, name in names.items()
    }


def _load_items(study: Study) -> dict[int, tuple[str, str]]:
    """Return item → (original text, counterpart). One query."""
    rows = JudgmentItem.objects.filter(study=study).values_list("pk", "text__body", "body")
    return {pk: (original, body) for pk, original, body in rows}


def _toxic(
    frame: pd.DataFrame, items: dict[int, tuple[str, str]], words: Words, corpus: dict[str, Any]
) -> dict[str, bool]:
    """Return pair → whether its text in the source variety holds a word of the list.

    That text is the original where the target variety was generated; pairs that were judged in
    the other direction alone are not known.
    """
    asked = frame[frame["variety"] == corpus["target_variety"]].drop_duplicates("pair")
    texts = [items[item][0] for item in asked["item"]]
    hits = count_hits(texts, words.words)
    return {pair: bool(n) for pair, n in zip(asked["pair"], hits, strict=True)}


def _beside_people(
    frame: pd.DataFrame, items: dict[int, tuple[str, str]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the texts on which some model's total is above people's, and those where below."""
    aspects = list(ASPECTS)
    means = frame.groupby(["pair", "variety", "producer", "item"], as_index=False)[aspects].mean()
    means["total"] = means[aspects].sum(axis=1)
    above, below = [], []
    for (pair, variety), some in means.groupby(["pair", "variety"]):
        people = some[some["producer"] == HUMAN]
        models = some[some["producer"] != HUMAN]
        if people.empty or models.empty:
            continue
        example = {
            "pair": str(pair),
            "variety": str(variety),
            "original": items[int(people["item"].iloc[0])][0],
            "rows": [
                {
                    "producer": row["producer"],
                    "body": items[int(row["item"])][1],
                    "ratings": [float(row[aspect]) for aspect in aspects],
                }
                for row in (*people.to_dict("records"), *models.to_dict("records"))
            ],
        }
        total = people["total"].iloc[0]
        if (models["total"] > total).any():
            above.append(example)
        if (models["total"] < total).any():
            below.append(example)
    return above, below
