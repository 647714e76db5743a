"""Which submissions a study's numbers are about. The one home of this rule."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Q

from annotation.models import Study, StudyStatus, SubmissionOrigin

# What an export may hold besides the submissions that count.
EXTRA_ORIGINS = (SubmissionOrigin.PILOT, SubmissionOrigin.PREVIEW)


def in_scope(study: Study, *, of: str = "") -> Q:
    """Return the condition on submissions, reached by the path ``of`` such as “submission__”.

    While a study is piloting, its numbers are those of the pilot; from then on they are those of
    the submissions that count. Previews are never among them. The study itself is not filtered.
    """
    if study.status == StudyStatus.PILOTING:
        return Q(**{f"{of}origin": SubmissionOrigin.PILOT})
    return Q(**{f"{of}is_counted": True})


def exported(include: Collection[str], *, of: str = "") -> Q:
    """Return the condition on submissions of an export: those that count, and ``include``.

    ``include`` holds origins of `EXTRA_ORIGINS`. Raises `ValueError` for any other.
    """
    if unknown := set(include) - set(EXTRA_ORIGINS):
        expected = ", ".join(EXTRA_ORIGINS)
        raise ValueError(f"“{sorted(unknown)[0]}” cannot be included, expected: {expected}.")
    return Q(**{f"{of}is_counted": True}) | Q(**{f"{of}origin__in": list(include)})
