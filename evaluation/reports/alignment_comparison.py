"""Alignment comparison: several measures and models beside the same people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.common.lazy import pd
from annotation.instruments.versions import published_instrument
from annotation.models import Study
from evaluation.analyses.alignment_comparison import compare_alignments
from evaluation.analyses.alignment_comparison_result import ALL, ComparisonResult
from evaluation.analyses.alignment_result import AlignmentOptions
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.analyses.score_table import ScoreTable
from evaluation.analyses.template_selection import PILOT_GROUPS
from evaluation.models import Report
from evaluation.reports import alignment_comparison_tables as tables
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
from evaluation.reports.parts.provenance import run_key
from evaluation.reports.parts.rating_inputs import (
    GroupName,
    ModelScores,
    Places,
    RatingsKind,
    ScaleName,
    left_out_in_review,
    load_model_scores,
    load_people,
)
from evaluation.reports.parts.records import ComparisonRecord, RunRecord
from evaluation.reports.parts.score_words import measure_short, short_options
from evaluation.reports.parts.tau_questions import tau_headline
from probing.models import Run

# --- Loads what a comparison rests on: one study's ratings and the scores of several runs ---------


@dataclass(frozen=True)
class ComparisonInputs(Places):
    """``models`` : the run's public id → its scores of the groups in the comparison.

    ``groups`` are those that people rated and a run scores; ``scales`` those that people rated
    and every run scores, so that all are asked the same. ``all_scores`` are those of every run with
    the groups that nobody rated, among them the unmarked baseline where it is scored.
    """

    ratings: pd.DataFrame
    models: dict[str, ModelScores]
    all_scores: dict[str, pd.DataFrame]
    groups: tuple[GroupName, ...]
    scales: tuple[ScaleName, ...]
    record: dict[str, Any]
    hashes: dict[str, str]


def load_comparison(study: Study, runs: Sequence[Run], *, arm: str = "") -> ComparisonInputs:
    """Return the inputs of a comparison of finished ``runs``.

    Raises `ReportError` where people and a run have nothing to compare. Six queries and one a
    run.
    """
    models = [load_model_scores(run) for run in runs]
    people = load_people(study, arm=arm)
    rated = {group.slug for group in people.groups}
    for model in models:
        if not model.groups & rated:
            raise ReportError(f"“{study}” and {model.run} have no group in common.")
    scored = set.union(*(model.groups for model in models))
    scales = tuple(
        scale for scale in people.scales if all(scale.slug in model.scales for model in models)
    )
    if not scales:
        raise ReportError(f"“{study}” and the runs have no trait scale in common.")
    groups = tuple(group for group in people.groups if group.slug in scored)
    common = {group.slug for group in groups}
    kept = [
        replace(model, scores=model.scores[model.scores["group"].isin(common)]) for model in models
    ]
    names: dict[str, str] = {}
    for model in models:
        names |= model.names
    names |= people.names
    return ComparisonInputs(
        ratings=people.ratings,
        models={model.record["public_id"]: model for model in kept},
        all_scores={model.record["public_id"]: model.scores for model in models},
        groups=groups,
        scales=scales,
        record={
            "study": people.record,
            "runs": _label([model.record for model in models]),
            "groups": [asdict(group) for group in groups],
            "scales": [asdict(scale) for scale in scales],
            "other_groups": {slug: name for slug, name in names.items() if slug not in common},
        },
        hashes={"study ratings_hash": people.record["ratings_hash"]}
        | {run_key(model.record): model.record["scores_hash"] for model in models},
    )


def _label(runs: list[RunRecord]) -> list[RunRecord]:
    """Return the runs with a name each: measure with the options that are not the defaults, and
    model; and the number where these repeat."""
    texts = []
    for run in runs:
        options = short_options(run)
        measure = measure_short(run) + (f" ({options})" if options else "")
        texts.append(f"{measure}, {run['model']}")
    often = Counter(texts)
    return [
        run | {"label": text if often[text] == 1 else f"{text} (run {run['number']})"}
        for run, text in zip(runs, texts, strict=True)
    ]


MOST_RUNS = 12


class ComparisonParameters(IntervalParameters, ArmParameters):
    """The options of a comparison."""

    resamples: int = Field(
        2000,
        ge=100,
        le=10_000,
        description="Resamples for what the mere mention of a group explains.",
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
    meanings = tables.MEANINGS
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
        record: ComparisonRecord = report.inputs
        stored = dict(report.result or {})
        names = tables.Names.of(record, stored.pop(MENTION, {}))
        result = from_plain(ComparisonResult, stored)
        found = {table.name: table for table in tables.all_tables(result, names)}
        level = percent(result.options.level)
        runs, pairs, groups = (found[name] for name in ("overall", "differences", "groups"))
        laid_out = Document(
            question=tables.question(record, result),
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
                    tables.WHY_OVERALL,
                ),
                Section(
                    "Every two runs",
                    (
                        tables.pair_figure(pairs, result, names),
                        tables.pairs_printed(pairs, result),
                    ),
                    tables.WHY_PAIRS,
                ),
                Section(
                    "Group by group",
                    (
                        tables.group_figure(result, names, level),
                        *tables.groups_printed(groups, result, names),
                    ),
                    tables.WHY_GROUPS,
                ),
                *(
                    Section(
                        "Mere mention",
                        (tables.mention_printed(table, result, level),),
                        tables.WHY_MENTION,
                    )
                    for name, table in found.items()
                    if name == MENTION
                ),
            ),
            tables=tuple(found.values()),
            method=tables.method(record, result),
            caveats=tables.caveats(record, result),
            left_out=(*left_out_in_review(record["study"]), *tables.left_out(record, result)),
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
