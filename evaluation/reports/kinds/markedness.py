"""Markedness: how much of a group's deviation comes from naming a group at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.models import GroupComponent
from evaluation.analyses import to_plain
from evaluation.analyses.markedness import UNMARKED, MarkednessOptions, analyse_markedness
from evaluation.models import Report
from evaluation.reports.document import Document
from evaluation.reports.errors import ReportError
from evaluation.reports.formatting import MISSING, number
from evaluation.reports.kinds.base import Chosen, Loaded, ReportKind, ReportParameters, RunsInput
from evaluation.reports.kinds.options import IntervalParameters
from evaluation.reports.markedness_document import lay_out_markedness
from evaluation.reports.provenance import run_key
from evaluation.reports.score_inputs import RunScores, load_run_scores, run_groups
from probing.models import Run

REMEDY = (
    f"Add the group “{UNMARKED}” of the library to the groups of a run: its templates then speak "
    "of “the person” and “people” without any mark."
)


class MarkednessParameters(IntervalParameters):
    """The options of a markedness report."""


@dataclass(frozen=True)
class MarkednessInputs:
    scores: RunScores
    groups: tuple[str, ...]


class MarkednessCheck(ReportKind):
    name = "markedness"
    title = _("Markedness")
    question = _("How much of a group’s deviation does the mere mention of a group explain?")
    Parameters = MarkednessParameters
    runs = RunsInput(_("A run that scores the group “unmarked” beside other groups."))

    def check(self, chosen: Chosen, parameters: ReportParameters) -> None:
        run = chosen.runs[0]
        groups = run_groups(run)
        if groups and UNMARKED not in groups:
            raise ReportError(_no_baseline(run))

    def default_title(self, chosen: Chosen) -> str:
        return f"How much does mention explain of the scores of {chosen.runs[0].model.name}?"

    def load(self, chosen: Chosen, parameters: MarkednessParameters) -> Loaded:
        """Five queries."""
        run = chosen.runs[0]
        scores = load_run_scores(run)
        if UNMARKED not in scores.table.index:
            raise ReportError(_no_baseline(run))
        marked = [slug for slug in scores.names if slug != UNMARKED]
        paired = set(
            GroupComponent.objects.filter(group__slug__in=marked).values_list(
                "group__slug", flat=True
            )
        )
        groups = tuple(slug for slug in marked if slug not in paired)
        if not groups:
            raise ReportError(f"{run} scores no single group beside “{UNMARKED}”.")
        record = scores.record | {
            "groups": {slug: scores.names[slug] for slug in groups},
            "n_paired": len(paired),
        }
        return Loaded(
            record=record,
            data=MarkednessInputs(scores, groups),
            hashes={run_key(record["run"]): scores.digest},
        )

    def compute(self, loaded: Loaded, parameters: MarkednessParameters) -> dict[str, Any]:
        inputs: MarkednessInputs = loaded.data
        plain: dict[str, Any] = to_plain(
            analyse_markedness(
                inputs.scores.table,
                inputs.groups,
                MarkednessOptions(
                    seed=parameters.seed,
                    n_resamples=parameters.resamples,
                    level=parameters.level,
                ),
            )
        )
        return plain

    def document(self, report: Report, view: Mapping[str, str]) -> Document:
        return lay_out_markedness(report)

    def headline(self, result: dict[str, Any]) -> str:
        explained = result["explained"]
        return MISSING if explained is None else f"{number(100 * explained, 0)} %"


def _no_baseline(run: Run) -> str:
    return f"{run} does not score the unmarked sentence. {REMEDY}"
