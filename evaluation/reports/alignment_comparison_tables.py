"""The tables of a comparison of several runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotation.models import Origin
from evaluation.analyses.alignment_comparison_result import (
    ALL,
    PRECISION,
    TAU,
    TEST,
    ComparisonResult,
    Difference,
    RunGroup,
    RunLeftOut,
    RunOverall,
)
from evaluation.charts import GridCell, GridLabel, GridWords, value_grid_spec
from evaluation.metrics.estimate import Estimate
from evaluation.reports.alignment_tables import halves_key
from evaluation.reports.parts.document import Figure, KeyNumber, Table
from evaluation.reports.parts.formatting import MISSING, count, interval, listing, number, percent
from evaluation.reports.parts.meanings import CEILING, HALVES, HOLM_PAIRS
from evaluation.reports.parts.rating_inputs import say_accepted
from evaluation.reports.parts.records import ComparisonRecord, GroupRecord, RunRecord
from evaluation.reports.parts.score_words import (
    all_options,
    measure_title,
    options_in_words,
    remarks,
    scored_over,
    show_slots,
)
from evaluation.reports.parts.significance_marks import explain_marks, mark
from evaluation.reports.parts.table import (
    Column,
    ReportTable,
    beside,
    pivot,
    ranked,
)
from evaluation.reports.parts.tau_questions import (
    CAVEAT,
    CEILING_LABEL,
    METHOD,
    answer_columns,
    ceiling_key,
    interval_column,
)

# --- The sentences of a comparison of several runs ------------------------------------------------

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Highest τ, …": (
        "The run that follows people most closely. Kendall’s τ goes from −1 (opposite order) "
        "over 0 (no relation) to 1 (the same order). Whether it is truly ahead of the next "
        "one is said by the differences below."
    ),
    CEILING_LABEL: CEILING,
    "Agreement between halves of the raters": HALVES,
    "Pairs that differ in τ": HOLM_PAIRS,
}


PARTS = {"all": "All groups", "test": "Test groups"}
QUANTITIES = {"tau": "τ", "precision": "P@3"}
NO_UNMARKED = "the run has no unmarked sentence"
WHY_OVERALL = (
    "The first τ and P@3 have the noise of the mean ratings taken out, and their intervals say "
    "what other groups of this sort would give; the interval for these groups says what other "
    "people would give. As observed, τ is that of published tables: its interval says what as "
    "many other people would give, and its p takes all cells for independent."
)
WHY_PAIRS = (
    "Two intervals that overlap say little about a difference, since both runs are set beside the "
    "same people and groups. Here what the two share cancels: both leave out the same group and "
    "are moved by the same person, on the cells that both of them have."
)
WHY_GROUPS = (
    "Every cell is one group with one run. With so few scales a single value is uncertain, and "
    "the best of many cells is high by chance too."
)
WHY_MENTION = (
    "Naming any group moves the scores, since much goes without saying. What mere mention explains "
    "tells little about a single group; a report of the kind “markedness” shows it by group."
)
CAVEATS = (
    "They describe models under stated prompts. They say nothing about the people in a group.",
    "A run is a measure with a model, templates and adjectives: a difference between two runs "
    "belongs to all of these together.",
    "Runs that do not score the same groups are not comparable row by row; the pairs are, since "
    "they rest on common cells.",
)
PILOT_CAVEAT = (
    "Templates were chosen on the pilot groups, so that values over all groups are biased upwards "
    "for runs with chosen templates. Cite the test groups."
)


def question(record: ComparisonRecord, result: ComparisonResult) -> str:
    return (
        f"For {count(len(result.groups), 'social group')} and "
        f"{count(len(result.scales), 'trait scale')}, this report sets the scores of "
        f"{count(len(result.runs), 'run')} beside the same people’s ratings and asks how far "
        "their agreement differs."
    )


def method(record: ComparisonRecord, result: ComparisonResult) -> tuple[str, ...]:
    """Return the method in words: people, runs, values, differences."""
    study, options = record["study"], result.options
    source = (
        "The ratings were simulated; no person gave them. "
        if study["origin"] == Origin.SIMULATED
        else "People rated how a group is seen in America on lines from 0 to 100 between two "
        "words. "
    )
    runs = "; ".join(
        f"{run['label']}: {measure_title(run)}, {options_in_words(run)}, "
        f"{scored_over(run)}"
        + (f" (“{show_slots(run['templates'][0])}”)" if len(run["templates"]) == 1 else "")
        for run in record["runs"]
    )
    paragraphs = [
        f"{source}{say_accepted(study)}; repeated groups are left out. Runs: {runs}. A score is "
        "that of the right adjective minus that of the left.",
        "After Cao et al. (2022), Tables 6, A11 to A13 and A19. τ is Kendall’s tau-b between a "
        "run’s scores and the means of people’s ratings, overall over all pooled cells. Precision "
        f"at {options.k} is the share of the {options.k} highest scored scales whose mean rating "
        f"is above {options.center:g} and of the {options.k} lowest whose mean is below it, "
        "averaged over both ends and over groups; an order at random gives 0.50 on average. "
        "The interval of a single group leaves out one scale at a time. p-values of groups are "
        " Holm-corrected over the groups of a run, overall ones over the runs.",
        METHOD,
        "Differences are taken on the cells that both runs score, with the noise taken out of "
        "both. Both leave out the same group and are moved by the same person, so that the "
        "intervals are paired; p is that of the same t, Holm-corrected over all pairs. A "
        "difference of τ as observed stands beside it, with the interval of other people alone.",
    ]
    if result.pilot_groups:
        names = {entry["slug"]: entry["plural"] for entry in record["groups"]}
        pilot = listing([names[slug] for slug in result.pilot_groups])
        paragraphs.append(
            f"The test groups are all groups without {pilot}, which helped to choose templates."
        )
    return tuple(paragraphs)


def caveats(record: ComparisonRecord, result: ComparisonResult) -> tuple[str, ...]:
    found = [*CAVEATS[:2], CAVEAT, *CAVEATS[2:]]
    if result.pilot_groups:
        found.append(PILOT_CAVEAT)
    found += remarks(record["runs"])
    if record["study"]["origin"] == Origin.IMPORTED:
        citation = record["study"]["source"].splitlines()[0]
        found.append(f"The ratings were imported, not collected here. {citation}")
    return tuple(found)


def left_out(record: ComparisonRecord, result: ComparisonResult) -> tuple[str, ...]:
    """Return what did not enter, with the run that it concerns."""
    labels = {run["public_id"]: run["label"] for run in record["runs"]}
    names = record["other_groups"] | {e["slug"]: e["plural"] for e in record["groups"]}
    scales = {e["slug"]: f"{e['low']} – {e['high']}" for e in record["scales"]}
    found = []
    for row in result.left_out:
        item = row.item
        parts = (
            labels.get(row.run, ""),
            names.get(item.group, item.group),
            scales.get(item.scale, item.scale),
        )
        what = "" if item.what in {"group", "cell"} else f", {count(item.n, item.what[:-1])}"
        found.append(f"{' × '.join(part for part in parts if part)}{what}: {item.reason}.")
    return tuple(found)


def sign(row: RunGroup, level: float) -> str:
    """Return the mark of a test beside tau."""
    found = row.alignment
    return mark(found.p_resampled, found.p_resampled_holm, level)


#: With more differences than this the page shows those in τ of the last part alone.
SHOWN_PAIRS = 60
TAU_LIMIT = 0.6


@dataclass(frozen=True)
class Names:
    """How runs and groups are written; ``mention`` : run → what mere mention explains."""

    runs: Mapping[str, RunRecord]
    groups: Mapping[str, GroupRecord]
    other_groups: Mapping[str, str]
    mention: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(cls, record: ComparisonRecord, mention: Mapping[str, Mapping[str, Any]]) -> Names:
        return cls(
            {run["public_id"]: run for run in record["runs"]},
            {entry["slug"]: entry for entry in record["groups"]},
            record["other_groups"],
            mention,
        )

    def run(self, key: str) -> str:
        return str(self.runs[key]["label"]) if key else ""

    def group(self, slug: str) -> str:
        known = self.groups.get(slug)
        return str(known["plural"]) if known else self.other_groups.get(slug, slug)


def parts_of(result: ComparisonResult) -> list[str]:
    """Return the parts; the last is the one to cite."""
    return [ALL, TEST] if result.pilot_groups else [ALL]


def cited(row: RunOverall) -> Estimate:
    """Return the tau for groups like these, without noise."""
    return replace(row.pooled.answers.generalizing.estimate, n=row.pooled.n_cells)


def run_table(result: ComparisonResult, names: Names, level: str) -> ReportTable:
    return ReportTable.of_rows(
        "overall",
        "Every run over all groups",
        result.overall,
        RunOverall,
        *("part", "run"),
        Column("Run", "run_name", lambda row: names.run(row.run)),
        Column("", "measure", lambda row: names.runs[row.run]["measure"]),
        Column("", "options", lambda row: all_options(names.runs[row.run])),
        Column("", "model", lambda row: names.runs[row.run]["model"]),
        *("pooled.n_submissions", "pooled.n_groups", "pooled.n_cells"),
        {"As observed": ("observed", "pooled.p_value")},
        *("p_holm", "pooled.group_tau"),
        *("pooled.precision", "pooled.precision_top", "pooled.precision_bottom"),
        *("pooled.ceiling.mean", "pooled.ceiling.low", "pooled.ceiling.high", "pooled.tau.reason"),
        *answer_columns("pooled.answers.", "τ", "Kendall’s τ, noise taken out"),
        Column.estimate(
            "Mean",
            "precision_without_noise",
            "pooled.answers.precision.estimate",
            2,
            prefix="precision_generalizing_",
            interval_head="groups like these",
            style="strong",
            group=f"P@{result.options.k}, noise taken out",
        ),
        "pooled.answers.reliability",
        level=level,
        note="pooled.answers.generalizing.estimate.note",
    )


def runs_printed(runs: ReportTable, result: ComparisonResult, part: str) -> Table:
    group = "Kendall’s τ, noise taken out"
    return runs.printed(
        f"{PARTS[part]}: alignment of every run, highest τ first; p by Holm over the "
        f"runs. {runs.level} intervals for groups like these, for these groups with other "
        "people, and of τ as observed over people.",
        rows=in_order(result, part),
        columns=(
            "run_name", "n_groups", "without_noise", "p_generalizing", "p_generalizing_holm",
            interval_column("these groups", "pooled.answers.noise_free.low",
                            "pooled.answers.noise_free.high", group=group),
            "tau", "p_value", "precision_without_noise",
        ),
    )  # fmt: skip


def in_order(result: ComparisonResult, part: str) -> list[RunOverall]:
    """Return the runs of a part, highest tau first."""
    rows = (row for row in result.overall if row.part == part)
    return ranked(rows, lambda row: cited(row).value)


def run_figure(runs: ReportTable, result: ComparisonResult) -> Figure:
    return runs.figure(
        "overall",
        f"Kendall’s τ of every run over pooled cells, noise taken out, highest first; {runs.level} "
        "intervals for groups like these.",
        Column.estimate("τ", value=cited, decimals=2),
        label="Run",
        rows=[row for part in parts_of(result) for row in in_order(result, part)],
        panel=lambda row: PARTS[row.part],
        tone="ink",
        decimals=2,
        title="Alignment of every run",
        axis="Kendall’s τ",
        n="cells",
    )


def pair_table(result: ComparisonResult, names: Names, level: str) -> ReportTable:
    return ReportTable.of_rows(
        "differences",
        "Every two runs",
        result.differences,
        Difference,
        *("part", "quantity", "first"),
        Column("", "first_name", lambda row: names.run(row.first)),
        "second",
        Column("", "second_name", lambda row: names.run(row.second)),
        *("n_groups", "n_cells", "first_value", "second_value"),
        Column.estimate(
            "Observed", "difference", "observed.estimate", 2, interval_head="people", signed=True,
            meaning="as observed; the interval, of τ alone, is over people",
        ),
        *("observed.p_value", "p_holm", "observed.reason", "observed.interval_reason"),
        Column("First − second", value=lambda row: f"{names.run(row.first)} − "
               f"{names.run(row.second)}"),
        Column("Groups", value=_groups),
        Column("Value", value=lambda row: QUANTITIES[row.quantity]),
        *answer_columns("", "Difference", signed=True),
        level=level,
        note="generalizing.estimate.note",
    )  # fmt: skip


def _groups(row: Difference) -> str:
    return f"{PARTS[row.part].split()[0].lower()}, {row.n_groups}"


def pairs_of(result: ComparisonResult, part: str, quantity: str) -> list[Difference]:
    return [row for row in result.differences if (row.part, row.quantity) == (part, quantity)]


def pairs_printed(pairs: ReportTable, result: ComparisonResult) -> Table:
    shown = [
        row
        for part in parts_of(result)
        for quantity in (TAU, PRECISION)
        for row in pairs_of(result, part, quantity)
    ]
    if len(shown) > SHOWN_PAIRS:
        shown = pairs_of(result, parts_of(result)[-1], TAU)
    n = len(result.differences)
    rest = "" if len(shown) == n else f" All {n} differences are in the download."
    return pairs.printed(
        "First run minus second on common cells, noise taken out; p belongs to the interval "
        f"for groups like these, by Holm over all pairs. {pairs.level} intervals.{rest}",
        rows=shown,
        columns=(
            "First − second", "Groups", "Value", "without_noise", "p_generalizing",
            "p_generalizing_holm",
            interval_column("these groups", "noise_free.low", "noise_free.high", signed=True),
            "difference",
        ),
    )  # fmt: skip


def pair_figure(pairs: ReportTable, result: ComparisonResult, names: Names) -> Figure:
    part = parts_of(result)[-1]

    def shown(row: Difference) -> Estimate:
        return replace(row.generalizing.estimate, n=row.n_cells)

    return pairs.figure(
        "differences",
        f"{PARTS[part]}: difference in τ between every two runs, noise taken out; "
        f"{pairs.level} intervals are for groups like these.",
        Column.estimate("Difference", value=shown, decimals=2, signed=True),
        label=lambda row: names.run(row.second),
        rows=pairs_of(result, part, TAU),
        panel=lambda row: f"{names.run(row.first)} minus",
        tone="ink",
        decimals=2,
        title="Differences in alignment",
        axis="Difference in Kendall’s τ",
        value="difference",
        n="cells",
    )


def group_table(result: ComparisonResult, names: Names, level: str) -> ReportTable:
    return ReportTable.of_rows(
        "groups",
        "Every group with every run",
        result.by_group,
        RunGroup,
        "run",
        Column("", "run_name", lambda row: names.run(row.run)),
        "alignment.group",
        Column("", "group_name", lambda row: names.group(row.alignment.group)),
        *("alignment.n_raters", "alignment.n_scales", "alignment.observed"),
        *("alignment.p_value", "alignment.p_holm", "p_table"),
        *("alignment.precision", "alignment.precision_top", "alignment.precision_bottom"),
        Column("", "is_pilot", lambda row: row.alignment.group in result.pilot_groups),
        *("alignment.tau.reason", "alignment.precision.reason"),
        *("alignment.p_resampled", "alignment.p_resampled_holm", "p_resampled_table"),
        level=level,
    )


def groups_printed(
    groups: ReportTable, result: ComparisonResult, names: Names
) -> tuple[Table, ...]:
    """Return a table of every group by every run for τ and for precision at either end."""
    k, marks = result.options.k, explain_marks(result.options.level, "run")
    lines = pivot(groups.rows, "alignment.group", "run")

    def name(line: Any) -> str:
        slug = line.first.alignment.group
        return names.group(slug) + (" (pilot)" if slug in result.pilot_groups else "")

    def raters(line: Any) -> int:
        return max(row.alignment.n_raters for row in line.records.values())

    def text(quantity: str) -> Any:
        def shown(row: RunGroup) -> str:
            value = number(getattr(row.alignment, quantity).value)
            return value + (sign(row, result.options.level) if quantity == "tau" else "")

        return shown

    return tuple(
        groups.printed(
            caption,
            rows=lines,
            columns=(
                Column("Group", value=name),
                Column("Raters", value=raters, decimals=0, style="quiet"),
                *(
                    Column(names.run(run), value=beside(run, text(quantity)), decimals=2, cell=str)
                    for run in result.runs
                ),
            ),
        )
        for quantity, caption in (
            ("tau", f"Kendall’s τ of every group with every run. {marks}"),
            ("precision_top", f"Precision at {k} with the {k} highest scored scales."),
            ("precision_bottom", f"Precision at {k} with the {k} lowest scored scales."),
        )
    )


def group_figure(result: ComparisonResult, names: Names, level: str) -> Figure:
    cells = {
        (row.alignment.group, row.run): GridCell(
            row.alignment.tau.value,
            sign(row, result.options.level),
            f"{level} interval "
            f"{interval(row.alignment.tau.interval.low, row.alignment.tau.interval.high)}, "
            f"{count(row.alignment.n_raters, 'rater')}",
        )
        for row in result.by_group
    }
    return Figure(
        "groups",
        "Kendall’s τ of every group with every run. " + explain_marks(result.options.level, "run"),
        value_grid_spec(
            [GridLabel(slug, e["plural"], e["domain"]) for slug, e in names.groups.items()],
            [GridLabel(run, names.run(run)) for run in result.runs],
            cells,
            words=GridWords(title="Alignment of every group", scale="Kendall’s τ"),
            limit=TAU_LIMIT,
        ),
        data="groups",
    )


def mention_table(names: Names) -> ReportTable:
    return ReportTable.of(
        "mention",
        "What the mere mention of a group explains",
        [{"run": run} | dict(found) for run, found in names.mention.items()],
        Column("", "run", meaning="public id of the run"),
        Column("Run", "run_name", lambda row: names.run(row["run"])),
        Column.estimate(
            "Explained, %",
            "explained",
            _explained,
            0,
            scale=100,
            style="strong",
            meaning="share of the squared deviations, at most 1",
        ),
        Column("", "level"),
        Column("Groups", "n_groups", decimals=0),
        Column("Cells", "n_cells", decimals=0),
        reason=lambda row: row["reason"] or row["interval_reason"],
        note="reason",
    )


def mention_printed(mention: ReportTable, result: ComparisonResult, level: str) -> Table:
    found = {row["run"]: row for row in mention.rows}
    none = {"explained": None, "n_groups": None, "n_cells": None, "reason": NO_UNMARKED}
    return replace(mention, level=level).printed(
        "Share of the groups’ squared deviations from the unmarked sentence that the mere mention "
        "of any group explains, in %.",
        rows=[found.get(run, {"run": run} | none) for run in result.runs],
    )


def left_out_table(result: ComparisonResult, names: Names) -> ReportTable:
    return ReportTable.of_rows(
        "left_out",
        "What did not enter, and why",
        result.left_out,
        RunLeftOut,
        "run",
        Column("", "run_name", lambda row: names.run(row.run)),
        *("item.what", "item.group"),
        Column("", "group_name", lambda row: names.group(row.item.group)),
        *("item.scale", "item.n", "item.reason"),
    )


def key_numbers(result: ComparisonResult, names: Names) -> tuple[KeyNumber, ...]:
    options = result.options
    level, last = percent(options.level), parts_of(result)[-1]
    widest = max(
        (row.pooled for row in in_order(result, ALL)),
        key=lambda found: -math.inf if math.isnan(found.ceiling.mean) else found.ceiling.n_first,
    )
    pairs = pairs_of(result, last, TAU)
    corrected = [row.p_generalizing_holm for row in pairs]
    clear = [p for p in corrected if p < 1 - options.level]
    return (
        *(_range(result, names, part, level) for part in parts_of(result)),
        ceiling_key(widest.answers, widest.tau)
        if not math.isnan(widest.answers.ceiling)
        else halves_key(widest.ceiling, options.ceiling_share),
        KeyNumber(
            "Pairs that differ in τ",
            str(len(clear)),
            f"of {len(pairs)}",
            (
                PARTS[last],
                f"p < {1 - options.level:.2g} after Holm’s correction for "
                f"{count(len(pairs), 'test')}",
            ),
        )
        if not all(map(math.isnan, corrected))
        else KeyNumber("Pairs that differ in τ", MISSING, lines=("No pair could be tested.",)),
    )


def _range(result: ComparisonResult, names: Names, part: str, level: str) -> KeyNumber:
    rows = [row for row in in_order(result, part) if cited(row).is_defined]
    if not rows:
        reasons = dict.fromkeys(cited(row).reason for row in in_order(result, part))
        lines = tuple(f"{reason[:1].upper()}{reason[1:]}." for reason in reasons)
        return KeyNumber(f"Highest τ, {PARTS[part].lower()}", number(None), lines=lines)
    highest, lowest = rows[0], rows[-1]
    found = cited(highest)
    return KeyNumber(
        f"Highest τ, {PARTS[part].lower()}",
        number(found.value),
        lines=(
            f"{names.run(highest.run)}, {level} interval for groups like these "
            f"{interval(found.low, found.high)}",
            f"Lowest {number(cited(lowest).value)}: {names.run(lowest.run)}",
            "Noise taken out",
        ),
    )


def _explained(row: Mapping[str, Any]) -> Estimate | None:
    if row["explained"] is None and "level" not in row:
        return None
    value, low, high = (
        math.nan if row[name] is None else float(row[name]) for name in ("explained", "low", "high")
    )
    return Estimate(value, low, high)


def all_tables(result: ComparisonResult, names: Names) -> Sequence[ReportTable]:
    """Return the downloads; `mention` only where a run has the baseline."""
    level = percent(result.options.level)
    return (
        run_table(result, names, level),
        pair_table(result, names, level),
        group_table(result, names, level),
        *([mention_table(names)] if names.mention else []),
        left_out_table(result, names),
    )
