"""The measurements as Markdown, as docs/load.md shows them."""

from __future__ import annotations

from typing import Any

NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
COLUMNS = (
    *("database", "at once", "surveys", "submits/s", "median", "p95", "p99", "max"),
    *("errors", "answers stored", "lost", "server MB", "client MB", "CPU ms"),
)


def write_report(record: dict[str, Any]) -> str:
    """Return the machine, a table of levels and a sentence for each burst."""
    measured = record["databases"]
    machine = record["machine"]
    lines = [
        f"{machine['measured_on']}: {machine['cores']} cores ({machine['processor']}), Python "
        f"{machine['python']}, shared by server, database and client; "
        f"load of the machine before: {machine['load_before']:.1f}. "
        + "; ".join(
            f"{NAMES[one['database']]} with {_count(one['processes'], 'web process', 'es')} of "
            f"{one['threads']} threads"
            for one in measured
        )
        + ".",
        "",
        _row(COLUMNS),
        _row(["---", *["---:"] * (len(COLUMNS) - 1)]),
        *(_row(_cells(one["database"], level)) for one in measured for level in one["levels"]),
        "",
        *(_describe_burst(one) for one in measured if one["burst"]),
    ]
    return "\n".join(lines)


def _cells(database: str, level: dict[str, Any]) -> list[str]:
    times, answers = level["submit_ms"], level["answers"]
    wrong = sum(answers[name] for name in ("lost", "doubled", "misplaced", "strange"))
    return [
        NAMES[database],
        f"{level['participants']:,}",
        f"{level['surveys']:,}",
        f"{level['submits_per_second']:,.0f}",
        *(_number(times[name]) for name in ("median", "p95", "p99", "max")),
        f"{sum(level['errors'].values()):,}",
        f"{answers['stored']:,}",
        f"{wrong:,}",
        f"{level['server_peak_mb']:,}",
        f"{level['client_peak_mb']:,}",
        _number(level["server_cpu_ms_per_submit"], decimals=1),
    ]


def _describe_burst(one: dict[str, Any]) -> str:
    burst = one["burst"]
    seen = ", ".join(f"{count:,} {what}" for what, count in sorted(burst["seen"].items()))
    return (
        f"- {NAMES[one['database']]}: {burst['arrivals']:,} people pressed “Start” together for "
        f"the last place: {seen}; {burst['overshoot']} too many."
    )


def _number(value: float | None, *, decimals: int = 0) -> str:
    return "–" if value is None else f"{value:,.{decimals}f}"


def _count(number: int, noun: str, plural: str) -> str:
    return f"{number} {noun}{'' if number == 1 else plural}"


def _row(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"
