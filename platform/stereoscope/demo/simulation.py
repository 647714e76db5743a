"""Simulated people: they take a study through the survey's own services, answering at random.

Every group has a profile that is itself drawn at random, so the numbers show how the platform
works and say nothing about any group or about any people.

The shares are made up after the size of such groups among U.S. adults; they describe nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from django.db import transaction
from django.http import QueryDict
from django.utils import timezone

from annotation.instruments.demographics import text_option
from annotation.instruments.flow import Step
from annotation.models import DemographicQuestion, PageEvent, Panel, QuestionKind, Study, Submission
from annotation.steps.checks import GroupName, MarkedTraits
from annotation.steps.consent import Consent
from annotation.steps.demographics import Demographics
from annotation.steps.forms import FilledForm
from annotation.steps.rating import RatingStep, Repeat
from annotation.survey.arrival import Arrival, start_submission
from annotation.survey.pages import find_page
from annotation.survey.pages.demographics import ANSWER, DECLINE, DECLINED_CHOICE
from annotation.survey.step_submission import STEP_FIELD, submit_step
from annotation.survey.step_tokens import sign_step
from annotation.survey.visits.errors import StudyFull
from annotation.survey.visits.visit import Visit

# --- What simulated people say about themselves, so that a demo shows tables of participants ------

DECLINES = 0.04
LEAVES_OUT = 0.03
SECOND_ANSWER = 0.06
SHARES = {
    "gender": (0.48, 0.49, 0.03, 0.0),
    "race": (0.02, 0.08, 0.16, 0.2, 0.01, 0.01, 0.48, 0.03, 0.01),
    "education": (0.04, 0.24, 0.2, 0.04, 0.1, 0.24, 0.1, 0.04),
    "area": (0.4, 0.4, 0.18, 0.02),
}
MEAN_YEARS_ABOVE_LEAST = 18.0


def answer_questions(
    questions: Iterable[DemographicQuestion], rng: np.random.Generator
) -> dict[str, list[str]]:
    """Return the fields that a simulated person sends for the questions about themselves."""
    fields: dict[str, list[str]] = {}
    for question in questions:
        luck = rng.uniform()
        if luck < LEAVES_OUT:
            continue
        if luck < LEAVES_OUT + DECLINES:
            single = question.kind == QuestionKind.CHOICE
            name = ANSWER if single else DECLINE
            fields[name + question.slug] = [DECLINED_CHOICE if single else "1"]
            continue
        values = _draw(question, rng)
        if values:
            fields[ANSWER + question.slug] = values
    return fields


def _draw(question: DemographicQuestion, rng: np.random.Generator) -> list[str]:
    if question.kind == QuestionKind.NUMBER:
        return [str(_draw_number(question, rng))]
    if question.kind == QuestionKind.TEXT:
        return []
    own = text_option(question)
    shares = np.array(SHARES.get(question.slug, ()) or [1.0] * len(question.options), dtype=float)
    if len(shares) != len(question.options):
        shares = np.ones(len(question.options))
    # Nobody simulated has words of their own.
    shares[[option == own for option in question.options]] = 0
    several = question.kind == QuestionKind.CHOICES and rng.uniform() < SECOND_ANSWER
    n = min(2 if several else 1, int(np.count_nonzero(shares)))
    drawn = rng.choice(len(shares), size=n, replace=False, p=shares / shares.sum())
    return [str(number + 1) for number in sorted(drawn)]


def _draw_number(question: DemographicQuestion, rng: np.random.Generator) -> int:
    low = question.minimum if question.minimum is not None else 0
    high = question.maximum if question.maximum is not None else low + 100
    return int(np.clip(low + rng.exponential(MEAN_YEARS_ABOVE_LEAST), low, high))


# In points of the scale from 0 to 100.
PROFILE_SPREAD = 15.0
PERSON_SPREAD = 18.0
REPEAT_SPREAD = 4.0
# One in so many answers without reading; the checks are there to notice.
CARELESS_EVERY = 20
MEAN_MINUTES = 9.0
COLLECTED_DAYS = 6.0


@dataclass(frozen=True)
class Person:
    """A simulated person with generators of their own and the profiles that everybody shares.

    What they say about themselves has a generator apart: it moves no rating.
    """

    rng: np.random.Generator
    own_rng: np.random.Generator
    profiles: Mapping[tuple[str, str], float]
    is_careless: bool


@transaction.atomic
def fill_with_simulated_people(*, study: Study, seed: int) -> list[Submission]:
    """Let simulated people take the open ``study`` until it is full; returns their submissions.

    The draws come from ``seed``; which groups a person gets is the survey's own choice. All or
    nothing is stored.
    """
    rng = np.random.default_rng(seed)
    instrument = study.instruments.get(frozen_at__isnull=False)
    profiles = {
        (group, scale): float(np.clip(rng.normal(50, PROFILE_SPREAD), 5, 95))
        for group in instrument.groups.values_list("slug", flat=True)
        for scale in instrument.scales.values_list("slug", flat=True)
    }
    submissions: list[Submission] = []
    while True:
        number = len(submissions) + 1
        person = Person(
            np.random.default_rng([seed, number]),
            np.random.default_rng([seed, number, 1]),
            profiles,
            number % CARELESS_EVERY == 0,
        )
        try:
            submissions.append(_take_part(study, f"simulated-{number:04d}", person))
        except StudyFull:
            break
    _spread_over_days(submissions, rng)
    return submissions


def _take_part(study: Study, external_id: str, person: Person) -> Submission:
    submission = start_submission(study=study, arrival=Arrival(Panel.LINK, external_id))
    visit = Visit.load(submission.token)
    first: dict[tuple[str, str], int] = {}
    while (step := visit.step) is not None:
        sent = QueryDict(mutable=True)
        sent[STEP_FIELD] = sign_step(visit, step)
        for name, values in _answer(visit, step, person, first).items():
            sent.setlist(name, [values] if isinstance(values, str) else values)
        visit = submit_step(token=submission.token, sent=sent)
    return visit.submission


def _answer(
    visit: Visit, step: Step, person: Person, first: dict[tuple[str, str], int]
) -> Mapping[str, str | list[str]]:
    """Return the fields of one page; ``first`` remembers what the person said about each group."""
    match step.kind:
        case Consent.name:
            return {"answer": "continue", "agree": "yes"}
        case RatingStep.name | Repeat.name:
            return _rate(visit, step, person, first)
        case GroupName.name:
            group = visit.assignments[step.position].group
            return {"group-name": "I do not remember" if person.is_careless else group.plural}
        case MarkedTraits.name:
            return _choose_words(visit, step, first)
        case Demographics.name:
            return answer_questions(visit.questions, person.own_rng)
        case _:  # instructions have nothing to answer
            return {}


def _rate(
    visit: Visit, step: Step, person: Person, first: dict[tuple[str, str], int]
) -> dict[str, str]:
    group = visit.assignments[step.position].group.slug
    fields: dict[str, str] = {}
    for line in visit.lines:
        key = group, line.scale.slug
        if person.is_careless:
            drawn = person.rng.uniform(0, 100)
        elif key in first:
            drawn = person.rng.normal(first[key], REPEAT_SPREAD)
        else:
            drawn = person.rng.normal(person.profiles[key], PERSON_SPREAD)
        value = int(np.clip(round(drawn), 0, 100))
        first.setdefault(key, value)
        # What is sent is the place on the drawn line, which may run the other way.
        fields[f"value-{line.key}"] = str(line.to_scale(value))
        fields[f"touched-{line.key}"] = "1"
    return fields


def _choose_words(visit: Visit, step: Step, first: dict[tuple[str, str], int]) -> dict[str, str]:
    """Choose, among the words offered, the one nearest to the group and the one farthest."""
    group = visit.assignments[step.position].group.slug

    def nearness(key: str) -> int:
        scale, _, pole = key.rpartition(":")
        value = first[group, scale]
        return value if pole == "high" else 100 - value

    shown = find_page(step).show(visit, step, FilledForm())
    near, far = ([option.key for option in words["options"]] for words in shown["lists"])
    return {"near": max(near, key=nearness), "far": min(far, key=nearness)}


def _spread_over_days(submissions: list[Submission], rng: np.random.Generator) -> None:
    """Give the visits the times that people would have had: some days, some minutes each."""
    now = timezone.now()
    events: list[PageEvent] = []
    starts = np.sort(rng.uniform(0, COLLECTED_DAYS, len(submissions)))
    minutes = MEAN_MINUTES * rng.lognormal(0, 0.35, len(submissions))
    for submission, start, length in zip(submissions, starts, minutes, strict=True):
        begin = now - timedelta(days=COLLECTED_DAYS + 1 - float(start))
        end = begin + timedelta(minutes=float(length))
        submission.started_at, submission.finished_at = begin, end
        submission.consented_at = begin + (end - begin) / 20
        events += _spread_over_visit(submission, begin, end)
    Submission.objects.bulk_update(
        submissions, ["started_at", "consented_at", "finished_at"], batch_size=100
    )
    PageEvent.objects.bulk_update(events, ["opened_at", "submitted_at"], batch_size=100)


def _spread_over_visit(submission: Submission, begin: datetime, end: datetime) -> list[PageEvent]:
    pages = list(submission.pages.order_by("step_index"))
    for number, page in enumerate(pages):
        page.opened_at = begin + (end - begin) * number / len(pages)
        page.submitted_at = begin + (end - begin) * (number + 1) / len(pages)
    return pages
