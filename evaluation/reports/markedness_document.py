"""The markedness report as a document."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from evaluation.analyses import from_plain
from evaluation.analyses.markedness import GroupMarkedness, Markedness
from evaluation.charts import (
    IntervalLine,
    IntervalMark,
    IntervalPanel,
    IntervalWords,
)
from evaluation.models import Report
from evaluation.reports.cells import to_frame
from evaluation.reports.document import (
    Column,
    DataTable,
    Document,
    Figure,
    KeyNumber,
    Section,
    Table,
    TableBuilder,
)
from evaluation.reports.formatting import MISSING, count, interval, number
from evaluation.reports.interval_figure import interval_figure
from evaluation.reports.provenance import banners, closing_lines, run_lines
from evaluation.reports.score_inputs import TraitName
from evaluation.reports.score_words import (
    is_read_in_sentences,
    measure_title,
    options_in_words,
    quoted_templates,
    remarks,
    scored_over,
)

GROUPS = (
    "group", "group_name", "deviation", "residual", "explained", "low", "high", "n_traits",
    "reason",
)  # fmt: skip
TRAITS = ("trait", "low_pole", "high_pole", "effect", "low", "high", "sd", "same_sign", "n_groups")
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
    "The interval of a share resamples traits, that of an effect is Student’s over groups. Neither "
    "covers other templates.",
)


def lay_out_markedness(report: Report) -> Document:
    """Return the document of a built report from its record."""
    record: dict[str, Any] = report.inputs
    result = from_plain(Markedness, report.result)
    level = f"{result.options.level * 100:g} %"
    names: dict[str, str] = record["groups"]
    traits = {entry["slug"]: TraitName(**entry) for entry in record["traits"]}
    run = record["run"]
    return Document(
        title=report.title,
        question=(
            f"{count(len(result.by_group), 'group')} beside a sentence that names none: how far "
            "do the model’s scores deviate from it, and how much of that would any named group do?"
        ),
        banners=banners([run]),
        facts=(f"Run {run['number']}: {run['model']}",),
        keys=_keys(result, names, level),
        sections=(
            Section(
                "Group by group",
                (_group_figure(result, names, level), _group_table(result, names, level)),
                WHY_GROUPS,
            ),
            Section(
                "Trait by trait",
                (_trait_figure(result, traits, level), _trait_table(result, traits, level)),
                WHY_TRAITS,
            ),
        ),
        tables=_data_tables(result, names, traits),
        method=_method(result, record),
        caveats=(*CAVEATS, *remarks([run])),
        left_out=_left_out(result, record),
        provenance=(tuple(run_lines([run], record["hashes"])), closing_lines(report)),
    )


def _keys(result: Markedness, names: dict[str, str], level: str) -> tuple[KeyNumber, ...]:
    defined = _ordered(result)
    keys = [
        KeyNumber(
            "Explained by mere mention",
            number(100 * result.explained, 0),
            "" if math.isnan(result.explained) else "%",
            (f"{result.reason.capitalize()}.",)
            if result.reason
            else (
                f"{level} interval {interval(100 * result.low, 100 * result.high, 0)} %",
                f"Of the squared deviation in {count(result.n_cells, 'cell')}",
            ),
        )
    ]
    if defined:
        for label, row in (("Explained most", defined[0]), ("Explained least", defined[-1])):
            keys.append(
                KeyNumber(
                    f"{label}: {names[row.group]}",
                    number(100 * row.explained, 0),
                    "%",
                    (f"{level} interval {interval(100 * row.low, 100 * row.high, 0)} %",),
                )
            )
    return tuple(keys)


def _ordered(result: Markedness) -> list[GroupMarkedness]:
    """Return the groups with a share, the largest first."""
    known = [row for row in result.by_group if not math.isnan(row.explained)]
    return sorted(known, key=lambda row: -row.explained)


def _group_figure(result: Markedness, names: dict[str, str], level: str) -> Figure:
    undefined = [row for row in result.by_group if math.isnan(row.explained)]
    lines = tuple(
        IntervalLine(
            names[row.group],
            (
                IntervalMark(
                    100 * row.explained,
                    100 * row.low,
                    100 * row.high,
                    row.n_traits,
                    "model",
                    reason=row.reason,
                ),
            ),
        )
        for row in [*_ordered(result), *undefined]
    )
    return interval_figure(
        name="groups",
        caption="Share of every group’s squared deviation from the unmarked sentence that the mean "
        f"of all other groups explains; {level} intervals over traits. 100 % is the most there "
        "can be; below 0 the others’ mean leads away.",
        panels=(IntervalPanel("", lines),),
        words=IntervalWords(
            title="Share of the deviation that mention explains",
            axis="explained by mention, %",
            level=level,
            value="%",
            n="traits",
        ),
        decimals=0,
        data="groups",
    )


def _group_table(result: Markedness, names: dict[str, str], level: str) -> Table:
    table = TableBuilder(
        caption="Deviation of every group from the unmarked sentence, as the root mean square over "
        "traits in the measure’s unit.",
        data="groups",
        columns=(
            Column("Group"),
            Column("Deviation", number=True),
            Column("Unexplained", number=True),
            Column("Explained, %", number=True, style="strong"),
            Column(f"{level} interval", number=True, style="quiet"),
            Column("Traits", number=True),
        ),
    )
    undefined = [row for row in result.by_group if math.isnan(row.explained)]
    for row in [*_ordered(result), *undefined]:
        table.add(
            names[row.group],
            number(row.deviation, 3),
            number(row.residual, 3),
            number(100 * row.explained, 0),
            interval(100 * row.low, 100 * row.high, 0),
            str(row.n_traits),
            note=row.reason,
        )
    return table.build()


def _trait_figure(result: Markedness, traits: dict[str, TraitName], level: str) -> Figure:
    lines = tuple(
        IntervalLine(
            traits[row.trait].text,
            (
                IntervalMark(
                    row.effect,
                    row.low,
                    row.high,
                    row.n_groups,
                    "model",
                    reason="" if row.n_groups else "no group has a score",
                ),
            ),
        )
        for row in result.by_trait
    )
    return interval_figure(
        name="traits",
        caption="What naming a group does to the score of each trait pair: mean of all groups’ "
        f"deviations from the unmarked sentence, with Student’s {level} interval over groups.",
        panels=(IntervalPanel("", lines),),
        words=IntervalWords(
            title="Effect of mention on each trait",
            axis="named minus unmarked, in the measure’s unit",
            level=level,
            value="Effect",
            n="groups",
            left="towards the left adjective",
            right="towards the right",
        ),
        signed=True,
        data="traits",
    )


def _trait_table(result: Markedness, traits: dict[str, TraitName], level: str) -> Table:
    table = TableBuilder(
        caption="Effect of mention on each trait pair; positive towards its right adjective.",
        data="traits",
        columns=(
            Column("Trait pair"),
            Column("Effect", number=True, style="strong"),
            Column(f"{level} interval", number=True, style="quiet"),
            Column("SD", number=True),
            Column("Groups on its side, %", number=True),
            Column("Groups", number=True),
        ),
    )
    for row in result.by_trait:
        table.add(
            traits[row.trait].text,
            number(row.effect, 3, signed=True),
            interval(row.low, row.high, 3, signed=True),
            number(row.sd, 3),
            MISSING if math.isnan(row.same_sign) else number(100 * row.same_sign, 0),
            str(row.n_groups),
        )
    return table.build()


def _data_tables(
    result: Markedness, names: dict[str, str], traits: dict[str, TraitName]
) -> tuple[DataTable, ...]:
    overall = {
        name: getattr(result, name) for name in ("explained", "low", "high", "n_cells", "reason")
    }
    return (
        DataTable("overall", "All groups together", to_frame([overall], tuple(overall))),
        DataTable(
            "groups",
            "Group by group",
            to_frame(
                (asdict(row) | {"group_name": names[row.group]} for row in result.by_group), GROUPS
            ),
        ),
        DataTable(
            "traits",
            "Trait by trait",
            to_frame(
                (
                    asdict(row)
                    | {"low_pole": traits[row.trait].low, "high_pole": traits[row.trait].high}
                    for row in result.by_trait
                ),
                TRAITS,
            ),
        ),
    )


def _method(result: Markedness, record: dict[str, Any]) -> tuple[str, ...]:
    run = record["run"]
    unmarked = (
        "“person” or “people” in the same corpus"
        if is_read_in_sentences(run)
        else "the same templates with “person” or “people” alone"
    )
    return (
        "After the comparison of marked with unmarked sentences by Kohankhaki et al. A score is "
        "that of a trait pair’s right adjective minus that of its left; the measure is "
        f"{measure_title(record)}, {options_in_words(run)}, "
        f"{scored_over(run)}{quoted_templates(run)} A group’s deviation is its score minus that of "
        f"{unmarked}.",
        "What mention does is the mean deviation of all other groups. It explains one minus the "
        "squared difference between a group’s deviations and this mean over the squared "
        "deviations, summed over traits.",
        f"The interval of a share takes the percentiles of {result.options.n_resamples} resamples "
        "of the traits; the interval of an effect is Student’s over groups.",
    )


def _left_out(result: Markedness, record: dict[str, Any]) -> tuple[str, ...]:
    names = record["groups"]
    found = [f"{names[row.group]}: {row.reason}." for row in result.by_group if row.reason]
    if record["n_paired"]:
        found.append(
            f"{count(record['n_paired'], 'paired group')}: they would outweigh the single groups "
            "in what mention does on average."
        )
    return tuple(found)
