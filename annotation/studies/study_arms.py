"""The arms of a study over all its versions, and who is in them."""

from __future__ import annotations

from django.db.models import QuerySet

from annotation.instruments.arms import read_arms
from annotation.models import Instrument, Study, Submission


def list_arms(study: Study) -> dict[str, str]:
    """Return label by name of every arm that people can be in, the newest version's first.

    One query. Drafts are left out: nobody is in an arm of theirs.
    """
    versions = Instrument.objects.filter(study=study, frozen_at__isnull=False).order_by("-version")
    labels: dict[str, str] = {}
    for arms in versions.values_list("arms", flat=True):
        for name, arm in read_arms(arms).items():
            labels.setdefault(name, arm.label)
    return labels


def in_arm(submissions: QuerySet[Submission], arm: str) -> QuerySet[Submission]:
    """Return those in an arm, all of them for an empty name."""
    return submissions.filter(arm=arm) if arm else submissions
