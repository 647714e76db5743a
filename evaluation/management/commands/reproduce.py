"""``manage.py reproduce``: the papers' tables and figures, as published and as computed here."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.table import Table

from evaluation.reproductions.items import Outcome, Paper, Sources, Status, reproduce
from evaluation.reproductions.papers import PAPERS


class Command(BaseCommand):
    help = (
        "Computes the tables and figures of the four papers again and compares each with what was "
        "published; without an item, lists them."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "items",
            nargs="*",
            metavar="ITEM",
            help="such as cao2022/table-6, or a paper: "
            + ", ".join(paper.name for paper in PAPERS),
        )
        parser.add_argument("--all", action="store_true", help="every item of every paper")
        parser.add_argument(
            "--data",
            type=Path,
            metavar="FOLDER",
            default=settings.RELEASED_FILES,
            help="where the authors' released files lie, at any depth (default: RELEASED_FILES)",
        )
        parser.add_argument(
            "--markdown", type=Path, metavar="FILE", help="write the lines as a page, too"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        folder: Path | None = options["data"]
        if folder is not None and not folder.is_dir():
            raise CommandError(f"--data {folder} is not a folder.")
        names = [paper.name for paper in PAPERS] if options["all"] else options["items"]
        if not names:
            self._list()
            return
        sources = Sources(folder)
        outcomes = [
            reproduce(paper, item, sources) for name in names for paper, item in find_items(name)
        ]
        console = Console(file=self.stdout, soft_wrap=True, highlight=False)  # type: ignore[arg-type]
        if len(outcomes) == 1:
            _print_values(console, outcomes[0])
        else:
            for line in list_lines(outcomes):
                console.print(line, markup=False)
        if options["markdown"]:
            options["markdown"].write_text(to_markdown(outcomes), encoding="utf-8")

    def _list(self) -> None:
        for paper in PAPERS:
            self.stdout.write(paper.title)
            for item in paper.items:
                self.stdout.write(f"  {paper.name}/{item.name:16} {item.about}")


def find_items(name: str) -> Iterator[tuple[Paper, Any]]:
    """Yield the items of an address, or of a paper; `CommandError` names what exists."""
    wanted, _, number = name.partition("/")
    paper = next((paper for paper in PAPERS if paper.name == wanted), None)
    if paper is None:
        known = ", ".join(paper.name for paper in PAPERS)
        raise CommandError(f"There is no paper “{wanted}”. Choose one of: {known}.")
    items = [item for item in paper.items if not number or item.name == number]
    if not items:
        known = ", ".join(item.name for item in paper.items)
        raise CommandError(f"{paper.name} has no item “{number}”. Choose one of: {known}.")
    yield from ((paper, item) for item in items)


def list_lines(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield a line for each item, and one with the counts by status."""
    width = max(len(outcome.address) for outcome in outcomes)
    for outcome in outcomes:
        reasons = " ".join(outcome.reasons)
        line = f"{outcome.address:{width}}  {outcome.summary}. {outcome.item.about}."
        yield f"{line} {reasons}".rstrip()
    counts = {status: sum(one.status is status for one in outcomes) for status in Status}
    told = ", ".join(f"{status} {count}" for status, count in counts.items() if count)
    yield f"Items: {told}."


def _print_values(console: Console, outcome: Outcome) -> None:
    table = Table(title=f"{outcome.paper.title}. {outcome.item.title}: {outcome.item.about}")
    for name in ("What", "Published", "Ours", "Difference", "Status"):
        table.add_column(name, justify="left" if name in ("What", "Status") else "right")
    for value in outcome.values:
        table.add_row(value.what, *value.printed, str(value.status))
    if outcome.values:
        console.print(table)
    console.print(f"{outcome.address}: {outcome.summary}.", markup=False)
    for reason in outcome.reasons:
        console.print(reason, markup=False)
    if outcome.item.commands and outcome.status is Status.NO_RESULT:
        console.print("Run this first, then this command again:")
        for command in outcome.item.commands:
            console.print(f"  .venv/bin/python {command}", markup=False)


HEAD = """# Reproductions

Every numbered table and figure of the four papers: what comes out when it is computed again here,
or why it can't be. *Reproduced* means equal to the last printed digit, *close* within the tolerance
that the item states, *no numbers* that nothing in it follows from data.

```bash
.venv/bin/python manage.py reproduce               # lists them
.venv/bin/python manage.py reproduce kohankhaki/table-4 --data released
.venv/bin/python manage.py reproduce --all --data released --markdown docs/reproductions.md
```

`released` is a folder with clones of the authors' repositories, or with their data files. Items on
models compare the newest report of this installation; the command prints what to run before. Under
**Reproductions** researchers read the same in the browser, with the reports that they may see; set
`RELEASED_FILES` to that folder for it.
"""


def to_markdown(outcomes: Sequence[Outcome]) -> str:
    """Return a page with a table for each paper."""
    parts = [HEAD]
    for paper in PAPERS:
        own = [outcome for outcome in outcomes if outcome.paper is paper]
        if not own:
            continue
        lines = ["| item | what | result | why |", "| --- | --- | --- | --- |"]
        for one in own:
            reasons = " ".join(one.reasons)
            lines.append(f"| {one.item.title} | {one.item.about} | {one.summary} | {reasons} |")
        parts.append(f"## {paper.title}\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)
