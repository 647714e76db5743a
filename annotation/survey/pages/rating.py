"""A rating page: one group, every trait scale as a line from 0 to 100."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.models import Outcome, Rating
from annotation.survey.client_record import ClientRecord, LineRecord
from annotation.survey.errors import AnswersRefused, PageRefused
from annotation.survey.flow import Step
from annotation.survey.pages.page import Page
from annotation.survey.posted import read_single, read_whole_number, refuse_unknown
from annotation.survey.visit import Visit

VALUE, TOUCHED = "value-", "touched-"


class DrawnLine(Protocol):
    """A line between two words; ``key`` names its fields."""

    @property
    def key(self) -> str: ...

    @property
    def left(self) -> str: ...

    @property
    def right(self) -> str: ...


@dataclass(frozen=True)
class ShownLine:
    """A line with the answer to keep (as it was sent) and what is wrong with it."""

    line: DrawnLine
    value: str
    problem: str


@dataclass(frozen=True)
class Question:
    """The question cut at the group's name, which stands out."""

    before: str
    group: str
    after: str


def cut_question(text: str, group: str) -> Question:
    before, _found, after = text.partition("{group}")
    return Question(before=before, group=group, after=after.replace("{group}", group))


def show_lines(
    lines: Sequence[DrawnLine], *, sent: QueryDict | None, problems: dict[str, str]
) -> dict[str, Any]:
    """Return what the template needs of the lines, with answers to keep."""
    shown = [ShownLine(line, _kept_value(sent, line), problems.get(line.key, "")) for line in lines]
    return {"lines": shown, "troubled": [line for line in shown if line.problem]}


def read_lines(sent: QueryDict, lines: Sequence[DrawnLine]) -> dict[str, int]:
    """Return every line's place from 0 (left) to 100 (right), by scale slug.

    A line counts as answered if it has a value and was touched: browsers send a value for a line
    that nobody has moved. Raises `AnswersRefused` for lines that are missing or not a whole number
    from 0 to 100, and `PageRefused` for fields that are repeated or of another instrument.
    """
    known = {f"{prefix}{line.key}" for line in lines for prefix in (VALUE, TOUCHED)}
    refuse_unknown(sent, prefixes=(VALUE, TOUCHED), known=known)
    values: dict[str, int] = {}
    problems: dict[str, str] = {}
    for line in lines:
        text, touched = read_single(sent, VALUE + line.key), read_single(sent, TOUCHED + line.key)
        if touched not in {"", "0", "1"}:
            raise PageRefused(
                _("The field “%(name)s” is neither 0 nor 1.") % {"name": TOUCHED + line.key}
            )
        if not text or touched != "1":
            problems[line.key] = _("Not answered yet. Tap the line where your answer belongs.")
            continue
        number = read_whole_number(text)
        if number is None or not 0 <= number <= 100:
            problems[line.key] = _(
                "“%(value)s” was sent, expected a whole number from 0 to 100."
            ) % {"value": text[:20]}
            continue
        values[line.key] = number
    if problems:
        raise AnswersRefused(problems)
    return values


class RatingPage(Page):
    template = "survey/rating.html"

    def open(self, visit: Visit, step: Step) -> bool:
        return step.position in visit.assignments

    def show(
        self, visit: Visit, step: Step, *, sent: QueryDict | None, problems: dict[str, str]
    ) -> dict[str, Any]:
        return {
            **show_lines(visit.lines, sent=sent, problems=problems),
            "question": cut_question(
                visit.wording["question"],
                visit.name_group(visit.assignments[step.position].group),
            ),
            "lead": visit.wording["question_lead"],
            "show_ticks": visit.instrument.show_ticks,
        }

    def store(
        self, visit: Visit, step: Step, *, sent: QueryDict, client: ClientRecord
    ) -> Outcome | None:
        values = read_lines(sent, visit.lines)
        nothing = LineRecord()
        Rating.objects.bulk_create(
            Rating(
                assignment=visit.assignments[step.position],
                scale=line.scale,
                value=line.to_scale(values[line.key]),
                position=line.position,
                flipped=line.flipped,
                first_touch_ms=client.lines.get(line.key, nothing).first_touch_ms,
                changes=client.lines.get(line.key, nothing).changes,
            )
            for line in visit.lines
        )
        return None


def _kept_value(sent: QueryDict | None, line: DrawnLine) -> str:
    if sent is None or sent.get(TOUCHED + line.key) != "1":
        return ""
    number = read_whole_number(sent.get(VALUE + line.key, "").strip())
    return str(number) if number is not None and 0 <= number <= 100 else ""
