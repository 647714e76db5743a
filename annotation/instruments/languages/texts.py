"""Everything of an instrument that a participant reads, text by text, with its translation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annotation.common.language_codes import platform_language
from annotation.instruments.arms import read_arms
from annotation.instruments.content import Content
from annotation.instruments.default_wording import default_wording
from annotation.instruments.flow import Step, read_flow
from annotation.instruments.languages.translated_from import is_stale, read_made
from annotation.instruments.languages.ui_translation import load_chrome
from annotation.instruments.text_keys import (
    LOGO_ALT,
    STUDY_TITLE,
    name_group,
    name_option,
    name_pole,
    name_question,
)
from annotation.models import Instrument
from annotation.steps.kind import iterate_texts
from annotation.steps.texts import text_in

STEP = "step."
ARM = "arm."
# What is filled in where a text is shown: {group}, %(n)s.
PLACEHOLDER = re.compile(r"\{[a-z_]*\}|%\([a-z_]+\)s")


@dataclass(frozen=True)
class InstrumentText:
    """One text: its key, its words in the instrument's own language, and in another, "" for none.

    Keys that begin with “step.” belong to the flow, with “arm.” to the arms, all others to
    `Wording`. ``is_stale``: the
    source was reworded since, the translation was not.
    """

    key: str
    source: str
    translation: str = ""
    is_stale: bool = False

    @property
    def is_of_step(self) -> bool:
        return self.key.startswith(STEP)

    @property
    def is_of_arm(self) -> bool:
        return self.key.startswith(ARM)

    @property
    def is_wording(self) -> bool:
        return not (self.is_of_step or self.is_of_arm)


def list_texts(instrument: Instrument, language: str) -> list[InstrumentText]:
    """Return all texts in the order in which participants meet them. Five queries.

    The platform's own texts are among them where the platform does not speak ``language``.
    """
    written: dict[str, dict[str, str]] = {}
    for row in instrument.wordings.all():
        written.setdefault(row.language, {})[row.key] = row.text
    known = written.get(language, {})
    sources = {
        STUDY_TITLE: instrument.study.title,
        **({LOGO_ALT: instrument.logo_alt} if instrument.logo_alt else {}),
        **_list_wording(instrument.study.kind, written.get(instrument.language, {})),
        **dict(_list_entries(instrument)),
        **dict(_list_questions(instrument)),
        **dict(_list_chrome(language)),
    }
    pairs = [
        *((key, source, known.get(key, "")) for key, source in sources.items()),
        *_list_steps(instrument, language),
        *_list_arms(instrument, language),
    ]
    made = read_made(instrument.translated_from, language)
    return [
        InstrumentText(key, source, text, is_stale(made.get(key), source, text))
        for key, source, text in pairs
    ]


def list_offered(content: Content) -> list[str]:
    """Return the languages in which participants can read an instrument, its main one first.

    Not one whose translation fell behind its source. The study's title alone keeps none back: it
    may change while the study runs. Five queries for each translation, none if met before.
    """
    instrument = content.instrument

    def is_behind(code: str) -> bool:
        return code in instrument.translated_from and any(
            text.is_stale and text.key != STUDY_TITLE for text in list_texts(instrument, code)
        )

    return content.keep(
        "offered languages", lambda: [code for code in content.languages if not is_behind(code)]
    )


def find_missing(texts: Iterable[InstrumentText]) -> list[str]:
    """Return the keys of texts that are not translated."""
    return [text.key for text in texts if not text.translation.strip()]


def find_translation_problem(source: str, translation: str) -> str:
    """Return what is wrong with a translation beside its source, "" if nothing is."""
    wanted, found = (set(PLACEHOLDER.findall(text)) for text in (source, translation))
    if lost := sorted(wanted - found):
        return f"It lacks {', '.join(f'“{one}”' for one in lost)}, expected as in the source."
    if added := sorted(found - wanted):
        return f"It has {', '.join(f'“{one}”' for one in added)}, which the source has not."
    if "%(" in source and "%" in PLACEHOLDER.sub("", translation):
        return "It has a “%” of its own, expected none beside the placeholders."
    return ""


def step_name(step: Step) -> str:
    """Return how keys name a step: by its name in the data, else by its number."""
    return step.key or str(step.index + 1)


def place_translations(
    flow: list[Any], translations: Mapping[str, str], language: str
) -> list[Any]:
    """Return ``flow`` with the texts of its steps in ``language``; "" takes a text away."""
    steps, _problems = read_flow(flow)
    changed = list(flow)
    for step in steps:
        if step.content is None:
            continue
        item = changed[step.index]
        for place, _texts in iterate_texts(step.content):
            key = _step_key(step, place)
            if key in translations:
                item = _put(item, place.split(" "), language, translations[key])
        changed[step.index] = item
    return changed


def place_arm_translations(
    arms: list[Any], translations: Mapping[str, str], language: str
) -> list[Any]:
    """Return ``arms`` with their texts in ``language``; "" takes a text away."""
    return [
        {
            **arm,
            "texts": {
                key: _put(texts, [], language, translations[name])
                if (name := _arm_key(arm["name"], key)) in translations
                else texts
                for key, texts in arm["texts"].items()
            },
        }
        if arm.get("texts")
        else arm
        for arm in arms
    ]


def locate_step_texts(flow: object) -> dict[str, list[str | int]]:
    """Return where the texts of steps stand in a flow, as keys and indexes from 0, by key."""
    steps, _problems = read_flow(flow)
    return {
        _step_key(step, place): [
            step.index,
            *(int(part) - 1 if part.isdecimal() else part for part in place.split(" ")),
        ]
        for step in steps
        if step.content is not None
        for place, _texts in iterate_texts(step.content)
    }


def _put(value: Any, path: list[str], language: str, text: str) -> Any:
    """Return a copy of a step's part with the text at ``path`` set in ``language``."""
    if not path:
        others = {code: known for code, known in value.items() if code != language}
        return others | ({language: text} if text else {})
    first, *rest = path
    if isinstance(value, list):
        place = int(first) - 1
        return [
            _put(item, rest, language, text) if index == place else item
            for index, item in enumerate(value)
        ]
    return {**value, first: _put(value[first], rest, language, text)}


