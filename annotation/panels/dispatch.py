"""Wakes a worker for a study's payments. A lost message costs time until the next sweep."""

from __future__ import annotations

import logging

from celery import current_app
from django.db import transaction

from annotation.models import Study

logger = logging.getLogger(__name__)

PAY_TASK = "annotation.pay_study"


def notify_payer(study: Study) -> None:
    """Have a study's actions carried out once the transaction is through."""
    transaction.on_commit(lambda: _send(study.pk))


def _send(study_id: int) -> None:
    try:
        current_app.send_task(PAY_TASK, args=[study_id], retry=False, ignore_result=True)
    except Exception as error:  # every transport raises its own kind
        logger.warning("no worker was woken, the next sweep finds the work: %s", error)
