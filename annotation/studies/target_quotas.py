"""Target quotas of a study: counts by cell, tables of who took part, and faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.db.models import Count, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.common.answer_bands import band_names
from annotation.common.proportions import Proportion, estimate_proportion
from annotation.common.small_cells import (
    DECLINED,
    DEFAULT_MINIMUM,
    UNANSWERED,
    Answers,
    AnswerTable,
    tabulate,
)
from annotation.common.target_margins import OTHERS, TOLERANCE, Margin, Margins, count_places
from annotation.instruments.flow import Step
from annotation.instruments.us_states import STATES
from annotation.models import (
    DataDecision,
    DemographicAnswer,
    DemographicQuestion,
    QuestionKind,
    Study,
    Submission,
    SubmissionState,
)
from annotation.models.submission import in_review, in_scope
from annotation.steps.demographics import Demographics
from annotation.steps.rating import RatingStep
from annotation.studies.participant_answers import read_answers

# --- Where a study stands against its target margins: who is in which cell, and what is open


@dataclass(frozen=True)
class MarginPlaces:
    """Cells of one question: ``room`` for people, and ``taken`` of it."""

    room: Mapping[str, int]
    taken: Mapping[str, int]

    def is_full(self, cell: str) -> bool:
        return self.taken.get(cell, 0) >= self.room[cell]

    @property
    def full(self) -> tuple[str, ...]:
        return tuple(cell for cell in self.room if self.is_full(cell))


def decided_or_waiting(of: str = "") -> Q:
    """Return the condition “accepted, or finished and in review”, as quotas count it."""
    accepted = Q(**{f"{of}data_decision": DataDecision.ACCEPTED})
    return accepted | (in_review(of=of) & ~Q(**{f"{of}checks_passed": False}))


def takes_place(of: str = "") -> Q:
    """Return the condition “takes a place”: as above, or on the way with a reservation."""
    on_the_way = Q(
        **{
            f"{of}state": SubmissionState.IN_PROGRESS,
            f"{of}reserved_until__gt": timezone.now(),
        }
    )
    return decided_or_waiting(of) | on_the_way


def count_people(
    study: Study, bands: Mapping[str, tuple[int, ...]], *, who: Q, without: int | None = None
) -> dict[str, dict[Answers, int]]:
    """Return, by question of ``bands``, what one person answered → how many answered just that.

    who : condition on answers by their submission; without : a submission that is left out
    bands : question → starts of its bands, () for a choice

    Who left a question out is not counted. One query, whose rows are the different answers.
    """
    rows = DemographicAnswer.objects.filter(
        in_scope(study, of="submission__"),
        who,
        # Of this study alone: databases would else begin with the questions of all studies.
        question__instrument__study=study,
        question__slug__in=list(bands),
    )
    if without is not None:
        rows = rows.exclude(submission=without)
    found: dict[str, Counter[Answers]] = {slug: Counter() for slug in bands}
    kinds = rows.values_list("question__slug", "value", "declined").annotate(n=Count("pk"))
    for slug, value, declined, n in kinds.order_by():
        found[slug][read_answers(value, declined, bands[slug] or None)] += n
    return {slug: dict(people) for slug, people in found.items()}


def load_places(study: Study, *, without: int | None = None) -> dict[str, MarginPlaces]:
    """Return the places of a study that chooses people by their answers. Two queries.

    ``without`` is a submission whose own place is not counted. Places are exact while the study's
    row is locked.
    """
    margins = study.margins
    bands = {slug: margin.starts for slug, margin in margins.items()}
    taken = count_people(study, bands, who=takes_place("submission__"), without=without)
    several = find_several(study, margins)
    return {
        slug: MarginPlaces(
            room=count_places(margin, study.planned_people or 0, several=slug in several),
            taken=count_cells(margin, taken[slug]),
        )
        for slug, margin in margins.items()
    }


def count_cells(margin: Margin, people: Mapping[Answers, int]) -> dict[str, int]:
    """Return how many people are in each cell; who gave several answers is in several."""
    counts: Counter[str] = Counter()
    for answers, n in people.items():
        for cell in margin.cells_of(answers):
            counts[cell] += n
    return dict(counts)


def find_several(study: Study, margins: Margins) -> set[str]:
    """Return the questions of targets that take several answers. One query."""
    return set(
        DemographicQuestion.objects.filter(
            instrument__study=study, slug__in=list(margins), kind=QuestionKind.CHOICES
        ).values_list("slug", flat=True)
    )


def is_full_by_margins(study: Study) -> bool:
    """Return whether nobody who answers could be let in: every cell of a question is full.

    False for a study that does not choose people. Two queries.
    """
    if not study.samples_by_margins:
        return False
    return any(len(places.full) == len(places.room) for places in load_places(study).values())


def add_unanswered(people: Mapping[Answers, int], total: int) -> dict[Answers, int]:
    """Return the counts with those of ``total`` people who left the question out."""
    left_out = total - sum(people.values())
    return {**people, **({frozenset({UNANSWERED}): left_out} if left_out > 0 else {})}


def count_observed(study: Study) -> int:
    """Return the accepted submissions and those in review. One query."""
    return Submission.objects.in_scope(study).filter(decided_or_waiting()).count()


# --- Who took part beside whom the study wants to hear, without numbers about a few people
#
# Counted are accepted submissions and those in review, as quotas count them. Intervals are
# Wilson's (1927), which hold their level for the few people and extreme shares that are usual here
# where the textbook interval does not (Brown, Cai and DasGupta 2001).

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


# --- Faults of quotas


@dataclass(frozen=True)
class MarginFault:
    """What is wrong with a target. ``slug`` is its question, "" for the flow, at ``step``."""

    slug: str
    text: str
    step: int | None = None


def find_margin_faults(
    margins: Margins, questions: Iterable[DemographicQuestion]
) -> Iterator[MarginFault]:
    """Yield what the targets ask for that the questions do not offer."""
    by_slug = {question.slug: question for question in questions}
    for slug, margin in margins.items():
        question = by_slug.get(slug)
        if question is None:
            text = _("There is no question “%(slug)s” among the demographic questions.")
            yield MarginFault(slug, text % {"slug": slug})
        else:
            for text in _find_faults(question, margin):
                yield MarginFault(slug, text)


def list_cell_names(question: DemographicQuestion, starts: Sequence[int]) -> tuple[str, ...]:
    """Return the answers to a question that can have a share; none for a text."""
    if question.kind == QuestionKind.NUMBER:
        return band_names(tuple(starts))[1:] if starts else ()
    if question.kind == QuestionKind.TEXT:
        return ()
    return tuple(map(str, question.options))


def _find_faults(question: DemographicQuestion, margin: Margin) -> Iterator[str]:
    values = {"question": question.label}
    if question.kind == QuestionKind.TEXT:
        yield _("“%(question)s” is answered in words, which cannot have shares.") % values
        return
    if question.kind == QuestionKind.NUMBER:
        if not margin.starts:
            yield _("“%(question)s” is answered by a number: expected bands for it.") % values
            return
        if any(b <= a for a, b in zip(margin.starts, margin.starts[1:], strict=False)):
            yield _("The bands of “%(question)s” do not rise.") % values
            return
    offered = {*list_cell_names(question, margin.starts), OTHERS}
    for answer in margin.shares:
        if answer not in offered:
            values["answer"] = answer
            yield _("“%(answer)s” is not among the answers to “%(question)s”.") % values
    values["percent"] = f"{100 * margin.total:.4g}"
    if question.kind == QuestionKind.CHOICES:
        if margin.total < 1 - TOLERANCE:
            yield (
                _(
                    "The shares of “%(question)s” sum to %(percent)s %%, expected 100 %% or more, "
                    "since everybody gives at least one answer."
                )
                % values
            )
    elif abs(margin.total - 1) > TOLERANCE:
        yield (
            _(
                "The shares of “%(question)s” sum to %(percent)s %%, expected 100 %%. What is left "
                "belongs to all other answers."
            )
            % values
        )


def find_screening_faults(steps: Sequence[Step]) -> Iterator[MarginFault]:
    """Yield why a flow cannot choose people by their answers before they rate."""
    kinds = [step.kind for step in steps]
    if Demographics.name not in kinds:
        yield MarginFault(
            "",
            _("People are chosen by their answers, but the flow has no demographic questions."),
        )
        return
    place = kinds.index(Demographics.name)
    if RatingStep.name in kinds[:place]:
        text = _(
            "People are chosen by their answers, but step %(n)d asks for them after a rating page: "
            "expected it before the first one."
        )
        yield MarginFault("", text % {"n": place + 1}, step=place)
    if steps[place].show_if is not None:
        text = _(
            "People are chosen by their answers, but step %(n)d has a condition: expected it to be "
            "asked of everybody."
        )
        yield MarginFault("", text % {"n": place + 1}, step=place)


def describe_closed_cells(
    margins: Margins, questions: Iterable[DemographicQuestion], planned: int
) -> Iterator[str]:
    """Yield for each question who would be turned away whenever they come."""
    for question in questions:
        margin = margins.get(question.slug)
        if margin is None:
            continue
        places = count_places(margin, planned, several=question.kind == QuestionKind.CHOICES)
        closed = [cell for cell in margin.cells if not places[cell] and cell != OTHERS]
        if not places[OTHERS]:
            names = list_cell_names(question, margin.starts)
            closed += [name for name in names if name not in margin.shares]
        if closed:
            text = _(
                "Nobody who answers “%(question)s” by one of these would be let in: %(cells)s."
            )
            yield text % {"question": question.label, "cells": ", ".join(closed)}
