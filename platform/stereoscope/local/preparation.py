"""What `make run` needs before anything can start: database, static files, administrator, demo."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import django
from django.conf import settings
from django.core.management import CommandError, call_command
from django.urls import reverse

from stereoscope.local.processes import stop_with_parent


def prepare_apart(*, site: str, model: str) -> str:
    """Prepare everything in a process that ends; return what to say once the platform runs.

    Training the demo model loads libraries of hundreds of megabytes, which the launcher would hold
    for as long as it runs. Raises `CommandError` where there can be no demo.
    """
    with ProcessPoolExecutor(
        max_workers=1, mp_context=get_context("spawn"), initializer=_begin
    ) as apart:
        return apart.submit(_prepare, site, model).result()


def _begin() -> None:
    stop_with_parent()
    django.setup()


def _prepare(site: str, model: str) -> str:
    # Loaded in the process that ends, never in the launcher.
    from stereoscope.demo.seeding import DemoError, seed_demo
    from stereoscope.documentation.site import build_documentation
    from stereoscope.local.administrator import NAME, ensure_administrator
    from stereoscope.local.statics import collect_static_files

    say("Preparing the database.")
    call_command("migrate", interactive=False, verbosity=0, skip_checks=False)
    if settings.STATIC_MANIFEST and collect_static_files():
        say("Static files collected.")
    if build_documentation(settings.DOCS_ROOT):
        say("Documentation built.")
    administrator = ensure_administrator(password_file=settings.VAR_DIR / "admin-password")
    try:
        demo = seed_demo(owner=administrator.user, location=model, say=say)
    except DemoError as error:
        raise CommandError(str(error)) from error
    run = f"{demo.run} of {demo.run.model.name}"
    return f"""
Stereoscope is running.

  Participants  {site}{demo.survey.get_absolute_url()}
                {site}{demo.speakers.get_absolute_url()}
  Researchers   {site}{reverse("admin:index")}
  Report        {site}{reverse("reports:page", args=[demo.report.public_id])}
  API           {site}{reverse("api-docs")}
  Help          {site}{reverse("docs")}

  User          {NAME}
  Password      {administrator.password or "the one that was chosen for this account"}

  {
        f"{run} fills the report; the worker computes it now."
        if demo.report.built_at is None
        else f"The report is about {run}."
    }
  Logs are in {settings.VAR_DIR / "log"}. Ctrl-C stops everything.
"""


def say(line: str) -> None:
    """Print a line on the terminal at once, whatever process says it."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
