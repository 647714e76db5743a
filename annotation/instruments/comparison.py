"""What differs between two versions of an instrument, part by part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Any

from annotation.instruments.flow_description import describe_flow
from annotation.instruments.versions import SETTINGS
from annotation.models import Instrument

COMPARED = ("language", "logo", "logo_alt", *SETTINGS)


class Part(StrEnum):
    STEPS = "steps"
    TEXTS = "texts"
    GROUPS = "groups"
    SCALES = "scales"
    QUESTIONS = "questions"
    SETTINGS = "settings"


@dataclass(frozen=True)
class Difference:
    """What stands in one place: ``before`` in the older version, ``after`` in the newer, "" for
    nothing. ``label`` names the place: a step's number in the newer version, "" for one that is
    gone; the entry, "" for their order."""

    part: Part
    label: str
    before: str
    after: str


def compare_versions(older: Instrument, newer: Instrument) -> list[Difference]:
    """Return the differences in the order of the parts; empty if the content is the same.

    A step, group, scale or question at another place is taken away and put in again. Ten queries.
    """
    return [
        *_compare_steps(older, newer),
        *_compare_entries(Part.TEXTS, _texts(older), _texts(newer)),
        *_compare_entries(Part.GROUPS, _groups(older), _groups(newer)),
        *_compare_entries(Part.SCALES, _scales(older), _scales(newer)),
        *_compare_entries(Part.QUESTIONS, _questions(older), _questions(newer)),
        *_compare_entries(Part.SETTINGS, _settings(older), _settings(newer)),
    ]


def _compare_steps(older: Instrument, newer: Instrument) -> Iterator[Difference]:
    before, after = describe_flow(older.flow), describe_flow(newer.flow)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            continue
        old, new = before[i:j], after[k:m]
        for place in range(max(len(old), len(new))):
            yield Difference(
                Part.STEPS,
                str(k + place + 1) if place < len(new) else "",
                old[place] if place < len(old) else "",
                new[place] if place < len(new) else "",
            )


def _compare_entries(
    part: Part, before: Mapping[str, str], after: Mapping[str, str]
) -> Iterator[Difference]:
    """Yield entries that are gone, new, changed, or in another order, each under its name."""
    for name in dict.fromkeys([*after, *before]):
        old, new = before.get(name, ""), after.get(name, "")
        if old != new:
            yield Difference(part, name, old, new)
    kept_before = [name for name in before if name in after]
    kept_after = [name for name in after if name in before]
    if kept_before != kept_after:
        yield Difference(part, "", " · ".join(kept_before), " · ".join(kept_after))


def _texts(instrument: Instrument) -> dict[str, str]:
    rows = instrument.wordings.order_by("language", "key").values_list("language", "key", "text")
    # Forms send other line ends than those that were there; nobody sees the difference.
    return {f"{key} ({language})": "\n".join(text.splitlines()) for language, key, text in rows}


def _groups(instrument: Instrument) -> dict[str, str]:
    return {
        group.slug: f"{group.variety}: {group.body} ({group.item})"
        if group.is_text
        else f"{group.singular} / {group.plural} / {group.plural_capitalised}"
        for group in instrument.groups.all()
    }


def _scales(instrument: Instrument) -> dict[str, str]:
    return {
        scale.slug: f"{scale.low} – {scale.high} ({scale.dimension})"
        for scale in instrument.scales.all()
    }


def _questions(instrument: Instrument) -> dict[str, str]:
    def describe(question: Any) -> str:
        parts = [question.label, question.help_text, "; ".join(map(str, question.options))]
        if question.minimum is not None or question.maximum is not None:
            parts.append(f"{question.minimum} to {question.maximum}")
        return " / ".join([str(question.get_kind_display()), *filter(None, parts)])

    return {question.slug: describe(question) for question in instrument.questions.all()}


def _settings(instrument: Instrument) -> dict[str, str]:
    described = {}
    for name in COMPARED:
        field = Instrument._meta.get_field(name)
        display = getattr(instrument, f"get_{name}_display", None)
        value = display() if display else getattr(instrument, name)
        described[str(getattr(field, "verbose_name", name))] = str(value)
    return described
