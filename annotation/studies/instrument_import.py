"""A study out of the file of an instrument: all of it or nothing."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AbstractBaseUser, User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from annotation.common.language_codes import own_name
from annotation.instruments.arm_service import store_arms
from annotation.instruments.documents.document import DocumentError, InstrumentDocument
from annotation.instruments.documents.draft_service import store_document
from annotation.instruments.files import choose_logo, store_file
from annotation.instruments.versions import lock_draft
from annotation.models import Domain, Instrument, SocialGroup, Study, StudyKind, TraitPair


def may_complete_library(user: User) -> bool:
    """Return whether somebody may add to the library what a file brings along."""
    return user.has_perms(("annotation.add_socialgroup", "annotation.add_traitpair"))


@transaction.atomic
def import_study(
    *,
    document: InstrumentDocument,
    title: str,
    owner: AbstractBaseUser | None,
    contact_email: str,
    may_add: bool,
    **options: Any,
) -> Study:
    """Create a draft study with the instrument of a file.

    may_add : whether groups and trait pairs that the library lacks are added to it

    Raises `DocumentError` for a file that does not fit here and `ValidationError` for bad options;
    nothing is stored then.
    """
    if document.kind != StudyKind.ABC_SURVEY:
        raise DocumentError(
            {
                "kind": _(
                    "The instrument rates texts of a corpus, which a file does not carry. Put it "
                    "into a study of the same corpus, or copy that study."
                )
            }
        )
    study = Study(title=title, owner=owner, contact_email=contact_email, **options)  # type: ignore[misc]
    study.full_clean()
    study.save()
    instrument = Instrument(study=study, language=document.language)
    instrument.save()
    replace_instrument(instrument=instrument, document=document, may_add=may_add)
    return study


@transaction.atomic
def replace_instrument(
    *, instrument: Instrument, document: InstrumentDocument, may_add: bool
) -> Instrument:
    """Put a file's instrument in place of what a draft has. Raises as `import_study` does."""
    locked = lock_draft(instrument)
    if document.kind != locked.study.kind or document.language != locked.language:
        raise DocumentError(
            {
                "kind": _(
                    "The file is of another kind of study or in another main language than this "
                    "draft: “%(kind)s” in %(language)s."
                )
                % {"kind": StudyKind(document.kind).label, "language": own_name(document.language)}
            }
        )
    if not locked.study.rates_texts:
        _complete_library(document, may_add=may_add)
    store_document(locked, document)
    _store_rest(locked, document)
    return locked


def _store_rest(instrument: Instrument, document: InstrumentDocument) -> None:
    """Put a file's arms, pictures, sounds and logo in place of what a draft has."""
    kept = {}
    for place, file in enumerate(document.files, start=1):
        try:
            kept[file.digest] = store_file(
                study=instrument.study, name=file.name, content=file.decoded
            )
        except ValidationError as error:
            raise DocumentError({f"files {place}": " ".join(error.messages)}) from None
    try:
        store_arms(instrument=instrument, arms=document.arms)
        logo = document.logo
        choose_logo(
            instrument=instrument,
            file=kept[logo.file] if logo else None,
            alt=logo.alt if logo else "",
        )
    except ValidationError as error:
        raise DocumentError({"logo": " ".join(error.messages)}) from None
    instrument.refresh_from_db(fields=["arms", "logo", "logo_alt"])


def _complete_library(document: InstrumentDocument, *, may_add: bool) -> None:
    """Take groups and trait pairs that the library lacks into it, where that is allowed."""
    groups = {entry.slug: entry for entry in document.groups}
    scales = {entry.slug: entry for entry in document.scales}
    for model, entries in ((SocialGroup, groups), (TraitPair, scales)):
        known = set(model.objects.filter(slug__in=entries).values_list("slug", flat=True))
        for slug in known:
            del entries[slug]
    if not may_add:
        return  # what is missing is told with its place
    last = TraitPair.objects.order_by("-position").first()
    try:
        for entry in groups.values():
            group = SocialGroup(
                slug=entry.slug,
                singular=entry.singular,
                plural=entry.plural,
                plural_capitalised=entry.plural_capitalised,
                domains=[name for name in entry.domains if name in Domain.values],
            )
            group.full_clean()
            group.save()
        for place, scale in enumerate(scales.values(), start=last.position + 1 if last else 1):
            pair = TraitPair(
                slug=scale.slug,
                low=scale.low,
                high=scale.high,
                dimension=scale.dimension,
                position=place,
            )
            pair.full_clean()
            pair.save()
    except ValidationError as error:
        raise DocumentError({"library": " ".join(error.messages)}) from None
