"""The tables of a report on the agreement of raters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from annotation.studies.quality.damage import describe_damage, read_damage
from evaluation.analyses.rating_agreement import RatingAgreement
from evaluation.reports.parts.document import Figure, KeyNumber, Section, Table
from evaluation.reports.parts.formatting import MISSING, count, number, sentence
from evaluation.reports.parts.table import Column, ReportTable, alpha_columns
from evaluation.reports.rating_agreement import prose

HALVES = (
    Column("r", "halves_r", "split_half.r", 2, group="Halves"),
    Column("sd of r", "halves_sd", "split_half.sd", 2, style="quiet", group="Halves"),
    Column(
        "Spearman–Brown", "halves_spearman_brown", "split_half.spearman_brown", 2, group="Halves"
    ),
    Column("Raters in halves", "halves_n_raters", "split_half.n_raters", 0, group="Halves"),
    Column("", "halves_n_splits", "split_half.n_splits"),
    Column("", "halves_reason", "split_half.reason"),
)


def overall_table(result: RatingAgreement, level: str) -> ReportTable:
    rows: list[dict[str, Any]] = [
        {"part": "all", "title": alpha.measurement.capitalize(), "alpha": alpha}
        for alpha in result.levels
    ]
    rows += [
        {
            "part": row.dimension,
            "title": f"{row.dimension.capitalize()}, {row.alpha.measurement}",
            "alpha": row.alpha,
        }
        for row in result.dimensions
    ]
    return ReportTable.of(
        "overall",
        "Alpha of all ratings by level of measurement, and of every dimension",
        rows,
        Column("", "part"),
        Column("Level", value="title"),
        *alpha_columns("Cells"),
        level=level,
        note="alpha.estimate.note",
    )


def group_table(result: RatingAgreement, names: dict[str, str], level: str) -> ReportTable:
    return ReportTable.of(
        "groups",
        "Alpha and split halves of every group",
        result.groups,
        Column("", "group"),
        Column("Group", value=lambda row: names[row.group]),
        Column("Raters", "n_raters", decimals=0),
        *alpha_columns(group="Alpha"),
        *HALVES,
        level=level,
        note=lambda row: row.alpha.reason or row.split_half.reason,
    )


def scale_table(result: RatingAgreement, names: dict[str, str], level: str) -> ReportTable:
    return ReportTable.of(
        "scales",
        "Alpha on every scale",
        result.scales,
        Column("", "scale"),
        Column("Scale", value=lambda row: names[row.scale]),
        *alpha_columns("Groups"),
        level=level,
        note="alpha.estimate.note",
    )


def half_table(result: RatingAgreement) -> ReportTable:
    return ReportTable("split_half", "Split halves of all groups together", (result,), HALVES)


def damage_table(found: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> ReportTable:
    return ReportTable.of(
        "damage",
        "Signs that the ratings were damaged before they came here",
        found,
        Column("", "kind"),
        Column("", "groups", lambda row: "; ".join(row["groups"])),
        Column("", "scales", lambda row: "; ".join(row["scales"])),
        Column("Sign", "sign", lambda row: describe_damage(read_damage(row), names)),
        Column("People", "n_people", decimals=0),
    )


def damage_sections(damage: ReportTable) -> tuple[Section, ...]:
    if not damage.rows:
        return ()
    printed = damage.printed(prose.DAMAGE)
    return (Section("Signs of damaged data", (printed,), prose.WHY_DAMAGE),)


def overall_printed(overall: ReportTable) -> Table:
    return overall.printed(
        "Alpha of all ratings by level of measurement, and of every dimension’s scales. Units are "
        "the cells of groups by scales that two people or more rated."
    )


def group_figure(groups: ReportTable, result: RatingAgreement) -> Figure:
    measurement = result.options.measurement
    return groups.figure(
        "groups",
        f"{measurement.capitalize()} alpha within every group; n is the number of raters.",
        Column("α", value=lambda row: replace(row.alpha.estimate, n=row.n_raters)),
        label="Group",
        tone="human",
        decimals=2,
        title="Agreement of raters by group",
        axis=f"Krippendorff’s {measurement} α",
        n="raters",
    )


def key_numbers(overall: ReportTable, result: RatingAgreement) -> tuple[KeyNumber, ...]:
    alpha, halves = result.overall, result.split_half
    known = [row.alpha.value for row in result.groups if not row.alpha.reason]
    return (
        overall.key(
            "value",
            {"alpha": alpha},
            f"{count(alpha.n_units, 'cell')}, {count(result.n_raters, 'rater')}",
            label=f"Krippendorff’s {alpha.measurement} α",
        ),
        KeyNumber(
            "α within groups",
            f"{number(min(known))} to {number(max(known))}" if known else MISSING,
            lines=(count(len(known), "group"),),
        ),
        KeyNumber(
            "Split-half r of mean ratings",
            number(halves.r),
            lines=(sentence(halves.reason),)
            if halves.reason
            else (
                f"Spearman–Brown {number(halves.spearman_brown)}",
                f"{count(halves.n_splits, 'random half', 'random halves')}",
            ),
        ),
    )
