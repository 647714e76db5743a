"""What commands are told by name: an owner, a corpus, a study."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.management.base import CommandError

from annotation.models import Corpus, Study


def find_owner(name: str | None) -> User | None:
    """Return the user of that name, None without a name; `CommandError` for an unknown one."""
    owner = User.objects.filter(username=name).first() if name else None
    if name and owner is None:
        raise CommandError(f"No user is called “{name}”.")
    return owner


def find_corpus(name: str) -> Corpus:
    """Return the corpus of that public id or name; `CommandError` where there is none."""
    by_id = Corpus.objects.filter(public_id=name).first()
    if (corpus := by_id or Corpus.objects.filter(name=name).first()) is None:
        raise CommandError(f"No corpus is called “{name}”.")
    return corpus


def find_study(public_id: str) -> Study:
    """Return the study of that public id; `CommandError` where there is none."""
    if (study := Study.objects.filter(public_id=public_id).first()) is None:
        raise CommandError(f"There is no study “{public_id}”.")
    return study
