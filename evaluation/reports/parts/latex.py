"""A table as it is printed, for papers: LaTeX with the package booktabs."""

from __future__ import annotations

import re
from collections.abc import Iterable

from evaluation.reports.parts.document import PrintedColumn, Table
from evaluation.reports.parts.formatting import sentence

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "−": "$-$",
    "–": "--",
    "×": r"$\times$",
    "±": r"$\pm$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "<": "$<$",
    ">": "$>$",
    "α": r"$\alpha$",
    "ρ": r"$\rho$",
    "τ": r"$\tau$",
    "←": r"$\leftarrow$",
    "→": r"$\rightarrow$",
    "⏎": r"$\hookleftarrow$",
    "\u202f": r"\,",
}
_SPECIAL = re.compile("|".join(map(re.escape, _ESCAPES)))
WIDE = "p{0.3\\linewidth}"


def to_latex(table: Table, *, label: str = "") -> str:
    """Return a floating table: caption above, heads of groups with their rules, notes under rows.

    label : for references, such as ``tab:groups``
    """
    head = [_line(map(escape, (column.head for column in table.columns)))]
    if table.heads:
        head = [_line(_spanned(g.text, g.span) for g in table.heads), _rules(table), *head]
    rows = []
    for row in table.rows:
        rows.append(_line(map(escape, row.cells)))
        if row.note:
            text = rf"\footnotesize {escape(sentence(row.note))}"
            rows.append(rf"\multicolumn{{{len(table.columns)}}}{{l}}{{{text}}} \\")
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape(table.caption)}}}",
        *([rf"\label{{{label}}}"] if label else []),
        rf"\begin{{tabular}}{{{''.join(map(_alignment, table.columns))}}}",
        r"\toprule",
        *head,
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Return a text whose characters LaTeX prints as they stand."""
    return _SPECIAL.sub(lambda found: _ESCAPES[found[0]], text)


def _alignment(column: PrintedColumn) -> str:
    return WIDE if column.wide else "r" if column.number else "l"


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _spanned(text: str, span: int) -> str:
    return rf"\multicolumn{{{span}}}{{c}}{{{escape(text)}}}"


def _rules(table: Table) -> str:
    """Return a rule under every head that has a text."""
    rules, first = [], 1
    for group in table.heads:
        last = first + group.span - 1
        if group.text:
            rules.append(rf"\cmidrule(lr){{{first}-{last}}}")
        first = last + 1
    return " ".join(rules)
