"""Markedness: how much of a group's deviation comes from naming a group at all."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.models import GroupComponent
from evaluation.analyses.markedness import (
    UNMARKED,
    Markedness,
    MarkednessOptions,
    analyze_markedness,
)
from evaluation.models import Report
from evaluation.reports.markedness import prose, tables
from evaluation.reports.parts.document import Document, Section
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import MISSING, number, percent
from evaluation.reports.parts.kind import AnalysisKind, Chosen, Loaded, ReportParameters, RunsInput
from evaluation.reports.parts.mention import by_template
from evaluation.reports.parts.options import IntervalParameters
from evaluation.reports.parts.provenance import run_key
from evaluation.reports.parts.score_inputs import TraitName, load_run_scores, run_groups
from evaluation.reports.parts.score_words import remarks
from probing.models import Run


class MarkednessParameters(IntervalParameters):
    """The options of a markedness report."""


class MarkednessCheck(AnalysisKind[Markedness]):
    name = "markedness"
    title = _("Markedness")
    question = _("How much of a group’s deviation does the mere mention of a group explain?")
    meanings = prose.MEANINGS
    Parameters = MarkednessParameters
    Result = Markedness
    runs = RunsInput(_("A run that scores the group “unmarked” beside other groups."))

    def fits_stimuli(self, groups: Collection[str], n_templates: int) -> bool:
        return not groups or UNMARKED in groups

    def check(self, chosen: Chosen, parameters: ReportParameters) -> None:
        run = chosen.runs[0]
        if not self.fits_stimuli(run_groups(run), 0):
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
            data=(
                by_template(scores.by_template)[[trait.slug for trait in scores.traits]],
                groups,
            ),
            hashes={run_key(record["run"]): scores.digest},
        )

    def analyze(self, loaded: Loaded, parameters: MarkednessParameters) -> Markedness:
        scores, groups = loaded.data
        return analyze_markedness(scores, groups, MarkednessOptions(**parameters.bootstrap))

    def lay_out(self, report: Report, result: Markedness, view: Mapping[str, str]) -> Document:
        record: dict[str, Any] = report.inputs
        run, level = record["run"], percent(result.options.level)
        names = {entry["slug"]: TraitName(**entry) for entry in record["traits"]}
        overall = tables.overall_table(result, level)
        groups = tables.group_table(result, record["groups"], level)
        traits = tables.trait_table(result, names, level)
        return Document(
            question=prose.question(result),
            keys=tables.key_numbers(overall, groups),
            sections=(
                Section(
                    "Group by group",
                    tables.group_blocks(groups),
                    prose.WHY_GROUPS,
                ),
                Section(
                    "Trait by trait",
                    tables.trait_blocks(traits),
                    prose.WHY_TRAITS,
                ),
            ),
            tables=(overall, groups, traits),
            method=prose.method(result, record),
            caveats=(*prose.CAVEATS, *remarks([run])),
            left_out=prose.left_out(result, record),
        )

    def headline(self, result: dict[str, Any]) -> str:
        explained = result["explained"]
        return MISSING if explained is None else f"{number(100 * explained, 0)} %"


def _no_baseline(run: Run) -> str:
    return f"{run} does not score the unmarked sentence. {prose.REMEDY}"
