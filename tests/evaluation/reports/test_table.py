"""A table that is declared once: printed, downloaded, drawn, explained, and as LaTeX."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import pytest

from evaluation.metrics.estimate import Estimate, no_estimate
from evaluation.metrics.shown import Shown
from evaluation.reports.parts.formatting import p_cell
from evaluation.reports.parts.latex import escape, to_latex
from evaluation.reports.parts.table import (
    Column,
    ReportTable,
    estimate_columns,
    pivot,
    ranked,
    shown,
)


@dataclass(frozen=True)
class Row:
    group: str
    variety: str
    estimate: Estimate
    p_value: float = math.nan


ROWS = (
    Row("a", "north", Estimate(0.25, -0.5, 1.0, 7), 0.0004),
    Row("a", "south", Estimate(0.75, 0.5, 1.0, 8)),
    Row("b", "north", no_estimate("nobody rated it")),
)
TABLE = ReportTable(
    "groups",
    "Group by group",
    ROWS,
    (
        Column("", "group"),
        Column("Group", "", lambda row: row.group.upper()),
        Column("", "variety"),
        Column("τ, %", "tau", "estimate", 1, scale=100, signed=True, with_interval=True,
               style="strong", meaning="Kendall’s tau", unit="share"),
        Column("p", "p_value", decimals=3, cell=p_cell),
        Column("Raters", "n", "estimate.n", 0),
    ),
    "90 %",
    "estimate.reason",
)  # fmt: skip


@dataclass(frozen=True)
class ShownRow:
    group: Annotated[str, Shown(meaning="slug of the group")]
    estimate: Annotated[
        Estimate,
        Shown("τ, %", 1, name="tau", effect=True, scale=100, n=Shown("Raters", name="n_raters")),
    ]
    p_value: Annotated[float, Shown("p", is_p=True)] = math.nan
    kept: str = ""


def test_fields_of_a_record_say_how_they_are_shown():
    rows = [ShownRow("a", Estimate(0.25, -0.5, 1.0, 7), 0.0004)]
    table = ReportTable.of("groups", "Groups", rows, *shown(ShownRow), level="95 %")
    assert list(table.frame.columns) == ["group", "tau", "low", "high", "n_raters", "p_value"]
    assert table.frame.iloc[0].tolist() == ["a", 0.25, -0.5, 1.0, 7, 0.0004]
    printed = table.printed("All.")
    assert [column.head for column in printed.columns] == ["τ, %", "95 % interval", "Raters", "p"]
    assert printed.rows[0].cells == ("+25.0", "−50.0 to +100.0", "7", "< 0.001")
    assert table.codebook[0].meaning == "slug of the group"
    assert [column.name for column in shown(ShownRow, "p_value", "group")] == ["p_value", "group"]


@dataclass(frozen=True)
class Pair:
    """Records in the fields of a record."""

    first: Annotated[ShownRow, Shown(prefix="first_")]
    band: Plain | None = None

    @property
    def both(self) -> Annotated[str, Shown("Both, {unit}", meaning="names of {unit}")]:
        return f"{self.first.group} and b"


@dataclass(frozen=True)
class Plain:
    value: float
    reason: str = ""


def test_records_in_a_record_and_what_it_computes_are_shown_under_heads():
    rows = [Pair(ShownRow("a", Estimate(0.25, -0.5, 1.0, 7), 0.0004, "x"), Plain(2.0, "y"))]
    table = ReportTable.of_rows(
        "pairs", "Pairs", rows, Pair,
        "both", {"Tau": ("first.estimate", Column("N", value="first.estimate.n", decimals=0))},
        "first.kept", "band", "band.reason",
        labels={"unit": "people"},
    )  # fmt: skip
    assert list(table.frame) == [
        "both", "first_tau", "first_low", "first_high", "first_n_raters", "first_kept", "band",
        "reason",
    ]  # fmt: skip
    assert table.frame.iloc[0].tolist() == ["a and b", 0.25, -0.5, 1.0, 7, "x", 2.0, "y"]
    printed = table.printed("All.")
    assert printed.columns[0].head == "Both, people"
    assert [(head.text, head.span) for head in printed.heads] == [("", 1), ("Tau", 4)]
    assert table.codebook[0].meaning == "names of people"
    whole = ReportTable.of_rows("all", "All", rows, Pair)
    assert [column.name for column in whole.columns] == [
        "first_group", "first_tau", "first_n_raters", "first_p_value", "both",
    ]  # fmt: skip


def test_a_field_that_a_record_has_not_is_named():
    with pytest.raises(KeyError, match="ShownRow has group, estimate, p_value, kept; not left"):
        shown(ShownRow, "left")


def test_one_column_prints_two_cells_and_downloads_three_numbers():
    printed = TABLE.printed("All groups.")
    assert [column.head for column in printed.columns] == [
        "Group", "τ, %", "90 % interval", "p", "Raters",
    ]  # fmt: skip
    assert [column.css for column in printed.columns][:3] == ["", "number strong", "number quiet"]
    assert printed.rows[0].cells == ("A", "+25.0", "−50.0 to +100.0", "< 0.001", "7")
    assert list(TABLE.frame) == ["group", "variety", "tau", "low", "high", "p_value", "n"]
    assert TABLE.frame.iloc[0].tolist() == ["a", "north", 0.25, -0.5, 1.0, 0.0004, 7]


def test_undefined_cells_are_dashes_with_the_reason_under_the_row():
    row = TABLE.printed("All groups.").rows[2]
    assert row.cells[1:] == ("–", "–", "–", "0")
    assert row.note == "nobody rated it"


def test_printed_table_may_show_other_rows_and_columns_than_the_download():
    printed = TABLE.printed("Two.", rows=ROWS[:1], columns=("n", Column("Where", value="variety")))
    assert [row.cells for row in printed.rows] == [("7", "north")]
    with pytest.raises(KeyError, match="no column rank; it has group"):
        TABLE.printed("None.", columns=("rank",))


def test_words_for_columns_say_what_their_options_say():
    table = ReportTable.of(
        "words",
        "Words",
        ROWS,
        Column("", "group"),
        Column("", "variety"),
        Column.estimate("τ", "tau", "estimate", 2),
        Column.effect("Effect", "effect", "estimate", 2, prefix="effect_"),
        Column.p("p", "p_value"),
        level="90 %",
    )
    assert list(table.frame) == [
        "group", "variety", "tau", "low", "high", "effect", "effect_low", "effect_high", "p_value",
    ]  # fmt: skip
    printed = table.printed("All.")
    assert [column.head for column in printed.columns] == [
        "τ", "90 % interval", "Effect", "90 % interval", "p",
    ]  # fmt: skip
    assert printed.columns[2].css == "number strong"
    assert printed.rows[0].cells == ("0.25", "−0.50 to 1.00", "+0.25", "−0.50 to +1.00", "< 0.001")


def test_table_without_rows_is_left_away_where_the_page_says_so():
    assert [table.caption for table in TABLE.printed_if_any("All.")] == ["All."]
    assert ReportTable.of("none", "Nothing", (), Column("", "a")).printed_if_any("None.") == ()


def test_figure_has_the_words_of_table_and_column_by_default():
    drawn = [
        TABLE.figure("f", "Caption.", "tau", label="Group", axis="τ", **words).spec
        for words in ({}, {"title": "Group by group", "value": "τ, %"}, {"title": "Other"})
    ]
    assert drawn[0] == drawn[1] != drawn[2]


def test_table_without_rows_keeps_its_columns():
    empty = ReportTable("none", "Nothing", (), estimate_columns("Mean", 2))
    assert list(empty.frame) == ["value", "low", "high", "n", "reason"]


def test_long_rows_are_printed_side_by_side_under_heads():
    sides = [
        column
        for variety in ("north", "south")
        for column in TABLE.side_by_side(variety, ("tau", "n"), interval_head="interval")
    ]
    printed = TABLE.printed(
        "Both.", rows=pivot(ROWS, "group", "variety"),
        columns=(Column("Group", value="first.group"), *sides), note="",
    )  # fmt: skip
    assert [(head.text, head.span) for head in printed.heads] == [
        ("", 1), ("north", 3), ("south", 3),
    ]  # fmt: skip
    assert [row.cells[4:] for row in printed.rows] == [
        ("+75.0", "+50.0 to +100.0", "8"),
        ("–",) * 3,
    ]


def test_figure_has_a_mark_for_every_row_in_the_units_of_the_table():
    figure = TABLE.figure(
        "groups", "All.", "tau", label="Group", panel="variety", decimals=0,
        title="Groups", axis="τ, %", value="τ",
    )  # fmt: skip
    assert figure.data == "groups"
    assert figure.spec["description"] == "3 lines with 2 estimates, from +25 to +75."
    one_line = TABLE.figure(
        "groups", "All.", "tau", label="Group", outlined=lambda row: row.variety == "south",
        title="Groups", axis="τ, %",
    )  # fmt: skip
    assert one_line.spec["description"].startswith("2 lines with 2 estimates")


def test_key_number_has_the_interval_or_the_reason():
    key = TABLE.key("tau", ROWS[0], "of a", unit="%")
    assert (key.label, key.value, key.small) == ("τ, %", "+25.0", "%")
    assert key.lines == ("90 % interval −50.0 to +100.0", "of a")
    assert TABLE.key("tau", ROWS[2]).lines == ("Nobody rated it.",)


def test_codebook_explains_every_column_of_the_download():
    lines = TABLE.codebook
    assert [line.name for line in lines] == list(TABLE.frame)
    assert (lines[2].meaning, lines[2].unit) == ("Kendall’s tau", "share")
    assert lines[3].meaning == "lower end of its 90 % interval"


def test_rows_without_a_value_come_last():
    assert [row.estimate.value for row in ranked(ROWS, lambda row: row.estimate.value)][:2] == [
        0.75, 0.25,
    ]  # fmt: skip


def test_latex_has_the_printed_cells_with_rules_heads_and_notes():
    latex = to_latex(TABLE.printed("Share of groups, in %."), label="tab:groups")
    assert latex.splitlines() == [
        r"\begin{table}",
        r"\centering",
        r"\caption{Share of groups, in \%.}",
        r"\label{tab:groups}",
        r"\begin{tabular}{lrrrr}",
        r"\toprule",
        r"Group & $\tau$, \% & 90 \% interval & p & Raters \\",
        r"\midrule",
        r"A & +25.0 & $-$50.0 to +100.0 & $<$ 0.001 & 7 \\",
        r"A & +75.0 & +50.0 to +100.0 & -- & 8 \\",
        r"B & -- & -- & -- & 0 \\",
        r"\multicolumn{5}{l}{\footnotesize Nobody rated it.} \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]


def test_latex_heads_of_groups_span_their_columns():
    table = ReportTable("t", "T", ROWS[:1], (
        Column("Group", "group"),
        Column("τ", "tau", "estimate", 2, with_interval=True, group="People"),
    ))  # fmt: skip
    latex = to_latex(table.printed("One."))
    assert r"\multicolumn{1}{c}{} & \multicolumn{2}{c}{People} \\" in latex
    assert r"\cmidrule(lr){2-3}" in latex


def test_latex_escapes_what_it_would_read_as_a_command():
    assert escape(r"50 % of {a_b} & c\d ~ ^") == (
        r"50 \% of \{a\_b\} \& c\textbackslash{}d \textasciitilde{} \textasciicircum{}"
    )
