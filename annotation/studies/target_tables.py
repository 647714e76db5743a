"""Who took part beside whom the study wants to hear, without numbers about a few people.

Counted are accepted submissions and those in review, as quotas count them. Intervals are Wilson's
(1927), which hold their level for the few people and extreme shares that are usual here where the
textbook interval does not (Brown, Cai and DasGupta 2001).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from annotation.common.proportions import Proportion, estimate_proportion
from annotation.common.small_cells import (
    DECLINED,
    DEFAULT_MINIMUM,
    UNANSWERED,
    Answers,
    AnswerTable,
    tabulate,
)
from annotation.common.target_margins import Margin
from annotation.instruments.us_states import STATES
from annotation.models import DemographicQuestion, QuestionKind, Study
from annotation.studies.target_counts import (
    add_unanswered,
    count_observed,
    count_people,
    decided_or_waiting,
    load_places,
)
from annotation.studies.target_quotas import list_cell_names

NO_ANSWER = (DECLINED, UNANSWERED)


@dataclass(frozen=True)
class CellRow:
    """One cell. ``observed`` is None where it would tell of a few people; ``is_full``: chosen by
    answers, and no place left."""

    cell: str
    target: float
    observed: Proportion | None
    is_full: bool


@dataclass(frozen=True)
class MarginTable:
    """One question against its target.

    n : people whose shares these are, None where they are too few
    silent : people who declined or left the question out, None where they are too few to tell
        and stay among ``n``
    """

    slug: str
    label: str
    several: bool
    rows: tuple[CellRow, ...]
    n: int | None
    silent: int | None


@dataclass(frozen=True)
class StateCounts:
    """People by state; a state that is missing is not shown, 0 is known to be nobody."""

    slug: str
    shown: Mapping[str, int]
    targets: Mapping[str, float]


@dataclass(frozen=True)
class Participants:
    tables: tuple[MarginTable, ...]
    states: StateCounts | None


def load_participants(study: Study, *, instrument_id: int) -> Participants:
    """Return who took part. Three queries, two more where people are chosen by their answers."""
    margins = study.margins
    questions = {
        question.slug: question
        for question in DemographicQuestion.objects.filter(instrument_id=instrument_id)
        if question.slug in margins or is_about_states(question)
    }
    bands = {slug: margins[slug].starts if slug in margins else () for slug in questions}
    people = count_people(study, bands, who=decided_or_waiting("submission__"))
    total = count_observed(study)
    places = load_places(study) if study.samples_by_margins else {}
    tables, states = [], None
    for slug, question in questions.items():
        everybody = add_unanswered(people[slug], total)
        margin = margins.get(slug)
        if margin is not None:
            margin = margin.in_order(list_cell_names(question, margin.starts))
            full = places[slug].full if slug in places else ()
            tables.append(build_table(question, margin, everybody, full=full))
        if is_about_states(question):
            states = _count_states(question, margin, everybody)
    return Participants(tuple(tables), states)


def build_table(
    question: DemographicQuestion,
    margin: Margin,
    people: Mapping[Answers, int],
    *,
    full: tuple[str, ...] = (),
) -> MarginTable:
    """Return one question against its target; ``people`` holds everybody's answers."""
    several = question.kind == QuestionKind.CHOICES
    counted = _tabulate_cells(margin, people, several=several)
    silent = [counted.shown.get(answer) for answer in NO_ANSWER if answer not in counted.hidden]
    is_silence_shown = not set(NO_ANSWER) & set(counted.hidden)
    silence = sum(filter(None, silent)) if is_silence_shown else 0
    n = None if counted.n_people is None else counted.n_people - silence
    rows = tuple(
        CellRow(
            cell=cell,
            target=margin.shares.get(cell, 0.0),
            observed=estimate_proportion(counted.shown[cell], n)
            if n is not None and cell in counted.shown
            else None,
            is_full=cell in full,
        )
        for cell in margin.cells
    )
    known = silence if is_silence_shown and n is not None else None
    return MarginTable(question.slug, question.label, several, rows, n, known)


def is_about_states(question: DemographicQuestion) -> bool:
    """Return whether a question asks for a state of the United States, by its options."""
    return question.kind == QuestionKind.CHOICE and set(STATES) <= set(map(str, question.options))


def _count_states(
    question: DemographicQuestion, margin: Margin | None, people: Mapping[Answers, int]
) -> StateCounts | None:
    """None while nobody has named a state. With a target the table's cells alone are shown: two
    tables of one question could be subtracted from each other."""
    if not any(answers - set(NO_ANSWER) for answers in people):
        return None
    if margin is not None:
        counted = _tabulate_cells(margin, people, several=False)
        targets = {state: share for state, share in margin.shares.items() if state in STATES}
    else:
        counted = _tabulate(
            frozenset(people.items()), tuple(map(str, question.options)), several=False
        )
        targets = {}
    shown = {state: n for state, n in counted.shown.items() if state in STATES}
    return StateCounts(question.slug, shown, targets)


def _tabulate_cells(margin: Margin, people: Mapping[Answers, int], *, several: bool) -> AnswerTable:
    cells: Counter[Answers] = Counter()
    for answers, n in people.items():
        cells[margin.cells_of(answers) or answers] += n
    return _tabulate(frozenset(cells.items()), margin.cells, several=several)


@lru_cache(maxsize=256)
def _tabulate(
    people: frozenset[tuple[Answers, int]], answers: tuple[str, ...], *, several: bool
) -> AnswerTable:
    """Kept, because overlapping answers take a while and change only as somebody finishes."""
    return tabulate(dict(people), answers=answers, several=several, minimum=DEFAULT_MINIMUM)
