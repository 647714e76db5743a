"""Codes that belong to one submission each: who shows one has been at its end."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from annotation.models import Submission
from annotation.models.tokens import spell

#: Twelve letters of base 32 are 60 bits: nobody guesses one.
LENGTH = 12


def make_survey_code(token: str) -> str:
    """Return the code of the submission with this unguessable token; the token stays secret."""
    digest = hashlib.sha256(f"annotation.panels.survey_code:{token}".encode()).digest()
    return spell(int.from_bytes(digest, "big"), LENGTH).upper()


def index_survey_codes(submissions: Iterable[Submission]) -> dict[str, Submission]:
    return {make_survey_code(submission.token): submission for submission in submissions}


def read_survey_code(text: str) -> str:
    """Return a typed code in the form in which it was shown: no blanks, capitals, no look-alikes.

    The alphabet has no I, L, O and U, so that these can only be 1, 1, 0 and V misread.
    """
    kept = "".join(letter for letter in text.upper() if letter.isalnum())
    return kept.translate(str.maketrans("ILOU", "110V"))
