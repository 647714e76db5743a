"""The tables of a report on a template selection: Table 5 of Cao et al. (2022)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from evaluation.analyses.alignment_result import AlignmentResult
from evaluation.analyses.template_selection import TemplateSelection
from evaluation.reports.parts.document import Figure, KeyNumber, Table
from evaluation.reports.parts.formatting import count
from evaluation.reports.parts.table import Column, ReportTable, ranked
from evaluation.reports.parts.tau_questions import (
    TITLE,
    pooled_rows,
    published_p_columns,
    question_table,
    resampled_p_columns,
    tau_key,
)

SHOWN_CANDIDATES = 20
#: The number to cite stands first.
CITED = ("test", "pilot", "overall")
PARTS = {"pilot": "Pilot groups", "test": "Test groups", "overall": "All groups"}


def candidate_table(selection: TemplateSelection, texts: Mapping[str, str]) -> ReportTable:
    return ReportTable.of(
        "candidates",
        "Candidates",
        [
            asdict(row) | {"rank": rank, "chosen": row.templates == selection.chosen}
            for rank, row in enumerate(selection.candidates, start=1)
        ],
        Column("", "rank"),
        Column("", "templates", lambda row: " ".join(row["templates"])),
        Column(
            "Templates",
            "texts",
            lambda row: " + ".join(texts.get(slug, slug) for slug in row["templates"]),
            wide=True,
        ),
        Column("τ", "tau", decimals=3, style="strong"),
        Column.p("p", "p_value", meaning="of tau, cells as independent draws, not corrected"),
        Column("Cells", "n_cells", decimals=0),
        Column("", "chosen"),
        reason="reason",
    )


def pilot_table(selection: TemplateSelection, names: Mapping[str, str]) -> ReportTable:
    return ReportTable.of(
        "pilot",
        "Pilot groups",
        selection.pilot,
        Column("", "group"),
        Column("Group", "group_name", lambda row: names[row.group]),
        Column("Raters", "n_raters", decimals=0),
        Column("Looked at", "n_used", decimals=0),
    )


def part_table(parts: Mapping[str, AlignmentResult], level: str) -> ReportTable:
    return ReportTable.of(
        "alignments",
        "Pilot, test and all groups",
        [{"part": name, "pooled": part.pooled} for name, part in parts.items()],
        Column("", "part"),
        Column("Groups", value=lambda row: PARTS[row["part"]]),
        Column("Number", "n_groups", "pooled.n_groups", 0),
        Column("", "n_cells", "pooled.n_cells"),
        Column.estimate(
            "τ",
            "tau",
            lambda row: row["pooled"].tau.estimate(row["pooled"].n_cells),
            2,
            style="strong",
        ),
        Column.p(
            "p, cells independent",
            "p_value",
            "pooled.p_value",
            meaning="of tau, cells as independent draws",
        ),
        Column("Mean τ of groups", "mean_group_tau", "pooled.group_tau.value", 2),
        Column.estimate(
            "P@3",
            "precision",
            lambda row: row["pooled"].precision.estimate(),
            2,
            prefix="precision_",
        ),
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


def group_table(
    parts: Mapping[str, AlignmentResult], names: Mapping[str, str], level: str
) -> ReportTable:
    """Return test groups before pilot groups, those with the highest τ first."""
    return ReportTable.of(
        "groups",
        "Group by group",
        [
            {"part": name, "found": row, "tau": row.tau.estimate()}
            for name in ("test", "pilot")
            for row in ranked(parts[name].by_group, lambda row: row.tau.value)
        ],
        Column("Part", "part"),
        Column("", "group", "found.group"),
        Column("Group", "group_name", lambda row: names[row["found"].group]),
        Column.estimate("τ", "tau", decimals=2, style="strong"),
        *published_p_columns("found."),
        Column("P@3", "precision", "found.precision.value", 2),
        Column("Raters", "n_raters", "found.n_raters", 0),
        Column("", "n_scales", "found.n_scales"),
        Column("", "reason", "tau.reason"),
        *resampled_p_columns("found."),
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
