"""The side bar of researchers' pages: few words that a newcomer understands, one for each place.

Lists that belong together share an entry; their tabs lead from one to the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True)
class Entry:
    """The first of ``pages`` is where it leads; it stands out on all of them.

    permission : without it the entry is not shown; "" for everybody
    """

    title: Any
    pages: tuple[str, ...]
    permission: str = ""

    def describe(self, request: HttpRequest) -> dict[str, Any]:
        """Return the entry as the theme wants it."""
        user = request.user
        addresses = [reverse(page) for page in self.pages]
        is_here = any(request.path.startswith(address) for address in addresses)
        if self.pages == (START,):
            is_here = request.path == addresses[0]
        return {
            "title": self.title,
            "link": addresses[0],
            "active": is_here,
            "permission": lambda request: not self.permission or user.has_perm(self.permission),
        }


def _lists(app: str, *names: str) -> tuple[str, ...]:
    return tuple(f"admin:{app}_{name}_changelist" for name in names)


START = "admin:index"
NAVIGATION: tuple[tuple[Any, tuple[Entry, ...]], ...] = (
    ("", (Entry(_("Overview"), (START,)),)),
    (
        _("People"),
        (
            Entry(
                _("Studies"),
                _lists("annotation", "study", "writingstudy", "judgmentstudy", "instrument"),
            ),
            Entry(_("Review queue"), _lists("annotation", "submission")),
            Entry(_("Texts"), _lists("annotation", "corpus")),
            Entry(_("Questions"), _lists("annotation", "libraryquestion")),
            Entry(
                _("Groups and scales"),
                _lists("annotation", "socialgroup", "groupset", "groupexclusion", "traitpair"),
            ),
        ),
    ),
    (
        _("Models"),
        (
            Entry(
                _("Language models"),
                _lists("probing", "languagemodel"),
                "probing.view_languagemodel",
            ),
            Entry(
                _("Prompts and word lists"),
                _lists(
                    "probing",
                    "template",
                    "templateset",
                    "prompt",
                    "wordlist",
                    "labeledtemplateset",
                    "grouplexicon",
                    "labeledtextset",
                ),
                "probing.view_template",
            ),
            Entry(_("Runs"), _lists("probing", "run"), "probing.view_run"),
        ),
    ),
    (
        _("Results"),
        (
            Entry(_("Reports"), _lists("evaluation", "report"), "evaluation.view_report"),
            Entry(_("Reproductions"), ("reproductions",), "evaluation.view_report"),
            Entry(_("Norms"), _lists("evaluation", "norm"), "evaluation.view_norm"),
        ),
    ),
    (
        _("Settings"),
        (
            Entry(_("Accounts"), _lists("auth", "user"), "auth.view_user"),
            Entry(_("Teams"), _lists("annotation", "team")),
            Entry(_("Secure sign-in"), ("security",)),
            Entry(_("API tokens"), _lists("stereoscope", "apitoken")),
            Entry(_("API for programs"), ("api-docs",)),
            Entry(_("Health"), ("health",), "stereoscope.view_workerpresence"),
        ),
    ),
)


def build_navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the side bar for one request."""
    return [
        {"title": title, "items": [entry.describe(request) for entry in entries]}
        for title, entries in NAVIGATION
    ]
