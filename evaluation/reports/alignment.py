"""Alignment: people's ratings of groups beside a model's scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.models import Dimension, Origin, StudyKind
from evaluation.analyses.alignment import analyze_alignment
from evaluation.analyses.alignment_result import (
    AlignmentOptions,
    AlignmentResult,
    NoiseCeiling,
    ResampledValue,
)
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.charts import (
    GroupLabel,
    IntervalLine,
    IntervalMark,
    IntervalPanel,
    IntervalWords,
    LegendEntry,
    ScaleLabel,
    forest_spec,
    heat_maps_spec,
    narrow_intervals_spec,
    profile_spec,
    small_multiples_specs,
)
from evaluation.models import Report
from evaluation.reports.alignment_tables import (
    Names,
    alignment_tables,
    by_tau,
    key_numbers,
    printed_cells,
    printed_groups,
)
from evaluation.reports.parts.document import (
    Choice,
    Choices,
    Document,
    Figure,
    Prose,
    Provenance,
    Section,
)
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import count, interval, number
from evaluation.reports.parts.kind import Chosen, Loaded, RunsInput, StudyInput
from evaluation.reports.parts.meanings import CEILING, HALVES, ORDER, PRECISION
from evaluation.reports.parts.mention import MENTION, mention_caveat, summarize_mention
from evaluation.reports.parts.options import ArmParameters, IntervalParameters
from evaluation.reports.parts.participants import NAME as PARTICIPANTS
from evaluation.reports.parts.participants import (
    ParticipantParameters,
    load_participants,
    participants_section,
    participants_table,
)
from evaluation.reports.parts.rating_inputs import (
    AlignmentInputs,
    RatingsKind,
    left_out_in_review,
    load_alignment_inputs,
    say_accepted,
)
from evaluation.reports.parts.records import AlignmentRecord
from evaluation.reports.parts.score_words import (
    CORPUS_CAVEAT,
    is_asked,
    is_read_in_sentences,
    measure_short,
    measure_title,
    options_in_words,
    quoted_templates,
    remarks,
    scored_over,
)
from evaluation.reports.parts.table import ReportTable
from evaluation.reports.parts.tau_questions import (
    CAVEAT,
    CEILING_LABEL,
    METHOD,
    TITLE,
    WHY,
    tau_headline,
)

# --- The figures of an alignment report: what they show and how they are captioned ----------------


class AlignmentFigures:
    """The three figures of an alignment; ``profile`` takes the group that it shows."""

    def __init__(
        self,
        result: AlignmentResult,
        record: AlignmentRecord,
        tables: Mapping[str, ReportTable],
        *,
        measure: str,
    ) -> None:
        self._result = result
        self._tables = {name: table.frame for name, table in tables.items()}
        self._measure = measure
        dimensions = dict(Dimension.choices)
        self._groups = [
            GroupLabel(entry["slug"], entry["plural"], entry["domain"])
            for entry in record["groups"]
        ]
        self._scales = [
            ScaleLabel(
                entry["slug"],
                entry["low"],
                entry["high"],
                entry["dimension"],
                str(dimensions.get(entry["dimension"], "")),
            )
            for entry in record["scales"]
        ]

    @cached_property
    def heat_maps(self) -> Figure:
        domains = len({group.domain for group in self._groups})
        dimensions = len({scale.dimension for scale in self._scales})
        return Figure(
            "heat-maps",
            f"{count(len(self._groups), 'group')} in {count(domains, 'domain')}, "
            f"{count(len(self._scales), 'scale')} in {count(dimensions, 'dimension')}. Ratings are "
            "centered on 50, scores on 0; scores beyond the 98th percentile are clipped. Colors "
            "show direction and strength within a map; the units of the two maps differ.",
            heat_maps_spec(self._tables["cells"], groups=self._groups, scales=self._scales),
            heat_maps_spec(
                self._tables["cells"], groups=self._groups, scales=self._scales, stacked=True
            ),
            data="cells",
        )

    def profile(self, group: str) -> Figure:
        label = next(label for label in self._groups if label.slug == group)
        return Figure(
            "profile",
            f"Mean rating and mean score of {label.text} on every scale, with Student’s "
            "intervals: people’s exist for ten ratings or more, the model’s, which say how far a "
            "score depends on the wording of the prompt, for six prompts or more.",
            profile_spec(
                self._tables["cells"],
                self._tables["groups"],
                group=label,
                scales=self._scales,
                level=self._result.options.level,
                model_axis=f"Model: mean {self._measure} score",
            ),
            data="cells",
            query=f"?group={group}",
        )

    def multiples(self, order: Sequence[str]) -> tuple[Figure, ...]:
        """Return every group in small, row by row, in the order of these slugs."""
        labels = {label.slug: label for label in self._groups}
        specs = small_multiples_specs(
            self._tables["cells"],
            self._tables["groups"],
            groups=[labels[slug] for slug in order],
            scales=self._scales,
        )
        return tuple(
            Figure(f"multiples-{row}", "", spec, data="cells")
            for row, spec in enumerate(specs, start=1)
        )

    @cached_property
    def forest(self) -> Figure:
        options = self._result.options
        ceiling = self._result.pooled.ceiling
        first = count(ceiling.n_first, "person", "people")
        halves = f" (all cells: {first} with {ceiling.n_second})"
        return Figure(
            "forest",
            f"Groups in order of τ. Intervals: {self._result.resampling.group} for a group, and "
            f"{self._result.resampling.overall} for all cells pooled. The band is the agreement "
            f"of one half of the raters with the other over {options.n_splits} splits"
            f"{halves if ceiling.n_first else ''}; a model can pass it where people themselves "
            "agree little.",
            forest_spec(self._tables["groups"], self._tables["overall"], groups=self._groups),
            self._narrow_forest(),
            data="groups",
        )

    def _narrow_forest(self) -> dict[str, Any]:
        """Return the forest for a phone: τ of every group, and outlined below it its halves."""
        names = {label.slug: label.text for label in self._groups}
        pooled = self._result.pooled
        lines = [
            IntervalLine(
                names[row.group],
                (_tau_mark(row.tau, row.n_raters), _ceiling_mark(row.ceiling, row.n_raters)),
            )
            for row in sorted(
                self._result.by_group,
                key=lambda row: math.inf if math.isnan(row.tau.value) else -row.tau.value,
            )
        ]
        whole = IntervalLine(
            f"all {pooled.n_cells} cells pooled",
            (
                _tau_mark(pooled.tau, pooled.n_submissions),
                _ceiling_mark(pooled.ceiling, pooled.n_submissions),
            ),
            bold=True,
        )
        options = self._result.options
        return narrow_intervals_spec(
            (IntervalPanel("", (*lines, whole)),),
            words=IntervalWords(
                title="Agreement by group",
                axis="Kendall’s τ",
                level=f"{options.level * 100:g} %",
                value="τ",
                n="raters",
            ),
            legend=(
                LegendEntry("τ of the model", "ink"),
                LegendEntry(
                    f"Halves of the raters, middle {options.ceiling_share * 100:g} % of splits",
                    "ink",
                    outlined=True,
                ),
            ),
            reference=0.0,
            decimals=2,
        )


def _tau_mark(tau: ResampledValue, n: int) -> IntervalMark:
    return IntervalMark(tau.value, tau.interval.low, tau.interval.high, n, reason=str(tau.reason))


def _ceiling_mark(ceiling: NoiseCeiling, n: int) -> IntervalMark:
    return IntervalMark(
        ceiling.mean, ceiling.low, ceiling.high, n, outlined=True, reason=str(ceiling.reason)
    )


# --- The sentences of an alignment report. They state what was done, never a verdict --------------

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Agreement in order, Kendall’s τ": ORDER,
    CEILING_LABEL: CEILING,
    "Agreement between halves of the raters": HALVES,
    "Precision at …": PRECISION,
    "Groups with τ above zero": (
        "Groups of which the model’s order of traits follows people’s by more than chance "
        "explains, after correction for the number of groups (Holm)."
    ),
}


# Below this many raters a group's numbers carry a warning of their own.
FEW_RATERS = 5

PICTURES = mark_safe(
    'Cells in <i class="swatch low"></i> brown lie nearer the adjective below the map, cells in '
    '<i class="swatch high"></i> green nearer the one above it. A dot marks a cell whose '
    "interval includes the center: its direction is not settled."
)
DETAIL = (
    "People and model are drawn against one center line. Compare their order from scale to scale, "
    "not the distance between the marks, since the units differ."
)


def agreement(n_scales: int) -> str:
    """Return how the differences between groups are to be read."""
    return (
        f"With {count(n_scales, 'scale')} a single group’s interval is wide, so a difference "
        "between two neighboring rows is not evidence of a difference."
    )


def reliability(result: AlignmentResult) -> list[Section]:
    """Return how far the ratings may be relied on; nothing without a ceiling."""
    answers, halves = result.pooled.answers, result.pooled.ceiling
    if answers.ceiling != answers.ceiling:
        return []
    share = f"{100 * result.options.ceiling_share:g} %"
    agreed = (
        f"Halves of the raters could not be compared: {halves.reason}."
        if halves.reason
        else f"Random halves of the raters, {halves.n_first} and {halves.n_second} people, agree "
        f"with τ {number(halves.mean)} on average (middle {share} of {halves.n_splits} splits: "
        f"{interval(halves.low, halves.high)}). Both halves are noisy, so a model can pass it."
    )
    text = (
        f"The reliability of the mean ratings is {number(answers.reliability)}: the share of their "
        "variance that is not noise. The true means themselves would reach τ "
        f"{number(answers.ceiling)} against these ratings, the ceiling of τ as observed. {agreed}"
    )
    return [Section("Reliability of the ratings", (Prose((text,)),))]


def question(record: AlignmentRecord, result: AlignmentResult) -> str:
    """Return the lead: what is set beside what."""
    return (
        f"For {count(len(result.groups), 'social group')} and "
        f"{count(len(result.scales), 'trait scale')}, this report sets people’s ratings beside "
        "the scores of one language model and measures how well their orders agree."
    )


def method(record: AlignmentRecord, result: AlignmentResult) -> tuple[str, ...]:
    """Return the method in words, one paragraph for people, model and comparison each."""
    study, run, options = record["study"], record["run"], result.options
    if study["origin"] == Origin.SIMULATED:
        source = "The ratings were simulated; no person gave them. "
    else:
        source = (
            "People rated how a group is seen in America, not what they think themselves, on "
            "lines from 0 to 100 between two words. "
        )
    groups = count(study["groups_per_submission"], "group")
    groups = f"with {groups}" if study["accepted"] == 1 else f"most with {groups} each"
    people = f"{source}{say_accepted(study)}, {groups}; repeated groups are left out."
    if is_read_in_sentences(run):
        scored = (
            "The model’s score for a scale is an effect size, how much nearer the group’s "
            "embeddings are to those of the right adjective than to those of the left, "
            f"{scored_over(run)}{quoted_templates(run)}"
        )
    elif is_asked(run):
        scored = (
            "The model’s score for a scale is its rating from 0 to 100 minus 50, "
            f"{scored_over(run)}{quoted_templates(run)}"
        )
    else:
        scored = (
            "The model’s score for a scale is that of the right adjective minus that of the left, "
            f"{scored_over(run)}{quoted_templates(run)}"
        )
    model = (
        f"The measure is {measure_title(run)}, {options_in_words(run)}. {scored} A positive "
        "score lies toward the right adjective."
    )
    comparison = (
        "τ is Kendall’s tau-b between the model’s scores and the means of people’s ratings: "
        f"overall over all {result.pooled.n_cells} pooled cells; the mean of the groups’ own τ is "
        f"{number(result.pooled.group_tau.value)}. Precision at {options.k} is the share of the "
        f"{options.k} highest scored scales whose mean rating is above {options.center:g}, and of "
        f"the {options.k} lowest whose mean is below it, averaged; as "
        "observed it has no interval. The interval of τ of a group leaves out one scale "
        "at a time (jackknife on artanh τ, Student’s t); its p comes from the same t and is "
        "Holm-corrected over groups. “p, scales independent” is that of published "
        "tables. Agreement between halves of the raters is τ between the means of two random "
        f"halves of the people, over {options.n_splits} splits."
    )
    return (people, model, comparison, METHOD)


def caveats(record: AlignmentRecord, result: AlignmentResult) -> tuple[str, ...]:
    """Return what the numbers do not say."""
    found = [
        "They describe one model under stated prompts. They say nothing about the people in a "
        "group.",
        "Prompts that name “men” or “White people” are marked: texts often leave such groups "
        "unsaid, so scores for them rest on less natural sentences. People who rate “men” may "
        "likewise think of the unmarked case.",
        "A mean hides disagreement: half of the ratings at 0 and half at 100 give the same mean "
        "as all of them at 50.",
        "A model can pass the agreement between halves of the raters: both halves are noisy.",
        f"With {count(len(result.scales), 'scale')} a single group’s interval is wide. A "
        "difference between two groups is not evidence of a difference.",
        CAVEAT,
    ]
    fewest = min(row.n_raters for row in result.by_group)
    if fewest < FEW_RATERS:
        found.append(
            f"Some groups have only {count(fewest, 'rater')}: their means, intervals and halves "
            "rest on very little."
        )
    if len(record["run"]["templates"]) == 1:
        found.append("One template was used: the scores say nothing about other wordings.")
    if is_read_in_sentences(record["run"]):
        found.append(CORPUS_CAVEAT)
    found += remarks([record["run"]])
    origin = record["study"]["origin"]
    if origin == Origin.IMPORTED:
        citation = record["study"]["source"].splitlines()[0]
        found.append(f"The ratings were imported, not collected here. {citation}")
    elif origin == Origin.COLLECTED:
        found.append("The ratings come from one study with its own panel, place and time.")
    return tuple(found)


def left_out(result: AlignmentResult, names: Names) -> tuple[str, ...]:
    """Return what did not enter, with its group and scale."""
    found = []
    for item in result.left_out:
        parts = (names.groups.get(item.group, item.group), names.scale(item.scale))
        what = "" if item.what in {"group", "cell"} else f", {count(item.n, item.what[:-1])}"
        found.append(f"{' × '.join(part for part in parts if part)}{what}: {item.reason}.")
    return tuple(found)


class AlignmentParameters(ParticipantParameters, IntervalParameters, ArmParameters):
    """The options of an alignment report."""

    splits: int = Field(
        1000,
        ge=100,
        le=100_000,
        title="Split halves",
        description="Random halves of the people for the noise ceiling.",
    )


class Alignment(RatingsKind):
    name = "alignment"
    title = _("Alignment of people and model")
    question = _("Do a model’s associations of groups with traits follow people’s ratings?")
    meanings = MEANINGS
    Parameters = AlignmentParameters
    study = StudyInput(
        StudyKind.ABC_SURVEY,
        _(
            "Studies with accepted ratings. Accept submissions in the review queue, or import "
            "published ratings with “manage.py import_abc_ratings”."
        ),
    )
    runs = RunsInput(_("The report is built as soon as its run is finished."))
    views = ("group",)

    def default_title(self, chosen: Chosen) -> str:
        return f"Do the group associations of {chosen.runs[0].model.name} follow people’s?"

    def load(self, chosen: Chosen, parameters: AlignmentParameters) -> Loaded:
        inputs = load_alignment_inputs(
            study=chosen.the_study, run=chosen.runs[0], arm=parameters.arm
        )
        who = load_participants(
            chosen.the_study, set(inputs.ratings["submission"].unique()), parameters
        )
        return Loaded(
            record=inputs.record | {PARTICIPANTS: who.record},
            data=inputs,
            hashes=inputs.hashes,
        )

    def compute(self, loaded: Loaded, parameters: AlignmentParameters) -> dict[str, Any]:
        inputs: AlignmentInputs = loaded.data
        result = analyze_alignment(
            ratings=inputs.ratings,
            scores=inputs.score_table(parameters.level),
            options=AlignmentOptions(n_splits=parameters.splits, **parameters.bootstrap),
            **inputs.order,
        )
        plain: dict[str, Any] = to_plain(result)
        mention = summarize_mention(inputs.all_scores, result.groups, parameters.bootstrap)
        return plain | ({MENTION: mention} if mention else {})

    def document(self, report: Report, view: Mapping[str, str]) -> Document:
        """Lay the report out with one group in detail, by default that with the highest τ."""
        record: AlignmentRecord = report.inputs
        stored = dict(report.result or {})
        mention: dict[str, Any] | None = stored.pop(MENTION, None)
        result: AlignmentResult = from_plain(AlignmentResult, stored)
        names = Names.of(record)
        tables = alignment_tables(result, names)
        group = view.get("group", "") or by_tau(tables["groups"])[0].group
        if group not in result.groups:
            raise ReportError(f"The report has no group “{group}”.")
        figures = AlignmentFigures(result, record, tables, measure=measure_short(record["run"]))
        who = participants_section(record["participants"], origin=record["study"]["origin"])
        laid_out = Document(
            question=question(record, result),
            keys=key_numbers(result),
            sections=(
                Section("Three questions", (tables["questions"].printed(TITLE),), why=WHY),
                Section("The two pictures", (figures.heat_maps,), why=PICTURES),
                _detail(group, tables, figures, names, measure_short(record["run"])),
                Section(
                    "Agreement by group",
                    (figures.forest, printed_groups(tables["groups"])),
                    why=agreement(len(names.scales)),
                ),
                *reliability(result),
                *([who] if who else []),
            ),
            tables=(
                *tables.values(),
                *([participants_table(record["participants"])] if who else []),
            ),
            method=method(record, result),
            caveats=(
                *caveats(record, result),
                *([mention_caveat(mention)] if mention else []),
            ),
            left_out=(*left_out_in_review(record["study"]), *left_out(result, names)),
        )
        return self.complete(report, laid_out)

    def sources(self, report: Report) -> list[Provenance]:
        study = report.inputs["study"]
        n = count(study["finished"] - study["accepted"], "finished submission")
        return [*super().sources(report), ("Left out", f"{n} not accepted", "")]

    def headline(self, result: dict[str, Any]) -> str:
        return tau_headline([(result["pooled"], result["pooled"]["tau"])])


def _detail(
    group: str,
    tables: Mapping[str, ReportTable],
    figures: AlignmentFigures,
    names: Names,
    measure: str,
) -> Section:
    rows = by_tau(tables["groups"])
    choices = Choices(
        label="Another group",
        anchor="detail",
        options=tuple(
            Choice(names.groups[row.group], f"?group={row.group}", row.group == group)
            for row in rows
        ),
        figures=tuple(
            (names.groups[row.group], figures.profile(row.group))
            for row in tables["groups"].rows
            if row.group != group
        ),
        multiples=figures.multiples([row.group for row in rows]),
        caption="Every group, highest τ first: people’s mean ratings (circles, 0 to 100) and the "
        "model’s mean scores (diamonds) with their intervals, on the same axes throughout.",
    )
    return Section(
        f"One group in detail: {names.groups[group]}",
        (figures.profile(group), choices, printed_cells(tables["cells"], names, group, measure)),
        why=DETAIL,
        anchor="detail",
    )
