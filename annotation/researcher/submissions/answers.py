"""Answers to checks and to the questions of a flow, in the words of their pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from django.utils.translation import gettext as _

from annotation.instruments.flow import Step, read_flow
from annotation.models import (
    AgreementRule,
    CheckKind,
    CheckResponse,
    Instrument,
    Submission,
    TraitScale,
)
from annotation.researcher.pages import formatting
from annotation.researcher.pages.formatting import MISSING
from annotation.steps.question import OptionsQuestion, Question, read_answer
from annotation.steps.texts import text_in


def describe_check(
    check: CheckResponse, scales: Sequence[TraitScale], instrument: Instrument
) -> dict[str, Any]:
    """Return a check's label, what was answered, what was expected, and a badge of its result."""
    kind = CheckKind(check.kind)
    if kind in _ANSWERS:
        answer, expected = _ANSWERS[kind](check, scales)
    else:
        answer, expected = _describe_options(check, instrument)
    if check.passed is None:
        said = _("Not defined") if kind == CheckKind.REPEATED_GROUP else _("Not asked")
        badge, answer = formatting.badge("mark-ring", said), check.reason or MISSING
    elif check.passed:
        badge = formatting.badge("good mark-tick", _("Passed"))
    else:
        badge = formatting.badge("bad mark-cross", _("Failed"))
    label = formatting.check_label(kind)
    return {"label": label, "answer": answer, "expected": expected, "badge": badge}


def _describe_group_name(check: CheckResponse, scales: Sequence[TraitScale]) -> tuple[str, str]:
    return f"“{check.answer.get('text', '')}”", f"“{check.expected.get('plural', '')}”"


def _describe_traits(check: CheckResponse, scales: Sequence[TraitScale]) -> tuple[str, str]:
    words = {
        f"{scale.slug}:{pole}": getattr(scale, pole) for scale in scales for pole in ("low", "high")
    }

    def name(keys: object) -> str:
        chosen = keys if isinstance(keys, list) else [keys]
        return " / ".join(f"“{words.get(str(key), key)}”" for key in chosen)

    pattern = _("near: %(near)s, far: %(far)s")
    return (
        pattern % {"near": name(check.answer.get("near")), "far": name(check.answer.get("far"))},
        pattern
        % {"near": name(check.expected.get("near")), "far": name(check.expected.get("far"))},
    )


def _describe_repeat(check: CheckResponse, scales: Sequence[TraitScale]) -> tuple[str, str]:
    matching, n = check.answer.get("matching"), check.answer.get("scales")
    at_least = check.expected.get("at_least")
    if check.expected.get("rule") == AgreementRule.KENDALL:
        return (
            _("%(tau)s over %(n)s lines")
            % {"tau": formatting.agreement(check.answer.get("tau"), AgreementRule.KENDALL), "n": n},
            _("at least %(tau)s") % {"tau": formatting.agreement(at_least, AgreementRule.KENDALL)},
        )
    return (
        _("%(matching)s of %(n)s lines match") % {"matching": matching, "n": n},
        _("at least %(share)s")
        % {"share": formatting.percent(float(at_least) if at_least is not None else None)},
    )


def _describe_options(check: CheckResponse, instrument: Instrument) -> tuple[str, str]:
    """Return what was chosen, try by try, and what passes, in the words of the page."""
    chosen = check.answer.get("tries") or [check.answer.get("chosen", "")]
    return (
        _(", then ").join(name_options(instrument, check.step_index, chosen)),
        " / ".join(name_options(instrument, check.step_index, check.expected.get("any_of", []))),
    )


_ANSWERS = {
    CheckKind.GROUP_NAME: _describe_group_name,
    CheckKind.MARKED_TRAITS: _describe_traits,
    CheckKind.REPEATED_GROUP: _describe_repeat,
}


def describe_step_answers(submission: Submission) -> list[tuple[str, str]]:
    """Return questions and answers in the order of the flow. One query."""
    instrument = submission.instrument
    rows = []
    for answer in submission.step_answers.order_by("step_index"):
        step = _find_step(instrument, answer.step_index)
        content = step.content if step else None
        question = answer.key
        if isinstance(content, Question):
            question = text_in(content.question, instrument.language)
        for line in read_answer(
            content, answer.value, partial(text_in, language=instrument.language)
        ):
            words = [f"“{word}”" for word in line.words] if line.is_chosen else line.words
            asked = f"{question} – {line.label}" if line.label else question
            rows.append((asked, "; ".join(words)))
    return rows


def name_options(instrument: Instrument, step_index: int, values: Iterable[str]) -> list[str]:
    """Return the texts of answers to choose from, their names where the step knows none."""
    step = _find_step(instrument, step_index)
    content = step.content if step else None
    texts = (
        {option.value: text_in(option.text, instrument.language) for option in content.options}
        if isinstance(content, OptionsQuestion)
        else {}
    )
    return [f"“{texts[value]}”" if value in texts else str(value) for value in values]


def _find_step(instrument: Instrument, index: int) -> Step | None:
    steps, _problems = read_flow(instrument.flow)
    return next((step for step in steps if step.index == index), None)
