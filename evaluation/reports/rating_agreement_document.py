"""The report on the agreement of raters as a document."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evaluation.analyses.rating_agreement import RatingAgreement, SplitHalf
from evaluation.charts import IntervalLine, IntervalPanel, IntervalWords
from evaluation.metrics.krippendorff_alpha import KrippendorffAlpha
from evaluation.models import Report
from evaluation.reports.cells import estimate_cells, to_frame, to_mark
from evaluation.reports.document import (
    Column,
    DataTable,
    Document,
    Figure,
    HeadGroup,
    KeyNumber,
    Section,
    Table,
    TableBuilder,
)
from evaluation.reports.formatting import MISSING, count, number
from evaluation.reports.interval_figure import interval_figure
from evaluation.reports.provenance import banners, closing_lines, study_lines

PARTS = ("value", "low", "high", "n_units", "n_values", "measurement", "reason")
HALVES = ("r", "sd", "spearman_brown", "n_raters", "n_splits", "reason")
CAVEATS = (
    "Alpha within a group is high only where raters agree on the group’s profile. It does not take "
    "away that one person uses the whole line and another its middle.",
    "A low alpha does not say that raters were careless: people may see a group differently.",
    "The reliability of mean profiles grows with the number of raters, alpha does not: the first "
    "asks whether as many other people would give the same means.",
    "Ratings of one person on several groups are not independent; intervals resample cells, not "
    "people.",
)


def lay_out_rating_agreement(report: Report, result: RatingAgreement) -> Document:
    """Return the document of a report whose result is given."""
    record = report.inputs
    study, level = record["study"], f"{result.options.level * 100:g} %"
    groups = {group["slug"]: group["plural"] for group in record["groups"]}
    scales = {scale["slug"]: f"{scale['low']} – {scale['high']}" for scale in record["scales"]}
    return Document(
        title=report.title,
        question=(
            f"{count(result.n_raters, 'person', 'people')} gave "
            f"{count(result.n_ratings, 'rating')} of {count(len(groups), 'group')} on "
            f"{count(len(scales), 'scale')}. This report measures how alike people rate the same "
            "group, and how well means of as many people would come out again."
        ),
        banners=banners(origin=study["origin"]),
        facts=(f"Study: {study['title']}",),
        keys=_keys(result, level),
        sections=(
            Section(
                "All groups together",
                (_overall_table(result, level),),
                why="Alpha is 1 where all agree and 0 where raters differ as much as ratings drawn "
                "from all at random.",
            ),
            Section(
                "Group by group",
                (_group_figure(result, groups, level), _group_table(result, groups, level)),
                why="Within a group alpha compares its scales: do people see the same profile?",
            ),
            Section(
                "Scale by scale",
                (_scale_table(result, scales, level),),
                why="On a scale alpha compares the groups: do people order them alike?",
            ),
        ),
        tables=tuple(_data_tables(result)),
        method=_method(result),
        caveats=CAVEATS,
        left_out=_left_out(study),
        provenance=(
            (
                *study_lines(
                    study,
                    what=count(result.n_ratings, "rating"),
                    digest=record["hashes"]["study ratings_hash"],
                ),
                ("Instrument", f"version {study['instrument_version']}", study["instrument_hash"]),
            ),
            closing_lines(report),
        ),
    )


def _keys(result: RatingAgreement, level: str) -> tuple[KeyNumber, ...]:
    overall, halves = result.overall, result.split_half
    known = [row.alpha.value for row in result.groups if not row.alpha.reason]
    return (
        KeyNumber(
            f"Krippendorff’s {overall.measurement} α",
            number(overall.value),
            "",
            (f"{overall.reason.capitalize()}.",)
            if overall.reason
            else (
                f"{level} interval {estimate_cells(overall)[1]}",
                f"{count(overall.n_units, 'cell')}, {count(result.n_raters, 'rater')}",
            ),
        ),
        KeyNumber(
            "α within groups",
            f"{number(min(known))} to {number(max(known))}" if known else MISSING,
            "",
            (count(len(known), "group"),),
        ),
        KeyNumber(
            "Split-half r of mean ratings",
            number(halves.r),
            "",
            (f"{halves.reason.capitalize()}.",)
            if halves.reason
            else (
                f"Spearman–Brown {number(halves.spearman_brown)}",
                f"{count(halves.n_splits, 'random half', 'random halves')}",
            ),
        ),
    )


def _overall_table(result: RatingAgreement, level: str) -> Table:
    table = TableBuilder(
        "Alpha of all ratings by level of measurement, and of every dimension’s scales. Units are "
        "the cells of groups by scales that two people or more rated.",
        "overall",
        (
            Column("Level"),
            Column("α", number=True, style="strong"),
            Column(f"{level} interval", number=True, style="quiet"),
            Column("Cells", number=True),
            Column("Ratings", number=True),
        ),
    )
    for alpha in result.levels:
        _add(table, alpha.measurement.capitalize(), alpha)
    for row in result.dimensions:
        _add(table, f"{row.dimension.capitalize()}, {row.alpha.measurement}", row.alpha)
    return table.build()


def _add(table: TableBuilder, name: str, alpha: KrippendorffAlpha) -> None:
    table.add(
        name,
        *estimate_cells(alpha),
        str(alpha.n_units),
        str(alpha.n_values),
        note=alpha.reason or alpha.interval_reason,
    )


def _group_figure(result: RatingAgreement, names: dict[str, str], level: str) -> Figure:
    lines = [
        IntervalLine(names[row.group], (to_mark(row.alpha, n=row.n_raters, tone="human"),))
        for row in result.groups
    ]
    return interval_figure(
        "groups",
        f"{result.options.measurement.capitalize()} alpha within every group. Intervals: "
        f"{result.options.n_resamples} resamples of its scales; n is the number of raters.",
        (IntervalPanel("", tuple(lines)),),
        words=IntervalWords(
            title="Agreement of raters by group",
            axis=f"Krippendorff’s {result.options.measurement} α",
            level=level,
            value="α",
            n="raters",
        ),
        decimals=2,
        data="groups",
    )


def _group_table(result: RatingAgreement, names: dict[str, str], level: str) -> Table:
    table = TableBuilder(
        "Alpha within every group, and how the means of random halves of its raters go together.",
        "groups",
        (
            Column("Group"),
            Column("Raters", number=True),
            Column("α", number=True, style="strong"),
            Column(f"{level} interval", number=True, style="quiet"),
            Column("r", number=True),
            Column("sd of r", number=True, style="quiet"),
            Column("Spearman–Brown", number=True),
            Column("Raters in halves", number=True),
        ),
        heads=(HeadGroup("", 2), HeadGroup("Alpha", 2), HeadGroup("Halves", 4)),
    )
    for row in result.groups:
        halves = row.split_half
        table.add(
            names[row.group],
            str(row.n_raters),
            *estimate_cells(row.alpha),
            number(halves.r),
            number(halves.sd),
            number(halves.spearman_brown),
            str(halves.n_raters),
            note=row.alpha.reason or halves.reason,
        )
    return table.build()


def _scale_table(result: RatingAgreement, names: dict[str, str], level: str) -> Table:
    table = TableBuilder(
        f"{result.options.measurement.capitalize()} alpha on every scale; units are the groups.",
        "scales",
        (
            Column("Scale"),
            Column("α", number=True, style="strong"),
            Column(f"{level} interval", number=True, style="quiet"),
            Column("Groups", number=True),
            Column("Ratings", number=True),
        ),
    )
    for row in result.scales:
        _add(table, names[row.scale], row.alpha)
    return table.build()


def _method(result: RatingAgreement) -> tuple[str, ...]:
    options = result.options
    return (
        "Accepted ratings count, without repeated groups. Krippendorff’s alpha is 1 − Dₒ/Dₑ of the "
        "coincidences of ratings; whoever did not rate a unit is missing there. Units are the "
        "scales within a group, the groups on a scale, and all cells of groups by scales overall.",
        f"Intervals come from {options.n_resamples} resamples of units (bias-corrected "
        "percentile).",
        "For split halves the raters of a group who rated every scale are parted at random "
        f"{options.n_splits} times. r is Pearson’s between the mean profiles of the two halves, "
        "over the cells of all groups where these are taken together; its mean and sd are those "
        "over the splits, and Spearman–Brown is the mean of 2r/(1 + r).",
    )


def _left_out(study: dict[str, Any]) -> tuple[str, ...]:
    if not study["excluded"]:
        return ()
    return (f"{count(study['excluded'], 'submission')}: excluded in the review.",)


def _data_tables(result: RatingAgreement) -> Iterable[DataTable]:
    overall = [
        *(({"part": "all"} | _parts(alpha)) for alpha in result.levels),
        *(({"part": row.dimension} | _parts(row.alpha)) for row in result.dimensions),
    ]
    yield DataTable(
        "overall",
        "Alpha of all ratings by level of measurement, and of every dimension",
        to_frame(overall, ("part", *PARTS)),
    )
    groups = (
        {"group": row.group, "n_raters": row.n_raters} | _parts(row.alpha) | _halves(row.split_half)
        for row in result.groups
    )
    columns = ("group", "n_raters", *PARTS, *(f"halves_{name}" for name in HALVES))
    yield DataTable("groups", "Alpha and split halves of every group", to_frame(groups, columns))
    scales = ({"scale": row.scale} | _parts(row.alpha) for row in result.scales)
    yield DataTable("scales", "Alpha on every scale", to_frame(scales, ("scale", *PARTS)))
    yield DataTable(
        "split_half",
        "Split halves of all groups together",
        to_frame([_halves(result.split_half)], tuple(f"halves_{name}" for name in HALVES)),
    )


def _parts(alpha: KrippendorffAlpha) -> dict[str, Any]:
    values = {name: getattr(alpha, name) for name in PARTS[:-1]}
    return values | {"reason": str(alpha.reason or alpha.interval_reason)}


def _halves(halves: SplitHalf) -> dict[str, Any]:
    return {f"halves_{name}": getattr(halves, name) for name in HALVES}
