"""Stores the document of a draft: all of it or nothing, and never over a colleague's edits."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.instruments.documents.document import (
    DocumentError,
    InstrumentDocument,
    hash_document,
    read_document,
    write_document,
)
from annotation.instruments.languages.texts import list_texts
from annotation.instruments.languages.translated_from import note
from annotation.instruments.previews import clear_previews
from annotation.instruments.versions import SETTINGS, lock_draft
from annotation.models import (
    DemographicQuestion,
    Instrument,
    SocialGroup,
    StudyGroup,
    TraitPair,
    TraitScale,
    Wording,
)

# Edits of one person within this time are one entry of the history.
ONE_SITTING = timedelta(minutes=30)


class StaleDraftError(ValueError):
    """Somebody else has stored the draft since it was opened."""


class SavedDraft(NamedTuple):
    instrument: Instrument
    #: The hash of its document as it stands now.
    token: str


@transaction.atomic
def save_draft(
    *,
    instrument: Instrument,
    parts: Mapping[str, Any],
    token: str,
    by: AbstractBaseUser,
    key: str = "",
    unanswered: Collection[str] = (),
) -> SavedDraft:
    """Put ``parts`` of a document in place of what the draft has of them.

    token : the hash of the document that the edits began from
    key : what the sender calls this very save
    unanswered : the keys of earlier saves, of which the sender does not know whether they arrived

    A draft that such a save has made is the sender's own, and no conflict. Raises `StaleDraftError`
    where the draft is another one by now, `DocumentError` for what cannot be stored and
    `ValidationError` for a frozen version; nothing is stored then. A draft may be incomplete:
    `annotation.studies.readiness` says what is missing.
    """
    locked = lock_draft(instrument)
    before = write_document(locked)
    if unknown := set(parts) - set(InstrumentDocument.EDITABLE):
        raise DocumentError(dict.fromkeys(sorted(unknown), "It is not known here."))
    document = read_document({**before, **parts})
    now = hash_document(before)
    if now != token and not _is_own(locked, now, unanswered):
        # What was stored already is sent again where its answer was lost on the way.
        if document != read_document(before):
            raise StaleDraftError
        return SavedDraft(locked, now)
    # Elsewhere every save is an entry of the history; here a sitting is one.
    locked.skip_history_when_saving = True  # type: ignore[attr-defined]
    store_document(locked, document)
    _note_history(locked, by)
    # Parts were read before they were stored.
    stored = Instrument.objects.select_related("study").get(pk=locked.pk)
    after = hash_document(write_document(stored))
    Instrument.objects.filter(pk=stored.pk).update(last_save=_name_save(key, after))
    return SavedDraft(stored, after)


def _is_own(instrument: Instrument, now: str, unanswered: Collection[str]) -> bool:
    """Return whether one of the sender's saves made the draft what it is."""
    return any(instrument.last_save == _name_save(key, now) for key in unanswered if key)


def _name_save(key: str, document_hash: str) -> str:
    """Return what is kept of a save: nothing of one without a key, which is nobody's."""
    return f"{key}:{document_hash}" if key else ""


def store_document(instrument: Instrument, document: InstrumentDocument) -> None:
    """Store a document over a locked draft.

    Groups, texts and scales that the draft does not have yet are looked up by their slugs. Raises
    `DocumentError` for those that are not there.
    """
    # What a preview showed would be gone, and its rows would hold on to it.
    clear_previews(study=instrument.study, instrument=instrument)
    translated = _list_translations(instrument, document)
    _store_groups(instrument, document)
    _store_scales(instrument, document)
    rows = [entry.model_dump() for entry in document.questions]
    _store_rows(instrument, DemographicQuestion, rows)
    _store_texts(instrument, document.texts)
    instrument.flow = document.flow
    for name in SETTINGS:
        setattr(instrument, name, document.settings[name])
    instrument.translated_from = document.translated_from
    instrument.save()
    _note_translations(instrument, translated)


def _store_groups(instrument: Instrument, document: InstrumentDocument) -> None:
    known = set(instrument.groups.values_list("slug", flat=True))
    new = [entry.slug for entry in document.groups if entry.slug not in known]
    if instrument.study.rates_texts:
        _refuse("groups", [entry.slug for entry in document.groups], new, _("is no text of it"))
        found = {}
    else:
        found = {group.slug: group for group in SocialGroup.objects.filter(slug__in=new)}
        missing = [slug for slug in new if slug not in found]
        slugs = [entry.slug for entry in document.groups]
        _refuse("groups", slugs, missing, _("is not in the library of groups"))
    rows = [
        entry.model_dump() | ({"group_id": found[entry.slug].pk} if entry.slug in found else {})
        for entry in document.groups
    ]
    _store_rows(instrument, StudyGroup, rows)


