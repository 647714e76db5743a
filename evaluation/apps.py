"""Numbers: metrics, analyses, reports."""

from typing import Any

from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "evaluation"
    verbose_name = "Evaluation"

    def ready(self) -> None:
        from annotation.library.uses import register_uses
        from evaluation.reports.selectors import find_report_uses
        from probing.runs.signals import run_finished, swept

        register_uses(find_report_uses)
        run_finished.connect(wake_report_builders)
        swept.connect(wake_report_builders)


def wake_report_builders(**_: Any) -> None:
    """Have reports built that wait for a run which is finished now."""
    from evaluation.reports.building import wake_waiting_reports

    wake_waiting_reports()
