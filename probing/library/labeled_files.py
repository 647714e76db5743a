"""What files of labeled templates, lexicons, and labeled texts hold, stored and read again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from django.utils.text import slugify

from probing.measures.labeled_texts import LabeledText
from probing.measures.probe_stimuli import ProbeGroup, ProbeTemplate
from probing.measures.probe_templates import ANY, fill, mention_templates
from probing.models import GroupLexicon, LabeledTemplateSet, LabeledTextSet
from probing.models.labeled_templates import LibraryFile


def set_entries(entry: LibraryFile, rows: Iterable[Any]) -> None:
    """Put rows into an entry, without saving it."""
    names = {LabeledTemplateSet: "templates", GroupLexicon: "groups", LabeledTextSet: "texts"}
    setattr(entry, names[type(entry)], [_plain(one) for one in rows])


def _plain(entry: Any) -> dict[str, Any]:
    """Return an entry as it is stored: without a split where the file names none."""
    return {name: value for name, value in asdict(entry).items() if (name, value) != ("split", "")}


def stored_templates(entry: LabeledTemplateSet) -> tuple[ProbeTemplate, ...]:
    """Return the templates of a set, their slugs with the set's before them."""
    return tuple(
        ProbeTemplate(f"{entry.slug}-{one['slug']}", one["text"], one["label"])
        for one in entry.templates
    )


def stored_texts(entry: LabeledTextSet) -> tuple[LabeledText, ...]:
    """Return the labeled texts of a set."""
    return tuple(LabeledText(**one) for one in entry.texts)


def stored_groups(entry: GroupLexicon) -> tuple[ProbeGroup, ...]:
    """Return the groups of a lexicon."""
    return tuple(ProbeGroup(**{**one, "fillers": tuple(one["fillers"])}) for one in entry.groups)


def unfill(
    sentences: Sequence[tuple[str, str]], lexicon: Iterable[ProbeGroup]
) -> list[tuple[str, int] | None]:
    """Return the template behind each sentence and the place of its filler, None without one.

    sentences : (group, text)

    Of several templates that a sentence may come from, the one that most sentences share.
    """
    words = {group.slug: _words(group) for group in lexicon}
    candidates: list[list[tuple[str, int]]] = []
    for group, text in sentences:
        name, fillers = words.get(group, ("", {}))
        places = {word: place for place, word in enumerate(fillers)}
        candidates.append(
            [
                (template, places[word])
                for template, word in mention_templates(text, fillers, name)
                if fill(template, {name: word}) == text
            ]
        )
    votes = Counter(template for some in candidates for template, _ in some)
    unmarked = {fill(template, {}): template for template in votes}
    for some, (group, text) in zip(candidates, sentences, strict=True):
        if "" in words.get(group, ("", []))[1] and text in unmarked:
            some.append((unmarked[text], words[group][1].index("")))
    return [max(some, key=lambda one: votes[one[0]], default=None) for some in candidates]


def _words(group: ProbeGroup) -> tuple[str, list[str]]:
    """Return a group's first placeholder by the alphabet, and what its fillers put there."""
    name = min(group.fillers[0])
    return "group" if name == ANY else name, [filler[name] for filler in group.fillers]


def group_slug(name: str) -> str:
    """Return the slug of a group of that name, empty where nothing of it is left."""
    return slugify(name.replace("_", "-")).replace("-", "_")
