"""What is stored of a participant, readable: as their page shows it and as files to keep.

Their answers, and how they answered, as the consent page names it. Who somebody is on a panel,
seeds and whether a check was passed are not part of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import groupby

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.common.tables import Column, ColumnType, Table, stream_csv
from annotation.instruments.flow import Step
from annotation.models import (
    CheckKind,
    GroupAssignment,
    Means,
    MissingRating,
    PageEvent,
    Rating,
    Submission,
)
from annotation.steps.demographics import Demographics
from annotation.steps.kind import KINDS
from annotation.steps.question import OptionsQuestion, Question, read_answer
from annotation.survey.pages.rating import name_group_skips, name_line_skips
from annotation.survey.visits.rating_lines import Line
from annotation.survey.visits.visit import Visit

DEVICES = {
    "phone": gettext_lazy("You used a phone."),
    "tablet": gettext_lazy("You used a tablet."),
    "desktop": gettext_lazy("You used a computer."),
}
POINTERS = {
    "touch": gettext_lazy("You used touch or a pen."),
    "mouse": gettext_lazy("You used a mouse."),
    "keyboard": gettext_lazy("You used a keyboard."),
    "mixed": gettext_lazy("You used more than one of touch, mouse, and keyboard."),
}
MEANS = {
    Means.TOUCH.value: gettext_lazy("Last by touch."),
    Means.MOUSE.value: gettext_lazy("Last by mouse."),
    Means.PEN.value: gettext_lazy("Last by pen."),
    Means.KEY.value: gettext_lazy("Last by keyboard."),
    Means.OTHER.value: gettext_lazy("Last by an aid, such as voice control."),
}


@dataclass(frozen=True)
class OwnAnswer:
    """``part`` is the page's heading, ``question`` one line of it, "" where there is but one."""

    part: str
    question: str
    answer: str


def list_own_answers(submission: Submission) -> list[OwnAnswer]:
    """Return everything answered, in the order in which it was asked.

    Seven queries for a frozen instrument.
    """
    visit = Visit(submission)
    answers = [*_list_ratings(visit), *_list_checks(visit), *_list_step_answers(visit)]
    places = {step.index: place for place, step in enumerate(visit.order)}
    answers.sort(key=lambda pair: places[pair[0]])  # stable: lines keep their order
    return [answer for _index, answer in answers] + list(_list_demographics(visit))


def list_own_behavior(submission: Submission) -> list[OwnAnswer]:
    """Return what was recorded of how each page was answered, and then of each of its lines.

    Five queries for a frozen instrument.
    """
    visit = Visit(submission)
    lines = {line.scale.pk: line for line in visit.lines}
    ratings = Rating.objects.filter(assignment__submission=submission)
    in_order = ratings.select_related("assignment").order_by("assignment__position", "position")
    of_page = {
        position: list(rows)
        for position, rows in groupby(in_order, key=lambda row: row.assignment.position)
    }
    events = {event.step_index: event for event in submission.pages.all()}
    found = []
    for step in visit.order:
        if (event := events.get(step.index)) is None:
            continue
        part = _name_page(visit, step)
        found.append(OwnAnswer(part, "", " ".join(_describe_page(event))))
        rated = of_page.get(step.position, []) if KINDS[step.kind].has_group else []
        found += [
            OwnAnswer(part, _name_line(lines[row.scale_id]), " ".join(told))
            for row in rated
            if (told := list(_describe_line(row)))
        ]
    return found


