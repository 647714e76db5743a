"""`make run`: the whole platform in one terminal, with a demo to look at."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from stereoscope.local.launcher import HOST, PortTakenError, claim_port, supervise
from stereoscope.local.preparation import prepare_apart, say


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
            greeting = prepare_apart(site=f"http://{HOST}:{port}", model=model)
        except (PortTakenError, CommandError) as error:
            self.stderr.write(str(error))
            sys.exit(1)
        except KeyboardInterrupt:
            say("\nStopped before the start. The next start continues from here.")
            sys.exit(130)
        say("Starting web server and worker.")
        status = supervise(port=port, on_ready=lambda: say(greeting), say=say)
        if status:
            sys.exit(status)
        say("Stopped.")
