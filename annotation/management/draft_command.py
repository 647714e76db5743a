"""Base of commands that create a study, as a draft."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any, ClassVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from annotation.management.lookups import find_corpus, find_owner
from annotation.models import Study


class DraftCommand(BaseCommand):
    """A kind of study says for whom it is, adds its options and creates it of them."""

    people: ClassVar[str] = "participants"
    model_name: ClassVar[str] = "study"
    todo: ClassVar[str] = "Launch it"  # on its page

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--title", required=True, help=f"of the study, for {self.people}")
        parser.add_argument("--contact", required=True, metavar="EMAIL", help=f"for {self.people}")
        parser.add_argument("--owner", default="", help="user name of the study's owner")

    def create(self, options: dict[str, Any], **common: Any) -> Study:
        """Create the study; ``common`` are title, owner, contact and, if asked for, corpus."""
        raise NotImplementedError

    def handle(self, *args: Any, **options: Any) -> None:
        common = {
            "title": options["title"],
            "owner": find_owner(options["owner"]),
            "contact_email": options["contact"],
        }
        if "corpus" in options:
            common["corpus"] = find_corpus(options["corpus"])
        try:
            study = self.create(options, **common)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        link = reverse(f"admin:annotation_{self.model_name}_overview", args=[study.pk])
        self.stdout.write(
            f"Study “{study.title}” ({study.public_id}) is a draft. {self.todo} on "
            f"{settings.SITE_URL}{link}"
        )
