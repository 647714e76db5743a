"""Every address of the platform, from the URL conf itself, with real names in its holes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from django.urls import URLPattern, URLResolver, get_resolver

HOLE = re.compile(r"<(?:\w+:)?(?P<django>\w+)>|\(\?P<(?P<regex>\w+)>(?:\([^)]*\)|[^()])*\)")
REST = re.compile(r"\^|\$|\\Z|\?$|\\(?=[./])")


@dataclass(frozen=True)
class Address:
    """``name`` is that of its view, such as ``admin:annotation_study_overview``."""

    name: str
    route: str

    def fill(self, find: Callable[[str, str], object]) -> str:
        """Return a path; ``find(name, hole)`` says what stands in a hole."""

        def put(found: re.Match[str]) -> str:
            return str(find(self.name, found["django"] or found["regex"]))

        return "/" + REST.sub("", HOLE.sub(put, self.route))


def list_addresses(
    resolver: URLResolver | None = None, before: str = "", spaces: tuple[str, ...] = ()
) -> Iterator[Address]:
    """Yield every pattern, named or not (then “-”)."""
    for entry in (resolver or get_resolver()).url_patterns:
        route = before + str(entry.pattern)
        if isinstance(entry, URLResolver):
            inner = (*spaces, entry.namespace) if entry.namespace else spaces
            yield from list_addresses(entry, route, inner)
        elif isinstance(entry, URLPattern):
            yield Address(":".join((*spaces, entry.name or "-")), route)


#: What stands in holes that are no key of a row, by the end of the address's name.
WORDS: Mapping[tuple[str, str], str] = {
    ("annotation_study_export", "name"): "ratings.csv",
    ("annotation_writingstudy_export", "name"): "counterparts.csv",
    ("annotation_judgmentstudy_export", "name"): "judgments.csv",
    ("annotation_corpus_export", "name"): "texts.csv",
    ("annotation_study_figure", "name"): "quotas",
    ("money_action", "action"): "ask",
    ("language_action", "action"): "confirm",
    ("action", "action"): "pause",
    ("panels:events", "panel"): "prolific",
    ("survey:own-file", "kind"): "json",
    ("reports:file", "name"): "report.json",
    ("api:report-files", "name"): "report.json",
    ("reports:figure", "name"): "scatter",
    ("measure-detail", "name"): "set",
    ("group-set", "slug"): "cao-2022-released",
    ("app_list", "app_label"): "annotation",
    ("compare", "older"): "1",
    ("write", "position"): "1",
    ("draft", "position"): "1",
    ("judge", "position"): "1",
}


def find_word(name: str, hole: str) -> str | None:
    for (end, wanted), word in WORDS.items():
        if hole == wanted and end in name:
            return word
    return None
