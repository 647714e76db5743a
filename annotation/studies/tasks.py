"""Celery's interface to what is counted for studies' pages."""

from __future__ import annotations

from celery import shared_task

from annotation.models import Study
from annotation.studies import flag_counts


@shared_task(name=flag_counts.COUNT_TASK)
def count_study_flags(study_id: int) -> None:
    """Count the flags of a study. Called twice, the second call finds them kept."""
    study = Study.objects.filter(pk=study_id).first()
    if study is not None:
        flag_counts.keep_flags(study=study)
