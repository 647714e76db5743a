"""Registers a language model from the command line."""

from __future__ import annotations

from argparse import ArgumentParser
from decimal import Decimal
from typing import IO, Any, cast

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console

from probing.management.console_tables import print_model
from probing.runs.certificates import why_unusable
from probing.runs.errors import RunError
from probing.runs.language_models import register_model


class Command(BaseCommand):
    help = (
        "Register a language model: a hub id, a folder, a GGUF file, or a chat model on a server."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "location", help="a hub id, a folder, a GGUF file, or a server's base URL"
        )
        parser.add_argument("--name", default="", help="as reports print it")
        parser.add_argument("--revision", default="", help="branch, tag or commit on the hub")
        parser.add_argument(
            "--served-name", default="", help="the model's name on its server, for a base URL"
        )
        parser.add_argument(
            "--key-variable",
            default="",
            help="environment variable of the workers that holds the server's key",
        )
        for name, what in (("input", "reads"), ("output", "writes")):
            parser.add_argument(
                f"--{name}-price",
                type=Decimal,
                metavar="AMOUNT",
                help=f"of a served model: what a million tokens that it {what} cost",
            )
        parser.add_argument("--currency", default="", help="of both prices, such as USD")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            model = register_model(
                location=options["location"],
                name=options["name"] or None,
                revision=options["revision"],
                served_name=options["served_name"],
                key_variable=options["key_variable"],
                input_price=options["input_price"],
                output_price=options["output_price"],
                price_currency=options["currency"].upper(),
            )
        except RunError as error:
            raise CommandError(" ".join(error.messages)) from error
        stream = cast("IO[str]", self.stdout._out)
        print_model(Console(file=stream, highlight=False, soft_wrap=True), model)
        if reason := why_unusable(model):
            raise CommandError(f"“{model.name}” is registered, but can’t be used. {reason}")
