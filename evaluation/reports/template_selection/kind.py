"""Template selection: chosen on pilot groups, tested on the others, reported apart."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.instruments.versions import published_instrument
from evaluation.analyses.alignment import analyze_alignment
from evaluation.analyses.alignment_result import AlignmentOptions, AlignmentResult
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.analyses.template_selection import (
    PILOT_GROUPS,
    SelectionOptions,
    TemplateSelection,
    select_templates,
)
from evaluation.models import Report
from evaluation.reports.parts.document import Document, Section
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import percent
from evaluation.reports.parts.kind import Chosen, Loaded, RunsInput
from evaluation.reports.parts.mention import MENTION, mention_caveat, summarize_mention
from evaluation.reports.parts.options import (
    ArmParameters,
    IntervalParameters,
    names_in,
    require_pilot_groups,
    split_halves,
)
from evaluation.reports.parts.rating_inputs import (
    AlignmentInputs,
    RatingsKind,
    load_alignment_inputs,
)
from evaluation.reports.parts.score_inputs import run_groups
from evaluation.reports.parts.score_words import remarks, show_slots
from evaluation.reports.parts.tau_questions import WHY, tau_headline
from evaluation.reports.template_selection import prose, tables
from probing.models import Run

# With more templates than this, three at a time would be millions of candidates.
MOST_AT_ONCE = 3


class SelectionParameters(IntervalParameters, ArmParameters):
    """The options of a template selection."""

    pilot_groups: str = Field(
        ", ".join(PILOT_GROUPS),
        max_length=1000,
        description="Slugs of the groups that the choice may look at, separated by commas.",
    )
    annotations: int = Field(
        5,
        ge=1,
        le=1000,
        title="Raters of each pilot group",
        description="Raters of each pilot group that the choice may look at.",
    )
    most: int = Field(
        2,
        ge=1,
        le=MOST_AT_ONCE,
        title="Templates at most",
        description="Templates chosen at most; their scores are averaged.",
    )
    splits: int = split_halves("Random halves of the people for the noise ceiling.")

    @property
    def pilot(self) -> tuple[str, ...]:
        return tuple(names_in(self.pilot_groups))


class TemplateChoice(RatingsKind):
    name = "template_selection"
    title = _("Template selection")
    question = _("Which templates follow people best on a few groups, and do they on the others?")
    meanings = prose.MEANINGS
    Parameters = SelectionParameters
    runs = RunsInput(_("A run with two templates or more, such as a whole set of templates."))

    def fits_stimuli(self, groups: Collection[str], n_templates: int) -> bool:
        return n_templates >= 2

    def check(self, chosen: Chosen, parameters: SelectionParameters) -> None:
        """Four queries."""
        super().check(chosen, parameters)
        study, run = chosen.the_study, chosen.runs[0]
        pilot = parameters.pilot
        if not pilot or len(set(pilot)) < len(pilot):
            raise ReportError(
                f"The pilot groups are “{parameters.pilot_groups}”, expected at least one slug, "
                "each of them once."
            )
        instrument = published_instrument(study)
        rated = set(instrument.groups.values_list("slug", flat=True)) if instrument else set()
        require_pilot_groups(pilot, rated, f"“{study}” does not ask about")
        scored = run_groups(run)
        if scored:
            require_pilot_groups(pilot, scored, f"{run} does not score")
        templates = run.stimuli.get("templates", [])
        if not self.fits_stimuli(scored, len(templates)):
            raise ReportError(
                f"{run} has {len(templates)} template, so there is nothing to choose. Start a run "
                "with a set of templates."
            )

    def default_title(self, chosen: Chosen) -> str:
        return f"Which templates suit {chosen.runs[0].model.name} best?"

    def load(self, chosen: Chosen, parameters: SelectionParameters) -> Loaded:
        run: Run = chosen.runs[0]
        inputs = load_alignment_inputs(study=chosen.the_study, run=run, arm=parameters.arm)
        texts = {entry["slug"]: entry["text"] for entry in run.stimuli.get("templates", [])}
        return Loaded(
            record=inputs.record | {"template_texts": texts},
            data=inputs,
            hashes=inputs.hashes,
        )

    def compute(self, loaded: Loaded, parameters: SelectionParameters) -> dict[str, Any]:
        inputs: AlignmentInputs = loaded.data
        groups, scales = inputs.order["groups"], inputs.order["scales"]
        require_pilot_groups(parameters.pilot, set(groups), "Study and run do not both have")
        try:
            selection = select_templates(
                ratings=inputs.ratings,
                scores=inputs.scores,
                groups=groups,
                scales=scales,
                options=SelectionOptions(
                    pilot_groups=parameters.pilot,
                    annotations=parameters.annotations,
                    most=parameters.most,
                    seed=parameters.seed,
                ),
            )
        except ValueError as error:
            raise ReportError(f"No template can be chosen: {error}.") from error
        if not selection.chosen:
            raise ReportError(f"No template can be chosen: {selection.reason}.")
        return {
            "selection": to_plain(selection),
            "alignments": {
                name: _align(inputs, selection.chosen, chosen, scales, parameters)
                for name, chosen in (
                    ("pilot", selection.options.pilot_groups),
                    ("test", selection.test_groups),
                    ("overall", tuple(groups)),
                )
            },
            MENTION: summarize_mention(
                inputs.all_scores[inputs.all_scores["template"].isin(selection.chosen)],
                groups,
                parameters.bootstrap,
            ),
        }

    def document(self, report: Report, view: Mapping[str, str]) -> Document:
        record: dict[str, Any] = report.inputs
        stored: dict[str, Any] = report.result or {}
        run, mention = record["run"], stored[MENTION]
        selection = from_plain(TemplateSelection, stored["selection"])
        alignments = {
            name: from_plain(AlignmentResult, stored["alignments"][name]) for name in tables.PARTS
        }
        options = alignments["test"].options
        level = percent(options.level)
        names = {entry["slug"]: entry["plural"] for entry in record["groups"]}
        texts = {slug: show_slots(text) for slug, text in record["template_texts"].items()}
        candidates = tables.candidate_table(selection, texts)
        pilot = tables.pilot_table(selection, names)
        parts = tables.part_table(alignments, level)
        groups = tables.group_table(alignments, names, level)
        questions = tables.questions_asked(alignments, level)
        laid_out = Document(
            question=prose.question(selection, texts),
            keys=tables.key_numbers(selection, texts, parts, alignments),
            sections=(
                Section(
                    "The choice",
                    (
                        tables.candidates_printed(candidates),
                        pilot.printed(
                            "Pilot groups and how many of their raters the choice looked at."
                        ),
                    ),
                    prose.WHY_CHOICE,
                ),
                Section(
                    "Pilot, test and all groups",
                    tables.part_blocks(parts, questions),
                    f"{prose.WHY_PARTS} {WHY}",
                ),
                Section("Group by group", (tables.groups_printed(groups),)),
            ),
            tables=(candidates, pilot, parts, groups, questions),
            method=prose.method(selection, record, names, options.n_resamples),
            caveats=(
                *prose.CAVEATS,
                *remarks([run]),
                *([mention_caveat(mention)] if mention else []),
            ),
            left_out=prose.left_out(selection, record, texts),
        )
        return self.complete(report, laid_out)

    def headline(self, result: dict[str, Any]) -> str:
        pooled = result["alignments"]["test"]["pooled"]
        return f"test {tau_headline([(pooled, pooled['tau'])])}"


def _align(
    inputs: AlignmentInputs,
    templates: Sequence[str],
    groups: Sequence[str],
    scales: Sequence[str],
    parameters: SelectionParameters,
) -> dict[str, Any]:
    """Return the alignment of some groups with the mean over the chosen templates."""
    scores = inputs.scores
    kept = scores[scores["template"].isin(templates) & scores["group"].isin(groups)]
    result = analyze_alignment(
        ratings=inputs.ratings[inputs.ratings["group"].isin(groups)],
        scores=replace(inputs, scores=kept).score_table(parameters.level),
        groups=groups,
        scales=scales,
        options=AlignmentOptions(n_splits=parameters.splits, **parameters.bootstrap),
    )
    plain: dict[str, Any] = to_plain(result)
    return plain
