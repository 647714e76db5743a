"""Agreement: how far annotators who rewrote the same texts write the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.counterparts.annotations import load_annotations
from annotation.models import Study, StudyKind, TaskState
from evaluation.analyses.agreement import AgreementOptions, AgreementResult, analyze_agreement
from evaluation.models import Report
from evaluation.reports.agreement import prose, tables
from evaluation.reports.parts.corpus_inputs import corpus_part, hash_rows, to_annotation_frame
from evaluation.reports.parts.document import Document, Section
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import number, percent
from evaluation.reports.parts.kind import AnalysisKind, Chosen, Loaded, StudyInput
from evaluation.reports.parts.options import IntervalParameters


class AgreementParameters(IntervalParameters):
    """The options of an agreement report."""

    distance: Literal["characters", "words", "normalised"] = Field(
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
    meanings = prose.MEANINGS
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
        overall = tables.definition_table(result, level)
        pairs = tables.pair_table(result, level)
        sources = tables.source_table(result, level)
        chance = overall.printed("Alpha of all counterparts by definition of chance.")
        sections = [Section("By definition of chance", (chance,), prose.WHY_CHANCE)]
        if result.pairs:
            blocks = (tables.matrix(result), pairs.printed("Alpha of every pair of annotators."))
            sections.append(Section("Pair by pair", blocks, prose.WHY_PAIRS))
        if result.sources:
            blocks = (
                tables.source_figure(sources, result),
                sources.printed("Alpha within every source."),
            )
            sections.append(Section("Source by source", blocks, prose.WHY_SOURCES))
        return Document(
            question=prose.question(result, record),
            keys=tables.key_numbers(result, level),
            sections=tuple(sections),
            tables=(overall, pairs, sources, tables.refusal_table(result)),
            method=prose.method(result, record),
            caveats=prose.CAVEATS,
            left_out=prose.left_out(result, record),
        )

    def headline(self, result: dict[str, Any]) -> str:
        return f"α {number(result['overall']['value'])}"
