"""The flow of an `abc_survey`: a list of step kinds that the study's author can reorder."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class StepKind(TextChoices):
    CONSENT = "consent", _("Consent")
    INSTRUCTIONS = "instructions", _("Instructions")
    RATING = "rating", _("Rating page")
    GROUP_NAME = "group_name", _("Check: name the group just rated")
    MARKED_TRAITS = "marked_traits", _("Check: one trait high, one trait low")
    REPEAT = "repeat", _("Rating page of a repeated group")
    DEMOGRAPHICS = "demographics", _("Demographic questions")


# Section 4 of Cao et al. 2022: four groups, the first two followed by a check, then a repetition.
DEFAULT_FLOW = [
    StepKind.CONSENT.value,
    StepKind.INSTRUCTIONS.value,
    StepKind.RATING.value,
    StepKind.GROUP_NAME.value,
    StepKind.RATING.value,
    StepKind.MARKED_TRAITS.value,
    StepKind.RATING.value,
    StepKind.RATING.value,
    StepKind.REPEAT.value,
    StepKind.DEMOGRAPHICS.value,
]

ONCE = {StepKind.CONSENT, StepKind.INSTRUCTIONS, StepKind.REPEAT, StepKind.DEMOGRAPHICS}
CHECKS_AFTER_RATING = {StepKind.GROUP_NAME, StepKind.MARKED_TRAITS}


class FlowError(ValueError):
    """A flow that cannot be walked; the message names the step and the remedy."""


@dataclass(frozen=True)
class Step:
    """One step of a flow. ``position`` is the place among the rating pages, from 1; 0 elsewhere.

    A check carries the position of the rating page that it follows, a repeat the next position.
    """

    index: int
    kind: StepKind
    position: int


def parse_flow(kinds: object) -> tuple[Step, ...]:
    """Return the steps of ``kinds``; raises `FlowError` where the order makes no sense."""
    if not isinstance(kinds, list) or not kinds:
        raise FlowError("The flow is empty, expected a list of step kinds.")
    steps: list[Step] = []
    position = 0
    for index, name in enumerate(kinds):
        if name not in StepKind.values:
            expected = ", ".join(StepKind.values)
            raise FlowError(f"Step {index + 1} is “{name}”, expected one of: {expected}.")
        kind = StepKind(name)
        before = steps[-1].kind if steps else None
        if kind in ONCE and any(step.kind == kind for step in steps):
            raise FlowError(f"Step {index + 1} repeats “{kind}”, which may stand in a flow once.")
        if kind == StepKind.CONSENT and index:
            raise FlowError(f"Step {index + 1} is “consent”, expected it as the first step.")
        if kind in CHECKS_AFTER_RATING and before not in {StepKind.RATING, *CHECKS_AFTER_RATING}:
            raise FlowError(f"Step {index + 1} is “{kind}”, expected it after a rating page.")
        if kind == StepKind.REPEAT and not position:
            raise FlowError(f"Step {index + 1} is “repeat”, expected a rating page before it.")
        if kind == StepKind.RATING and any(step.kind == StepKind.REPEAT for step in steps):
            raise FlowError(f"Step {index + 1} is a rating page after the repeated group.")
        if kind in {StepKind.RATING, StepKind.REPEAT}:
            position += 1
        rated = kind in {StepKind.RATING, StepKind.REPEAT, *CHECKS_AFTER_RATING}
        steps.append(Step(index, kind, position if rated else 0))
    if not position:
        raise FlowError("The flow has no rating page, expected at least one.")
    return tuple(steps)


def count_groups(kinds: object) -> int:
    """Return how many different groups a submission rates (the repeated one not counted)."""
    return sum(step.kind == StepKind.RATING for step in parse_flow(kinds))