def write_json(submission: Submission) -> str:
    """Return the answers as a JSON document."""
    document = {
        "study": submission.study.title,
        "started_at": submission.started_at.isoformat(),
        "finished_at": submission.finished_at and submission.finished_at.isoformat(),
        "answers": [asdict(answer) for answer in list_own_answers(submission)],
        "how_you_answered": [asdict(told) for told in list_own_behavior(submission)],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def write_csv(submission: Submission) -> str:
    """Return the answers and how they were given as CSV; no cell is a formula to a spreadsheet."""
    columns = [
        Column("part", ColumnType.TEXT, "text", "the page of the survey"),
        Column("question", ColumnType.TEXT, "text", "what was asked there"),
        Column("answer", ColumnType.TEXT, "text", "what was answered"),
    ]
    told = [*list_own_answers(submission), *list_own_behavior(submission)]
    rows = [(row.part, row.question, row.answer) for row in told]
    return b"".join(stream_csv(Table("answers", columns, lambda: rows), bom=True)).decode()


# What a participant can take along, by the end of the file's name.
FILES: dict[str, tuple[str, Callable[[Submission], str]]] = {
    "json": ("application/json", write_json),
    "csv": ("text/csv; charset=utf-8", write_csv),
}


def _list_ratings(visit: Visit) -> Iterator[tuple[int, OwnAnswer]]:
    steps = {step.position: step.index for step in visit.steps if KINDS[step.kind].has_group}
    lines = {line.scale.pk: line for line in visit.lines}
    left_out, groups_left_out = name_line_skips(), name_group_skips(visit.study)
    rows = [
        row
        for model in (Rating, MissingRating)
        for row in model.objects.filter(assignment__submission=visit.submission).select_related(
            "assignment__group"
        )
    ]
    rows.sort(key=lambda row: (row.assignment.position, lines[row.scale_id].position))
    for assignment, found in groupby(rows, key=lambda row: row.assignment):
        index, part = steps[assignment.position], _name_rated(visit, assignment)
        of_group = list(found)
        kinds = {getattr(row, "kind", "") for row in of_group}
        if assignment.skipped and len(kinds) == 1:
            yield index, OwnAnswer(part, "", groups_left_out[kinds.pop()])
            continue
        for row in of_group:
            line = lines[row.scale_id]
            question = _name_line(line)
            if isinstance(row, Rating):
                answer = f"{line.to_shown(row.value):g}"
            else:
                answer = left_out[row.kind]
            yield index, OwnAnswer(part, question, answer)


def _name_line(line: Line) -> str:
    return _("%(low)s (0) to %(high)s (100)") % {"low": line.left, "high": line.right}


def _name_page(visit: Visit, step: Step) -> str:
    """Return the heading of a page, as the answers on it have it."""
    if KINDS[step.kind].has_group and step.position in visit.assignments:
        return _name_rated(visit, visit.assignments[step.position])
    if step.told.after_rating:
        return _("A short check")
    if step.kind == Demographics.name:
        return _("About you")
    texts = getattr(step.content, "question", None) or getattr(step.content, "title", None)
    return visit.read(texts) or visit.wording.get(f"{step.kind}_title", "")


def _describe_page(event: PageEvent) -> Iterator[str]:
    """Yield what was recorded of a page, one sentence each."""
    client = event.client
    if event.opened_at is not None:
        seconds = round((event.submitted_at - event.opened_at).total_seconds())
        yield ngettext(
            "You sent this page after %(n)d second.",
            "You sent this page after %(n)d seconds.",
            seconds,
        ) % {"n": seconds}
    if "visible_ms" in client:
        seconds = round(client["visible_ms"] / 1000)
        yield ngettext("You saw it for %(n)d second.", "You saw it for %(n)d seconds.", seconds) % {
            "n": seconds
        }
    if told := DEVICES.get(client.get("device", "")):
        yield str(told)
    if told := POINTERS.get(client.get("pointer", "")):
        yield str(told)
    if client.get("restored"):
        yield _("You opened it again before you sent it.")
    if pastes := client.get("pastes"):
        yield ngettext("You pasted text %(n)d time.", "You pasted text %(n)d times.", pastes) % {
            "n": pastes
        }
    if client.get("hidden_field"):
        yield _("A program seems to have filled in a part of it.")


def _describe_line(rating: Rating) -> Iterator[str]:
    """Yield what was recorded of how a line was answered, one sentence each."""
    if rating.first_touch_ms is not None:
        seconds = round(rating.first_touch_ms / 1000)
        yield ngettext(
            "First touched after %(n)d second.", "First touched after %(n)d seconds.", seconds
        ) % {"n": seconds}
    if rating.changes:
        yield ngettext("Placed %(n)d time.", "Placed %(n)d times.", rating.changes) % {
            "n": rating.changes
        }
    if rating.means:
        yield str(MEANS[rating.means])


def _name_rated(visit: Visit, assignment: GroupAssignment) -> str:
    """Return the question of a rating page, with the text that it was asked about."""
    group = assignment.group
    question = visit.question.replace("{group}", visit.name_group(group))
    asked = f"{question} “{group.body}”" if group.is_text else question
    return _("%(question)s (asked again)") % {"question": asked} if assignment.is_repeat else asked


def _list_checks(visit: Visit) -> Iterator[tuple[int, OwnAnswer]]:
    headings = {
        "near": _("A word that you placed them near"),
        "far": _("A word that you placed them far from"),
    }
    words = {
        f"{line.key}:{pole}": getattr(line, pole)
        for line in visit.lines
        for pole in ("low", "high")
    }
    for check in visit.submission.checks.all():
        step, given = visit.steps[check.step_index], check.answer
        part = _("A short check")
        if not given:  # it was not shown
            continue
        if check.kind == CheckKind.GROUP_NAME:
            question = _("Which group did you just rate?")
            yield step.index, OwnAnswer(part, question, given["text"])
        elif check.kind == CheckKind.MARKED_TRAITS:
            for field in (field for field in headings if field in given):
                word = words.get(given[field], given[field])
                yield step.index, OwnAnswer(part, headings[field], word)
        elif isinstance(step.content, OptionsQuestion):
            chosen = given.get("tries", [given.get("chosen")])
            yield step.index, _read_question(visit, step.content, chosen)


def _list_step_answers(visit: Visit) -> Iterator[tuple[int, OwnAnswer]]:
    for row in visit.submission.step_answers.all():
        content = visit.steps[row.step_index].content
        if isinstance(content, Question):
            for line in read_answer(content, row.value, visit.read):
                answer = "; ".join(line.words)
                yield row.step_index, OwnAnswer(visit.read(content.question), line.label, answer)


def _list_demographics(visit: Visit) -> Iterator[OwnAnswer]:
    for row in visit.submission.answers.select_related("question").order_by("question__position"):
        values = row.value if isinstance(row.value, list) else [row.value]
        words = [
            visit.read_option(row.question, str(value)) for value in values if value is not None
        ]
        text = _("Prefer not to say") if row.declined else "; ".join([*words, row.own_words])
        yield OwnAnswer(_("About you"), visit.read_label(row.question), text.removesuffix("; "))


def _read_question(visit: Visit, content: OptionsQuestion, chosen: Iterable[str]) -> OwnAnswer:
    texts = {option.value: visit.read(option.text) for option in content.options}
    answer = "; ".join(texts.get(value, value) for value in chosen)
    return OwnAnswer(visit.read(content.question), "", answer)
