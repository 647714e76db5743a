"""Seeds the demo without starting anything."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from stereoscope.local.preparation import ensure_administrator


class Command(BaseCommand):
    help = "Creates what is missing of the demo: two studies, a model, its run and a report."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--model",
            default="",
            metavar="HUB_ID_OR_PATH",
            help="Probe this masked language model instead of the demo model.",
        )

    def handle(self, *args: Any, model: str, **options: Any) -> None:
        from stereoscope.demo.seeding import DemoError, seed_demo

        administrator = ensure_administrator(password_file=settings.VAR_DIR / "admin-password")
        try:
            demo = seed_demo(owner=administrator.user, location=model, say=self.stdout.write)
        except DemoError as error:
            raise CommandError(str(error)) from error
        for survey in (demo.survey, demo.speakers):
            self.stdout.write(f"To take: {settings.SITE_URL}{survey.get_absolute_url()}")
        self.stdout.write(f"Simulated people: {demo.people}")
        self.stdout.write(f"{demo.run} with {demo.run.model.name}: {demo.run.status}")
        self.stdout.write(f"Report “{demo.report}”: {demo.report.status}")
