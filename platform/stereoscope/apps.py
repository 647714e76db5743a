"""The composition root as an app, so that its checks and commands are found."""

from typing import Any

from django.apps import AppConfig
from django.contrib import admin
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core import checks


class AdminConfig(SimpleAdminConfig):
    """The admin, whose pages are imported with the addresses and not by each command and worker."""

    def ready(self) -> None:
        checks.register(check_dependencies, checks.Tags.admin)
        checks.register(check_pages, checks.Tags.admin)


def check_pages(**options: Any) -> list[checks.CheckMessage]:
    """Check the pages of the admin, which nobody may have imported yet."""
    admin.autodiscover()
    return check_admin_app(**options)


class StereoscopeConfig(AppConfig):
    name = "stereoscope"
    verbose_name = "Stereoscope"

    def ready(self) -> None:
        from axes.signals import user_locked_out

        import stereoscope.checks  # noqa: F401
        from annotation.common.limits import count_lockout
        from probing.runs.signals import swept

        swept.connect(sweep_payments)
        user_locked_out.connect(count_lockout)


def sweep_payments(**_: Any) -> None:
    """Have payments carried out that no message told a worker about."""
    from annotation.panels import payment_service

    payment_service.sweep_payments()
