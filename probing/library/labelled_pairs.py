"""Imports sentences that signal a group without naming it: the same content in several varieties.

A file has a row for each text, with columns “pair”, “group” (the variety, or who would say it),
“text” and “label”. Every pair becomes a template that is one placeholder, every group a lexicon's
group with one filler, so that all that compares mentions compares these as well.
"""

from __future__ import annotations

from annotation.common.table_file import Heading, Problem
from annotation.common.text_shortening import shorten
from annotation.library.library_kind import text_fault
from probing.library.labelled_files import (
    LABEL_COLUMNS,
    LONGEST_TEXT,
    BadRowsError,
    ParsedFile,
    group_slug,
    needed_column,
    read_labels,
    read_table,
    tidy,
)
from probing.measures.label_map import LabelMapError
from probing.measures.probe_stimuli import ProbeGroup, ProbeTemplate
from probing.measures.probe_templates import ANY


def parse_pairs(
    content: bytes, file_name: str, *, labels: str = "ternary", heading: Heading | None = None
) -> tuple[ParsedFile, ParsedFile]:
    """Return templates and groups of a CSV or TSV file of labelled pairs.

    Raises :class:`BadRowsError` naming every bad row, and pairs that lack a group.
    """
    label_map = read_labels(labels)
    records, columns, notices = read_table(content, file_name, heading=heading)
    names = [needed_column(columns, (name,)) for name in ("pair", "group", "text")]
    label_column = needed_column(columns, LABEL_COLUMNS)
    texts: dict[str, dict[str, str]] = {}
    found: dict[str, int] = {}
    called: dict[str, str] = {}
    bad: list[Problem] = []

    def refuse(line: int, why: str) -> None:
        bad.append(Problem(line, why))

    for record in records:
        pair, group, text = (tidy(record.values.get(name, "")) for name in names)
        slug = group_slug(group)
        if fault := record.fault or next(filter(None, map(text_fault, (pair, group, text))), ""):
            refuse(record.line, fault)
        elif not (pair and slug):
            refuse(record.line, "Name the pair, and the group whose text it is.")
        elif not text or len(text) > LONGEST_TEXT:
            refuse(
                record.line,
                f"The text has {len(text)} characters, expected 1 to {LONGEST_TEXT:,}.",
            )
        elif slug in texts.get(pair, {}):
            refuse(record.line, f"The pair “{shorten(pair)}” has a text of “{group}” already.")
        else:
            try:
                (label,) = label_map.collapse([record.values[label_column]])
            except LabelMapError as error:
                refuse(record.line, str(error))
                continue
            if found.setdefault(pair, label) != label:
                refuse(record.line, f"The pair “{shorten(pair)}” has two labels. Give it one.")
            texts.setdefault(pair, {})[slug] = text
            called[slug] = group
    if bad:
        n = len(bad)
        rows = f"{n} of {len(records)} rows {'is' if n == 1 else 'are'} bad"
        raise BadRowsError(f"Nothing was imported: {rows}.", bad)
    for pair, own in texts.items():
        if missing := [name for slug, name in called.items() if slug not in own]:
            raise BadRowsError(
                f"The pair “{shorten(pair)}” has no text of {', '.join(missing)}. Give every pair "
                "a text of each group."
            )
    if len(called) < 2:
        raise BadRowsError("The file has one group, and a gap compares at least two.")
    places = {pair: f"pair_{number:04d}" for number, pair in enumerate(texts, start=1)}
    templates = tuple(
        ProbeTemplate(place.removeprefix("pair_"), f"{{{place}}}", found[pair])
        for pair, place in places.items()
    )
    groups = tuple(
        # The first entry is what tables call the filler.
        ProbeGroup(
            slug, name, ({ANY: name, **{places[pair]: texts[pair][slug] for pair in texts}},)
        )
        for slug, name in called.items()
    )
    return ParsedFile(templates, notices=notices), ParsedFile(groups)
