"""A participant's own answers, readable: as their page shows them and as files to keep.

Who somebody is on a panel, seeds, times of pages and whether a check was passed are not part of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import groupby

from django.utils.translation import gettext as _

from annotation.common.tables import Column, ColumnType, Table, stream_csv
from annotation.models import (
    CheckKind,
    GroupAssignment,
    MissingRating,
    Rating,
    Submission,
)
from annotation.steps.kind import KINDS
from annotation.steps.question import OptionsQuestion, Question, read_answer
from annotation.survey.pages.rating import name_group_skips, name_line_skips
from annotation.survey.visits.visit import Visit


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


def write_json(submission: Submission) -> str:
    """Return the answers as a JSON document."""
    document = {
        "study": submission.study.title,
        "started_at": submission.started_at.isoformat(),
        "finished_at": submission.finished_at and submission.finished_at.isoformat(),
        "answers": [asdict(answer) for answer in list_own_answers(submission)],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def write_csv(submission: Submission) -> str:
    """Return the answers as CSV, one row each; no cell is a formula to a spreadsheet."""
    columns = [
        Column("part", ColumnType.TEXT, "text", "the page of the survey"),
        Column("question", ColumnType.TEXT, "text", "what was asked there"),
        Column("answer", ColumnType.TEXT, "text", "what was answered"),
    ]
    rows = [(row.part, row.question, row.answer) for row in list_own_answers(submission)]
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
            question = _("%(low)s (0) to %(high)s (100)") % {"low": line.left, "high": line.right}
            if isinstance(row, Rating):
                answer = f"{line.to_shown(row.value):g}"
            else:
                answer = left_out[row.kind]
            yield index, OwnAnswer(part, question, answer)


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
