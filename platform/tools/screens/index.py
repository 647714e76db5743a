"""The index of the pictures: one table for each part, a row for each page and language."""

from __future__ import annotations

from collections.abc import Iterable

from tools.screens.camera import COLORS, WINDOWS, Shot

HEADINGS = {
    "participant": "Participants",
    "annotator": "Annotators",
    "researcher": "Researchers",
}
LANGUAGES = {"en": "English", "es": "Spanish"}
FOLDER = "images/screens"
HEAD = """# Every page

Made by `make screenshots` of the demo: each page on a phone (390 px) and on a desktop (1280 px), in
light and dark, participants' pages in both languages. Long pages are cut. The people are simulated,
the texts are made up; nothing here is a finding.
"""


def write_index(shots: Iterable[Shot]) -> str:
    """Return the page that shows the pictures, as Markdown."""
    taken = list(shots)
    lines = [HEAD]
    for part, heading in HEADINGS.items():
        rows = [shot for shot in taken if shot.part == part]
        if not rows:
            continue
        columns = [(window, colors) for window in WINDOWS for colors in COLORS]
        lines += [f"## {heading}", ""]
        lines.append("| page | " + " | ".join(f"{w}, {c}" for w, c in columns) + " |")
        lines.append("| --- |" + " --- |" * len(columns))
        for shot in rows:
            label = f"{shot.title}, {LANGUAGES[shot.language]}"
            links = (_picture(shot, *one) for one in columns)
            lines.append(f"| {label} | " + " | ".join(links) + " |")
        lines.append("")
    return "\n".join(lines)


def _picture(shot: Shot, window: str, colors: str) -> str:
    file = f"{FOLDER}/{shot.files[window, colors]}"
    words = f"{shot.title}, {window}, {colors}"
    return f'<a href="{file}"><img src="{file}" width="150" alt="{words}"></a>'
