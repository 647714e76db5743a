"""Agreement: how far annotators who rewrote the same texts write the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.counterparts.adjudication import load_annotations
from annotation.models import Study, StudyKind, TaskState
from evaluation.analyses.agreement import (
    AgreementOptions,
    AgreementResult,
    PairAgreement,
    SourceAgreement,
    analyze_agreement,
)
from evaluation.charts import MatrixCell, agreement_matrix_spec
from evaluation.metrics.levenshtein_alpha import LevenshteinAlpha
from evaluation.models import Report
from evaluation.reports.parts.corpus_inputs import corpus_part, hash_rows, to_annotation_frame
from evaluation.reports.parts.document import Document, Figure, KeyNumber, Section
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import count, number, percent, sentence
from evaluation.reports.parts.kind import AnalysisKind, Chosen, Loaded, StudyInput, Topic
from evaluation.reports.parts.options import IntervalParameters
from evaluation.reports.parts.table import Column, ReportTable

# --- The words of the agreement report ------------------------------------------------------------

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Krippendorff’s α of the counterparts": (
        "How alike people write the same text, beyond how alike texts are anyway: 1 if they "
        "write the same to the letter, 0 if their texts differ as much as those of different "
        "texts."
    ),
    "Texts written by two or more": (
        "Only these can say anything about agreement. All others have one counterpart."
    ),
    "Distance, observed and by chance": (
        "How many letters or words must be changed to turn one counterpart into the other: of "
        "the same text, and of different texts. α is one minus the ratio of the two."
    ),
    "Not interpretable": (
        "How often an annotator said of a text that it cannot be rewritten, a text counted for "
        "each annotator. α says how alike people are in that."
    ),
}


WHY_CHANCE = (
    "Alpha is one minus the distance of counterparts of one text over the distance that chance "
    "gives. What chance gives has three definitions in use."
)
WHY_PAIRS = "Alpha of every two annotators, from their own counterparts alone."
WHY_SOURCES = "Alpha within each source; texts of one source are more alike than those of all."
CAVEATS = (
    "A low alpha does not say that somebody is wrong: a text can have several good counterparts.",
    "The distance counts characters or words, not meaning. A synonym costs as much as a mistake.",
    "Counterparts that copy most of the text agree by that alone, since they share their source.",
    "Pairs of annotators with few texts in common have wide intervals; compare the intervals.",
)


def question(result: AgreementResult, record: dict[str, Any]) -> str:
    return (
        f"{count(result.n_annotators, 'annotator')} rewrote {count(result.n_texts, 'text')} of "
        f"{record['corpus']['name']} in {record['corpus']['target_variety']}. This report "
        "measures how close the counterparts of one text are, against those of different texts."
    )


def method(result: AgreementResult, record: dict[str, Any]) -> tuple[str, ...]:
    study, options = record["study"], result.options
    lines = [
        f"{study['common_texts']} texts were given to everyone, and {study['shared_percent']:g} % "
        "of the others to each pair of annotators. Only submitted counterparts count; drafts do "
        "not.",
        "Alpha is 1 − Dₒ/Dₑ with the Levenshtein distance over "
        f"{DISTANCES[options.distance]}. Dₒ is the mean distance over all texts and pairs of "
        "annotators with both counterparts. Pairs and sources take the definition of Dₑ "
        f"“{DEFINITIONS[options.expected]}”.",
        f"Intervals come from {options.n_resamples} resamples of texts (bias-corrected "
        "percentile). Texts called not interpretable have no counterpart to compare; whether "
        "annotators agree on that is a nominal alpha of its own.",
    ]
    if result.shuffled and not result.shuffled.reason:
        found = result.shuffled
        lines.append(
            f"Simulating the paper’s definition with {found.n} shuffles gives Dₑ = "
            f"{number(found.mean, 3)} with a standard error of {number(found.standard_error, 3)}."
        )
    return tuple(lines)


def left_out(result: AgreementResult, record: dict[str, Any]) -> tuple[str, ...]:
    lines = []
    if result.n_not_interpretable:
        lines.append(
            f"{count(result.n_not_interpretable, 'annotation')}: called not interpretable, so that "
            "there is no counterpart to compare."
        )
    if n := record["study"]["open"]:
        lines.append(f"{count(n, 'counterpart')}: assigned, but not submitted yet.")
    return tuple(lines)


# --- The tables of the agreement report -----------------------------------------------------------

DEFINITIONS = {
    "exact": "different texts, exact",
    "shuffle": "shuffled pairs (Deas et al. 2023), exact expectation",
    "krippendorff": "coincidences (Krippendorff)",
}
DISTANCES = {
    "characters": "characters",
    "words": "words",
    "normalized": "characters, as a share of the longer text",
}


ALPHA_FIELDS = ("n_items", "n_overlap", "n_annotations", "n_pairs", "distance", "expected_by")


def alpha_table(
    name: str,
    title: str,
    rows: Sequence[Any],
    kind: type,
    *leading: str | Column,
    alpha: str = "alpha.",
    result: AgreementResult,
    level: str,
) -> ReportTable:
    """Return a table of alphas.

    leading : columns that say what an alpha is of
    alpha : where the `LevenshteinAlpha` stands in a row
    """
    places = places_of(result)
    return ReportTable.of_rows(
        name,
        title,
        rows,
        kind,
        *leading,
        f"{alpha}estimate",
        Column("Observed", "observed", f"{alpha}observed", places),
        Column("By chance", "expected", f"{alpha}expected", places),
        *(f"{alpha}{field}" for field in ALPHA_FIELDS),
        level=level,
        reason=f"{alpha}estimate.note",
    )


def definition_table(result: AgreementResult, level: str) -> ReportTable:
    return alpha_table(
        "overall",
        "Alpha of all counterparts by definition of chance",
        result.by_definition,
        LevenshteinAlpha,
        Column("Distance by chance over", value=lambda alpha: DEFINITIONS[alpha.expected_by]),
        alpha="",
        result=result,
        level=level,
    )


def pair_table(result: AgreementResult, level: str) -> ReportTable:
    return alpha_table(
        "pairs",
        "Alpha of every pair of annotators",
        result.pairs,
        PairAgreement,
        *("first", "second"),
        Column("Annotators", value=lambda pair: f"Annotators {pair.first} and {pair.second}"),
        result=result,
        level=level,
    )


def source_table(result: AgreementResult, level: str) -> ReportTable:
    return alpha_table(
        "sources",
        "Alpha within every source",
        result.sources,
        SourceAgreement,
        "source",
        result=result,
        level=level,
    )


def refusal_table(result: AgreementResult) -> ReportTable:
    return ReportTable.of(
        "not_interpretable",
        "Agreement on what is not interpretable",
        (result.not_interpretable,),
        Column.estimate("", "alpha", "estimate"),
        Column("", "n_texts", "n_units"),
        Column("", "n_annotations", "n_values"),
        Column("", "n_not_interpretable", lambda alpha: result.n_not_interpretable),
        Column("", "reason"),
    )


def places_of(result: AgreementResult) -> int:
    return 3 if result.options.distance == "normalized" else 1


def key_numbers(result: AgreementResult, level: str) -> tuple[KeyNumber, ...]:
    alpha, refused, places = result.overall, result.not_interpretable, places_of(result)
    return (
        KeyNumber(
            "Krippendorff’s α of the counterparts",
            number(alpha.value),
            lines=_alpha_lines(alpha, result, level),
        ),
        KeyNumber(
            "Texts written by two or more",
            str(alpha.n_overlap),
            f"of {alpha.n_items}",
            (f"{count(alpha.n_pairs, 'pair')} of counterparts compared",),
        ),
        KeyNumber(
            "Distance, observed and by chance",
            number(alpha.observed, places),
            f"against {number(alpha.expected, places)}",
            (f"Levenshtein distance over {DISTANCES[alpha.distance]}",),
        ),
        KeyNumber(
            "Not interpretable",
            str(result.n_not_interpretable),
            f"of {result.n_counterparts + result.n_not_interpretable}",
            (
                sentence(refused.reason)
                if refused.reason
                else f"Nominal α {number(refused.value)}",
                f"{count(refused.n_units, 'text')} with two annotators or more",
            ),
        ),
    )


def _alpha_lines(alpha: LevenshteinAlpha, result: AgreementResult, level: str) -> tuple[str, ...]:
    if alpha.reason:
        return (sentence(alpha.reason),)
    _, around = definition_table(result, level).column("alpha").cells(alpha)
    interval = f"{level} interval {around}" if " to " in around else alpha.interval_reason
    return (interval, DEFINITIONS[alpha.expected_by])


def matrix(result: AgreementResult) -> Figure:
    names = sorted({name for pair in result.pairs for name in (pair.first, pair.second)}, key=int)
    places = {name: i for i, name in enumerate(names)}
    cells = {
        (places[pair.second], places[pair.first]): MatrixCell(
            pair.alpha.value, pair.alpha.n_overlap
        )
        for pair in result.pairs
    }
    return Figure(
        "annotators",
        "Alpha of every pair of annotators; n is the number of texts that both rewrote. Outlined "
        "cells have no alpha.",
        agreement_matrix_spec([f"Annotator {name}" for name in names], cells),
        data="pairs",
    )


def source_figure(sources: ReportTable, result: AgreementResult) -> Figure:
    return sources.figure(
        "sources",
        f"Alpha within every source. Intervals: {result.options.n_resamples} resamples of texts; "
        "n is the number of texts with two counterparts or more.",
        "alpha",
        label="Source",
        rows=(*result.sources, SourceAgreement("All sources", result.overall)),
        bold=lambda row: row.alpha is result.overall,
        tone="human",
        decimals=2,
        title="Agreement by source",
        axis="Krippendorff’s α of counterparts",
        n="texts",
    )


class AgreementParameters(IntervalParameters):
    """The options of an agreement report."""

    distance: Literal["characters", "words", "normalized"] = Field(
        "characters",
        description="Levenshtein distance over characters, words, or characters as a share of the "
        "longer text.",
    )
    expected: Literal["exact", "shuffle", "krippendorff"] = Field(
        "exact",
        title="Distance by chance",
        description="Distance by chance: exact over all pairs of different texts, by the shuffle "
        "of Deas et al. (2023), or Krippendorff's coincidence form.",
    )
    shuffles: int = Field(
        400, ge=2, le=10_000, description="Shuffles of the simulation of the paper's definition."
    )


class Agreement(AnalysisKind[AgreementResult]):
    name = "agreement"
    title = _("Agreement of annotators")
    question = _("How far do annotators who rewrote the same texts write the same?")
    topic = Topic.PEOPLE
    meanings = MEANINGS
    Parameters = AgreementParameters
    Result = AgreementResult
    study = StudyInput(
        StudyKind.COUNTERPART_WRITING,
        _("Writing studies with submitted counterparts."),
    )
    libraries = (*AnalysisKind.libraries, "rapidfuzz", "krippendorff")

    def fitting_studies(self, studies: QuerySet[Study]) -> QuerySet[Study]:
        return (
            super().fitting_studies(studies).filter(writing_tasks__state=TaskState.DONE).distinct()
        )

    def check(self, chosen: Chosen, parameters: AgreementParameters) -> None:
        """One query."""
        study = chosen.the_study
        if not study.writing_tasks.filter(state=TaskState.DONE).exists():
            raise ReportError(f"Nobody has submitted a counterpart in “{study}” yet.")

    def default_title(self, chosen: Chosen) -> str:
        return f"How far do the annotators of {chosen.the_study} agree?"

    def load(self, chosen: Chosen, parameters: AgreementParameters) -> Loaded:
        study = chosen.the_study
        annotations = load_annotations(study)
        if not annotations:
            raise ReportError(f"Nobody has submitted a counterpart in “{study}” yet.")
        corpus = study.writing.corpus
        digest = hash_rows(annotations)
        return Loaded(
            record={
                "study": {
                    "public_id": study.public_id,
                    "title": study.title,
                    "origin": study.origin,
                    "common_texts": study.writing.common_texts,
                    "shared_percent": study.writing.shared_percent,
                    "open": study.writing_tasks.filter(state=TaskState.OPEN).count(),
                },
                **corpus_part(corpus),
            },
            data=annotations,
            hashes={"annotations": digest},
        )

    def analyze(self, loaded: Loaded, parameters: AgreementParameters) -> AgreementResult:
        return analyze_agreement(
            to_annotation_frame(loaded.data),
            AgreementOptions(
                distance=parameters.distance,
                expected=parameters.expected,
                n_shuffles=parameters.shuffles,
                **parameters.bootstrap,
            ),
        )

    def lay_out(self, report: Report, result: AgreementResult, view: Mapping[str, str]) -> Document:
        record: dict[str, Any] = report.inputs
        level = percent(result.options.level)
        overall = definition_table(result, level)
        pairs = pair_table(result, level)
        sources = source_table(result, level)
        chance = overall.printed("Alpha of all counterparts by definition of chance.")
        sections = [Section("By definition of chance", (chance,), WHY_CHANCE)]
        if result.pairs:
            blocks = (matrix(result), pairs.printed("Alpha of every pair of annotators."))
            sections.append(Section("Pair by pair", blocks, WHY_PAIRS))
        if result.sources:
            blocks = (
                source_figure(sources, result),
                sources.printed("Alpha within every source."),
            )
            sections.append(Section("Source by source", blocks, WHY_SOURCES))
        return Document(
            question=question(result, record),
            keys=key_numbers(result, level),
            sections=tuple(sections),
            tables=(overall, pairs, sources, refusal_table(result)),
            method=method(result, record),
            caveats=CAVEATS,
            left_out=left_out(result, record),
        )

    def headline(self, result: dict[str, Any]) -> str:
        return f"α {number(result['overall']['value'])}"
