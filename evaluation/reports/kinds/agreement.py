"""Agreement: how far annotators who rewrote the same texts write the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

import pandas as pd
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.counterparts.annotations import Annotation, load_annotations
from annotation.models import Study, StudyKind, TaskState
from evaluation.analyses import from_plain, to_plain
from evaluation.analyses.agreement import AgreementOptions, AgreementResult, analyse_agreement
from evaluation.models import Report
from evaluation.reports.agreement_document import lay_out_agreement
from evaluation.reports.corpus_inputs import corpus_record, hash_rows
from evaluation.reports.data_statement import load_statement
from evaluation.reports.document import Document
from evaluation.reports.errors import ReportError
from evaluation.reports.formatting import number
from evaluation.reports.kinds.base import Chosen, Loaded, ReportKind, StudyInput
from evaluation.reports.kinds.options import IntervalParameters


class AgreementParameters(IntervalParameters):
    """The options of an agreement report."""

    distance: Literal["characters", "words", "normalised"] = Field(
        "characters",
        description="Levenshtein distance over characters, words, or characters as a share of the "
        "longer text.",
    )
    expected: Literal["exact", "shuffle", "krippendorff"] = Field(
        "exact",
        description="Distance by chance: exact over all pairs of different texts, by the shuffle "
        "of Deas et al. (2023), or Krippendorff's coincidence form.",
    )
    shuffles: int = Field(
        400, ge=2, le=10_000, description="Shuffles of the simulation of the paper's definition."
    )


class Agreement(ReportKind):
    name = "agreement"
    title = _("Agreement of annotators")
    question = _("How far do annotators who rewrote the same texts write the same?")
    Parameters = AgreementParameters
    study = StudyInput(
        StudyKind.COUNTERPART_WRITING,
        _("Writing studies with submitted counterparts."),
    )
    libraries = (*ReportKind.libraries, "rapidfuzz", "krippendorff")

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
                "corpus": corpus_record(corpus),
                "statement": load_statement(corpus),
            },
            data=annotations,
            hashes={"annotations": digest},
        )

    def compute(self, loaded: Loaded, parameters: AgreementParameters) -> dict[str, Any]:
        result = analyse_agreement(
            to_annotation_frame(loaded.data),
            AgreementOptions(
                distance=parameters.distance,
                expected=parameters.expected,
                n_shuffles=parameters.shuffles,
                seed=parameters.seed,
                n_resamples=parameters.resamples,
                level=parameters.level,
            ),
        )
        plain: dict[str, Any] = to_plain(result)
        return plain

    def document(self, report: Report, view: Mapping[str, str]) -> Document:
        return lay_out_agreement(report, from_plain(AgreementResult, report.result))

    def headline(self, result: dict[str, Any]) -> str:
        return f"α {number(result['overall']['value'])}"


def to_annotation_frame(annotations: Sequence[Annotation]) -> pd.DataFrame:
    """Return annotations as the analysis takes them."""
    return pd.DataFrame([asdict(row) for row in annotations]).rename(
        columns={"text_slug": "text", "annotator_number": "annotator"}
    )
