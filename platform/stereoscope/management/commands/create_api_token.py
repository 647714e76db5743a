"""Makes a token of the API and shows it once."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from stereoscope.api_authentication import USUAL_DAYS, create_token
from stereoscope.models import Scope


class Command(BaseCommand):
    help = "Makes a token of the API for an account and shows it. It cannot be read again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("account")
        parser.add_argument("--name", default="command line", help="what the token is for")
        scopes = "; ".join(f"{scope.value}: {scope.label}" for scope in Scope)
        parser.add_argument(
            "--scope",
            action="append",
            choices=Scope.values,
            help=f"what it may do beyond reading, may be given several times ({scopes}); "
            f"without one: {Scope.READ.value}",
        )
        parser.add_argument("--days", type=int, default=USUAL_DAYS, help="until it expires")

    def handle(self, *args: Any, account: str, **options: Any) -> None:
        user = User.objects.filter(username=account, is_active=True).first()
        if user is None:
            raise CommandError(f"There is no active account “{account}”.")
        try:
            token, key = create_token(
                user=user,
                name=options["name"],
                scopes=options["scope"] or [Scope.READ],
                days=options["days"],
            )
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.stderr.write(
            f"It may {', '.join(token.scopes)} what {account} may, until "
            f"{token.expires_at:%Y-%m-%d}. "
            "Send it as “Authorization: Token …”. Imports need --scope write."
        )
        self.stdout.write(key)  # last, so that scripts can take it
