"""Answers in words: a rating, a refusal, unreadable or cut off. Values are read by hand."""

from __future__ import annotations

import pytest

from probing.lm.question_protocols import Answer
from probing.lm.reasoning_blocks import without_reasoning
from probing.measures.answer_reading import outcome_of, read_rating

RATINGS = {
    "70": 70, "70/100": 70, "57 out of 100": 57, "70 de 100": 70, "70 %": 70, "100/100": 100,
    "0": 0, "a rating of 70": 70, "a rating of 100": 100, "una nota de 70": 70,
    "７０": 70, "٧٠": 70, "70,5": 70.5, "70.5.": 70.5, "4.5e1": 45, "**70**": 70, "_70_": 70,
    "70 points": 70, "about 70": 70, "评分70": 70, "On a scale from 0 to 100, I'd say 70.": 70,
    "I can't say for sure, but 70.": 70, "I can't help but say 70": 70, "I won't lie, 70": 70,
    "no puedo decirlo con certeza, pero 70": 70,
    "As an AI I have no opinions, but most would say 70.": 70,
    "Most people would not say that they are cold: 70": 70,
}  # fmt: skip
REFUSED = [
    "It would be 70, but I can't say that.", "It would be 70, but I can’t say that.",
    "70. I'm sorry, but I cannot rate groups.", "I'm not able to rate people, but 70",
    "I must decline, but 70", "I'd rather not say, 70", "Cannot answer. 70",
    "It can't be rated: 70",
    "It would be inappropriate to say 70.", "Serían 70, pero no puedo decirlo.",
    "No quiero decir 70",
    "Je dirais 70, mais je ne peux pas le dire.", "70, aber das kann ich nicht sagen",
    "I cannot rate people.", "As an AI, I have no opinions.", "Lo siento, no puedo responder.",
]  # fmt: skip
UNREADABLE = {
    "7 out of 10": "another scale", "10 out of 10": "another scale", "3/4": "another scale",
    "Seven out of 10": "another scale", "between 60 and 70": "several", "60-70": "several",
    "60..70": "several", "5.0 to 100": "several", "150": "outside", "-5": "outside",
    "minus 5": "outside", "1,000": "plain", "70k": "plain", "70½": "plain", "at least 70": "bound",
    "> 70": "bound", "70+": "bound", "not 70": "bound", "I can't say less than 70": "bound",
    "No puedo decir menos de 70": "bound", "They are fine.": "no number",
}  # fmt: skip


@pytest.mark.parametrize(("text", "value"), RATINGS.items())
def test_one_number_is_a_rating(text: str, value: float) -> None:
    found = read_rating(Answer(text, "stop"))
    assert (found.outcome, found.value) == ("answered", value)


@pytest.mark.parametrize("text", REFUSED)
def test_a_refusal_is_no_rating_whatever_number_it_names(text: str) -> None:
    found = read_rating(Answer(text, "stop"))
    assert (found.outcome, found.value) == ("refused", None)


@pytest.mark.parametrize(("text", "why"), UNREADABLE.items())
def test_what_is_no_single_number_is_unreadable(text: str, why: str) -> None:
    found = read_rating(Answer(text, "stop"))
    assert (found.outcome, found.value) == ("unreadable", None)
    assert why in found.why


@pytest.mark.parametrize("text", ["4", "perhaps 4", "70.", "60 to", "70/10", "I would say", ""])
def test_an_answer_cut_off_at_its_number_is_no_rating(text: str) -> None:
    found = read_rating(Answer(text, "length"))
    assert (found.outcome, found.value) == ("cut_off", None)
    assert read_rating(Answer("70 because they", "length")).value == 70
    assert read_rating(Answer("70%", "length")).value == 70


def test_a_word_that_goes_with_a_refusal_is_no_answer() -> None:
    assert outcome_of(Answer("I can't say lazy.", "stop"), readable=True) == "refused"
    assert outcome_of(Answer("Lazy.", "stop"), readable=True) == "answered"


@pytest.mark.parametrize(
    "text",
    [
        "<think>\nMaybe 40? No, 55.\n</think>\n\n70",
        "<thinking>40</thinking> 70",
        "<Reasoning effort=high> 40 </Reasoning>70",
        "[THINK]40[/THINK]70",
        "◁think▷40◁/think▷70",
        "<seed:think>40</seed:think>70",
        "40, since they</think>70",
        "<think>a <think>40</think> 50 </think>70",
        "<|begin_of_thought|>40<|end_of_thought|>70",
        "<|channel|>analysis<|message|>40<|end|><|start|>assistant<|channel|>final<|message|>70",
    ],
)
def test_reasoning_is_no_part_of_an_answer(text: str) -> None:
    left, closed = without_reasoning(text)
    assert (left.strip(), closed) == ("70", True)


def test_nothing_is_left_of_reasoning_that_does_not_end() -> None:
    assert without_reasoning("<think>One could say 85, since") == ("", False)
    assert without_reasoning("70 <reasoning>or rather 60") == ("", False)
    assert without_reasoning("I think 70 < 80.") == ("I think 70 < 80.", True)
