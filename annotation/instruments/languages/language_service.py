"""Adds a language to a draft of an instrument, or takes it away: all of it or nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from annotation.common.language_codes import normalize_code
from annotation.instruments.known_texts import list_known, load_known
from annotation.instruments.languages.texts import (
    list_texts,
    place_arm_translations,
    place_translations,
)
from annotation.instruments.languages.translated_from import Made, note, read_made
from annotation.models import Instrument, Wording


@transaction.atomic
def store_language(
    *,
    instrument: Instrument,
    language: str,
    translations: Mapping[str, str],
    unread: Collection[str] = (),
) -> Instrument:
    """Put ``translations`` by key in place of whatever the draft has in ``language``.

    They are taken to be right for their sources as these are now, but for the keys in ``unread``,
    which nobody has looked at: what was known of those stays. Raises `ValidationError` for a
    frozen version and for its own language.
    """
    locked = _lock(instrument, language)
    texts = {text.key: text for text in list_texts(locked, language)}
    locked.wordings.filter(language=language).delete()
    Wording.objects.bulk_create(
        Wording(instrument=locked, language=language, key=key, text=translation)
        for key, translation in translations.items()
        if key in texts and texts[key].is_wording and translation.strip()
    )
    of_steps = {key: translations.get(key, "") for key, text in texts.items() if text.is_of_step}
    locked.flow = place_translations(locked.flow, of_steps, language)
    of_arms = {key: translations.get(key, "") for key, text in texts.items() if text.is_of_arm}
    locked.arms = place_arm_translations(locked.arms, of_arms, language)
    before = read_made(locked.translated_from, language)
    made = {
        key: note(text.source, translations[key])
        for key, text in texts.items()
        if key not in unread and translations.get(key, "").strip()
    } | {key: before[key] for key in unread if key in before}
    locked.translated_from = _put(locked.translated_from, language, made)
    locked.save(update_fields=["flow", "arms", "translated_from"])
    return locked


@transaction.atomic
def confirm_translations(*, instrument: Instrument, language: str) -> Instrument:
    """Note that a language's translations fit their sources as these are now.

    Raises `ValidationError` as `store_language` does.
    """
    locked = _lock(instrument, language)
    made = {
        text.key: note(text.source, text.translation)
        for text in list_texts(locked, language)
        if text.translation.strip()
    }
    locked.translated_from = _put(locked.translated_from, language, made)
    locked.save(update_fields=["translated_from"])
    return locked


@transaction.atomic
def remove_language(*, instrument: Instrument, language: str) -> Instrument:
    """Take a language out of a draft. Raises `ValidationError` as `store_language` does."""
    return store_language(instrument=instrument, language=language, translations={})


def add_known_language(*, instrument: Instrument, language: str) -> Instrument:
    """Add a language with the platform's translations of its default texts.

    What was translated before stays. Texts that the author has written stay open, and the launch
    asks for them. Raises `ValidationError` for a language that the platform does not bring along.
    """
    code = normalize_code(language)
    known = load_known(code)
    if not known:
        raise ValidationError(
            _("The platform has no texts in “%(language)s”, expected one of: %(known)s.")
            % {"language": code, "known": ", ".join(list_known())}
        )
    texts = list_texts(instrument, code)
    translations = {text.key: text.translation or known.get(text.source, "") for text in texts}
    return store_language(
        instrument=instrument,
        language=code,
        translations=translations,
        unread={text.key for text in texts if text.translation},
    )


def _lock(instrument: Instrument, language: str) -> Instrument:
    locked = (
        Instrument.objects.select_for_update(of=("self",))
        .select_related("study")
        .get(pk=instrument.pk)
    )
    refuse_change(locked, language)
    return locked


def _put(stored: Mapping[str, Any], language: str, made: Made) -> dict[str, Any]:
    others = {code: kept for code, kept in stored.items() if code != language}
    return others | ({language: {key: list(pair) for key, pair in made.items()}} if made else {})


def refuse_change(instrument: Instrument, language: str) -> None:
    """Raise `ValidationError` if the version is frozen or the language is its own."""
    if instrument.is_frozen:
        raise ValidationError(
            _("“%(version)s” is frozen: languages are added to a draft of the next version.")
            % {"version": instrument}
        )
    if language == instrument.language:
        raise ValidationError(
            _("“%(language)s” is the instrument's own language: edit its texts on its page.")
            % {"language": language}
        )
