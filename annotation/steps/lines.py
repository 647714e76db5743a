"""Lines between two words, as pages draw and read them: a rating, a practice line, a slider."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from annotation.steps.forms import (
    AnswersRefused,
    FilledForm,
    PageRefused,
    read_single,
    read_whole_number,
    refuse_unknown,
)
from annotation.steps.kind import Asked, DrawnLine

VALUE, TOUCHED, SKIP = "value-", "touched-", "skip-"
HUNDRED = {"minimum": 0, "maximum": 100, "by": 1}


@dataclass(frozen=True)
class ShownLine:
    """A line with the answer to keep (as it was sent) and what is wrong with it.

    ``skip`` is why it was left out, where it can be.
    """

    line: DrawnLine
    value: str
    problem: str
    skip: str


def show_lines(lines: Sequence[DrawnLine], filled: FilledForm) -> dict[str, Any]:
    """Return what the template needs of the lines, with answers to keep."""
    shown = [
        ShownLine(
            line,
            _kept_value(filled, line),
            filled.problem(line.key),
            filled.text(SKIP + line.key),
        )
        for line in lines
    ]
    troubled = [line for line in shown if line.problem]
    all_open = all(line.problem == say_open() for line in troubled)
    return {"lines": shown, "troubled": troubled, "all_open": all_open}


def draw_lines(
    asked: Asked,
    lines: Sequence[DrawnLine],
    filled: FilledForm,
    *,
    skips: Sequence[tuple[str, str]] = (),
    way_out: bool = False,
) -> SafeString:
    """Return the lines as HTML; each one without an answer is drawn once for all visits.

    ``skips`` are the reasons for which each line can be left out, with their words; with
    ``way_out`` the first one that lacks an answer leads to the choice for the whole page.
    """
    shown = show_lines(lines, filled)
    first = next(iter(shown["troubled"]), None)

    def draw(line: ShownLine) -> SafeString:
        context = {
            "line": line.line,
            "value": line.value,
            "problem": line.problem,
            "is_first_problem": line is first,
            "way_out": way_out and line is first,
            "show_ticks": asked.shows_ticks,
            "skips": skips,
            "skip": line.skip,
            **HUNDRED,
        }
        if line.value or line.problem or line.skip:
            return render_to_string("survey/parts/line.html", context)
        drawn = line.line
        return asked.keep(
            ("line", asked.language, drawn.key, drawn.left, drawn.right, bool(skips)),
            lambda: render_to_string("survey/parts/line.html", context),
        )

    return mark_safe("".join(map(draw, shown["lines"])))  # noqa: S308 - of drawn templates


def say_open() -> str:
    return _("Not answered yet. Please answer this line.")


def read_touched(sent: QueryDict, key: str) -> str:
    """Return what was sent of a line, "" for one that nobody has touched.

    Browsers send a value for a line that nobody has moved.
    """
    text, touched = read_single(sent, VALUE + key), read_single(sent, TOUCHED + key)
    if touched not in {"", "0", "1"}:
        raise PageRefused(_("The field “%(name)s” is neither 0 nor 1.") % {"name": TOUCHED + key})
    return text if touched == "1" else ""


def read_lines(
    sent: QueryDict, lines: Sequence[DrawnLine], *, skipped: Collection[str] = ()
) -> dict[str, int]:
    """Return every line's place from 0 (left) to 100 (right), by scale slug, but of ``skipped``.

    A line counts as answered if it has a value and was touched. Raises `AnswersRefused` for lines
    that are missing or not a whole number from 0 to 100, and `PageRefused` for fields that are
    repeated or of another instrument.
    """
    known = {f"{prefix}{line.key}" for line in lines for prefix in (VALUE, TOUCHED)}
    refuse_unknown(sent, prefixes=(VALUE, TOUCHED), known=known)
    values: dict[str, int] = {}
    problems: dict[str, str] = {}
    for line in lines:
        if line.key in skipped:
            continue
        if not (text := read_touched(sent, line.key)):
            problems[line.key] = say_open()
            continue
        number = read_whole_number(text)
        if number is None or not 0 <= number <= 100:
            problems[line.key] = _(
                "“%(value)s” is not possible. Write a whole number from 0 to 100."
            ) % {"value": text[:20]}
            continue
        values[line.key] = number
    if problems:
        raise AnswersRefused(problems)
    return values


def _kept_value(filled: FilledForm, line: DrawnLine) -> str:
    if filled.text(TOUCHED + line.key) != "1":
        return ""
    number = read_whole_number(filled.text(VALUE + line.key).strip())
    return str(number) if number is not None and 0 <= number <= 100 else ""
