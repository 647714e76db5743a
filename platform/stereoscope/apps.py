"""The composition root as an app, so that its checks and commands are found."""

from django.apps import AppConfig


class StereoscopeConfig(AppConfig):
    name = "stereoscope"
    verbose_name = "Stereoscope"

    def ready(self) -> None:
        from stereoscope import checks  # noqa: F401
