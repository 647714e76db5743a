"""Everything that is held about one person, for a request of theirs to see it."""

from __future__ import annotations

from typing import Any

from django.db.models import Model, Q

from annotation.models import MissingRating, ParticipantIdentity, Rating, Submission

#: What a submission has besides its ratings, by its name in the document.
PARTS = (
    "checks",
    "answers",
    "step_answers",
    "pages",
    "reviews",
    "late_returns",
    "panel_actions",
)


def find_submissions(*, external_id: str = "", public_id: str = "") -> list[Submission]:
    """Return a person's submissions by the panel's id of them, or one by its own number."""
    people = ParticipantIdentity.objects.filter(external_id=external_id).values("participant")
    wanted = Q(public_id=public_id) if public_id else Q(participant__in=people)
    return list(Submission.objects.filter(wanted).select_related("study", "participant"))


def describe_person(submissions: list[Submission]) -> list[dict[str, Any]]:
    """Return what the platform holds about each submission. Some ten queries for each."""
    return [_describe(submission) for submission in submissions]


def _describe(submission: Submission) -> dict[str, Any]:
    ratings = Rating.objects.filter(assignment__submission=submission)
    identities = submission.participant.identities.filter(study=submission.study_id)
    withdrawal = getattr(submission, "withdrawal", None)
    return {
        "study": submission.study.title,
        "contact": submission.study.contact_email,
        "submission": _plain(submission),
        "pseudonym": submission.participant.pseudonym,
        "ids": [_plain(identity) for identity in identities],
        "ratings": list(
            ratings.order_by("assignment__position", "position").values(
                "assignment__group__slug",
                "scale__slug",
                "value",
                "first_touch_ms",
                "changes",
                "means",
            )
        ),
        "left_out": list(
            MissingRating.objects.filter(assignment__submission=submission)
            .order_by("assignment__position", "scale__position")
            .values("assignment__group__slug", "scale__slug", "kind")
        ),
        **{name: [_plain(row) for row in getattr(submission, name).all()] for name in PARTS},
        "withdrawal": _plain(withdrawal) if withdrawal else None,
    }


def _plain(row: Model) -> dict[str, Any]:
    """Return the columns of a row, those that nobody edits too; keys of other rows stay keys."""
    secret = {"token", "holder_key", "claim"}
    return {
        field.attname: getattr(row, field.attname)
        for field in row._meta.concrete_fields
        if field.name not in secret
    }