def _step_key(step: Step, place: str) -> str:
    return f"{STEP}{step_name(step)}.{place.replace(' ', '.')}"


def _arm_key(arm: str, key: str) -> str:
    return f"{ARM}{arm}.{key}"


def _list_arms(instrument: Instrument, language: str) -> Iterator[tuple[str, str, str]]:
    for arm in read_arms(instrument.arms).values():
        for key, texts in arm.texts.items():
            source = text_in(texts, instrument.language)
            yield _arm_key(arm.name, key), source, texts.get(language, "")


def _list_wording(kind: str, own: Mapping[str, str]) -> dict[str, str]:
    return {key: own[key] for key in default_wording(kind) if own.get(key, "").strip()}


def _list_entries(instrument: Instrument) -> Iterator[tuple[str, str]]:
    for group in instrument.groups.all():
        if group.is_text:  # what is rated stays as it is in every language
            continue
        yield name_group(group.slug, "plural"), group.plural
        yield name_group(group.slug, "singular"), group.singular
    for scale in instrument.scales.all():
        yield name_pole(scale.slug, "low"), scale.low
        yield name_pole(scale.slug, "high"), scale.high


def _list_questions(instrument: Instrument) -> Iterator[tuple[str, str]]:
    for question in instrument.questions.all():
        yield name_question(question.slug, "label"), question.label
        if question.help_text:
            yield name_question(question.slug, "help"), question.help_text
        for option in question.options:
            yield name_option(question.slug, str(option)), str(option)


def _list_chrome(language: str) -> Iterator[tuple[str, str]]:
    if not platform_language(language):
        for entry in load_chrome():
            yield from entry.keys.items()


def _list_steps(instrument: Instrument, language: str) -> Iterator[tuple[str, str, str]]:
    steps, _problems = read_flow(instrument.flow)
    for step in steps:
        if step.content is None:
            continue
        for place, texts in iterate_texts(step.content):
            source = text_in(texts, instrument.language)
            yield _step_key(step, place), source, texts.get(language, "")
