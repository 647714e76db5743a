"""Agreement of raters: how alike people rate the same groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Literal

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.models import DataDecision, Study, StudyKind
from evaluation.analyses import from_plain, to_plain
from evaluation.analyses.rating_agreement import (
    RatingAgreement,
    RatingAgreementOptions,
    analyse_rating_agreement,
)
from evaluation.models import Report
from evaluation.reports.alignment.inputs import People, load_people
from evaluation.reports.document import Document
from evaluation.reports.errors import ReportError
from evaluation.reports.formatting import number
from evaluation.reports.kinds.base import Chosen, Loaded, ReportKind, StudyInput
from evaluation.reports.kinds.options import IntervalParameters
from evaluation.reports.rating_agreement_document import lay_out_rating_agreement


class RatingAgreementParameters(IntervalParameters):
    """The options of a report on the agreement of raters."""

    measurement: Literal["nominal", "ordinal", "interval", "ratio"] = Field(
        "interval", description="Level at which Krippendorff's alpha takes the ratings."
    )
    splits: int = Field(
        1000, ge=0, le=100_000, description="Random halves of the raters; 0 for none."
    )


class AgreementOfRaters(ReportKind):
    name = "rating_agreement"
    title = _("Agreement of raters")
    question = _("How alike do people rate the same groups?")
    Parameters = RatingAgreementParameters
    study = StudyInput(StudyKind.ABC_SURVEY, _("Studies with accepted ratings."))
    libraries = (*ReportKind.libraries, "krippendorff")

    def fitting_studies(self, studies: QuerySet[Study]) -> QuerySet[Study]:
        return (
            super()
            .fitting_studies(studies)
            .filter(submissions__data_decision=DataDecision.ACCEPTED, submissions__is_counted=True)
            .distinct()
        )

    def check(self, chosen: Chosen, parameters: RatingAgreementParameters) -> None:
        """One query."""
        study = chosen.the_study
        if not study.submissions.filter(
            data_decision=DataDecision.ACCEPTED, is_counted=True
        ).exists():
            raise ReportError(
                f"“{study}” has no accepted ratings. Accept submissions in the review queue, or "
                "import ratings."
            )

    def default_title(self, chosen: Chosen) -> str:
        return f"How far do the raters of {chosen.the_study} agree?"

    def load(self, chosen: Chosen, parameters: RatingAgreementParameters) -> Loaded:
        people = load_people(chosen.the_study)
        return Loaded(
            record={
                "study": people.record,
                "groups": [asdict(group) for group in people.groups],
                "scales": [asdict(scale) for scale in people.scales],
            },
            data=people,
            hashes={"study ratings_hash": people.record["ratings_hash"]},
        )

    def compute(self, loaded: Loaded, parameters: RatingAgreementParameters) -> dict[str, Any]:
        people: People = loaded.data
        plain: dict[str, Any] = to_plain(
            analyse_rating_agreement(
                people.ratings,
                groups=[group.slug for group in people.groups],
                scales=[scale.slug for scale in people.scales],
                dimensions={scale.slug: scale.dimension for scale in people.scales},
                options=RatingAgreementOptions(
                    measurement=parameters.measurement,
                    n_splits=parameters.splits,
                    n_resamples=parameters.resamples,
                    seed=parameters.seed,
                    level=parameters.level,
                ),
            )
        )
        return plain

    def document(self, report: Report, view: Mapping[str, str]) -> Document:
        return lay_out_rating_agreement(report, from_plain(RatingAgreement, report.result))

    def headline(self, result: dict[str, Any]) -> str:
        return f"α {number(result['overall']['value'])}"
