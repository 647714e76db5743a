"""Reads reports for the people who may see their studies."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import QuerySet

from annotation.studies.access import visible_studies
from evaluation.models import Report


def visible_reports(user: AbstractBaseUser | AnonymousUser) -> QuerySet[Report]:
    """Return the reports on studies that ``user`` may see, with study, run and model joined."""
    return Report.objects.filter(study__in=visible_studies(user)).select_related(
        "study", "run__model"
    )
