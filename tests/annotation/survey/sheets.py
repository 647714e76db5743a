"""Pages as people hold them in their tabs, what they fill in, and what is stored in the end."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

from annotation.models import (
    CheckResponse,
    DemographicAnswer,
    PageEvent,
    Rating,
    StepAnswer,
    Submission,
    SubmissionState,
)
from tests.annotation.survey.expected_visits import Effect, Guest, Record
from tests.annotation.survey.pages import SurveyPage

Fields = dict[str, str | list[str]]
SALTS = range(4)


@dataclass(frozen=True)
class Sheet:
    """A page in a tab, as it was when it was loaded, filled in once for each salt."""

    index: int
    kind: str
    group: str
    number_of_try: int
    page: SurveyPage
    filled: list[tuple[Fields, Effect]]


def read_sheet(guest: Guest, page: SurveyPage) -> Sheet:
    """Return the page with what ``guest`` would answer. Its token can be read, but not made."""
    payload = page.fields["step"].rpartition(":")[0]
    padded = payload + "=" * (-len(payload) % 4)
    _, index, kind, group = json.loads(base64.urlsafe_b64decode(padded))
    filled = [_fill(guest, page, kind, group, salt) for salt in SALTS]
    return Sheet(index, kind, group, int(page.fields.get("try", "0")), page, filled)


def _fill(
    guest: Guest, page: SurveyPage, kind: str, group: str, salt: int
) -> tuple[Fields, Effect]:
    own, effect = _answer(guest, page, kind, group, salt)
    fields: Fields = {**page.fields, **own}
    for scale, value in effect.ratings.items():
        left, right = page.lines[scale]
        # The slug names low pole and high pole; where the page turns them, so do we.
        fields[f"value-{scale}"] = str(value if scale == f"{left}-{right}" else 100 - value)
        fields[f"touched-{scale}"] = "1"
    return fields, effect


def _answer(
    guest: Guest, page: SurveyPage, kind: str, group: str, salt: int
) -> tuple[dict[str, str], Effect]:
    match kind:
        case "consent" if guest.declines:
            return {"answer": "decline"}, Effect(declines=True)
        case "consent":
            return {"agree": "yes"}, Effect()
        case "comprehension":
            is_right = guest.tries >= guest.wrong_tries
            return {"choice": "people-in-america" if is_right else "my-own"}, Effect(check=is_right)
        case "rating":
            return {}, Effect(ratings={line: guest.rate(group, line, salt) for line in page.lines})
        case "repeat":
            again = {line: guest.rate_again(group, line) for line in page.lines}
            return {}, Effect(ratings=again, check=not guest.changes_their_mind)
        case "group_name":
            named = "I forgot" if guest.forgets else group.replace("-", " ")
            return {"group-name": named}, Effect(check=not guest.forgets)
        case "marked_traits":
            return _choose_words(guest, page, group), Effect(check=True)
        case "choice":
            heard = "other" if guest.hears_other else "friend"
            return {"choice": heard}, Effect(text=("heard", heard))
        case "free_text":
            text = f"Thoughts of {guest.number}, {salt}"
            return {"text": text}, Effect(text=("thoughts", text))
        case "instructed":
            chosen = "agree" if guest.careless else "somewhat-disagree"
            return {"choice": chosen}, Effect(check=not guest.careless)
        case "demographics":
            age = 20 + 10 * guest.number + salt
            return {"answer-age": str(age)}, Effect(age=age)
    return {}, Effect()


def _choose_words(guest: Guest, page: SurveyPage, group: str) -> dict[str, str]:
    def nearness(option: str) -> int:
        scale, _, pole = option.rpartition(":")
        value = guest.find_rating(group, scale)
        return value if pole == "high" else 100 - value

    return {
        "near": max(page.options["near"], key=nearness),
        "far": min(page.options["far"], key=nearness),
    }


def spoil(fields: Fields, how: str, foreign: list[Sheet]) -> Fields | None:
    """Return the fields with a token that no page of this visit has; None where there is none."""
    token = str(fields["step"])
    match how:
        case "none":
            return {name: value for name, value in fields.items() if name != "step"}
        case "forged":
            return {**fields, "step": token[:-1] + ("A" if token[-1] != "A" else "B")}
        case "twice":
            return {**fields, "step": [token, token]}
    return {**fields, "step": foreign[0].page.fields["step"]} if foreign else None


def read_record(path: str) -> Record:
    """Return everything that is stored of the visit at ``path``."""
    submission = Submission.objects.get(token=path.strip("/").split("/")[1])
    assignments = submission.assignments.values_list("position", "group__slug")
    ratings = Rating.objects.filter(assignment__submission=submission).values_list(
        "assignment__position", "assignment__group__slug", "scale__slug", "value"
    )
    rows = list(ratings)
    stored: dict[tuple[int, str, str], Any] = {row[:3]: row[3] for row in rows}
    assert len(stored) == len(rows)
    checks = CheckResponse.objects.filter(submission=submission)
    texts = StepAnswer.objects.filter(submission=submission)
    ages = DemographicAnswer.objects.filter(submission=submission).values_list("value", flat=True)
    pages = PageEvent.objects.filter(submission=submission).order_by("step_index")
    is_going = submission.state == SubmissionState.IN_PROGRESS
    return Record(
        state=submission.state,
        outcome=submission.outcome,
        step=submission.step_index if is_going else None,
        groups=dict(assignments),
        ratings=stored,
        checks={check.step_index: (check.kind, check.passed) for check in checks},
        texts={answer.key: answer.value for answer in texts},
        age=next(iter(ages), None),
        pages=list(pages.values_list("step_index", flat=True)),
    )
