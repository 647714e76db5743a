"""Several statements, each answered on the same points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.instruments.flow import Step
from annotation.instruments.step_content import MatrixContent
from annotation.survey.pages.filled_form import FilledForm
from annotation.survey.pages.options import ShownOption
from annotation.survey.pages.questions import QuestionPage, content_of, keep_answer, put_in_order
from annotation.survey.visits.errors import AnswersRefused
from annotation.survey.visits.form_values import not_offered, read_single, refuse_unknown
from annotation.survey.visits.visit import Visit

ROW = "row-"
# So many points fit beside one another on a phone.
MOST_ON_PHONE = 5


@dataclass(frozen=True)
class ShownRow:
    field: str
    text: str
    points: list[ShownOption]
    problem: str


class MatrixPage(QuestionPage):
    template = "survey/matrix.html"

    def show(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, Any]:
        content = content_of(step, MatrixContent)
        points = [(point.value, visit.read(point.text)) for point in content.points]
        rows = [
            ShownRow(
                ROW + row.value,
                visit.read(row.text),
                [
                    ShownOption(value, text, filled.text(ROW + row.value) == value)
                    for value, text in points
                ],
                filled.problem(row.value),
            )
            for row in put_in_order(visit, step, content.rows)
        ]
        return {
            **super().show(visit, step, filled),
            "rows": rows,
            "troubled": [row for row in rows if row.problem],
            "are_many": len(points) > MOST_ON_PHONE,
        }

    def store(self, visit: Visit, step: Step, sent: QueryDict) -> None:
        content = content_of(step, MatrixContent)
        refuse_unknown(sent, prefixes=(ROW,), known={ROW + row.value for row in content.rows})
        offered = {point.value for point in content.points}
        chosen = {row.value: read_single(sent, ROW + row.value) for row in content.rows}
        for value in chosen.values():
            if value and value not in offered:
                raise not_offered(value)
        given = {row: value for row, value in chosen.items() if value}
        if content.required and len(given) < len(chosen):
            raise AnswersRefused({row: _("Choose one.") for row in chosen if row not in given})
        if given:
            keep_answer(visit, step, given)
