"""Alignment comparison: several measures and models beside the same people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.instruments.versions import published_instrument
from evaluation.analyses.alignment_comparison import compare_alignments
from evaluation.analyses.alignment_comparison_result import ALL, ComparisonResult
from evaluation.analyses.alignment_result import AlignmentOptions
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.analyses.score_table import ScoreTable
from evaluation.analyses.template_selection import PILOT_GROUPS
from evaluation.models import Report
from evaluation.reports.alignment_comparison import prose, tables
from evaluation.reports.alignment_comparison.inputs import ComparisonInputs, load_comparison
from evaluation.reports.parts.document import Document, Section
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import count, percent
from evaluation.reports.parts.kind import Chosen, Loaded, RunsInput
from evaluation.reports.parts.mention import MENTION, summarize_mention
from evaluation.reports.parts.options import (
    ArmParameters,
    IntervalParameters,
    names_in,
    require_pilot_groups,
    split_halves,
)
from evaluation.reports.parts.rating_inputs import RatingsKind
from evaluation.reports.parts.tau_questions import tau_headline

MOST_RUNS = 12


class ComparisonParameters(IntervalParameters, ArmParameters):
    """The options of a comparison."""

    resamples: int = Field(
        2000,
        ge=100,
        le=10_000,
        description="Resamples of people and groups for the intervals.",
    )
    pilot_groups: str | None = Field(
        None,
        max_length=1000,
        description="Slugs of groups that helped to choose templates, separated by commas; the "
        "overall values are then given without them, too. Cao et al. (2022) used "
        f"{', '.join(PILOT_GROUPS)}.",
    )
    splits: int = split_halves("Random halves of the people for the noise ceiling.")

    @property
    def pilot(self) -> tuple[str, ...]:
        return tuple(names_in(self.pilot_groups))


class AlignmentComparison(RatingsKind):
    name = "alignment_comparison"
    title = _("Alignment of several models")
    question = _("Which measures and models follow people’s ratings more closely than others?")
    meanings = prose.MEANINGS
    Parameters = ComparisonParameters
    runs = RunsInput(
        _("Two runs or more, such as one for each measure and model."), least=2, most=MOST_RUNS
    )

    def check(self, chosen: Chosen, parameters: ComparisonParameters) -> None:
        """Three queries."""
        super().check(chosen, parameters)
        study = chosen.the_study
        instrument = published_instrument(study)
        asked = set(instrument.groups.values_list("slug", flat=True)) if instrument else set()
        _check_pilot(parameters.pilot, asked, f"“{study}” does not ask about")

    def default_title(self, chosen: Chosen) -> str:
        return f"How closely do {len(chosen.runs)} runs follow people?"

    def load(self, chosen: Chosen, parameters: ComparisonParameters) -> Loaded:
        inputs = load_comparison(chosen.the_study, chosen.runs, arm=parameters.arm)
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
                pilot_groups=parameters.pilot,
                options=AlignmentOptions(n_splits=parameters.splits, **parameters.bootstrap),
                **inputs.order,
            )
        )
        groups, bootstrap = inputs.order["groups"], parameters.bootstrap
        mention = {
            run: found
            for run, scores in inputs.all_scores.items()
            if (found := summarize_mention(scores, groups, bootstrap))
        }
        return plain | ({MENTION: mention} if mention else {})

    def document(self, report: Report, view: Mapping[str, str]) -> Document:
        record: dict[str, Any] = report.inputs
        stored = dict(report.result or {})
        names = tables.Names.of(record, stored.pop(MENTION, {}))
        result = from_plain(ComparisonResult, stored)
        found = {table.name: table for table in tables.all_tables(result, names)}
        level = percent(result.options.level)
        runs, pairs, groups = (found[name] for name in ("overall", "differences", "groups"))
        laid_out = Document(
            question=prose.question(record, result),
            facts=(f"Study: {record['study']['title']}", count(len(result.runs), "run")),
            keys=tables.key_numbers(result, names),
            sections=(
                Section(
                    "All runs",
                    (
                        tables.run_figure(runs, result),
                        *(
                            tables.runs_printed(runs, result, part)
                            for part in tables.parts_of(result)
                        ),
                    ),
                    prose.WHY_OVERALL,
                ),
                Section(
                    "Every two runs",
                    (
                        tables.pair_figure(pairs, result, names),
                        tables.pairs_printed(pairs, result),
                    ),
                    prose.WHY_PAIRS,
                ),
                Section(
                    "Group by group",
                    (
                        tables.group_figure(result, names, level),
                        *tables.groups_printed(groups, result, names),
                    ),
                    prose.WHY_GROUPS,
                ),
                *(
                    Section(
                        "Mere mention",
                        (tables.mention_printed(table, result, level),),
                        prose.WHY_MENTION,
                    )
                    for name, table in found.items()
                    if name == MENTION
                ),
            ),
            tables=tuple(found.values()),
            method=prose.method(record, result),
            caveats=prose.caveats(record, result),
            left_out=prose.left_out(record, result),
        )
        return self.complete(report, laid_out)

    def headline(self, result: dict[str, Any]) -> str:
        pooled = [row["pooled"] for row in result["overall"] if row["part"] == ALL]
        return tau_headline([(row, row["tau"]) for row in pooled])


def _check_pilot(pilot: Sequence[str], known: set[str], what: str) -> None:
    """Raise `ReportError` for pilot groups that do not exist, stand twice, or leave no other."""
    if len(set(pilot)) < len(pilot):
        raise ReportError(f"The pilot groups are {', '.join(pilot)}, expected each of them once.")
    require_pilot_groups(pilot, known, what)
    if pilot and not known - set(pilot):
        raise ReportError("Every group is a pilot group, so that none is left to test.")
