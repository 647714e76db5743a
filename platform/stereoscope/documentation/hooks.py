"""What MkDocs does besides, while it builds the site: see `mkdocs.yml`.

Pages hold no script of their own, so that they are served under the same strict policy as all
others: what the theme writes into a page becomes a file, and styles become classes. Tables of
options come from the registry of measures, where a page says ``<!-- parameters of NAME -->``.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pydantic.fields import FieldInfo

from probing.measures.registry import get_measure
from stereoscope.documentation.paths import STATIC

# Ours, which the site needs, and where it finds them.
OWN_FILES = {"assets/mark.svg": "mark.svg", "assets/docs.css": "docs.css"}
INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.S)
RIGHT = re.compile(r' style="text-align: right;"')
PARAMETERS = re.compile(r"<!-- parameters of ([a-z_]+) -->")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for address, name in OWN_FILES.items():
        content = (STATIC / name).read_bytes()
        files.append(File.generated(config, address, content=content))
    return files


def on_page_markdown(markdown: str, **_more: Any) -> str:
    return PARAMETERS.sub(lambda found: write_parameters(found[1]), markdown)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Move every inline script into a file beside the theme's, named by its content."""
    depth = "../" * page.url.count("/")

    def move(found: re.Match[str]) -> str:
        name = f"inline-{hashlib.sha256(found[1].encode()).hexdigest()[:12]}.js"
        path = f"{config.site_dir}/assets/{name}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(found[1])
        return f'<script src="{depth}assets/{name}"></script>'

    return RIGHT.sub(' class="right"', INLINE_SCRIPT.sub(move, output))


def write_parameters(measure: str) -> str:
    """Return the options of a measure as a table in Markdown."""
    lines = ["| option | default | what it does |", "| --- | --- | --- |"]
    for name, field in get_measure(measure).Parameters.model_fields.items():
        meaning = " ".join(str(field.description or "").split()).replace("|", "\\|")
        head = f"{field.title or name}<br>`{name}`"
        lines.append(f"| {head} | {write_default(field)} | {meaning} |")
    return "\n".join(lines)


def write_default(field: FieldInfo) -> str:
    value = field.default
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(f"`{one}`" for one in value)
    return f"`{value}`"
