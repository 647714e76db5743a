"""The findings as a table of Markdown, and in docs/faults.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

BEGIN, END = "<!-- begin of the table -->\n", "<!-- end of the table -->\n"
COLUMNS = (
    *("installation", "fault", "times", "surveys", "pages", "answers", "lost", "doubled", "wrong"),
    *("server errors", "refused meanwhile", "runs", "different", "longest wait"),
)


def write_table(rows: list[dict[str, Any]]) -> str:
    """Return one row for each installation and fault, then what was skipped and what went wrong."""
    lines = [_row(COLUMNS), _row(["---", "---", *["---:"] * (len(COLUMNS) - 2)])]
    lines += [_row(_cells(row)) for row in rows if "skipped" not in row]
    skipped = [row for row in rows if "skipped" in row]
    lines += [
        "",
        *(f"- SKIPPED {row['setup']}, {row['fault']}: {row['skipped']}" for row in skipped),
    ]
    lines += _list_problems("server errors", "errors", rows)
    lines += _list_problems("refused", "refused", rows)
    return "\n".join(lines).rstrip() + "\n"


def _list_problems(title: str, key: str, rows: list[dict[str, Any]]) -> list[str]:
    found = [row for row in rows if row.get(key)]
    return [
        f"- {row['setup']}, {row['fault']}, {title}: "
        + ", ".join(f"{count:,} × {what}" for what, count in sorted(row[key].items()))
        for row in found
    ]


def _cells(row: dict[str, Any]) -> list[str]:
    counts = ("times", "surveys", "pages", "stored", "lost", "doubled", "wrong")
    return [
        row["setup"],
        row["fault"],
        *(f"{row[name]:,}" for name in counts),
        f"{sum(row['errors'].values()):,}",
        f"{sum(row['refused'].values()):,}",
        f"{row['runs']:,}",
        f"{row['different']:,}",
        f"{row['longest_seconds']:.1f} s",
    ]


def is_clean(row: dict[str, Any]) -> bool:
    """Return whether nothing was lost, doubled, wrong or an error."""
    return "skipped" in row or not (
        row["lost"] or row["doubled"] or row["wrong"] or row["errors"] or row["different"]
    )


def _row(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def put_into(page: Path, table: str) -> None:
    """Put a table in the place of the one that the page holds. Raises ValueError without one."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{page} has no place for a table")
    page.write_text(f"{before}{begin}\n{table}\n{end}{after}", encoding="utf-8")
