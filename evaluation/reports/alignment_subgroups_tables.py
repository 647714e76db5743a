"""The tables of a report on subgroups of participants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from annotation.models import Origin
from evaluation.analyses.subgroup_result import (
    PRECISION,
    TAU,
    Subgroup,
    SubgroupCell,
    SubgroupDifference,
    SubgroupGroup,
    SubgroupResult,
)
from evaluation.charts import GridCell, GridLabel, GridWords, value_grid_spec
from evaluation.metrics.estimate import Estimate
from evaluation.reports.parts.document import Figure, KeyNumber, Table
from evaluation.reports.parts.formatting import MISSING, count, interval, number, percent
from evaluation.reports.parts.meanings import HOLM_PAIRS, ORDER
from evaluation.reports.parts.score_words import (
    CORPUS_CAVEAT,
    is_read_in_sentences,
    measure_title,
    options_in_words,
    quoted_templates,
    remarks,
    scored_over,
)
from evaluation.reports.parts.significance_marks import explain_marks, mark
from evaluation.reports.parts.table import (
    Column,
    Reader,
    ReportTable,
    WideRow,
    beside,
    pivot,
)
from evaluation.reports.parts.tau_questions import (
    CAVEAT,
    METHOD,
    answer_columns,
    interval_column,
    tau_key,
)

# --- The sentences of a report on subgroups of participants ---------------------------------------

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "τ, all participants": ORDER,
    "Subgroups shown": (
        "Answers that enough people gave. Smaller ones are kept back, so that nobody can be "
        "recognized."
    ),
    "Pairs that differ in τ": HOLM_PAIRS,
    "Participants": (
        "Too few people answered to say anything about subgroups without telling something "
        "about single people."
    ),
}


EVERYBODY = "All participants"
WHY_OVERALL = (
    "Fewer people have noisier means, and noise lowers τ. With the noise taken out, subgroups of "
    "any size may be compared; as observed, compare a subgroup with as many random participants."
)
WHY_PAIRS = (
    "Both subgroups are set beside the same model and the same groups, with the noise of their "
    "means taken out, so that their sizes do not matter. The observed difference is tested by "
    "exchanging answers between participants: “expected” is what the sizes alone give."
)
DIFFERENCES = (
    "Differences between subgroups are taken on the cells that both rated. Both leave out the same "
    "group, and people count in theirs; p is that of the interval’s t, Holm-corrected over all "
    "pairs of all questions."
)
WHY_GROUPS = (
    "How the model’s order of scales follows that of one subgroup’s mean ratings, group by group."
)
WHY_MEANS = (
    "How the subgroups of participants rate one group. Each mean rests on few people: read it with "
    "its number and interval."
)
ANSWERS_HASH = "participants answers_hash"


def question(record: dict[str, Any], result: SubgroupResult) -> str:
    n = sum(bool(row.question) for row in result.subgroups)
    return (
        f"For {count(len(result.groups), 'social group')} and "
        f"{count(len(result.scales), 'trait scale')}, this report sets one model’s scores beside "
        f"the ratings of {count(n, 'subgroup')} of participants and asks whether it follows some "
        "more closely than others."
    )


def method(record: dict[str, Any], result: SubgroupResult) -> tuple[str, ...]:
    """Return the method in words: people, model, values, tests, small cells."""
    study, run, options = record["study"], record["run"], result.options
    source = (
        "The ratings and what is said of the participants were simulated; no person gave them. "
        if study["origin"] == Origin.SIMULATED
        else "People rated how a group is seen in America on lines from 0 to 100 between two "
        "words. What they said about themselves was optional. "
    )
    return (
        f"{source}A subgroup is everybody who gave an answer; who gave several counts in each. "
        "Who preferred not to say or left a question out is in no subgroup of it. After Cao et al. "
        "(2022), Tables A14 to A18.",
        f"The measure is {measure_title(run)}, {options_in_words(run)}, "
        f"{scored_over(run)}{quoted_templates(run)}",
        "τ is Kendall’s tau-b between the model’s scores and the subgroup’s mean ratings over all "
        f"cells that it rated; precision at {options.k} is averaged over groups. The interval "
        "of a single group leaves out one scale at a time, that of a mean rating is "
        "Student’s. p-values of groups are Holm-corrected over the groups of a subgroup.",
        METHOD,
        DIFFERENCES,
        f"For the tests the answers to a question are exchanged {options.n_resamples} times "
        "between the participants who answered it, all answers of a person together (Davison and "
        "Hinkley 1997, eq. 4.11). The mean and central band of τ over these exchanges are what as "
        "many random participants give. p is twice the smaller tail, Holm-corrected over "
        "all pairs of all questions.",
        f"No number concerns fewer than {result.minimum} people: neither a subgroup, nor one group "
        "or one scale as a subgroup rates it. A larger number is kept back, too, where a smaller "
        "one could be computed from it and the rest, including the number of people who gave "
        "several answers and the rows and columns of crossed questions.",
    )


def caveats(record: dict[str, Any], result: SubgroupResult) -> tuple[str, ...]:
    found = [
        "They describe one model under stated prompts. They say nothing about the people in a "
        "group, nor about the people in a subgroup beyond these participants.",
        "Participants were asked how a group is seen in America, not what they think themselves: "
        "a difference between subgroups is one in what they believe others to see.",
        "Subgroups differ in more than the answer that names them: nothing here is adjusted for "
        "other answers, nor for who rated which group.",
        "With many subgroups and groups some values are high or low by chance. " + CAVEAT,
    ]
    if is_read_in_sentences(record["run"]):
        found.append(CORPUS_CAVEAT)
    found += remarks([record["run"]])
    if record["study"]["origin"] == Origin.SIMULATED:
        found.append("Answers about themselves were drawn at random: no difference is expected.")
    return tuple(found)


def left_out(record: dict[str, Any], result: SubgroupResult) -> tuple[str, ...]:
    """Return what did not enter or is not shown, without saying how small it is."""
    found = [
        f"{record['questions'][slug]} Answers that cannot be shown with {result.minimum} people or "
        "more."
        for slug in result.hidden
    ]
    if result.n_hidden_groups:
        found.append(
            f"{count(result.n_hidden_groups, 'row')} of a group as a subgroup rates it: fewer than "
            f"{result.minimum} raters, or kept back so that no smaller number follows."
        )
    participants = record["participants"]["left_out"]
    found += [f"{label} {why.capitalize()}." for label, why in participants.items()]
    found += [f"{pair}: {why}." for pair, why in record["crossings_left_out"].items()]
    found += [
        f"{name}: only people or only the model has it."
        for slug, name in record["other_groups"].items()
        if slug != "unmarked"
    ]
    return tuple(found)


def sign(row: SubgroupGroup, level: float) -> str:
    """Return the mark of a test beside tau."""
    return mark(row.p_resampled, row.p_resampled_holm, level)


QUANTITIES = {TAU: "τ", PRECISION: "P@3"}
#: More pairs than this are in the download alone.
SHOWN_PAIRS = 40
TAU_LIMIT = 0.6
CENTER, RATING_LIMIT = 50.0, 30.0


@dataclass(frozen=True)
class Names:
    """How questions, groups and scales are written, from the record of a report."""

    questions: Mapping[str, str]
    groups: Mapping[str, Mapping[str, Any]]
    scales: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Names:
        return cls(
            {"": "", **record["questions"]},
            {entry["slug"]: entry for entry in record["groups"]},
            {entry["slug"]: entry for entry in record["scales"]},
        )

    def group(self, slug: str) -> str:
        return str(self.groups[slug]["plural"])

    def scale(self, slug: str) -> str:
        return f"{self.scales[slug]['low']} – {self.scales[slug]['high']}"

    @property
    def question_columns(self) -> tuple[str | Column, ...]:
        return (
            "question",
            Column("Question", "question_text", lambda row: self.questions[row.question],
                   style="quiet"),
        )  # fmt: skip

    @property
    def group_columns(self) -> tuple[str | Column, ...]:
        return (
            *self.question_columns,
            *("answer", "group"),
            Column("Group", "group_name", lambda row: self.group(row.group)),
        )


def answer(row: Any) -> str:
    """Return the answer that names a subgroup."""
    return row.answer or EVERYBODY


def subgroup_table(result: SubgroupResult, names: Names, level: str) -> ReportTable:
    return ReportTable.of_rows(
        "subgroups",
        "Alignment with every subgroup",
        result.subgroups,
        Subgroup,
        *names.question_columns,
        *("answer", "n_people", "n_cells", "observed", "p_value"),
        *("reference", "precision", "tau.reason"),
        # One τ for each subgroup is no family of tests; differences are.
        *(
            column
            for column in answer_columns("answers.", "τ", "Kendall’s τ, noise taken out")
            if column.name != "p_generalizing_holm"
        ),
        "answers.reliability",
        level=level,
        note="answers.generalizing.estimate.note",
    )


def subgroups_printed(subgroups: ReportTable, result: SubgroupResult) -> Table:
    """Return all participants, then the subgroups question by question."""
    lead = (Column("Answer", value=answer), "question_text", "n_people")
    band = interval_column(
        "random", "reference.low", "reference.high", group=subgroups.column("tau").group
    )
    return subgroups.printed(
        "τ of every subgroup with the noise of its mean ratings taken out, for groups like "
        "these and for these groups, beside τ and precision as observed; “random” is the "
        "central band of the observed τ for as many random participants.",
        columns=(
            *lead, "without_noise", "p_generalizing",
            interval_column("these groups", "answers.noise_free.low",
                            "answers.noise_free.high", group="Kendall’s τ, noise taken out"),
            "tau", band, "precision",
        ),
    )  # fmt: skip


def subgroup_figure(subgroups: ReportTable, result: SubgroupResult, names: Names) -> Figure:
    """Return τ of every subgroup, noise taken out."""

    def shown(row: Subgroup) -> Estimate:
        return replace(row.answers.generalizing.estimate, n=row.n_people)

    return subgroups.figure(
        "subgroups",
        "Kendall’s τ between the model’s scores and the mean ratings of each subgroup, noise taken "
        f"out, with {subgroups.level} intervals for groups like these.",
        Column("τ", value=shown),
        panel=lambda row: names.questions[row.question],
        label=answer,
        tone="human",
        bold=lambda row: not row.question,
        decimals=2,
        axis="Kendall’s τ",
        n="people",
    )


def pair_table(result: SubgroupResult, names: Names, level: str) -> ReportTable:
    return ReportTable.of_rows(
        "differences",
        "Every two subgroups",
        result.differences,
        SubgroupDifference,
        Column("First − second", value=lambda row: f"{row.first} − {row.second}"),
        *names.question_columns,
        "quantity",
        Column("Value", value=lambda row: QUANTITIES[row.quantity]),
        *("first", "second", "value", "expected", "p_value", "p_holm"),
        *answer_columns("", "Difference", signed=True),
        level=level,
        note="generalizing.estimate.note",
    )


def pairs_printed(pairs: ReportTable, result: SubgroupResult) -> Table:
    """Return the pairs with the smallest p-values."""

    def place(row: SubgroupDifference) -> tuple[float, float]:
        known = (row.p_generalizing_holm, row.generalizing.p_value)
        return (known[0], known[1]) if known[0] == known[0] else (2.0, 2.0)

    shown = sorted(pairs.rows, key=place)[:SHOWN_PAIRS]
    first = (
        f"The {len(shown)} differences with the smallest p of {len(pairs.rows)}"
        if len(pairs.rows) > len(shown)
        else "Differences between the subgroups of a question, smallest p first"
    )
    return pairs.printed(
        f"{first}; noise taken out on the cells that both rated, p for groups like these by Holm "
        f"over all pairs of the report. {pairs.level} intervals. “Expected” is what the sizes of "
        "the subgroups alone give as observed.",
        rows=shown,
        columns=(
            "First − second", "question_text", "Value", "without_noise", "p_generalizing",
            "p_generalizing_holm",
            interval_column("these groups", "noise_free.low", "noise_free.high", signed=True),
            "difference", "expected", "p_value",
        ),
    )  # fmt: skip


def group_table(result: SubgroupResult, names: Names, level: str) -> ReportTable:
    return ReportTable.of_rows(
        "groups",
        "Every group as every subgroup rates it",
        result.by_group,
        SubgroupGroup,
        *names.group_columns,
        *("n_raters", "n_scales", "observed", "p_value", "p_holm", "precision", "tau.reason"),
        *("p_resampled", "p_resampled_holm"),
        level=level,
    )


def groups_printed(
    groups: ReportTable, result: SubgroupResult, names: Names, question: str
) -> Table:
    def text(row: SubgroupGroup) -> str:
        return f"{number(row.tau.value)}{sign(row, result.options.level)} ({row.n_raters})"

    def shown(key: tuple[str, str]) -> Reader:
        return lambda row: beside(key, text)(row[1])

    found = {
        line.first.group: line
        for line in pivot(
            (row for row in groups.rows if row.question in {"", question}), "group", _key
        )
    }
    return groups.printed(
        f"Kendall’s τ of every group with the number of raters; {MISSING} is kept back. "
        + explain_marks(result.options.level, "subgroup"),
        rows=[(slug, found.get(slug, WideRow({}))) for slug in names.groups],
        columns=(
            Column("Group", value=lambda row: names.group(row[0])),
            *(
                Column(head, value=shown(key), decimals=2, cell=str)
                for key, head in _columns(result, question)
            ),
        ),
    )  # fmt: skip


def mean_table(result: SubgroupResult, names: Names, level: str) -> ReportTable:
    return ReportTable.of_rows(
        "means",
        "Mean ratings by every subgroup",
        result.cells,
        SubgroupCell,
        *names.group_columns,
        "scale",
        Column("", "low_pole", lambda row: names.scales[row.scale]["low"]),
        Column("", "high_pole", lambda row: names.scales[row.scale]["high"]),
        *("n", "mean", "sd", "interval.low", "interval.high"),
        level=level,
    )


def means_printed(
    means: ReportTable, result: SubgroupResult, names: Names, question: str, group: str
) -> Table:
    def text(cell: SubgroupCell) -> str:
        around = interval(cell.interval.low, cell.interval.high, 0)
        return f"{number(cell.mean, 1)} ({around})"

    own = [row for row in means.rows if row.group == group and row.question in {"", question}]
    found = {line.first.scale: line for line in pivot(own, "scale", _key)}
    counts = {
        key: [row.n for row in own if _key(row) == key] for key, _ in _columns(result, question)
    }

    def shown(key: tuple[str, str]) -> Any:
        def read_cell(row: tuple[str, WideRow | None]) -> str | None:
            if row[1] is None:
                return _range(counts[key])
            return beside(key, text)(row[1])

        return read_cell

    lines: list[tuple[str, WideRow | None]] = [("Raters", None)]
    lines += [(names.scale(slug), found.get(slug, WideRow({}))) for slug in names.scales]
    return means.printed(
        f"Mean ratings of {names.group(group)}, 0 at the left and 100 at the right adjective, with "
        f"their {means.level} intervals; {MISSING} is kept back.",
        rows=lines,
        columns=(
            Column("Scale", value=lambda row: row[0]),
            *(
                Column(head, value=shown(key), decimals=2, cell=str)
                for key, head in _columns(result, question)
            ),
        ),
    )


def group_figure(
    result: SubgroupResult, names: Names, level: str, question: str, query: str
) -> Figure:
    """Return τ of every group with every subgroup of a question."""
    cells = {
        (row.group, row.answer): GridCell(
            row.tau.value,
            sign(row, result.options.level),
            f"{level} interval {interval(row.tau.interval.low, row.tau.interval.high)}, "
            f"{count(row.n_raters, 'rater')}",
        )
        for row in result.by_group
        if row.question in {"", question}
    }
    return Figure(
        "groups",
        "Kendall’s τ between the model’s scores and the mean ratings of each subgroup, group by "
        "group. " + explain_marks(result.options.level, "subgroup"),
        value_grid_spec(
            [GridLabel(slug, e["plural"], e["domain"]) for slug, e in names.groups.items()],
            _labels(result, question),
            cells,
            words=GridWords(
                title="Alignment of every group with every subgroup",
                scale="Kendall’s τ",
                missing="Outlined cells are kept back",
            ),
            limit=TAU_LIMIT,
        ),
        data="groups",
        query=query,
    )


def mean_figure(
    result: SubgroupResult, names: Names, level: str, question: str, group: str, query: str
) -> Figure:
    """Return mean ratings of one group by every subgroup of a question."""
    cells = {
        (row.scale, row.answer): GridCell(
            row.mean,
            tip=f"{level} interval {interval(row.interval.low, row.interval.high, 1)}, "
            f"{count(row.n, 'rating')}",
        )
        for row in result.cells
        if row.group == group and row.question in {"", question}
    }
    name = names.group(group)
    return Figure(
        "means",
        f"Mean ratings of {name} by each subgroup, centerd on 50 and clipped at 20 and 80.",
        value_grid_spec(
            [
                GridLabel(slug, names.scale(slug), e["dimension"])
                for slug, e in names.scales.items()
            ],
            _labels(result, question),
            cells,
            words=GridWords(
                title=f"Mean ratings of {name} by every subgroup",
                scale="Mean rating",
                missing="Outlined cells are kept back",
            ),
            limit=RATING_LIMIT,
            center=CENTER,
            decimals=1,
        ),
        data="means",
        query=query,
    )


def key_numbers(result: SubgroupResult) -> tuple[KeyNumber, ...]:
    smallest, level = result.minimum, percent(result.options.level)
    if not result.subgroups:
        return (KeyNumber("Participants", f"fewer than {smallest}"),)
    everybody = result.subgroups[0]
    tested = [row for row in result.differences if row.quantity == TAU]
    clear = [row for row in tested if row.p_generalizing_holm < 1 - result.options.level]
    questions = {row.question for row in result.subgroups} - {""}
    n = sum(bool(row.question) for row in result.subgroups)
    return (
        _everybody(everybody, level),
        KeyNumber(
            "Subgroups shown",
            str(n),
            lines=(f"of {smallest} people or more, in {count(len(questions), 'question')}",),
        ),
        KeyNumber(
            "Pairs that differ in τ",
            str(len(clear)),
            f"of {len(tested)}",
            (f"p < {1 - result.options.level:.2g}, by Holm over all pairs",),
        )
        if tested
        else KeyNumber("Pairs that differ in τ", MISSING, lines=("No pair could be tested.",)),
    )


def _everybody(row: Subgroup, level: str) -> KeyNumber:
    people = count(row.n_people, "person", "people")
    return tau_key("τ, all participants", row.answers, row.tau, level, people)


def _key(row: Any) -> tuple[str, str]:
    return row.question, row.answer


def _columns(result: SubgroupResult, question: str) -> list[tuple[tuple[str, str], str]]:
    """Return (key, head) of everybody and of the question's subgroups."""
    return [(_key(row), answer(row)) for row in result.subgroups if row.question in {"", question}]


def _labels(result: SubgroupResult, question: str) -> list[GridLabel]:
    return [
        GridLabel(row, head, "answers" if slug else "")
        for (slug, row), head in _columns(result, question)
    ]


def _range(counts: list[int]) -> str | None:
    if not counts:
        return None
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"


def all_tables(result: SubgroupResult, names: Names) -> tuple[ReportTable, ...]:
    """Return the downloads; what is hidden is in none."""
    level = percent(result.options.level)
    return (
        subgroup_table(result, names, level),
        pair_table(result, names, level),
        group_table(result, names, level),
        mean_table(result, names, level),
    )
