"""Who took part: what participants said about themselves, and counts of imported data."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from annotation.common.answer_bands import band_names, band_of
from annotation.common.small_cells import DECLINED, UNANSWERED, Answers, count_answers
from annotation.models import (
    DemographicAnswer,
    DemographicQuestion,
    ParticipantSummary,
    QuestionKind,
    Study,
    Submission,
)
from annotation.studies.study_arms import list_arms

# --- Who took part in imported data, from counts alone: their answers cannot be joined to ratings


class AnsweredBy(BaseModel):
    """So many people gave just these answers to one question."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    answers: list[str]
    n: int = Field(ge=1)


class SummaryQuestion(BaseModel):
    """One question: ``number`` answers are whole numbers as text, to be put into bands."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    slug: str
    label: str
    kind: Literal["choice", "choices", "number"]
    people: list[AnsweredBy]


def store_summary(
    *, study: Study, n_people: int, questions: list[SummaryQuestion], source: str
) -> ParticipantSummary:
    """Store who took part in ``study``; raises `ValidationError` for counts that cannot be."""
    summary = ParticipantSummary(
        study=study,
        n_people=n_people,
        questions=[question.model_dump(mode="json") for question in questions],
        source=source,
    )
    summary.full_clean()
    summary.save()
    return summary


def read_summary(
    summary: ParticipantSummary, *, bands: Mapping[str, tuple[int, ...]]
) -> tuple[tuple[CountedQuestion, ...], dict[str, str]]:
    """Return the questions of a summary, numbers in bands; label → reason for those left out."""
    found: list[CountedQuestion] = []
    left_out: dict[str, str] = {}
    for stored in summary.questions:
        question = SummaryQuestion.model_validate(stored)
        starts = bands.get(question.slug)
        if question.kind == "number" and not starts:
            left_out[question.label] = NO_BANDS
            continue
        people: Counter[Answers] = Counter()
        for row in question.people:
            people[_band(row.answers, starts) if starts else frozenset(row.answers)] += row.n
        answers = band_names(starts)[1:] if starts else _by_frequency(people)
        found.append(
            CountedQuestion(
                slug=question.slug,
                label=question.label,
                several=question.kind == "choices",
                answers=answers,
                people=dict(people),
            )
        )
    return tuple(found), left_out


def _by_frequency(people: Mapping[Answers, int]) -> tuple[str, ...]:
    counts = count_answers(people)
    return tuple(
        answer
        for answer in sorted(counts, key=lambda answer: (-counts[answer], answer))
        if answer not in {DECLINED, UNANSWERED}
    )


def _band(answers: list[str], starts: tuple[int, ...]) -> Answers:
    return frozenset(
        answer if answer in {DECLINED, UNANSWERED} else band_of(int(answer), starts)
        for answer in answers
    )


# --- What participants said about themselves

Bands = Mapping[str, tuple[int, ...]]
FREE_TEXT = "its answers are free text, which is not counted"
#: The arm of a study counts as a question; where one of that name is asked, under the second name.
ARM, OTHER_ARM = "arm", "study-arm"
ARM_LABEL = "Arm of the study"
NO_BANDS = "its answers are numbers, and no bands are set for it"


@dataclass(frozen=True)
class CountedQuestion:
    """One question as counts alone.

    answers : all that could be answered, in the order of a table
    people : what one person answered → how many people answered just that
    """

    slug: str
    label: str
    several: bool
    answers: tuple[str, ...]
    people: Mapping[Answers, int]


@dataclass(frozen=True)
class QuestionAnswers:
    """One question and what every participant answered to it.

    answers : all that could be answered, in order
    given : submission → its answers, `DECLINED` or `UNANSWERED` where there is none
    """

    slug: str
    label: str
    several: bool
    answers: tuple[str, ...]
    given: Mapping[str, Answers]

    @property
    def counted(self) -> CountedQuestion:
        """Return the question without the people."""
        people = dict(Counter(self.given.values()))
        return CountedQuestion(self.slug, self.label, self.several, self.answers, people)


@dataclass(frozen=True)
class ParticipantAnswers:
    """``left_out`` : label of a question → why its answers cannot be counted."""

    questions: tuple[QuestionAnswers, ...]
    left_out: Mapping[str, str]
    digest: str


def load_participant_answers(
    study: Study, *, submissions: Collection[str], bands: Bands
) -> ParticipantAnswers:
    """Return the answers of those submissions to every question that can be counted.

    submissions : public ids, such as those behind the ratings of a report
    bands : question → starts of its bands, for questions about a number

    The arms of a study, where it has any, come last. Words of one's own are never read. Four
    queries at most.
    """
    newest: dict[str, DemographicQuestion] = {}
    options: dict[str, dict[str, None]] = {}
    for question in DemographicQuestion.objects.filter(instrument__study=study).order_by(
        "-instrument__version", "position", "pk"
    ):
        newest.setdefault(question.slug, question)
        # An answer that only an earlier version offered follows those of the newest.
        options.setdefault(question.slug, {}).update(dict.fromkeys(map(str, question.options)))
    wanted = set(submissions)
    stored: dict[str, dict[str, tuple[Any, bool]]] = {slug: {} for slug in newest}
    rows = DemographicAnswer.objects.filter(submission__study=study).values_list(
        "question__slug", "submission__public_id", "value", "declined"
    )
    for slug, public_id, value, declined in rows.iterator(chunk_size=5000):
        if public_id in wanted:
            stored[slug][public_id] = (value, declined)
    found: list[QuestionAnswers] = []
    left_out: dict[str, str] = {}
    same: dict[Answers, Answers] = {}  # thousands of people give the same few answers: kept once
    for slug, question in newest.items():
        starts = bands.get(slug)
        if question.kind == QuestionKind.TEXT:
            left_out[question.label] = FREE_TEXT
            continue
        if question.kind == QuestionKind.NUMBER and not starts:
            left_out[question.label] = NO_BANDS
            continue
        answers = stored.pop(slug)
        given = {
            public_id: same.setdefault(read, read)
            for public_id in sorted(wanted)
            for read in (read_answers(*answers.get(public_id, (None, False)), starts),)
        }
        found.append(
            QuestionAnswers(
                slug=slug,
                label=question.label,
                several=question.kind == QuestionKind.CHOICES,
                # Below the first band there is usually nobody; whoever is gets a line of their own.
                answers=band_names(starts)[1:] if starts else tuple(options[slug]),
                given=given,
            )
        )
    found += _read_arms(study, wanted, taken=newest)
    return ParticipantAnswers(tuple(found), left_out, _hash(found))


def _read_arms(
    study: Study, submissions: Collection[str], *, taken: Collection[str]
) -> list[QuestionAnswers]:
    """Return the arm of each submission as answers to a question, nothing without arms."""
    labels = list_arms(study)
    if not labels:
        return []
    arms = dict(Submission.objects.filter(study=study).values_list("public_id", "arm"))
    # People of a version without arms are in none.
    given = {
        public_id: frozenset({labels.get(arms[public_id], UNANSWERED)})
        for public_id in sorted(submissions)
    }
    slug = OTHER_ARM if ARM in taken else ARM
    return [QuestionAnswers(slug, ARM_LABEL, False, tuple(labels.values()), given)]


def read_answers(value: Any, declined: bool, starts: tuple[int, ...] | None) -> Answers:
    """Return a stored answer as the set of what it counts for."""
    if declined:
        return frozenset({DECLINED})
    if value is None or value == [] or value == "":
        return frozenset({UNANSWERED})
    if isinstance(value, list):
        return frozenset(map(str, value))
    if starts and isinstance(value, int | float) and not isinstance(value, bool):
        return frozenset({band_of(value, starts)})
    return frozenset({str(value)})


def _hash(questions: list[QuestionAnswers]) -> str:
    """Return the SHA-256 of all answers, whatever their order in the database."""
    digest = hashlib.sha256()
    for question in sorted(questions, key=lambda question: question.slug):
        for submission, given in sorted(question.given.items()):
            digest.update(f"{question.slug}\t{submission}\t{sorted(given)}\n".encode())
    return digest.hexdigest()
