"""Alignment: people's ratings of groups beside a model's scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.models import DataDecision, Study, StudyKind
from evaluation.analyses import AlignmentOptions, ScoreTable, analyse_alignment, to_plain
from evaluation.models import Report
from evaluation.reports.alignment.document import AlignmentDocument
from evaluation.reports.alignment.inputs import AlignmentInputs, load_alignment_inputs
from evaluation.reports.document import Document
from evaluation.reports.errors import ReportError
from evaluation.reports.formatting import number
from evaluation.reports.kinds.base import (
    Chosen,
    Loaded,
    ReportKind,
    ReportParameters,
    RunsInput,
    StudyInput,
)
from evaluation.reports.mention import MENTION, summarise_mention_of
from evaluation.reports.participants import NAME as PARTICIPANTS
from evaluation.reports.participants import ParticipantParameters, load_participants


class ResamplingParameters(ReportParameters):
    """Resamples, halves, seed and level of an alignment."""

    resamples: int = Field(
        2000, ge=100, le=100_000, description="Bootstrap resamples for the intervals."
    )
    splits: int = Field(
        1000,
        ge=100,
        le=100_000,
        description="Random halves of the people for the noise ceiling.",
    )
    seed: int = Field(0, ge=0, le=2**31 - 1, description="The same seed gives the same intervals.")
    level: float = Field(0.95, gt=0.5, lt=1, description="Coverage of the intervals.")


class AlignmentParameters(ParticipantParameters, ResamplingParameters):
    """The options of an alignment report."""


class Alignment(ReportKind):
    name = "alignment"
    title = _("Alignment of people and model")
    question = _("Do a model’s associations of groups with traits follow people’s ratings?")
    Parameters = AlignmentParameters
    study = StudyInput(
        StudyKind.ABC_SURVEY,
        _(
            "Studies with accepted ratings. Accept submissions in the review queue, or import "
            "published ratings with “manage.py import_abc_ratings”."
        ),
    )
    runs = RunsInput(_("The report is built as soon as its run is finished."))
    views = ("group",)

    def fitting_studies(self, studies: QuerySet[Study]) -> QuerySet[Study]:
        return (
            super()
            .fitting_studies(studies)
            .filter(submissions__data_decision=DataDecision.ACCEPTED, submissions__is_counted=True)
            .distinct()
        )

    def check(self, chosen: Chosen, parameters: AlignmentParameters) -> None:
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
        return f"Do the group associations of {chosen.runs[0].model.name} follow people’s?"

    def load(self, chosen: Chosen, parameters: AlignmentParameters) -> Loaded:
        inputs = load_alignment_inputs(study=chosen.the_study, run=chosen.runs[0])
        who = load_participants(chosen.the_study, set(inputs.ratings["submission"]), parameters)
        return Loaded(
            record=inputs.record | {PARTICIPANTS: who.record},
            data=inputs,
            hashes={
                "study ratings_hash": inputs.record["study"]["ratings_hash"],
                "run scores_hash": inputs.record["run"]["scores_hash"],
            },
        )

    def compute(self, loaded: Loaded, parameters: AlignmentParameters) -> dict[str, Any]:
        inputs: AlignmentInputs = loaded.data
        result = analyse_alignment(
            ratings=inputs.ratings,
            scores=ScoreTable.from_long(
                inputs.scores, reasons=inputs.score_reasons, level=parameters.level
            ),
            groups=[group.slug for group in inputs.groups],
            scales=[scale.slug for scale in inputs.scales],
            options=AlignmentOptions(
                seed=parameters.seed,
                n_resamples=parameters.resamples,
                n_splits=parameters.splits,
                level=parameters.level,
            ),
        )
        plain: dict[str, Any] = to_plain(result)
        mention = summarise_mention_of(
            inputs.all_scores,
            result.groups,
            seed=parameters.seed,
            resamples=parameters.resamples,
            level=parameters.level,
        )
        return plain | ({MENTION: mention} if mention else {})

    def document(self, report: Report, view: Mapping[str, str]) -> Document:
        wanted = view.get("group", "")
        laid_out = AlignmentDocument(report, group=wanted)
        if wanted and wanted != laid_out.group:
            raise ReportError(f"The report has no group “{wanted}”.")
        return laid_out.build()

    def headline(self, result: dict[str, Any]) -> str:
        return f"τ {number(result['pooled']['tau']['value'])}"
