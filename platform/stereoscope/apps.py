"""The composition root as an app, so that its checks and commands are found."""

from typing import Any

from django.apps import AppConfig


class StereoscopeConfig(AppConfig):
    name = "stereoscope"
    verbose_name = "Stereoscope"

    def ready(self) -> None:
        from probing.runs.signals import swept
        from stereoscope import checks  # noqa: F401

        swept.connect(sweep_payments)


def sweep_payments(**_: Any) -> None:
    """Have payments carried out that no message told a worker about."""
    from annotation.panels import paying

    paying.sweep_payments()
