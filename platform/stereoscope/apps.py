"""The composition root as an app, so that its checks and commands are found."""

import time
from typing import Any

from django.apps import AppConfig
from django.contrib import admin
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core import checks


class AdminConfig(SimpleAdminConfig):
    """The admin, whose pages are imported with the addresses and not by each command and worker."""

    default_site = "stereoscope.admin_site.ResearcherSite"

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
        from django.contrib.auth.signals import user_logged_in

        import stereoscope.checks  # noqa: F401
        from annotation.common.limits import count_lockout
        from probing.runs.signals import swept
        from stereoscope.idle import note_use
        from stereoscope.second_factor.middleware import note_sign_in

        user_logged_in.connect(note_sign_in, dispatch_uid="second factor")
        user_logged_in.connect(note_use, dispatch_uid="idle")
        swept.connect(sweep_payments)
        swept.connect(sweep_expired)
        user_locked_out.connect(count_lockout)


def sweep_payments(**_: Any) -> None:
    """Have payments carried out that no message told a worker about."""
    from annotation.panels import payment_service

    payment_service.sweep_payments()


#: Periods of retention are counted in days.
EXPIRED_SECONDS = 3600.0
_looked_at = -EXPIRED_SECONDS


def sweep_expired(**_: Any) -> None:
    """Erase what studies have promised to erase by now, and seal the audit log; once an hour."""
    global _looked_at
    if time.monotonic() - _looked_at < EXPIRED_SECONDS:
        return
    _looked_at = time.monotonic()
    from annotation.audit.seals import seal_all
    from annotation.common.database_files import overwrite_erased
    from annotation.studies.erasure import erase_expired
    from stereoscope.models import Milestone, MilestoneName

    erase_expired()
    overwrite_erased()  # where somebody read while it was erased
    Milestone.note(MilestoneName.RETENTION)
    seal_all()  # what a process that was killed had left open
