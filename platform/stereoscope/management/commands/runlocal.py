"""`make run`: the whole platform in one terminal, with a demo to look at."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.urls import reverse

from stereoscope.demo.seeding import Demo, DemoError, seed_demo
from stereoscope.local.administrator import NAME, Administrator, ensure_administrator
from stereoscope.local.launcher import HOST, PortTakenError, claim_port, supervise
from stereoscope.local.statics import collect_static_files


class Command(BaseCommand):
    help = (
        "Prepares database, static files and demo, then runs web server and worker in this "
        "terminal until Ctrl-C."
    )
    requires_system_checks = []  # migrate runs them

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--port", type=int, default=settings.PORT, help="Where to listen. Default: PORT, 8000."
        )
        parser.add_argument(
            "--model",
            default="",
            metavar="HUB_ID_OR_PATH",
            help="Probe this masked language model instead of the demo model.",
        )

    def handle(self, *args: Any, port: int, model: str, **options: Any) -> None:
        try:
            claim_port(port)
            administrator, demo = self._prepare(model)
        except (PortTakenError, DemoError) as error:
            self.stderr.write(str(error))
            sys.exit(1)
        except KeyboardInterrupt:
            self._say("\nStopped before the start. The next start goes on from here.")
            sys.exit(130)
        self._say("Starting web server and worker.")
        status = supervise(
            port=port, on_ready=lambda: self._greet(port, administrator, demo), say=self._say
        )
        if status:
            sys.exit(status)
        self._say("Stopped.")

    def _prepare(self, model: str) -> tuple[Administrator, Demo]:
        self._say("Preparing the database.")
        call_command("migrate", interactive=False, verbosity=0)
        if settings.STATIC_MANIFEST and collect_static_files():
            self._say("Static files collected.")
        administrator = ensure_administrator(password_file=settings.VAR_DIR / "admin-password")
        demo = seed_demo(owner=administrator.user, location=model, say=self._say)
        return administrator, demo

    def _greet(self, port: int, administrator: Administrator, demo: Demo) -> None:
        site = f"http://{HOST}:{port}"
        password = administrator.password or "the one that was chosen for this account"
        lines = [
            "",
            "Stereoscope is running.",
            "",
            f"  Participants  {site}{demo.survey.get_absolute_url()}",
            f"  Researchers   {site}{reverse('admin:index')}",
            f"  Report        {site}{reverse('reports:page', args=[demo.report.public_id])}",
            f"  API           {site}{reverse('api-docs')}",
            "",
            f"  User          {NAME}",
            f"  Password      {password}",
            "",
            f"  {demo.run} of {demo.run.model.name} fills the report; the worker computes it now."
            if demo.report.built_at is None
            else f"  The report is about {demo.run} of {demo.run.model.name}.",
            f"  Logs are in {settings.VAR_DIR / 'log'}. Ctrl-C stops everything.",
            "",
        ]
        for line in lines:
            self._say(line)

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
