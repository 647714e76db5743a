"""The platform's catalogs: complete, true to the sources, compiled from what people can read."""

from __future__ import annotations

import json
import re

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import read_mo

from annotation.instruments.default_wording import DEFAULT_WORDING
from annotation.instruments.demographics import build_default_questions
from annotation.instruments.known_texts import load_known
from annotation.library.abc_model import ALL_GROUPS, TRAIT_PAIRS
from annotation.models import Instrument
from annotation.steps.kind import KINDS
from tests.conftest import ROOT
from tools.translations.catalog import (
    CHROME_FILE,
    LANGUAGES,
    list_chrome,
    po_file,
    read_catalog,
)
from tools.translations.extracting import Message, find_messages

PLACEHOLDER = re.compile(r"\{\w*\}|%\(\w+\)s")
RENEW = "run “make messages”, then translate what it names"


def read_entries(language: str) -> dict[Message, list[str]]:
    """Return the texts of the catalog by message, one for each plural form."""
    entries = {}
    for entry in read_catalog(language):
        if entry.id:
            text, plural = entry.id if isinstance(entry.id, tuple) else (entry.id, "")
            forms = entry.string if isinstance(entry.string, tuple) else (entry.string,)
            entries[Message(text, plural, entry.context or "")] = list(forms)
    return entries


def test_extraction_finds_texts_of_every_kind() -> None:
    found = find_messages()
    assert Message("Continue") in found  # a tag of a template
    assert Message("About %(minutes)s minute", "About %(minutes)s minutes") in found
    assert Message("j F Y", context="how a day is written") in found
    assert Message("Choose at least one answer.") in found  # in Python
    assert len(found) > 150


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_for_participants_is_translated(language: str) -> None:
    entries = read_entries(language)
    assert set(entries) == set(find_messages()), RENEW
    missing = [message.text for message, forms in entries.items() if not all(forms)]
    assert missing == [], RENEW
    fuzzy = [entry.id for entry in read_catalog(language) if entry.id and entry.fuzzy]
    assert fuzzy == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_placeholders_are_the_same_on_both_sides(language: str) -> None:
    for message, forms in read_entries(language).items():
        wanted = set(PLACEHOLDER.findall(message.text + message.plural))
        for form in forms:
            assert set(PLACEHOLDER.findall(form)) == wanted, message


@pytest.mark.parametrize("language", LANGUAGES)
def test_compiled_catalog_is_that_of_the_text_file(language: str) -> None:
    with po_file(language).with_suffix(".mo").open("rb") as file:
        compiled = read_mo(file)
    assert _texts_of(compiled) == _texts_of(read_catalog(language))


def test_list_of_texts_for_language_files_is_that_of_the_sources() -> None:
    assert json.loads(CHROME_FILE.read_text(encoding="utf-8")) == list_chrome(), RENEW
    keys = [item["key"] for item in list_chrome()]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("language", LANGUAGES)
def test_everything_that_the_platform_supplies_is_known_in_each_language(language: str) -> None:
    supplied = {*DEFAULT_WORDING.values()}
    for group in ALL_GROUPS:
        supplied |= {group.plural, group.singular}
    for pair in TRAIT_PAIRS:
        supplied |= {pair.low, pair.high}
    for question in build_default_questions(Instrument()):
        supplied |= {question.label, *question.options}
    known = load_known(language)
    assert supplied - set(known) == set()
    assert _english_texts([kind.new for kind in KINDS.values()]) - set(known) == set()
    for source, text in known.items():
        assert set(PLACEHOLDER.findall(text)) == set(PLACEHOLDER.findall(source)), source
        # Where the English ends in a colon, the answer opens a field.
        assert text.endswith(":") == source.endswith(":"), source


def _texts_of(catalog: Catalog) -> dict[tuple[object, object], object]:
    def plain(value: object) -> object:
        if isinstance(value, bytes):  # contexts are read so from the compiled file
            return value.decode()
        return tuple(value) if isinstance(value, list | tuple) else value

    return {
        (plain(entry.id), plain(entry.context)): plain(entry.string)
        for entry in catalog
        if entry.id
    }


def _english_texts(value: object) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(_english_texts, value))
    if not isinstance(value, dict):
        return set()
    if set(value) == {"en"}:
        return {value["en"]}
    return set().union(*map(_english_texts, value.values()))


def test_spanish_words_of_scales_agree_with_the_people_they_are_said_of() -> None:
    """They are said of “las personas …”: feminine and plural, or “de”, “con”, “sin” and a noun."""
    known = load_known("es")
    for pair in TRAIT_PAIRS:
        for word in (known[pair.low], known[pair.high]):
            head = word.removeprefix("poco ").split()[0]
            assert head in {"de", "con", "sin"} or head.endswith(("as", "es")), word


def test_spanish_says_what_is_paid_and_checked_as_people_say_it() -> None:
    """A study is “remunerado”, and what somebody moved on a line is the marker, no group."""
    texts = {message.text: forms for message, forms in read_entries("es").items()}
    assert texts["This study is not paid"] == ["Este estudio no es remunerado"]
    for end in ("", "."):
        near, far = (
            texts[f"A word that you placed them {way}{end}"] for way in ("near", "far from")
        )
        assert near == [f"Una palabra a la que acercaste el marcador{end}"]
        assert far == [f"Una palabra de la que alejaste el marcador{end}"]


def test_participants_scripts_hold_no_words_of_their_own() -> None:
    """What scripts say stands in templates, where it is translated."""
    for file in sorted((ROOT / "static" / "survey").glob("*.js")):
        code = re.sub(r"//[^\n]*|/\*.*?\*/", "", file.read_text(encoding="utf-8"), flags=re.S)
        words = [
            text
            for text in re.findall(r'"([^"\n]*)"', code)
            if re.search(r"[A-Za-z]{2,} [a-z]{2,}", text) and "[" not in text
        ]
        assert words == [], file.name
