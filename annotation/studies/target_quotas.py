"""What is wrong with a study's target margins: faults against its questions and its flow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from annotation.common.answer_bands import band_names
from annotation.common.target_margins import OTHERS, TOLERANCE, Margin, Margins, count_places
from annotation.instruments.flow import Step
from annotation.models import DemographicQuestion, QuestionKind
from annotation.steps.demographics import Demographics
from annotation.steps.rating import RatingStep


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
