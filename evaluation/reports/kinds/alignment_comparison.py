"""Alignment comparison: several measures and models beside the same people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.models import DataDecision, Study, StudyKind
from annotation.studies.lifecycle import published_instrument
from evaluation.analyses import AlignmentOptions, ScoreTable, to_plain
from evaluation.analyses.alignment_comparison import compare_alignments
from evaluation.analyses.template_selection import PILOT_GROUPS
from evaluation.models import Report
from evaluation.reports.alignment.comparison_document import lay_out_comparison
from evaluation.reports.alignment.comparison_inputs import ComparisonInputs, load_comparison
from evaluation.reports.document import Document
from evaluation.reports.errors import ReportError
from evaluation.reports.formatting import number
from evaluation.reports.kinds.base import Chosen, Loaded, ReportKind, RunsInput, StudyInput
from evaluation.reports.kinds.options import IntervalParameters
from evaluation.reports.mention import MENTION, summarise_mention_of

MOST_RUNS = 12


class ComparisonParameters(IntervalParameters):
    """The options of a comparison."""

    resamples: int = Field(
        2000, ge=100, le=10_000, description="Resamples of people and groups for the intervals."
    )
    pilot_groups: str | None = Field(
        None,
        max_length=1000,
        description="Slugs of groups that helped to choose templates, separated by commas; the "
        "overall values are then given without them, too. Cao et al. (2022) used "
        f"{', '.join(PILOT_GROUPS)}.",
    )
    splits: int = Field(
        1000, ge=100, le=100_000, description="Random halves of the people for the noise ceiling."
    )

    @property
    def pilot(self) -> tuple[str, ...]:
        return tuple(slug.strip() for slug in (self.pilot_groups or "").split(",") if slug.strip())


class AlignmentComparison(ReportKind):
    name = "alignment_comparison"
    title = _("Alignment of several models")
    question = _("Which measures and models follow people’s ratings more closely than others?")
    Parameters = ComparisonParameters
    study = StudyInput(StudyKind.ABC_SURVEY, _("Studies with accepted ratings."))
    runs = RunsInput(
        _("Two runs or more, such as one for each measure and model."), least=2, most=MOST_RUNS
    )

    def fitting_studies(self, studies: QuerySet[Study]) -> QuerySet[Study]:
        return (
            super()
            .fitting_studies(studies)
            .filter(submissions__data_decision=DataDecision.ACCEPTED, submissions__is_counted=True)
            .distinct()
        )

    def check(self, chosen: Chosen, parameters: ComparisonParameters) -> None:
        """Three queries."""
        study = chosen.the_study
        if not study.submissions.filter(
            data_decision=DataDecision.ACCEPTED, is_counted=True
        ).exists():
            raise ReportError(
                f"“{study}” has no accepted ratings. Accept submissions in the review queue, or "
                "import ratings."
            )
        instrument = published_instrument(study)
        asked = set(instrument.groups.values_list("slug", flat=True)) if instrument else set()
        _check_pilot(parameters.pilot, asked, f"“{study}” does not ask about")

    def default_title(self, chosen: Chosen) -> str:
        return f"How closely do {len(chosen.runs)} runs follow people?"

    def load(self, chosen: Chosen, parameters: ComparisonParameters) -> Loaded:
        inputs = load_comparison(chosen.the_study, chosen.runs)
        known = {group.slug for group in inputs.groups}
        _check_pilot(parameters.pilot, known, "Study and runs do not have in common")
        return Loaded(record=inputs.record, data=inputs, hashes=inputs.hashes)

    def compute(self, loaded: Loaded, parameters: ComparisonParameters) -> dict[str, Any]:
        inputs: ComparisonInputs = loaded.data
        plain: dict[str, Any] = to_plain(
            compare_alignments(
                ratings=inputs.ratings,
                scores={
                    key: ScoreTable.from_long(
                        model.scores, reasons=model.reasons, level=parameters.level
                    )
                    for key, model in inputs.models.items()
                },
                groups=[group.slug for group in inputs.groups],
                scales=[scale.slug for scale in inputs.scales],
                pilot_groups=parameters.pilot,
                options=AlignmentOptions(
                    seed=parameters.seed,
                    n_resamples=parameters.resamples,
                    n_splits=parameters.splits,
                    level=parameters.level,
                ),
            )
        )
        groups = [group.slug for group in inputs.groups]
        mention = {
            run: found
            for run, scores in inputs.all_scores.items()
            if (
                found := summarise_mention_of(
                    scores,
                    groups,
                    seed=parameters.seed,
                    resamples=parameters.resamples,
                    level=parameters.level,
                )
            )
        }
        return plain | ({MENTION: mention} if mention else {})

    def document(self, report: Report, view: Mapping[str, str]) -> Document:
        return lay_out_comparison(report)

    def headline(self, result: dict[str, Any]) -> str:
        found = [
            row["pooled"]["tau"]["value"]
            for row in result["overall"]
            if row["part"] == "all" and row["pooled"]["tau"]["value"] is not None
        ]
        return f"τ {number(min(found))} to {number(max(found))}" if found else ""


def _check_pilot(pilot: Sequence[str], known: set[str], what: str) -> None:
    """Raise `ReportError` for pilot groups that do not exist, stand twice, or leave no other."""
    if len(set(pilot)) < len(pilot):
        raise ReportError(f"The pilot groups are {', '.join(pilot)}, expected each of them once.")
    absent = [slug for slug in pilot if slug not in known]
    if absent:
        raise ReportError(
            f"{what} the pilot group{'s' if len(absent) > 1 else ''} "
            f"{', '.join(f'“{slug}”' for slug in absent)}. Groups: {', '.join(sorted(known))}."
        )
    if pilot and not known - set(pilot):
        raise ReportError("Every group is a pilot group, so that none is left to test.")
