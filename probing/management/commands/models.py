"""Lists registered language models, and says what each of them can measure."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import IO, Any, cast

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console

from probing.lm.errors import LanguageModelError
from probing.management.console_tables import print_model
from probing.models import LanguageModel
from probing.runs.certificates import certify, has_certificate, measure_fits


class Command(BaseCommand):
    help = "List language models; of named ones, print the self-test and what they can measure."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("names", nargs="*", metavar="NAME", help="registered names")
        parser.add_argument("--test", action="store_true", help="test the named models again")

    def handle(self, *args: Any, **options: Any) -> None:
        console = Console(
            file=cast("IO[str]", self.stdout._out), highlight=False, soft_wrap=True, markup=False
        )
        if options["test"] and not options["names"]:
            raise CommandError("--test needs the name of a model.")
        for name in options["names"]:
            model = LanguageModel.objects.filter(name=name).first()
            if model is None:
                raise CommandError(f"There is no model “{name}”; manage.py models lists them.")
            if options["test"] and has_certificate(model):
                try:
                    certify(model, again=True)
                except LanguageModelError as error:
                    raise CommandError(str(error)) from error
            print_model(console, model)
        if not options["names"]:
            for model in LanguageModel.objects.all():
                fits = measure_fits(model)
                able = sum(fit.can for fit in fits)
                console.print(
                    f"{model.name}: {model.get_kind_display()}, {able} of {len(fits)} measures"
                )
