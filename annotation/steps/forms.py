"""Posted fields, read strictly: nothing is taken but what a page of the survey can send."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.http import QueryDict
from django.utils.translation import gettext as _

WHOLE_NUMBER = re.compile(r"-?[0-9]{1,9}")


class PageRefused(ValueError):  # noqa: N818 - nothing is stored, and the message says why
    """A page that this survey cannot have sent; the message says what is wrong with it."""


class AnswersRefused(ValueError):  # noqa: N818
    """Answers that the participant can mend: messages by field, in the order of the page."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__("; ".join(f"{field}: {text}" for field, text in problems.items()))
        self.problems = problems


@dataclass(frozen=True)
class FilledForm:
    """What a page holds that comes again: answers as they were sent, and problems by field.

    Both are empty the first time a page is shown.
    """

    sent: QueryDict = field(default_factory=QueryDict)
    problems: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return not self.sent and not self.problems

    def text(self, name: str) -> str:
        """Return what was sent in a field, "" for nothing."""
        return self.sent.get(name, "")

    def problem(self, name: str) -> str:
        """Return what is wrong with a field, "" for nothing."""
        return self.problems.get(name, "")


def read_single(data: QueryDict, name: str) -> str:
    """Return the field's text without space around it, "" if it was not sent.

    Raises `PageRefused` if it was sent more than once.
    """
    values = data.getlist(name)
    if len(values) > 1:
        raise sent_twice(name)
    return values[0].strip() if values else ""


def sent_twice(name: str) -> PageRefused:
    return PageRefused(_("The field “%(name)s” was sent twice.") % {"name": name})


def not_offered(value: str) -> PageRefused:
    """Return the refusal of an answer that the page does not have."""
    text = _("“%(value)s” is not among the answers of this page.")
    return PageRefused(text % {"value": value[:60]})


def read_text(data: QueryDict, name: str) -> str:
    """Return the field's text on one line: control characters gone, runs of space made one."""
    visible = "".join(
        " " if unicodedata.category(letter) == "Cc" else letter
        for letter in read_single(data, name)
    )
    return " ".join(visible.split())


def read_paragraphs(data: QueryDict, name: str) -> str:
    """Return the field's text with its lines, without other control characters and outer space."""
    lines = read_single(data, name).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    visible = (
        "".join(" " if unicodedata.category(letter) == "Cc" else letter for letter in line)
        for line in lines
    )
    return "\n".join(line.rstrip() for line in visible).strip()


def read_whole_number(text: str) -> int | None:
    """Return the number that ``text`` writes in ASCII digits, None for anything else."""
    return int(text) if WHOLE_NUMBER.fullmatch(text) else None


def refuse_unknown(data: QueryDict, *, prefixes: tuple[str, ...], known: set[str]) -> None:
    """Raise `PageRefused` for a field with one of our prefixes that this page does not have."""
    for name in data:
        if name.startswith(prefixes) and name not in known:
            raise PageRefused(
                _("The field “%(name)s” does not belong to this page.") % {"name": name[:100]}
            )
