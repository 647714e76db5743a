"""Agreement of raters: how alike people rate the same groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Literal

from django.utils.translation import gettext_lazy as _

from annotation.studies.quality.damage import (
    PlacedRating,
    describe_damage,
    find_damage,
    read_damage,
)
from annotation.studies.ratings import count_left_out
from evaluation.analyses.rating_agreement import (
    GroupAgreement,
    RatingAgreement,
    RatingAgreementOptions,
    ScaleAgreement,
    analyze_rating_agreement,
)
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.krippendorff_alpha import KrippendorffAlpha
from evaluation.metrics.shown import Shown
from evaluation.metrics.type_token import wilson_interval
from evaluation.models import Report
from evaluation.reports.parts.document import (
    Document,
    Figure,
    KeyNumber,
    Provenance,
    Section,
    Table,
)
from evaluation.reports.parts.formatting import MISSING, count, number, percent, sentence
from evaluation.reports.parts.kind import AnalysisKind, Chosen, Loaded, Topic
from evaluation.reports.parts.meanings import ALPHA
from evaluation.reports.parts.options import (
    ArmParameters,
    IntervalParameters,
    level_of_measurement,
    split_halves,
)
from evaluation.reports.parts.rating_inputs import (
    People,
    RatingsKind,
    left_out_in_review,
    load_people,
)
from evaluation.reports.parts.table import ALPHA_COLUMNS, Column, ReportTable

# --- The words of a report on the agreement of raters ---------------------------------------------

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Krippendorff’s … α": ALPHA,
    "α within groups": (
        "The same, computed for each group by itself: from the group that people agree least "
        "about to the one that they agree most about."
    ),
    "Split-half r of mean ratings": (
        "The people are cut into two random halves, and the means of one half are correlated "
        "with those of the other. Near 1 the means hardly depend on who was asked."
    ),
}


DAMAGE = "Ratings that look as if they were damaged before they came here."
WHY_DAMAGE = (
    "Ratings that are copies of others are rare by chance: compare them with their source before "
    "the numbers below are used. All of them are counted here."
)
LEFT_OUT = (
    "Share of the people asked about a group who left out all of it, with Wilson’s interval; lines "
    "that others left out one by one are counted. Groups that nobody left out are not listed."
)
WHY_LEFT_OUT = (
    "Means of a group that many would not rate are those of the people who would. What was left "
    "out is no rating: it is not part of any number below."
)
WHY_OVERALL = (
    "Alpha is 1 where all agree and 0 where raters differ as much as ratings drawn from all at "
    "random."
)
WHY_GROUPS = "Within a group alpha compares its scales: do people see the same profile?"
WHY_SCALES = "On a scale alpha compares the groups: do people order them alike?"
CAVEATS = (
    "Alpha within a group is high only where raters agree on the group’s profile. It does not take "
    "away that one person uses the whole line and another its middle.",
    "A low alpha does not say that raters were careless: people may see a group differently.",
    "The reliability of mean profiles grows with the number of raters, alpha does not: the first "
    "asks whether as many other people would give the same means.",
)


def question(result: RatingAgreement, record: dict[str, Any]) -> str:
    return (
        f"{count(result.n_raters, 'person', 'people')} gave "
        f"{count(result.n_ratings, 'rating')} of {count(len(record['groups']), 'group')} on "
        f"{count(len(record['scales']), 'scale')}. This report measures how alike people rate the "
        "same group, and how well means of as many people would come out again."
    )


def method(result: RatingAgreement) -> tuple[str, ...]:
    options = result.options
    return (
        "Accepted ratings count, without repeated groups. Krippendorff’s alpha is 1 − Dₒ/Dₑ of the "
        "coincidences of ratings; whoever did not rate a unit is missing there. Units are the "
        "scales within a group, the groups on a scale, and all cells of groups by scales overall.",
        "Intervals are for people and units like these: a jackknife of ln(1 − α) over either, "
        "from five people and 40 units on. With fewer none was shown to hold.",
        "For split halves the raters of a group who rated every scale are parted at random "
        f"{options.n_splits} times. r is Pearson’s between the mean profiles of the two halves, "
        "over the cells of all groups where these are taken together; its mean and sd are those "
        "over the splits, and Spearman–Brown is the mean of 2r/(1 + r).",
    )


NEGATIVE_HALVES = (
    "Spearman–Brown supposes halves that agree: where r of some splits is negative, 2r/(1 + r) "
    "falls without limit, and a mean below −1, or below r, says no more than that halves disagree."
)


def caveats(result: RatingAgreement) -> tuple[str, ...]:
    halves = (result.split_half, *(row.split_half for row in result.groups))
    return (
        *CAVEATS,
        *((NEGATIVE_HALVES,) if any(one.spearman_brown < one.r for one in halves) else ()),
    )


# --- The tables of a report on the agreement of raters --------------------------------------------


@dataclass(frozen=True)
class LevelRow:
    """The alpha of all scales, or of those of a dimension, at one level of measurement."""

    part: str
    title: str
    alpha: KrippendorffAlpha


def overall_table(result: RatingAgreement, level: str) -> ReportTable:
    rows = [LevelRow("all", alpha.measurement.capitalize(), alpha) for alpha in result.levels]
    for row in result.dimensions:
        title = f"{row.dimension.capitalize()}, {row.alpha.measurement}"
        rows.append(LevelRow(row.dimension, title, row.alpha))
    return ReportTable.of_rows(
        "overall",
        "Alpha of all ratings by level of measurement, and of every dimension",
        rows,
        LevelRow,
        "part",
        Column("Level", value="title"),
        *ALPHA_COLUMNS,
        labels={"units": "Cells"},
        level=level,
        note="alpha.estimate.note",
    )


def group_table(result: RatingAgreement, names: dict[str, str], level: str) -> ReportTable:
    return ReportTable.of_rows(
        "groups",
        "Alpha and split halves of every group",
        result.groups,
        GroupAgreement,
        "group",
        Column("Group", value=lambda row: names[row.group]),
        "n_raters",
        {"Alpha": ALPHA_COLUMNS},
        "split_half",
        labels={"units": "Scales"},
        level=level,
        note=lambda row: row.alpha.reason or row.split_half.reason,
    )


def groups_printed(groups: ReportTable) -> Table:
    return groups.printed(
        "Alpha within every group, and how the means of random halves of its raters go together.",
        columns=(
            *("Group", "n_raters", "value", "halves_r", "halves_sd", "halves_spearman_brown"),
            "halves_n_raters",
        ),
    )


def scale_table(result: RatingAgreement, names: dict[str, str], level: str) -> ReportTable:
    return ReportTable.of_rows(
        "scales",
        "Alpha on every scale",
        result.scales,
        ScaleAgreement,
        "scale",
        Column("Scale", value=lambda row: names[row.scale]),
        *ALPHA_COLUMNS,
        labels={"units": "Groups"},
        level=level,
        note="alpha.estimate.note",
    )


def half_table(result: RatingAgreement) -> ReportTable:
    title = "Split halves of all groups together"
    return ReportTable.of_rows("split_half", title, (result,), RatingAgreement, "split_half")


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
    printed = damage.printed(DAMAGE)
    return (Section("Signs of damaged data", (printed,), WHY_DAMAGE),)


@dataclass(frozen=True)
class LeftOutGroup:
    """A group that people left out; lines : that others left out one by one."""

    group: str
    plural: str
    asked: Annotated[int, Shown("People asked", 0)]
    declined: Annotated[Estimate, Shown("Rather not answer, %", 0, scale=100)]
    unknown: Annotated[Estimate, Shown("Don’t know it, %", 0, scale=100, prefix="unknown_")]
    lines: Annotated[int, Shown("Single lines", 0)]


def left_out_table(found: Sequence[Mapping[str, Any]], level: float) -> ReportTable:
    def share(row: Mapping[str, Any], kind: str) -> Estimate:
        share, n = row[kind] / row["asked"], row["asked"]
        return Estimate(share, *wilson_interval(share, n, level=level), n)

    return ReportTable.of_rows(
        "left_out",
        "Groups that people left out",
        [
            LeftOutGroup(
                row["group"],
                row["plural"],
                row["asked"],
                share(row, "declined"),
                share(row, "unknown"),
                row["lines"],
            )
            for row in found
        ],
        LeftOutGroup,
        "group",
        Column("Group", value="plural"),
        *("asked", "declined", "unknown", "lines"),
        level=percent(level),
    )


def left_out_sections(table: ReportTable) -> tuple[Section, ...]:
    if not table.rows:
        return ()
    return (Section("What people left out", (table.printed(LEFT_OUT),), WHY_LEFT_OUT),)


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
            LevelRow("all", "", alpha),
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


class RatingAgreementParameters(IntervalParameters, ArmParameters):
    """The options of a report on the agreement of raters."""

    measurement: Literal["nominal", "ordinal", "interval", "ratio"] = level_of_measurement(
        "interval", ""
    )
    splits: int = split_halves("Random halves of the raters; 0 for none.", least=0)


class AgreementOfRaters(RatingsKind, AnalysisKind[RatingAgreement]):
    name = "rating_agreement"
    title = _("Agreement of raters")
    question = _("How alike do people rate the same groups?")
    topic = Topic.PEOPLE
    meanings = MEANINGS
    Parameters = RatingAgreementParameters
    Result = RatingAgreement
    libraries = (*AnalysisKind.libraries, "krippendorff")

    def default_title(self, chosen: Chosen) -> str:
        return f"How far do the raters of {chosen.the_study} agree?"

    def load(self, chosen: Chosen, parameters: RatingAgreementParameters) -> Loaded:
        people = load_people(chosen.the_study, arm=parameters.arm)
        damage = find_damage(map(PlacedRating._make, people.ratings.itertuples(index=False)))
        left_out = [
            {**row, "plural": people.names.get(row["group"], row["group"])}
            for row in count_left_out(chosen.the_study, arm=parameters.arm)
        ]
        return Loaded(
            record={
                "study": people.record,
                "groups": [asdict(group) for group in people.groups],
                "scales": [asdict(scale) for scale in people.scales],
                **({"damage": [found.record for found in damage]} if damage else {}),
                **({"left_out": left_out} if left_out else {}),
            },
            data=people,
            hashes={"study ratings_hash": people.record["ratings_hash"]},
        )

    def analyze(self, loaded: Loaded, parameters: RatingAgreementParameters) -> RatingAgreement:
        people: People = loaded.data
        return analyze_rating_agreement(
            people.ratings,
            **people.order,
            dimensions={scale.slug: scale.dimension for scale in people.scales},
            options=RatingAgreementOptions(
                measurement=parameters.measurement,
                n_splits=parameters.splits,
                **parameters.bootstrap,
            ),
        )

    def lay_out(self, report: Report, result: RatingAgreement, view: Mapping[str, str]) -> Document:
        record: dict[str, Any] = report.inputs
        study, level = record["study"], percent(result.options.level)
        group_names = {group["slug"]: group["plural"] for group in record["groups"]}
        scale_names = {
            scale["slug"]: f"{scale['low']} – {scale['high']}" for scale in record["scales"]
        }
        overall = overall_table(result, level)
        groups = group_table(result, group_names, level)
        scales = scale_table(result, scale_names, level)
        damage = damage_table(record.get("damage", ()), group_names | scale_names)
        unrated = left_out_table(record.get("left_out", ()), result.options.level)
        measurement = result.options.measurement.capitalize()
        by_scale = scales.printed(f"{measurement} alpha on every scale; units are the groups.")
        return Document(
            question=question(result, record),
            keys=key_numbers(overall, result),
            sections=(
                *damage_sections(damage),
                *left_out_sections(unrated),
                Section("All groups together", (overall_printed(overall),), WHY_OVERALL),
                Section(
                    "Group by group",
                    (group_figure(groups, result), groups_printed(groups)),
                    WHY_GROUPS,
                ),
                Section("Scale by scale", (by_scale,), WHY_SCALES),
            ),
            tables=(
                overall,
                groups,
                scales,
                half_table(result),
                *(table for table in (damage, unrated) if table.rows),
            ),
            method=method(result),
            caveats=caveats(result),
            left_out=left_out_in_review(study),
        )

    def sources(self, report: Report) -> list[Provenance]:
        study = report.inputs["study"]
        version = f"version {study['instrument_version']}"
        return [*super().sources(report), ("Instrument", version, study["instrument_hash"])]

    def headline(self, result: dict[str, Any]) -> str:
        return f"α {number(result['overall']['value'])}"
