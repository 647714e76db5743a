"""Who took part in imported data, from counts alone: their answers cannot be joined to ratings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from annotation.common.answer_bands import band_names, band_of
from annotation.common.small_cells import DECLINED, UNANSWERED, Answers, count_answers
from annotation.models import ParticipantSummary, Study
from annotation.studies.participant_answers import NO_BANDS, CountedQuestion


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
