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
from annotation.instruments.step_content import CONTENTS, ChoiceContent, StepContent, check_slug
from annotation.instruments.step_kinds import (
    ANSWER_STEPS,
    CHECK_STEPS,
    CHECKS_AFTER_RATING,
    NUMBER_STEPS,
    ONCE,
    RATING_PAGES,
    UNCONDITIONAL,
    StepKind,
)

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
    step in data and conditions, "" for none; ``content`` belongs to kinds in `CONTENTS`.
    """

    index: int
    kind: StepKind
    position: int
    key: str = ""
    show_if: Condition | None = None
    content: StepContent | None = None


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
        if step.kind in RATING_PAGES:
            position += 1
        rated = step.kind in RATING_PAGES or step.kind in CHECKS_AFTER_RATING
        step = Step(
            index, step.kind, position if rated else 0, step.key, step.show_if, step.content
        )
        problems += [
            FlowProblem(index, field, f"Step {index + 1} {text}")
            for field, text in (*_find_misplacement(step, steps), *_find_references(step, steps))
        ]
        steps.append(step)
    if not any(step.kind == StepKind.RATING for step in steps):
        text = "The flow has no rating page, expected at least one."
        problems.append(FlowProblem(None, "", text))
    for step in steps[:-1]:
        if step.kind == StepKind.DEBRIEF:
            text = f"Step {step.index + 1} is “debrief”, expected it as the last step."
            problems.append(FlowProblem(step.index, "kind", text))
    return tuple(steps), problems


def count_groups(flow: object) -> int:
    """Return how many different groups a submission rates (the repeated one not counted)."""
    return sum(step.kind == StepKind.RATING for step in parse_flow(flow))


def describe_item(item: object) -> str:
    """Return the kind of an item of a flow, whether or not it can be read."""
    return str(item.get("kind", "")) if isinstance(item, dict) else str(item)


def _read_step(index: int, item: object, problems: list[FlowProblem]) -> Step | None:
    """Return the step of an item without its position, None if its kind is not known."""

    def report(field: str, text: str) -> None:
        problems.append(FlowProblem(index, field, f"Step {index + 1} {text}"))

    name = describe_item(item)
    if not isinstance(item, str | dict) or name not in StepKind.values:
        expected = ", ".join(StepKind.values)
        report("kind", f"is “{name[:60]}”, expected one of: {expected}.")
        return None
    kind = StepKind(name)
    data = item if isinstance(item, dict) else {}
    key, condition = data.get("key", ""), None
    if key or kind in ANSWER_STEPS:
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
    if kind in CONTENTS:
        try:
            content = CONTENTS[kind].model_validate(brought)
        except ValidationError as error:
            for field, text in explain(error, EXPLANATIONS):
                where = f"({kind.label}): {field}" if field else f"({kind.label})"
                report(field, f"{where}: {text}")
    elif brought:
        report(next(iter(brought)), f"is “{kind}” and has no “{next(iter(brought))}”.")
    return Step(index, kind, 0, str(key), condition, content)


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
    kind = step.kind
    kinds = [earlier.kind for earlier in before]
    if kind in ONCE and kind in kinds:
        yield "kind", f"repeats “{kind}”, which may stand in a flow once."
    if kind == StepKind.CONSENT and step.index:
        yield "kind", "is “consent”, expected it as the first step."
    if kind in CHECKS_AFTER_RATING and (
        not kinds or kinds[-1] not in {StepKind.RATING, *CHECKS_AFTER_RATING}
    ):
        yield "kind", f"is “{kind}”, expected it after a rating page."
    if kind == StepKind.REPEAT and StepKind.RATING not in kinds:
        yield "kind", "is “repeat”, expected a rating page before it."
    if kind == StepKind.RATING and StepKind.REPEAT in kinds:
        yield "kind", "is a rating page after the repeated group."
    if kind == StepKind.PRACTICE and StepKind.RATING in kinds:
        yield "kind", "is a practice page after a rating page, expected it before the first one."
    if kind == StepKind.COMPREHENSION and StepKind.INSTRUCTIONS not in kinds:
        yield "kind", "asks about the instructions, expected them before it."
    if step.key and any(earlier.key == step.key for earlier in before):
        yield "key", f"has the name “{step.key}”, which another step has already."
    if step.show_if is not None and step.index == 0:
        yield "show_if", "has a condition, but nothing is known before the first step."
    elif step.show_if is not None and kind in UNCONDITIONAL:
        yield "show_if", f"is “{kind}”, which is always asked: expected no condition."


def _find_references(step: Step, before: list[Step]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the steps and answers that a condition names."""
    if step.show_if is None:
        return
    known = {earlier.key: earlier for earlier in before if earlier.key}
    for comparison in iterate_comparisons(step.show_if):
        if comparison.source == "question":
            if not any(earlier.kind == StepKind.DEMOGRAPHICS for earlier in before):
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
            if source is None or source.kind not in NUMBER_STEPS:
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
    if step.kind in CHECK_STEPS:
        return list(CHECK_RESULTS.values())
    return step.content.values if isinstance(step.content, ChoiceContent) else []
