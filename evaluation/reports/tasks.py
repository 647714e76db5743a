"""Celery's interface to report building."""

from __future__ import annotations

from celery import shared_task

from evaluation.reports import building
from evaluation.reports.requesting import BUILD_TASK


@shared_task(name=BUILD_TASK)
def build_report(report_id: int) -> None:
    building.build_report(report_id=report_id)


@shared_task(name="evaluation.sweep_reports")
def sweep_reports() -> None:
    building.wake_waiting_reports()
