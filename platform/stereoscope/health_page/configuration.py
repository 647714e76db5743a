"""What `manage.py check --deploy` says of the settings, mail among them, and which versions run."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib.metadata import version

from django.conf import settings
from django.core.checks import WARNING, Tags, run_checks
from django.db import connection
from django.utils.translation import gettext as _

from annotation.annotators.invitations import can_send_mail
from stereoscope.health_page.findings import DEPLOYMENT, Finding, State, good

VARIABLES = f"{DEPLOYMENT}#environment-variables"
TAGS = [Tags.security, Tags.caches, "stereoscope"]  # those about code are for developers
#: What computes, with the versions that reports state.
LIBRARIES = ("django", "celery", "torch", "transformers", "numpy")


def find_configuration() -> Iterator[Finding]:
    """Yield each warning about the settings, then whether mail can be sent.

    What a site on the net needs is not asked of a machine that serves itself alone.
    """
    found = run_checks(tags=TAGS, include_deployment_checks=not settings.IS_OWN_MACHINE)
    warnings = [
        message for message in found if message.level >= WARNING and not message.is_silenced()
    ]
    for message in warnings:
        state = State.BAD if message.is_serious() else State.WARN
        remedy = message.hint or _("See “manage.py check --deploy”.")
        title = _("Settings (%(id)s)") % {"id": message.id}
        yield Finding(title, state, str(message.msg), str(remedy), VARIABLES)
    if not warnings:
        yield good(_("Settings"), _("The checks of the settings find nothing."))
    if can_send_mail():
        said = _("Invitations go out over %(host)s.") % {"host": settings.EMAIL_HOST}
        yield good(_("Mail"), said)
    else:
        said = _("Not set up: researchers hand links of invitations over themselves.")
        remedy = _("Set EMAIL_HOST if the platform shall send them.")
        yield Finding(_("Mail"), State.GOOD, said, remedy, VARIABLES)


def list_versions() -> list[tuple[str, str]]:
    """Return names and versions of what runs here."""
    database = ".".join(map(str, connection.get_database_version()))
    return [
        ("Stereoscope", settings.CODE_VERSION),
        ("Python", platform.python_version()),
        (connection.display_name, database),
        *((name, version(name)) for name in LIBRARIES),
    ]
