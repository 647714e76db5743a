"""Celery's interface to payments."""

from __future__ import annotations

from celery import shared_task

from annotation.models import Study
from annotation.panels import payment_service
from annotation.panels.dispatch import PAY_TASK


@shared_task(name=PAY_TASK)
def pay_study(study_id: int) -> None:
    """Carry out what is due. Called twice, or by two workers at once, nothing is paid twice."""
    study = Study.objects.filter(pk=study_id).first()
    if study is not None:
        payment_service.pay_study(study=study)


@shared_task(name="annotation.sweep_payments")
def sweep_payments() -> None:
    payment_service.sweep_payments()
