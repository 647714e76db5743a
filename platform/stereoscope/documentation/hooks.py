"""What MkDocs does besides, while it builds the site: see `mkdocs.yml`.

Pages hold no script of their own, so that they are served under the same strict policy as all
others: what the theme writes into a page becomes a file, and styles become classes. Where a page
says ``<!-- parameters of NAME -->`` or the like, the registries of measures and reports fill in
what they know. Django is set up by whoever builds.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from evaluation.reports.parts.kind import ReportKind
from evaluation.reports.registry import KINDS, get_kind
from probing.measures.registry import get_measure
from stereoscope.documentation.site import STATIC

# Ours, which the site needs, and where it finds them.
OWN_FILES = {"assets/mark.svg": "mark.svg", "assets/docs.css": "docs.css"}
INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.S)
RIGHT = re.compile(r' style="text-align: right;"')


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for address, name in OWN_FILES.items():
        content = (STATIC / name).read_bytes()
        files.append(File.generated(config, address, content=content))
    return files


def on_page_markdown(markdown: str, **_more: Any) -> str:
    return PLACE.sub(lambda found: PARTS[found[1]](found[2] or ""), markdown)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Move every inline script into a file, named by its content; give the search a name."""
    depth = "../" * page.url.count("/")

    def move(found: re.Match[str]) -> str:
        name = f"inline-{hashlib.sha256(found[1].encode()).hexdigest()[:12]}.js"
        path = f"{config.site_dir}/assets/{name}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(found[1])
        return f'<script src="{depth}assets/{name}"></script>'

    named = output.replace('role="dialog"', 'role="dialog" aria-label="Search"', 1)
    return RIGHT.sub(' class="right"', INLINE_SCRIPT.sub(move, named))


def write_parameters(name: str) -> str:
    return write_options(get_measure(name).Parameters)


def write_report_options(name: str) -> str:
    return write_options(get_kind(name).Parameters)


def write_options(schema: type[BaseModel]) -> str:
    """Return the options of a measure or report as a table in Markdown."""
    lines = ["| option | default | what it does |", "| --- | --- | --- |"]
    for name, field in schema.model_fields.items():
        head = f"{field.title}<br>`{name}`" if field.title else f"`{name}`"
        lines.append(f"| {head} | {write_default(field)} | {one_line(field.description or '')} |")
    return "\n".join(lines)


def write_default(field: FieldInfo) -> str:
    value = field.default
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(f"`{one}`" for one in value)
    return f"`{one_line(str(value))}`"


def one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def write_source(name: str) -> str:
    return f"{get_measure(name).citation}."


def write_needs(name: str) -> str:
    """Return a report's question and what it rests on."""
    kind = get_kind(name)
    inputs = [
        (str(getattr(kind.study, "label", "") or "A study"), kind.study),
        (str(getattr(kind.second_study, "label", "") or "A second study"), kind.second_study),
        ("A corpus", kind.corpus),
        ("A run" if kind.runs and kind.runs.most == 1 else "Runs", kind.runs),
    ]
    lines = [f"*{kind.question}*", "", "**What it rests on**", ""]
    lines += [f"- {name}: {one_line(str(one.help))}" for name, one in inputs if one]
    return "\n".join(lines)


def write_numbers(name: str) -> str:
    """Return what the numbers at the head of a report mean, as the report itself says it."""
    lines = ["| number | what it means |", "| --- | --- |"]
    for label, meaning in get_kind(name).meanings.items():
        lines.append(f"| {one_line(label)} | {one_line(meaning)} |")
    return "\n".join(lines)


def write_report_rows(_name: str) -> str:
    """Return a row for each kind of report, without the table's head."""
    return "\n".join(
        f"| {kind.question} | [{kind.title}](reports/{kind.name}.md) | {rests_on(kind)} |"
        for kind in KINDS.values()
    )


def rests_on(kind: ReportKind) -> str:
    runs = kind.runs
    parts = (
        "two studies" if kind.second_study else "a study" if kind.study else "",
        "a corpus" if kind.corpus else "",
        "" if runs is None else "a run" if runs.most == 1 else "runs",
    )
    return ", ".join(part for part in parts if part)


#: What stands in place of ``<!-- PART of NAME -->``.
PARTS: dict[str, Callable[[str], str]] = {
    "parameters": write_parameters,
    "source": write_source,
    "options": write_report_options,
    "needs": write_needs,
    "numbers": write_numbers,
    "table": write_report_rows,
}
PLACE = re.compile(rf"<!-- ({'|'.join(PARTS)}) of ([a-z_]+) -->")
