"""Pictures and sounds of a study: taken in as they are, or refused with the remedy."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotation.common.media_types import recognize_media
from annotation.instruments.versions import lock_draft
from annotation.models import Instrument, Study, StudyFile

KILOBYTE = 1024
MOST_PICTURE_KB, MOST_SOUND_KB, MOST_LOGO_KB = 500, 5_000, 60
MOST_FILES = 200


@transaction.atomic
def store_file(*, study: Study, name: str, content: bytes) -> StudyFile:
    """Keep a file as it is; the same content is kept once. Raises `ValidationError`."""
    digest = hashlib.sha256(content).hexdigest()
    if (known := list_files(study).filter(digest=digest).first()) is not None:
        return known
    media = recognize_media(content)
    if media is None:
        raise ValidationError(
            _(
                "“%(name)s” is no picture or sound that browsers show. Upload a PNG, JPEG, WebP or "
                "GIF of at most 4,000 pixels on a side, or an MP3, M4A, Ogg or WAV."
            )
            % {"name": name}
        )
    most = MOST_SOUND_KB if media.is_sound else MOST_PICTURE_KB
    if len(content) > most * KILOBYTE:
        raise ValidationError(
            _("“%(name)s” has %(size)d kB, expected at most %(most)d kB. Make it smaller first.")
            % {"name": name, "size": len(content) // KILOBYTE, "most": most}
        )
    if list_files(study).count() >= MOST_FILES:
        raise ValidationError(
            _("The study has %(n)d files already. Delete some that are not used.")
            % {"n": MOST_FILES}
        )
    return StudyFile.objects.create(
        study=study,
        digest=digest,
        name=name[-200:],
        media_type=media.name,
        ending=media.ending,
        size=len(content),
        width=media.width,
        height=media.height,
        content=content,
    )


def copy_files(source: Instrument, copy: Instrument) -> None:
    """Give the study of a copied version the pictures and sounds of the study that it is from."""
    for file in source.study.files.all():
        file.pk, file.study = None, copy.study
        file.save(force_insert=True)
    if source.logo is not None:
        copy.logo = copy.study.files.get(digest=source.logo.digest)
        copy.save(update_fields=["logo"])


def list_files(study: Study) -> QuerySet[StudyFile]:
    """Return the files of a study without their content. One query."""
    return study.files.defer("content")


def find_shown(instrument: Instrument) -> set[str]:
    """Return the digests of the study's files that a version shows. One query, two with a logo."""
    digests = instrument.study.files.values_list("digest", flat=True)
    logo = instrument.logo.digest if instrument.logo is not None else ""
    return _shown(digests, instrument.flow, logo)


def find_used(study: Study) -> set[str]:
    """Return the digests of files that a version of the study shows. Two queries."""
    digests = set(study.files.values_list("digest", flat=True))
    versions = study.instruments.values_list("flow", "logo__digest")
    return set().union(*(_shown(digests, flow, logo) for flow, logo in versions))


def _shown(digests: Iterable[str], flow: list[Any], logo: str | None) -> set[str]:
    written = json.dumps(flow)
    return {digest for digest in digests if digest in written or digest == logo}


@transaction.atomic
def delete_file(*, file: StudyFile) -> None:
    """Delete a file. Raises `ValidationError` for one that a version of the study shows."""
    if file.digest in find_used(file.study):
        raise ValidationError(
            _("“%(name)s” is shown by a version of this study and stays.") % {"name": file.name}
        )
    file.delete()


@transaction.atomic
def choose_logo(*, instrument: Instrument, file: StudyFile | None, alt: str) -> None:
    """Show a picture above consent, instructions and debrief of a draft, or none.

    Raises `ValidationError` for a frozen version, a sound, a large picture or a missing text.
    """
    locked = lock_draft(instrument)
    if file is not None and (file.is_sound or file.size > MOST_LOGO_KB * KILOBYTE):
        raise ValidationError(
            _("A logo is a picture of at most %(n)d kB: it comes with every page that shows it.")
            % {"n": MOST_LOGO_KB}
        )
    if file is not None and not alt.strip():
        raise ValidationError(_("Say in words what the logo shows, for people who do not see it."))
    locked.logo, locked.logo_alt = file, alt.strip() if file else ""
    locked.full_clean(exclude=["flow"])
    locked.save(update_fields=["logo", "logo_alt"])
