"""Target margins: which shares of participants a study wants to answer what about themselves.

Stored with the study, by question: the starts of bands for numbers, and the share of each answer.
Answers without a share of their own are together `OTHERS`. Plain values in and out, no database.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from pydantic import ValidationError as SchemaError

from annotation.models import DemographicQuestion, QuestionKind, Study
from annotation.studies.answer_bands import band_names
from annotation.studies.small_cells import DECLINED, UNANSWERED, Answers
from annotation.survey.flow import Step
from annotation.survey.step_kinds import StepKind

#: Stands for all answers without a share of their own.
OTHERS = "[others]"
#: Shares of one question sum to one but for this much, which rounding may cost.
TOLERANCE = 0.005

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Start = Annotated[int, Field(ge=-1_000_000, le=1_000_000)]


class Margin(BaseModel):
    """The target of one question. ``starts`` are those of bands, for a number alone."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    starts: Annotated[tuple[Start, ...], Field(max_length=30)] = ()
    shares: Annotated[dict[str, Share], Field(min_length=1, max_length=100)]

    def cells_of(self, answers: Answers) -> frozenset[str]:
        """Return the cells that somebody with these answers belongs to; none who declined."""
        given = answers - {DECLINED, UNANSWERED}
        return frozenset(answer if answer in self.shares else OTHERS for answer in given)

    @property
    def cells(self) -> tuple[str, ...]:
        """All cells in their order, that of other answers last."""
        return (*(name for name in self.shares if name != OTHERS), OTHERS)

    @property
    def total(self) -> float:
        return sum(self.shares.values())


Margins = Mapping[str, Margin]
_SCHEMA = TypeAdapter(dict[str, Margin])


@dataclass(frozen=True)
class MarginFault:
    """What is wrong with a target. ``slug`` is its question, "" for the flow, at ``step``."""

    slug: str
    text: str
    step: int | None = None


def load_margins(study: Study) -> dict[str, Margin]:
    """Return a study's targets by question. No query."""
    return _SCHEMA.validate_python(study.target_margins)


def dump_margins(margins: Margins) -> dict[str, Any]:
    """Return targets as they are stored."""
    return {slug: margin.model_dump(mode="json") for slug, margin in margins.items()}


def validate_margins(value: Any) -> None:
    """Raise Django's `ValidationError` unless ``value`` has the form of targets."""
    try:
        _SCHEMA.validate_python(value)
    except SchemaError as error:
        raise ValidationError(
            [
                _("Target “%(name)s”: %(problem)s.")
                % {"name": " ".join(map(str, found["loc"])), "problem": found["msg"]}
                for found in error.errors()
            ]
        ) from error


def count_places(margin: Margin, planned: int, *, several: bool) -> dict[str, int]:
    """Return how many of ``planned`` people each cell has room for.

    Share times people, rounded down; what is missing to the whole goes to the largest remainders,
    in the order of the cells where they are equal (the method of Hamilton). So no cell is off by
    one or more. Shares of a question with one answer are taken relative to their sum; where people
    may give several answers, the whole is the rounded sum of all cells.
    """
    shares = {cell: Fraction(str(margin.shares.get(cell, 0.0))) for cell in margin.cells}
    total = sum(shares.values())
    if not several and total:
        shares = {cell: share / total for cell, share in shares.items()}
        total = Fraction(1)
    exact = {cell: share * planned for cell, share in shares.items()}
    places = {cell: int(value) for cell, value in exact.items()}
    missing = int(total * planned + Fraction(1, 2)) - sum(places.values())
    by_remainder = sorted(exact, key=lambda cell: places[cell] - exact[cell])
    for cell in by_remainder[:missing]:
        places[cell] += 1
    return places


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
    if StepKind.DEMOGRAPHICS not in kinds:
        yield MarginFault(
            "",
            _("People are chosen by their answers, but the flow has no demographic questions."),
        )
        return
    place = kinds.index(StepKind.DEMOGRAPHICS)
    if StepKind.RATING in kinds[:place]:
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
