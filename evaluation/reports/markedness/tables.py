"""The tables of the markedness report."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.analyses.markedness import Markedness
from evaluation.reports.parts.document import Figure, KeyNumber, Table
from evaluation.reports.parts.formatting import count
from evaluation.reports.parts.score_inputs import TraitName
from evaluation.reports.parts.table import Column, ReportTable, ranked

EXPLAINED = Column.estimate(
    "Explained, %",
    "explained",
    "share",
    0,
    scale=100,
    style="strong",
    meaning="share of the squared deviation that mention explains, at most 1",
)


def overall_table(result: Markedness, level: str) -> ReportTable:
    columns = (EXPLAINED, Column("Cells", "n_cells", decimals=0), Column("", "reason"))
    return ReportTable("overall", "All groups together", [result], columns, level)


def group_table(result: Markedness, names: Mapping[str, str], level: str) -> ReportTable:
    return ReportTable.of(
        "groups",
        "Group by group",
        result.by_group,
        Column("", "group", meaning="slug of the group"),
        Column("Group", "group_name", lambda row: names[row.group]),
        Column("Deviation", "deviation", decimals=3, unit="the measure’s"),
        Column("Unexplained", "residual", decimals=3, unit="the measure’s"),
        EXPLAINED,
        Column("Traits", "n_traits", decimals=0),
        Column("", "reason", meaning="why there is no share"),
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
        Column("SD", "sd", decimals=3, unit="the measure’s"),
        Column(
            "Groups on its side, %",
            "same_sign",
            decimals=0,
            scale=100,
            meaning="share of the groups whose deviation has the sign of the effect",
        ),
        Column("Groups", "n_groups", decimals=0),
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
            f"all other groups explains; {groups.level} intervals over traits "
            "and templates. 100 % is the most there can be; below 0 "
            "the others’ mean leads away.",
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
            left="towards the left adjective",
            right="towards the right",
        ),
        traits.printed(
            "Effect of mention on each trait pair; positive towards its right adjective."
        ),
    )
