"""Questions into the library, and out of it into a study."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from annotation.instruments.documents.document import QuestionEntry
from annotation.instruments.files import store_file
from annotation.instruments.questions.library_content import (
    LibraryContentError,
    fill_question,
    find_lead,
    find_media,
    fit_texts,
    take_question,
    take_step,
)
from annotation.models import ABOUT_PARTICIPANT, Instrument, LibraryQuestion


@dataclass(frozen=True)
class Filled:
    """A question as a study's document takes it: a step, or a question with its translations.

    is_foreign : its words are not in the study's own language, and have to be translated
    """

    step: dict[str, Any] | None = None
    question: dict[str, Any] | None = None
    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    is_foreign: bool = False


@transaction.atomic
def keep_step(
    *, instrument: Instrument, index: int, name: str, owner: AbstractBaseUser, is_shared: bool
) -> LibraryQuestion:
    """Put a step of a version into the library, with its picture or sound.

    Raises `ValidationError` for a step that is not there, not complete, or has no name.
    """
    flow = instrument.flow
    if not 0 <= index < len(flow):
        raise ValidationError(_("The version has no such step."))
    try:
        content = take_step(flow[index])
    except LibraryContentError as error:
        raise ValidationError(_complete_first(error)) from None
    kept = _build(instrument, content["kind"], content, name, owner, is_shared)
    if digest := find_media(content):
        file = instrument.study.files.filter(digest=digest).first()
        if file is None:
            raise ValidationError(_("Its picture or sound is gone. Choose another one first."))
        kept.file_name, kept.file = file.name, bytes(file.content)
    return _store(kept)


@transaction.atomic
def keep_question(
    *, instrument: Instrument, slug: str, name: str, owner: AbstractBaseUser, is_shared: bool
) -> LibraryQuestion:
    """Put a question about the participant into the library. Raises as `keep_step` does."""
    entry = instrument.questions.filter(slug=slug).values(*QuestionEntry.model_fields).first()
    if entry is None:
        raise ValidationError(_("The version has no such question."))
    texts: dict[str, dict[str, str]] = {}
    for row in instrument.wordings.filter(key__startswith=f"question.{slug}."):
        texts.setdefault(row.language, {})[row.key] = row.text
    try:
        content = take_question(entry, texts, instrument.language)
    except LibraryContentError as error:
        raise ValidationError(_complete_first(error)) from None
    return _store(_build(instrument, ABOUT_PARTICIPANT, content, name, owner, is_shared))


def _complete_first(error: LibraryContentError) -> str:
    return _("Complete it before you keep it. %(problem)s") % {"problem": error}


def _build(
    instrument: Instrument,
    kind: str,
    content: dict[str, Any],
    name: str,
    owner: AbstractBaseUser,
    is_shared: bool,
) -> LibraryQuestion:
    return LibraryQuestion(
        name=name.strip(),
        kind=kind,
        content=content,
        language=instrument.language,
        asks=find_lead(kind, content, instrument.language),
        owner=owner,  # type: ignore[misc]
        is_shared=is_shared,
    )


def _store(kept: LibraryQuestion) -> LibraryQuestion:
    kept.full_clean(exclude=["file", "content"])
    kept.save()
    return kept


@transaction.atomic
def fill_in(
    *,
    question: LibraryQuestion,
    instrument: Instrument,
    languages: list[str],
    taken: Collection[str],
) -> Filled:
    """Return a question as a draft takes it; its picture or sound joins the files of the study.

    languages : of the study, its main one first; taken : names of its questions in the data

    Nothing of the draft is stored: it is edited in the designer. Raises `ValidationError` where
    the study has no room for another file.
    """
    content, main = question.content, languages[0]
    lead = content.get("label") or content.get("question") or content.get("title") or {}
    is_foreign = not (lead.get(main) or lead.get(main.partition("-")[0]))
    if question.kind == ABOUT_PARTICIPANT:
        entry, texts = fill_question(
            content,
            slug=_free_name(content["name"], taken),
            languages=languages,
            fallback=question.language,
        )
        return Filled(question=entry, texts=texts, is_foreign=is_foreign)
    if question.file is not None:
        store_file(study=instrument.study, name=question.file_name, content=bytes(question.file))
    step = fit_texts(content, languages, fallback=question.language)
    return Filled(step=step, is_foreign=is_foreign)


def _free_name(wanted: str, taken: Collection[str]) -> str:
    names = (wanted if n == 1 else f"{wanted[:36]}-{n}" for n in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)
