"""Loads what a report on subgroups rests on: ratings, scores, and who gave the ratings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from annotation.common.small_cells import DECLINED, UNANSWERED
from annotation.models import Study
from evaluation.analyses.subgroup_result import CROSSED, TIMES, Question
from evaluation.reports.alignment_subgroups.prose import ANSWERS_HASH
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.options import ArmParameters, IntervalParameters, names_in
from evaluation.reports.parts.participants import NAME as PARTICIPANTS
from evaluation.reports.parts.participants import ParticipantParameters, load_participants
from evaluation.reports.parts.rating_inputs import AlignmentInputs, load_alignment_inputs
from probing.models import Run

NOT_ASKED = "the study does not ask both, or they make no subgroups"


class SubgroupIntervals(IntervalParameters):
    """Fewer resamples than elsewhere: every subgroup is resampled and permuted."""

    resamples: int = Field(
        1000,
        ge=100,
        le=5000,
        description="Resamples for the intervals, and exchanges of answers for the tests.",
    )


class SubgroupParameters(ParticipantParameters, SubgroupIntervals, ArmParameters):
    """The options of a report on subgroups."""

    questions: str | None = Field(
        None,
        max_length=1000,
        title="Questions that make subgroups",
        description="Slugs of the questions that make subgroups, separated by commas. Default: "
        "all that have answers to choose or bands; “arm” compares the arms of the study.",
    )
    crossings: str = Field(
        f"race{CROSSED}gender",
        max_length=1000,
        title="Crossed questions",
        description="Pairs of questions whose answers are crossed, such as race*gender, "
        "separated by commas; pairs that the study does not ask are left out.",
    )


@dataclass(frozen=True)
class SubgroupInputs:
    """``record["questions"]`` : slug of a question or crossing → how it is written."""

    alignment: AlignmentInputs
    questions: list[Question]
    crossings: list[tuple[str, str]]
    record: dict[str, Any]
    hashes: dict[str, str]


def load_subgroups(study: Study, run: Run, parameters: SubgroupParameters) -> SubgroupInputs:
    """Return the inputs of a report; `ReportError` for questions that the study does not ask.

    Ten queries, whatever the size of the study.
    """
    alignment = load_alignment_inputs(study=study, run=run, arm=parameters.arm)
    submissions = set(alignment.ratings["submission"].unique())
    who = load_participants(study, submissions, parameters)
    if who.answers is None:
        raise ReportError(f"The answers of “{study}” cannot be joined to its ratings.")
    asked = {
        question.slug: question
        for question in who.answers.questions
        if set().union(*question.given.values()) - {DECLINED, UNANSWERED}
    }
    wanted = _read_questions(parameters.questions, asked, study)
    labels = {slug: asked[slug].label for slug in wanted}
    crossings, left_out = _read_crossings(parameters.crossings, set(wanted))
    for first, second in crossings:
        labels[f"{first}{CROSSED}{second}"] = f"{labels[first]}{TIMES}{labels[second]}"
    record = alignment.record | {
        PARTICIPANTS: who.record,
        "questions": labels,
        "crossings_left_out": left_out,
    }
    return SubgroupInputs(
        alignment=alignment,
        questions=[
            Question(slug, asked[slug].answers, asked[slug].given) for slug in wanted
        ],
        crossings=crossings,
        record=record,
        hashes=alignment.hashes | {ANSWERS_HASH: who.answers.digest},
    )  # fmt: skip


def _read_questions(text: str | None, asked: Mapping[str, Any], study: Study) -> list[str]:
    wanted = list(dict.fromkeys(names_in(text)))
    absent = [slug for slug in wanted if slug not in asked]
    if absent:
        raise ReportError(
            f"“{study}” has no answers to {', '.join(f'“{slug}”' for slug in absent)} that make "
            f"subgroups. Questions: {', '.join(asked) or 'none'}."
        )
    if not asked:
        raise ReportError(f"“{study}” has no answers that make subgroups.")
    return wanted or list(asked)


def _read_crossings(text: str, known: set[str]) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """Return the pairs of known questions, and those that cannot be crossed with the reason."""
    found: list[tuple[str, str]] = []
    left_out: dict[str, str] = {}
    for entry in dict.fromkeys(names_in(text)):
        parts = [part.strip() for part in entry.split(CROSSED)]
        if len(parts) != 2 or parts[0] == parts[1]:
            raise ReportError(f"“{entry}” crosses no two questions, expected such as race*gender.")
        if set(parts) <= known:
            found.append((parts[0], parts[1]))
        else:
            left_out[entry] = NOT_ASKED
    return found, left_out
