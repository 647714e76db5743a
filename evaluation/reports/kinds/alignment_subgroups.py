"""Alignment by subgroups of participants: whose ratings does a model's order follow?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.models import DataDecision, DemographicAnswer, Study, StudyKind
from evaluation.analyses import AlignmentOptions, ScoreTable, to_plain
from evaluation.analyses.subgroup_result import CROSSED
from evaluation.analyses.subgroups import analyse_subgroups
from evaluation.models import Report
from evaluation.reports.document import Document
from evaluation.reports.errors import ReportError
from evaluation.reports.formatting import number
from evaluation.reports.kinds.base import Chosen, Loaded, ReportKind, RunsInput, StudyInput
from evaluation.reports.kinds.options import IntervalParameters
from evaluation.reports.mention import MENTION, summarise_mention_of
from evaluation.reports.participants import ParticipantParameters
from evaluation.reports.subgroups.document import SubgroupDocument
from evaluation.reports.subgroups.inputs import SubgroupInputs, load_subgroups

NOT_JOINED = (
    "“{study}” has no answers of participants that can be joined to its ratings. Ask demographic "
    "questions in a study; who took part in published data is on its alignment report."
)


class SubgroupIntervals(IntervalParameters):
    """Fewer resamples than elsewhere: every subgroup is resampled and permuted."""

    resamples: int = Field(
        1000,
        ge=100,
        le=5000,
        description="Resamples for the intervals, and exchanges of answers for the tests.",
    )


class SubgroupParameters(ParticipantParameters, SubgroupIntervals):
    """The options of a report on subgroups."""

    questions: str | None = Field(
        None,
        max_length=1000,
        description="Slugs of the questions that make subgroups, separated by commas. Default: "
        "all that have answers to choose or bands.",
    )
    crossings: str = Field(
        f"race{CROSSED}gender",
        max_length=1000,
        description="Pairs of questions whose answers are crossed, such as race*gender, "
        "separated by commas; pairs that the study does not ask are left out.",
    )


class AlignmentSubgroups(ReportKind):
    name = "alignment_subgroups"
    title = _("Alignment by participants")
    question = _("Whose ratings does a model follow: those of which subgroups of participants?")
    Parameters = SubgroupParameters
    study = StudyInput(
        StudyKind.ABC_SURVEY,
        _("Studies with accepted ratings of participants who answered questions about themselves."),
    )
    runs = RunsInput(_("The report is built as soon as its run is finished."))
    views = ("question", "group")

    def fitting_studies(self, studies: QuerySet[Study]) -> QuerySet[Study]:
        return super().fitting_studies(studies).filter(pk__in=_described_studies())

    def check(self, chosen: Chosen, parameters: SubgroupParameters) -> None:
        """One query."""
        study = chosen.the_study
        if not _described_studies().filter(submission__study=study).exists():
            raise ReportError(NOT_JOINED.format(study=study))

    def default_title(self, chosen: Chosen) -> str:
        return f"Whose ratings do the associations of {chosen.runs[0].model.name} follow?"

    def load(self, chosen: Chosen, parameters: SubgroupParameters) -> Loaded:
        inputs = load_subgroups(chosen.the_study, chosen.runs[0], parameters)
        return Loaded(record=inputs.record, data=inputs, hashes=inputs.hashes)

    def compute(self, loaded: Loaded, parameters: SubgroupParameters) -> dict[str, Any]:
        inputs: SubgroupInputs = loaded.data
        alignment = inputs.alignment
        plain: dict[str, Any] = to_plain(
            analyse_subgroups(
                ratings=alignment.ratings,
                scores=ScoreTable.from_long(
                    alignment.scores, reasons=alignment.score_reasons, level=parameters.level
                ),
                groups=[group.slug for group in alignment.groups],
                scales=[scale.slug for scale in alignment.scales],
                questions=inputs.questions,
                crossings=inputs.crossings,
                minimum=parameters.smallest,
                options=AlignmentOptions(
                    seed=parameters.seed,
                    n_resamples=parameters.resamples,
                    n_splits=0,
                    level=parameters.level,
                ),
            )
        )
        mention = summarise_mention_of(
            alignment.all_scores,
            [group.slug for group in alignment.groups],
            seed=parameters.seed,
            resamples=parameters.resamples,
            level=parameters.level,
        )
        return plain | ({MENTION: mention} if mention else {})

    def document(self, report: Report, view: Mapping[str, str]) -> Document:
        laid_out = SubgroupDocument(
            report, question=view.get("question", ""), group=view.get("group", "")
        )
        for name in self.views:
            wanted = view.get(name, "")
            if wanted and wanted != getattr(laid_out, name):
                raise ReportError(f"The report has no {name} “{wanted}”.")
        return laid_out.build()

    def headline(self, result: dict[str, Any]) -> str:
        taus = [
            row["tau"]["value"]
            for row in result["subgroups"]
            if row["question"] and row["tau"]["value"] is not None
        ]
        return f"τ {number(min(taus))} to {number(max(taus))}" if taus else ""


def _described_studies() -> QuerySet[DemographicAnswer, int]:
    """Return the studies of answers that belong to accepted ratings."""
    return DemographicAnswer.objects.filter(
        submission__data_decision=DataDecision.ACCEPTED
    ).values_list("submission__study", flat=True)
