"""Template selection: chosen on pilot groups, tested on the others, reported apart."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.instruments.versions import published_instrument
from evaluation.analyses.alignment import analyze_alignment
from evaluation.analyses.alignment_result import (
    AlignmentOptions,
    AlignmentResult,
    GroupAlignment,
    PooledAlignment,
)
from evaluation.analyses.markedness import UNMARKED
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.analyses.template_selection import (
    PILOT_GROUPS,
    Candidate,
    PilotGroup,
    SelectionOptions,
    TemplateSelection,
    select_templates,
)
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.shown import Shown
from evaluation.models import Report
from evaluation.reports.parts.document import Document, Figure, KeyNumber, Section, Table
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import count, listing, percent
from evaluation.reports.parts.kind import Chosen, Loaded, RunsInput
from evaluation.reports.parts.meanings import ORDER
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
    left_out_in_review,
    load_alignment_inputs,
)
from evaluation.reports.parts.score_inputs import run_groups
from evaluation.reports.parts.score_words import (
    measure_title,
    options_in_words,
    remarks,
    show_slots,
)
from evaluation.reports.parts.table import Column, ReportTable, ranked
from evaluation.reports.parts.tau_questions import (
    CAVEAT,
    METHOD,
    TITLE,
    WHY,
    pooled_rows,
    question_table,
    tau_headline,
    tau_key,
)
from probing.models import Run

# --- The words of a report on a template selection ------------------------------------------------

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Templates chosen": (
        "The templates that follow people best on the pilot groups, of all that the run has."
    ),
    "τ, …": ORDER,
}


WHY_CHOICE = (
    "A candidate’s τ is over all cells of the pilot groups, with the means of the drawn raters "
    "alone. The best of many is high by chance too: read it as a choice, not as a result."
)
WHY_PARTS = (
    "The templates were chosen on the pilot groups, so only the test groups say how well they do."
)
CAVEATS = (
    "They describe one model under stated prompts. They say nothing about the people in a group.",
    "τ on the pilot groups is biased upwards, since the templates were chosen by it; so is the one "
    "over all groups, which contain the pilot groups. Cite the test groups.",
    CAVEAT,
    "Choosing again with other pilot groups or another seed until the test groups look well makes "
    "pilot groups of them.",
)


def question(selection: TemplateSelection, texts: Mapping[str, str]) -> str:
    return (
        f"Of {count(len(texts), 'template')}, which follow people best on "
        f"{count(len(selection.pilot), 'pilot group')}, and how well do they do on the "
        f"{count(len(selection.test_groups), 'group')} that the choice has not seen?"
    )


def method(
    selection: TemplateSelection,
    record: dict[str, Any],
    names: Mapping[str, str],
) -> tuple[str, ...]:
    options, run = selection.options, record["run"]
    pilot = listing([names[slug] for slug in options.pilot_groups])
    return (
        "After Cao et al. (2022), section 5.1 and Table 5. The choice looks at "
        f"{options.annotations} raters of each of {pilot}, or at all where there are fewer, drawn "
        f"with seed {options.seed}. Every template, and every set of up to "
        f"{count(options.most, 'template')} with its scores averaged, is a candidate; the one with "
        "the highest Kendall’s tau-b over the pilot cells is chosen, the smaller one among equals.",
        f"The measure is {measure_title(run)}, {options_in_words(run)}. With the "
        "chosen templates the alignment is computed as in an alignment report, apart for pilot "
        "groups, test groups and all groups: tau-b over pooled cells, and p-values of groups "
        "Holm-corrected within each part.",
        METHOD,
    )


def left_out(
    selection: TemplateSelection, record: dict[str, Any], texts: Mapping[str, str]
) -> tuple[str, ...]:
    candidates = {slug for row in selection.candidates for slug in row.templates}
    return (
        *(
            f"Template “{text}”: it lacks a score in a pilot cell."
            for slug, text in texts.items()
            if slug not in candidates
        ),
        *(
            f"{name}: only people or only the model has it."
            for slug, name in record["other_groups"].items()
            if slug != UNMARKED
        ),
    )


# --- The tables of a report on a template selection: Table 5 of Cao et al. (2022) -----------------

SHOWN_CANDIDATES = 20
#: The number to cite stands first.
CITED = ("test", "pilot", "overall")
PARTS = {"pilot": "Pilot groups", "test": "Test groups", "overall": "All groups"}


@dataclass(frozen=True)
class CandidateRow:
    """A candidate with its rank."""

    rank: int
    found: Candidate
    chosen: bool


def candidate_table(selection: TemplateSelection, texts: Mapping[str, str]) -> ReportTable:
    return ReportTable.of_rows(
        "candidates",
        "Candidates",
        [
            CandidateRow(rank, row, row.templates == selection.chosen)
            for rank, row in enumerate(selection.candidates, start=1)
        ],
        CandidateRow,
        "rank",
        Column("", "templates", lambda row: " ".join(row.found.templates)),
        Column(
            "Templates",
            "texts",
            lambda row: " + ".join(texts.get(slug, slug) for slug in row.found.templates),
            wide=True,
        ),
        *("found.tau", "found.n_cells", "chosen"),
        reason="found.reason",
    )


def pilot_table(selection: TemplateSelection, names: Mapping[str, str]) -> ReportTable:
    return ReportTable.of_rows(
        "pilot",
        "Pilot groups",
        selection.pilot,
        PilotGroup,
        "group",
        Column("Group", "group_name", lambda row: names[row.group]),
        *("n_raters", "n_used"),
    )


@dataclass(frozen=True)
class PartRow:
    """All groups of a part together."""

    part: str
    pooled: PooledAlignment


def part_table(parts: Mapping[str, AlignmentResult], level: str) -> ReportTable:
    return ReportTable.of_rows(
        "alignments",
        "Pilot, test and all groups",
        [PartRow(name, part.pooled) for name, part in parts.items()],
        PartRow,
        "part",
        Column("Groups", value=lambda row: PARTS[row.part]),
        Column("Number", "n_groups", "pooled.n_groups", 0),
        "pooled.n_cells",
        Column.estimate(
            "τ", "tau", lambda row: row.pooled.tau.estimate(row.pooled.n_cells), 2, style="strong"
        ),
        *("pooled.p_value", "pooled.group_tau", "pooled.precision"),
        level=level,
        reason="pooled.tau.reason",
    )


def questions_asked(parts: Mapping[str, AlignmentResult], level: str) -> ReportTable:
    """Return what τ says to each question, the part to cite first."""
    return question_table(
        [row for name in CITED for row in pooled_rows(name, parts[name].pooled)],
        level,
        (Column("", "part", "of"), Column("Groups", value=lambda row: PARTS[row.of])),
    )


@dataclass(frozen=True)
class GroupRow:
    """A group of a part."""

    part: Annotated[str, Shown("Part")]
    found: GroupAlignment
    tau: Annotated[Estimate, Shown("τ", 2, style="strong")]


def group_table(
    parts: Mapping[str, AlignmentResult], names: Mapping[str, str], level: str
) -> ReportTable:
    """Return test groups before pilot groups, those with the highest τ first."""
    return ReportTable.of_rows(
        "groups",
        "Group by group",
        [
            GroupRow(name, row, row.tau.estimate())
            for name in ("test", "pilot")
            for row in ranked(parts[name].by_group, lambda row: row.tau.value)
        ],
        GroupRow,
        *("part", "found.group"),
        Column("Group", "group_name", lambda row: names[row.found.group]),
        *("tau", "found.p_value", "found.p_holm"),
        *("found.precision", "found.n_raters", "found.n_scales", "tau.reason"),
        *("found.p_resampled", "found.p_resampled_holm"),
        level=level,
        note="tau.note",
    )


def key_numbers(
    selection: TemplateSelection,
    texts: Mapping[str, str],
    parts: ReportTable,
    alignments: Mapping[str, AlignmentResult],
) -> tuple[KeyNumber, ...]:
    return (
        KeyNumber(
            "Templates chosen",
            str(len(selection.chosen)),
            f"of {len(texts)}",
            tuple(texts.get(slug, slug) for slug in selection.chosen),
        ),
        *(_tau_key(name, alignments[name], parts.level) for name in CITED),
    )


def _tau_key(part: str, alignment: AlignmentResult, level: str) -> KeyNumber:
    pooled = alignment.pooled
    cells = count(pooled.n_cells, "cell")
    return tau_key(f"τ, {PARTS[part].lower()}", pooled.answers, pooled.tau, level, cells)


def candidates_printed(candidates: ReportTable) -> Table:
    shown = candidates.rows[:SHOWN_CANDIDATES]
    return candidates.printed(
        f"The {len(shown)} best of {count(len(candidates.rows), 'candidate')} on the pilot groups; "
        "the first is chosen. p is not corrected for their number.",
        rows=shown,
    )


def part_blocks(parts: ReportTable, questions: ReportTable) -> tuple[Figure | Table, ...]:
    """Return what τ says to each question, and the parts."""
    return (
        questions.printed(f"{TITLE}, with the chosen templates."),
        parts.figure(
            "parts",
            "Kendall’s τ over all cells of the pilot groups, the test groups and all groups, with "
            f"the chosen templates; {parts.level} intervals over people.",
            "tau",
            label="Groups",
            bold=True,
            decimals=2,
            title="Alignment on pilot, test and all groups",
            axis="Kendall’s τ",
            n="cells",
        ),
        parts.printed("Alignment with the chosen templates, with the ratings of all raters."),
    )


def groups_printed(groups: ReportTable) -> Table:
    return groups.printed(
        "τ of every group with the chosen templates; p by Holm within the pilot groups and within "
        "the test groups.",
        columns=(
            *("group_name", "part", "tau", "p_resampled", "p_resampled_holm"),
            *("precision", "n_raters"),
        ),
    )


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
    meanings = MEANINGS
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
            name: from_plain(AlignmentResult, stored["alignments"][name]) for name in PARTS
        }
        options = alignments["test"].options
        level = percent(options.level)
        names = {entry["slug"]: entry["plural"] for entry in record["groups"]}
        texts = {slug: show_slots(text) for slug, text in record["template_texts"].items()}
        candidates = candidate_table(selection, texts)
        pilot = pilot_table(selection, names)
        parts = part_table(alignments, level)
        groups = group_table(alignments, names, level)
        questions = questions_asked(alignments, level)
        laid_out = Document(
            question=question(selection, texts),
            keys=key_numbers(selection, texts, parts, alignments),
            sections=(
                Section(
                    "The choice",
                    (
                        candidates_printed(candidates),
                        pilot.printed(
                            "Pilot groups and how many of their raters the choice looked at."
                        ),
                    ),
                    WHY_CHOICE,
                ),
                Section(
                    "Pilot, test and all groups",
                    part_blocks(parts, questions),
                    f"{WHY_PARTS} {WHY}",
                ),
                Section("Group by group", (groups_printed(groups),)),
            ),
            tables=(candidates, pilot, parts, groups, questions),
            method=method(selection, record, names),
            caveats=(
                *CAVEATS,
                *remarks([run]),
                *([mention_caveat(mention)] if mention else []),
            ),
            left_out=(
                *left_out_in_review(record["study"]),
                *left_out(selection, record, texts),
            ),
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