def _store_scales(instrument: Instrument, document: InstrumentDocument) -> None:
    known = set(instrument.scales.values_list("slug", flat=True))
    new = [entry.slug for entry in document.scales if entry.slug not in known]
    found = dict(TraitPair.objects.filter(slug__in=new).values_list("slug", "pk"))
    slugs = [entry.slug for entry in document.scales]
    missing = [slug for slug in new if slug not in found]
    _refuse("scales", slugs, missing, _("is not in the library of trait pairs"))
    rows = [
        entry.model_dump() | ({"trait_pair_id": found[entry.slug]} if entry.slug in found else {})
        for entry in document.scales
    ]
    _store_rows(instrument, TraitScale, rows)


def _refuse(part: str, slugs: Sequence[str], missing: Sequence[str], why: str) -> None:
    if missing:
        raise DocumentError(
            {f"{part} {slugs.index(slug) + 1}": f"“{slug}” {why}." for slug in missing}
        )


def _store_rows(instrument: Instrument, model: Any, rows: Sequence[dict[str, Any]]) -> None:
    """Make the instrument's rows of a model those of ``rows``, in their order, joined by slug."""
    known = {row.slug: row for row in model.objects.filter(instrument=instrument)}
    kept = {row["slug"] for row in rows}
    if gone := [row.pk for slug, row in known.items() if slug not in kept]:
        model.objects.filter(pk__in=gone).delete()
    new = []
    for position, values in enumerate(rows, start=1):
        values = {**values, "position": position}
        row = known.get(values["slug"])
        if row is None:
            new.append(model(instrument=instrument, **values))
        elif any(getattr(row, name) != value for name, value in values.items()):
            for name, value in values.items():
                setattr(row, name, value)
            row.save()
    model.objects.bulk_create(new)


def _store_texts(instrument: Instrument, texts: Mapping[str, Mapping[str, str]]) -> None:
    known = {(row.language, row.key): row for row in instrument.wordings.all()}
    wanted = {
        (language, key): text
        for language, written in texts.items()
        for key, text in written.items()
        # Of another language an empty text is one that is missing.
        if text.strip() or language == instrument.language
    }
    if gone := [row.pk for place, row in known.items() if place not in wanted]:
        instrument.wordings.filter(pk__in=gone).delete()
    for place, text in wanted.items():
        if place in known and known[place].text != text:
            known[place].text = text
            known[place].save(update_fields=["text"])
    Wording.objects.bulk_create(
        Wording(instrument=instrument, language=language, key=key, text=text)
        for (language, key), text in wanted.items()
        if (language, key) not in known
    )


def _list_translations(
    instrument: Instrument, document: InstrumentDocument
) -> dict[str, dict[str, str]]:
    """Return the translations of a draft by language and key. Five queries for each language."""
    others = [code for code in document.texts if code != instrument.language]
    return {
        code: {text.key: text.translation for text in list_texts(instrument, code)}
        for code in others
    }


def _note_translations(instrument: Instrument, before: Mapping[str, Mapping[str, str]]) -> None:
    """Note of every translation that was edited that it fits its source as this is now."""
    made = dict(instrument.translated_from)
    for code, translations in before.items():
        # Rows were read before they were stored.
        changed = {
            text.key: list(note(text.source, text.translation))
            for text in list_texts(instrument, code)
            if text.translation.strip() and translations.get(text.key, "") != text.translation
        }
        if changed:
            made[code] = {**made.get(code, {}), **changed}
    if made != instrument.translated_from:
        instrument.translated_from = made
        instrument.save(update_fields=["translated_from"])


def _note_history(instrument: Instrument, by: AbstractBaseUser) -> None:
    """Keep one entry of the history for the edits of one sitting."""
    last = instrument.history.first()
    now = timezone.now()
    if (
        last is not None
        and last.history_type == "~"
        and last.history_user_id == by.pk
        and last.history_date > now - ONE_SITTING
    ):
        for name in ("flow", "translated_from", *SETTINGS):
            setattr(last, name, getattr(instrument, name))
        last.history_date = now
        last.save()
        return
    del instrument.skip_history_when_saving  # type: ignore[attr-defined]
    instrument.save()
