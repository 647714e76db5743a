"""Lists registered language models, and says what each of them can measure."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import IO, Any, cast

from django.core.management.base import BaseCommand, CommandError
from django.db.models import ProtectedError
from rich.console import Console

from probing.lm.errors import LanguageModelError
from probing.management.console_tables import count, print_model
from probing.models import LanguageModel, ModelKind
from probing.runs.certificates import (
    certify,
    has_certificate,
    measure_fits,
    why_outdated,
    why_unusable,
)
from probing.runs.served_models import watch_server


class Command(BaseCommand):
    help = "List language models; of named ones, print the self-test and what they can measure."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("names", nargs="*", metavar="NAME", help="registered names")
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--test", action="store_true", help="test the named models again")
        what.add_argument(
            "--watch",
            action="store_true",
            help="compare the named served models with what they answered before; the first time "
            "keeps their answers, and runs then compare once a day",
        )
        what.add_argument(
            "--remove", action="store_true", help="remove the named models; their files stay"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        console = Console(
            file=cast("IO[str]", self.stdout._out), highlight=False, soft_wrap=True, markup=False
        )
        for name in ("test", "watch", "remove"):
            if options[name] and not options["names"]:
                raise CommandError(f"--{name} needs the name of a model.")
        for name in options["names"]:
            model = LanguageModel.objects.filter(name=name).first()
            if model is None:
                raise CommandError(f"There is no model “{name}”; manage.py models lists them.")
            if options["remove"]:
                try:
                    model.delete()
                except ProtectedError as error:
                    runs = count(model.runs.count(), "run")
                    trained = count(model.trained_models.count(), "model")
                    raise CommandError(
                        f"“{name}” stays: {runs} and {trained} trained from it refer to it."
                    ) from error
                console.print(f"“{name}” is no longer registered. Its files were left alone.")
                continue
            if options["watch"]:
                if model.kind != ModelKind.CHAT:
                    raise CommandError(f"“{name}” is not served; --watch is for served models.")
                try:
                    watch_server(model)
                except LanguageModelError as error:
                    raise CommandError(str(error)) from error
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
                notes = [str(model.get_kind_display()), f"{able} of {len(fits)} measures"]
                if why_unusable(model):
                    notes.append("weights cannot be read")
                if outdated := why_outdated(model):
                    notes.append(outdated.rstrip("."))
                console.print(f"{model.name}: {', '.join(notes)}")
