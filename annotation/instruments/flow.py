"""The flow of an `abc_survey`: a list of steps that the study's author can reorder.

An item is a kind of step, ``"rating"``, or an object with its kind, a key that names it in the
data, a condition and its content:

    {"kind": "choice", "key": "heard", "show_if": {…}, "question": {"en": "…"}, "options": […]}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from annotation.instruments.conditions import (
    CHECK_RESULTS,
    Condition,
    ConditionError,
    OneOf,
    iterate_comparisons,
    parse_condition,
)
from annotation.steps.checks import GroupName, MarkedTraits
from annotation.steps.consent import Consent
from annotation.steps.demographics import Demographics
from annotation.steps.instructions import Instructions
from annotation.steps.kind import KINDS, StepKind
from annotation.steps.question import check_slug
from annotation.steps.rating import RatingStep, Repeat

# Section 4 of Cao et al. 2022: four groups, the first two followed by a check, then a repetition.
DEFAULT_FLOW = [
    Consent.name,
    Instructions.name,
    RatingStep.name,
    GroupName.name,
    RatingStep.name,
    MarkedTraits.name,
    RatingStep.name,
    RatingStep.name,
    Repeat.name,
    Demographics.name,
]

MOST_STEPS = 200
FRAME = {"kind", "key", "show_if"}

# pydantic's kinds of errors in the words of the pages.
EXPLANATIONS = {
    "missing": "It is missing.",
    "extra_forbidden": "It is not known here.",
    "dict_type": "Expected a text by language, such as {{“en”: “…”}}.",
    "list_type": "Expected a list.",
    "string_type": "Expected a text.",
    "float_type": "It is “{value}”, expected a number.",
    "finite_number": "It is “{value}”, expected a number.",
    "bool_type": "Expected true or false.",
    "int_type": "It is “{value}”, expected a whole number.",
    "model_type": "Expected an object.",
    "too_short": "There are {actual_length}, expected at least {min_length}.",
    "too_long": "There are {actual_length}, expected at most {max_length}.",
    "greater_than_equal": "It is {value}, expected {ge} or more.",
    "less_than_equal": "It is {value}, expected {le} or less.",
    "string_pattern_mismatch": "Choose a picture or a sound.",
    "literal_error": "It is “{value}”, expected {expected}.",
}


@dataclass(frozen=True)
class FlowProblem:
    """What is wrong with one step: its index, None for the flow as a whole, and its field."""

    index: int | None
    field: str
    text: str


class FlowError(ValueError):
    """A flow that cannot be walked; the message names the step and the remedy."""


@dataclass(frozen=True)
class Step:
    """One step of a flow. ``position`` is the place among the rating pages, from 1; 0 elsewhere.

    A check of a rating page carries its position, a repeat the next position. ``key`` names the
    step in data and conditions, "" for none; ``content`` is None where it cannot be read.
    """

    index: int
    kind: str
    position: int
    key: str = ""
    show_if: Condition | None = None
    content: StepKind | None = None

    @property
    def told(self) -> StepKind:
        """The content. Raises `TypeError` where it cannot be read."""
        if self.content is None:
            raise TypeError(f"Step {self.index} is not complete.")
        return self.content


def parse_flow(flow: object) -> tuple[Step, ...]:
    """Return the steps of ``flow``; raises `FlowError` for the first thing that is wrong."""
    steps, problems = read_flow(flow)
    if problems:
        raise FlowError(problems[0].text)
    return steps


def read_flow(flow: object) -> tuple[tuple[Step, ...], list[FlowProblem]]:
    """Return the steps that can be read and everything that is wrong, in the order of the flow."""
    if not isinstance(flow, list) or not flow:
        return (), [FlowProblem(None, "", "The flow is empty, expected a list of steps.")]
    if len(flow) > MOST_STEPS:
        text = f"The flow has {len(flow)} steps, expected at most {MOST_STEPS}."
        return (), [FlowProblem(None, "", text)]
    steps: list[Step] = []
    problems: list[FlowProblem] = []
    position = 0
    for index, item in enumerate(flow):
        step = _read_step(index, item, problems)
        if step is None:
            continue
        kind = KINDS[step.kind]
        if kind.has_group:
            position += 1
        rated = kind.has_group or kind.after_rating
        step = Step(
            index, step.kind, position if rated else 0, step.key, step.show_if, step.content
        )
        problems += [
            FlowProblem(index, field, f"Step {index + 1} {text}")
            for field, text in (*_find_misplacement(step, steps), *_find_references(step, steps))
        ]
        steps.append(step)
    if not any(step.kind == RatingStep.name for step in steps):
        text = "The flow has no rating page, expected at least one."
        problems.append(FlowProblem(None, "", text))
    for step in steps[:-1]:
        if KINDS[step.kind].is_last:
            text = f"Step {step.index + 1} is “{step.kind}”, expected it as the last step."
            problems.append(FlowProblem(step.index, "kind", text))
    return tuple(steps), problems


def count_groups(flow: object) -> int:
    """Return how many different groups a submission rates (the repeated one not counted)."""
    return sum(step.kind == RatingStep.name for step in parse_flow(flow))


def describe_item(item: object) -> str:
    """Return the kind of an item of a flow, whether or not it can be read."""
    return str(item.get("kind", "")) if isinstance(item, dict) else str(item)


def _read_step(index: int, item: object, problems: list[FlowProblem]) -> Step | None:
    """Return the step of an item without its position, None if its kind is not known."""

    def report(field: str, text: str) -> None:
        problems.append(FlowProblem(index, field, f"Step {index + 1} {text}"))

    name = describe_item(item)
    if not isinstance(item, str | dict) or name not in KINDS:
        expected = ", ".join(KINDS)
        report("kind", f"is “{name[:60]}”, expected one of: {expected}.")
        return None
    kind = KINDS[name]
    data = item if isinstance(item, dict) else {}
    key, condition = data.get("key", ""), None
    if key or kind.is_question:
        try:
            check_slug(str(key))
        except ValueError as error:
            report("key", f"has a name that cannot be used. {error}")
    if "show_if" in data:
        try:
            condition = parse_condition(data["show_if"])
        except ConditionError as error:
            report("show_if", f"has a condition that cannot be read. {error}")
    content = None
    brought = {name: value for name, value in data.items() if name not in FRAME}
    if brought and not kind.model_fields:
        report(next(iter(brought)), f"is “{name}” and has no “{next(iter(brought))}”.")
    else:
        try:
            content = kind.model_validate(brought)
        except ValidationError as error:
            for field, text in explain(error, EXPLANATIONS):
                where = f"({kind.label}): {field}" if field else f"({kind.label})"
                report(field, f"{where}: {text}")
    return Step(index, name, 0, str(key), condition, content)


def explain(error: ValidationError, words: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield field and sentence for each thing that is wrong with a content.

    words : sentences by pydantic's kinds of errors; what they lack is told in its own
    """
    for item in error.errors():
        field = " ".join(
            str(part + 1) if isinstance(part, int) else part
            for part in item["loc"]
            if part != "[key]"
        )
        yield (
            field,
            words.get(item["type"], "{msg}").format(
                **item.get("ctx", {}),
                msg=item["msg"].removeprefix("Value error, "),
                value=str(item["input"])[:60],
            ),
        )


