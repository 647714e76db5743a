"""A rating page: one group, every trait scale as a line from 0 to 100."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from django.http import QueryDict
from django.template.loader import render_to_string
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.common.prepared_sql import PreparedInsert
from annotation.instruments.flow import Step
from annotation.models import Rating, StudyGroup
from annotation.survey.pages.filled_form import FilledForm
from annotation.survey.pages.page import Page
from annotation.survey.visits.client_record import LineRecord
from annotation.survey.visits.errors import AnswersRefused, PageRefused
from annotation.survey.visits.form_values import read_single, read_whole_number, refuse_unknown
from annotation.survey.visits.visit import Visit

VALUE, TOUCHED = "value-", "touched-"
NOT_ANSWERED = gettext_lazy("Not answered yet. Choose where your answer belongs on the line.")
HUNDRED = {"minimum": 0, "maximum": 100, "by": 1}
LONGEST_FRAME = 160  # characters
_RATINGS = PreparedInsert(Rating)


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

    @property
    def is_long(self) -> bool:
        """Whether the frame would fill a phone at the size of a heading."""
        return len(self.before) + len(self.after) > LONGEST_FRAME


def draw_question(text: str, group: str) -> dict[str, SafeString]:
    """Return the page's title, the group and the heading, in which it stands out, as HTML."""
    before, _found, after = text.partition("{group}")
    question = Question(before=before, group=group, after=after.replace("{group}", group))
    return {
        "title": conditional_escape(question.before + question.group + question.after),
        "group": conditional_escape(group),
        "question": render_to_string("survey/parts/question.html", {"question": question}),
    }


def draw_text(visit: Visit, group: StudyGroup) -> dict[str, SafeString]:
    """Return the text that is rated, as HTML; nothing where a group is."""
    if not group.is_text:
        return {}
    language = visit.submission.language
    drawn = visit.keep(
        ("text", language, group.slug),
        lambda: render_to_string(
            "survey/parts/text.html", {"label": visit.wording["text_label"], "text": group.body}
        ),
    )
    return {"said": drawn}


def show_lines(lines: Sequence[DrawnLine], filled: FilledForm) -> dict[str, Any]:
    """Return what the template needs of the lines, with answers to keep."""
    shown = [ShownLine(line, _kept_value(filled, line), filled.problem(line.key)) for line in lines]
    return {"lines": shown, "troubled": [line for line in shown if line.problem]}


def draw_lines(visit: Visit, lines: Sequence[DrawnLine], filled: FilledForm) -> SafeString:
    """Return the lines as HTML; each one without an answer is drawn once for all visits."""
    shown = show_lines(lines, filled)
    first = next(iter(shown["troubled"]), None)

    def draw(line: ShownLine) -> SafeString:
        context = {
            "line": line.line,
            "value": line.value,
            "problem": line.problem,
            "is_first_problem": line is first,
            "show_ticks": visit.instrument.show_ticks,
            **HUNDRED,
        }
        if line.value or line.problem:
            return render_to_string("survey/parts/line.html", context)
        language, drawn = visit.submission.language, line.line
        return visit.keep(
            ("line", language, drawn.key, drawn.left, drawn.right),
            lambda: render_to_string("survey/parts/line.html", context),
        )

    return mark_safe("".join(map(draw, shown["lines"])))  # noqa: S308 - of drawn templates


def read_touched(sent: QueryDict, key: str) -> str:
    """Return what was sent of a line, "" for one that nobody has touched.

    Browsers send a value for a line that nobody has moved.
    """
    text, touched = read_single(sent, VALUE + key), read_single(sent, TOUCHED + key)
    if touched not in {"", "0", "1"}:
        raise PageRefused(_("The field “%(name)s” is neither 0 nor 1.") % {"name": TOUCHED + key})
    return text if touched == "1" else ""


def read_lines(sent: QueryDict, lines: Sequence[DrawnLine]) -> dict[str, int]:
    """Return every line's place from 0 (left) to 100 (right), by scale slug.

    A line counts as answered if it has a value and was touched. Raises `AnswersRefused` for lines
    that are missing or not a whole number from 0 to 100, and `PageRefused` for fields that are
    repeated or of another instrument.
    """
    known = {f"{prefix}{line.key}" for line in lines for prefix in (VALUE, TOUCHED)}
    refuse_unknown(sent, prefixes=(VALUE, TOUCHED), known=known)
    values: dict[str, int] = {}
    problems: dict[str, str] = {}
    for line in lines:
        if not (text := read_touched(sent, line.key)):
            problems[line.key] = str(NOT_ANSWERED)
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

    def show(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, Any]:
        return {
            **show_lines(visit.lines, filled),
            "lead": visit.wording["question_lead"],
        }

    def own(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, SafeString]:
        group = visit.assignments[step.position].group
        drawn = visit.keep(
            ("question", visit.submission.language, group.slug, visit.is_flipped),
            lambda: draw_question(visit.question, visit.name_group(group)),
        )
        return {
            **drawn,
            **draw_text(visit, group),
            "place": conditional_escape(_name_place(visit, step)),
            "drawn_lines": draw_lines(visit, visit.lines, filled),
        }

    def store(self, visit: Visit, step: Step, sent: QueryDict) -> None:
        values = read_lines(sent, visit.lines)
        assignment, nothing = visit.assignments[step.position], LineRecord()
        _RATINGS.insert(
            [
                {
                    "assignment_id": assignment.pk,
                    "scale_id": line.scale.pk,
                    "value": line.to_scale(values[line.key]),
                    "position": line.position,
                    "flipped": line.flipped,
                    "first_touch_ms": visit.client.lines.get(line.key, nothing).first_touch_ms,
                    "changes": visit.client.lines.get(line.key, nothing).changes,
                }
                for line in visit.lines
            ]
        )


def _name_place(visit: Visit, step: Step) -> str:
    """Return which of the texts of a visit stands on the page; "" where groups are rated."""
    if not visit.study.rates_texts:
        return ""
    places = sorted(visit.assignments)
    return _("Text %(n)d of %(total)d") % {
        "n": places.index(step.position) + 1,
        "total": len(places),
    }


def _kept_value(filled: FilledForm, line: DrawnLine) -> str:
    if filled.text(TOUCHED + line.key) != "1":
        return ""
    number = read_whole_number(filled.text(VALUE + line.key).strip())
    return str(number) if number is not None and 0 <= number <= 100 else ""
