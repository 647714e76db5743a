"""Markedness: how much of a group's deviation comes from naming a group at all."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.models import GroupComponent
from evaluation.analyses.markedness import (
    ONE_TEMPLATE,
    SHARE_OF_SQUARES,
    UNMARKED,
    GroupMarkedness,
    Markedness,
    MarkednessOptions,
    TraitMention,
    analyze_markedness,
)
from evaluation.models import Report
from evaluation.reports.parts.document import Document, Figure, KeyNumber, Section, Table
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import MISSING, count, number, percent
from evaluation.reports.parts.kind import AnalysisKind, Chosen, Loaded, ReportParameters, RunsInput
from evaluation.reports.parts.mention import by_template
from evaluation.reports.parts.options import IntervalParameters
from evaluation.reports.parts.provenance import run_key
from evaluation.reports.parts.score_inputs import TraitName, load_run_scores, run_groups
from evaluation.reports.parts.score_words import (
    is_read_in_sentences,
    measure_title,
    options_in_words,
    quoted_templates,
    remarks,
    scored_over,
)
from evaluation.reports.parts.table import Column, ReportTable, ranked, shown
from probing.models import Run

# --- The words of the markedness report -----------------------------------------------------------

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Explained by mere mention": (
        "The share of groups’ deviations from “a person” that is the same for every group "
        "that is named. What remains is particular to groups."
    ),
    "Explained most: …": ("The group whose deviation is most nearly that of any mention."),
    "Explained least: …": (
        "The group that is least like a mere mention: most of its deviation is its own."
    ),
}


REMEDY = (
    f"Add the group “{UNMARKED}” of the library to the groups of a run: its templates then speak "
    "of “the person” and “people” without any mark."
)
WHY_GROUPS = (
    "Where mention explains nearly all, a group’s scores tell little about this group: any group "
    "that is named moves them so. Where it explains nothing, the group goes its own way."
)
WHY_TRAITS = (
    "What naming a group, whichever it is, does to each trait beside the sentence that names none."
)
CAVEATS = (
    "They describe one model under stated prompts. They say nothing about the people in a group.",
    "The unmarked sentence is no neutral ground: “the person” is read as somebody, often as the "
    "group that goes without saying.",
    "What mention explains depends on which other groups the run has: more groups of one kind "
    "make their common deviation look like mention.",
    "Intervals take the error of the unmarked sentence from the differences between templates; "
    "with few templates they know little of it.",
)


def question(result: Markedness) -> str:
    return (
        f"{count(len(result.by_group), 'group')} beside a sentence that names none: how far do the "
        "model’s scores deviate from it, and how much of that would any named group do?"
    )


def method(result: Markedness, record: dict[str, Any]) -> tuple[str, ...]:
    run = record["run"]
    unmarked = (
        "“person” or “people” in the same corpus"
        if is_read_in_sentences(run)
        else "the same templates with “person” or “people” alone"
    )
    return (
        "After the comparison of marked with unmarked sentences by Kohankhaki et al. A score is "
        "that of a trait pair’s right adjective minus that of its left; the measure is "
        f"{measure_title(run)}, {options_in_words(run)}, "
        f"{scored_over(run)}{quoted_templates(run)} A group’s deviation is its score minus that of "
        f"{unmarked}.",
        "What mention does is the mean deviation of all other groups. It explains one minus the "
        "squared difference between a group’s deviations and this mean over the squared "
        "deviations, summed over traits.",
        _intervals(result),
    )


def _intervals(result: Markedness) -> str:
    share = f"A share has no interval: {SHARE_OF_SQUARES}."
    if result.n_templates == 1:
        return f"{share} Nor has an effect: {ONE_TEMPLATE}."
    return (
        f"{share} That of an effect is Student’s over groups and templates, which are the same for "
        "all groups and for the unmarked sentence, so that the error of the latter is part of it."
    )


def left_out(result: Markedness, record: dict[str, Any]) -> tuple[str, ...]:
    names = record["groups"]
    found = [f"{names[row.group]}: {row.reason}." for row in result.by_group if row.reason]
    if record["n_paired"]:
        found.append(
            f"{count(record['n_paired'], 'paired group')}: they would outweigh the single groups "
            "in what mention does on average."
        )
    return tuple(found)


# --- The tables of the markedness report ----------------------------------------------------------

EXPLAINED = Column.estimate(
    "Explained, %",
    "explained",
    "share",
    0,
    scale=100,
    style="strong",
    meaning="share of the squared deviation that mention explains, at most 1",
)

REASON = Column("", "reason", "share.note", meaning="why there is no share, or no interval")


def overall_table(result: Markedness, level: str) -> ReportTable:
    columns = (EXPLAINED, Column("Cells", "n_cells", decimals=0), REASON)
    return ReportTable("overall", "All groups together", [result], columns, level)


def group_table(result: Markedness, names: Mapping[str, str], level: str) -> ReportTable:
    return ReportTable.of(
        "groups",
        "Group by group",
        result.by_group,
        Column("", "group", meaning="slug of the group"),
        Column("Group", "group_name", lambda row: names[row.group]),
        *shown(GroupMarkedness, "deviation", "residual"),
        EXPLAINED,
        *shown(GroupMarkedness, "n_traits"),
        REASON,
        level=level,
        note="reason",
    )


def trait_table(result: Markedness, traits: Mapping[str, TraitName], level: str) -> ReportTable:
    return ReportTable.of(
        "traits",
        "Trait by trait",
        result.by_trait,
        Column("", "trait", meaning="slug of the trait pair"),
        Column("Trait pair", "", lambda row: traits[row.trait].text),
        Column("", "low_pole", lambda row: traits[row.trait].low),
        Column("", "high_pole", lambda row: traits[row.trait].high),
        Column.effect(
            "Effect",
            "effect",
            "estimate",
            3,
            meaning="mean deviation of all groups from the unmarked sentence",
            unit="the measure’s",
        ),
        *shown(TraitMention),
        level=level,
    )


def key_numbers(overall: ReportTable, groups: ReportTable) -> tuple[KeyNumber, ...]:
    result: Markedness = overall.rows[0]
    known = ranked(
        (row for row in result.by_group if row.share.is_defined), lambda row: row.explained
    )
    return (
        overall.key(
            "explained",
            result,
            f"Of the squared deviation in {count(result.n_cells, 'cell')}",
            label="Explained by mere mention",
            unit="%" if result.share.is_defined else "",
            interval_unit="%",
        ),
        *(
            groups.key(
                "explained",
                row,
                label=f"{label}: {groups.column('group_name').read(row)}",
                unit="%",
                interval_unit="%",
            )
            for label, rows in (("Explained most", known[:1]), ("Explained least", known[-1:]))
            for row in rows
        ),
    )


def group_blocks(groups: ReportTable) -> tuple[Figure, Table]:
    rows = ranked(groups.rows, lambda row: row.explained)
    return (
        groups.figure(
            "groups",
            "Share of every group’s squared deviation from the unmarked sentence that the mean of "
            "all other groups explains. 100 % is the most there can be; below 0 the others’ mean "
            "leads away.",
            "explained",
            rows=rows,
            label="Group",
            decimals=0,
            title="Share of the deviation that mention explains",
            axis="explained by mention, %",
            value="%",
            n="traits",
        ),
        groups.printed(
            "Deviation of every group from the unmarked sentence, as the root mean square over "
            "traits in the measure’s unit.",
            rows=rows,
        ),
    )


def trait_blocks(traits: ReportTable) -> tuple[Figure, Table]:
    return (
        traits.figure(
            "traits",
            "What naming a group does to the score of each trait pair: mean of all groups’ "
            f"deviations from the unmarked sentence, with Student’s {traits.level} interval over "
            f"groups and templates.",
            "effect",
            label="Trait pair",
            title="Effect of mention on each trait",
            axis="named minus unmarked, in the measure’s unit",
            n="groups",
            left="toward the left adjective",
            right="toward the right",
        ),
        traits.printed(
            "Effect of mention on each trait pair; positive toward its right adjective."
        ),
    )


class MarkednessParameters(IntervalParameters):
    """The options of a markedness report."""


class MarkednessCheck(AnalysisKind[Markedness]):
    name = "markedness"
    title = _("Markedness")
    question = _("How much of a group’s deviation does the mere mention of a group explain?")
    meanings = MEANINGS
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
        overall = overall_table(result, level)
        groups = group_table(result, record["groups"], level)
        traits = trait_table(result, names, level)
        return Document(
            question=question(result),
            keys=key_numbers(overall, groups),
            sections=(
                Section(
                    "Group by group",
                    group_blocks(groups),
                    WHY_GROUPS,
                ),
                Section(
                    "Trait by trait",
                    trait_blocks(traits),
                    WHY_TRAITS,
                ),
            ),
            tables=(overall, groups, traits),
            method=method(result, record),
            caveats=(*CAVEATS, *remarks([run])),
            left_out=left_out(result, record),
        )

    def headline(self, result: dict[str, Any]) -> str:
        explained = result["explained"]
        return MISSING if explained is None else f"{number(100 * explained, 0)} %"


def _no_baseline(run: Run) -> str:
    return f"{run} does not score the unmarked sentence. {REMEDY}"