def _find_misplacement(step: Step, before: list[Step]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the place of a step after those before it."""
    name, kind = step.kind, KINDS[step.kind]
    names = [earlier.kind for earlier in before]
    if kind.once and name in names:
        yield "kind", f"repeats “{name}”, which may stand in a flow once."
    if kind.is_first and step.index:
        yield "kind", f"is “{name}”, expected it as the first step."
    if kind.after_rating and not (
        before and (names[-1] == RatingStep.name or KINDS[names[-1]].after_rating)
    ):
        yield "kind", f"is “{name}”, expected it after a rating page."
    if misplaced := kind.find_misplacement(names):
        yield "kind", misplaced
    if step.key and any(earlier.key == step.key for earlier in before):
        yield "key", f"has the name “{step.key}”, which another step has already."
    if step.show_if is not None and step.index == 0:
        yield "show_if", "has a condition, but nothing is known before the first step."
    elif step.show_if is not None and not kind.is_conditional:
        yield "show_if", f"is “{name}”, which is always asked: expected no condition."


def _find_references(step: Step, before: list[Step]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the steps and answers that a condition names."""
    if step.show_if is None:
        return
    known = {earlier.key: earlier for earlier in before if earlier.key}
    for comparison in iterate_comparisons(step.show_if):
        if comparison.source == "question":
            if not any(earlier.kind == Demographics.name for earlier in before):
                yield (
                    "show_if",
                    f"depends on the question “{comparison.name}”, expected the demographic "
                    "questions before it.",
                )
            continue
        if comparison.source != "step":
            continue
        source = known.get(comparison.name)
        if not isinstance(comparison, OneOf):
            if source is None or not KINDS[source.kind].is_number:
                yield (
                    "show_if",
                    f"depends on the number “{comparison.name}”, expected the name of an earlier "
                    "question that is answered with a number.",
                )
            continue
        offered = list_answers(source) if source else []
        if not offered:
            yield (
                "show_if",
                f"depends on “{comparison.name}”, expected the name of an earlier check or of a "
                "question with answers to choose from.",
            )
            continue
        for value in comparison.values:
            if value not in offered:
                yield (
                    "show_if",
                    f"depends on the answer “{value}” to “{comparison.name}”, expected one of: "
                    f"{', '.join(offered)}.",
                )


def list_answers(step: Step) -> list[str]:
    """Return the values that a condition can compare a step with; none for most kinds."""
    if KINDS[step.kind].is_check:
        return list(CHECK_RESULTS.values())
    return step.content.values if step.content else []
