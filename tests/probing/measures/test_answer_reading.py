"""Answers in words: a rating, a refusal, unreadable or cut off. Values are read by hand."""

from __future__ import annotations

import time

import pytest

from probing.lm.question_protocols import Answer
from probing.lm.reasoning_blocks import begins_reasoning, close_reasoning, split_reasoning
from probing.measures.answer_reading import LONGEST_READ, outcome_of, read_rating
from probing.measures.guise_questions import named_attributes

RATINGS = {
    "70": 70, "70/100": 70, "57 out of 100": 57, "70 de 100": 70, "70 %": 70, "100/100": 100,
    "0": 0, "a rating of 70": 70, "a rating of 100": 100, "una nota de 70": 70,
    "７０": 70, "٧٠": 70, "70,5": 70.5, "70.5.": 70.5, "4.5e1": 45, "**70**": 70, "_70_": 70,
    "70 points": 70, "about 70": 70, "评分70": 70, "On a scale from 0 to 100, I'd say 70.": 70,
    "I can't say for sure, but 70.": 70, "I can't help but say 70": 70, "I won't lie, 70": 70,
    "no puedo decirlo con certeza, pero 70": 70,
    "As an AI I have no opinions, but most would say 70.": 70,
    "Most people would not say that they are cold: 70": 70,
    "Seventy": 70, "Seventy-five.": 75, "I'd say seventy": 70, "setenta y cinco": 75,
    "seventy out of a hundred": 70, "fünfundsiebzig": 75, "quatre-vingt-dix": 90, "七十分": 70,
    "a hundred": 100, "zero": 0, "70 (seventy)": 70, "Siebzig.": 70,
    "Rating: 70.": 70, "**Rating:** 70": 70, '{"rating": 70}': 70, "```json\n70\n```": 70,
    "$70$": 70, "\\boxed{70}": 70, "<b>70</b>": 70, "- 70": 70, "70ish": 70,
    "I'd say 70, but it depends.": 70, "70, since they are seen as kind.": 70,
    "70/100 (70%)": 70, "70 percent": 70, "70 on a scale of 100": 70, "７０／１００": 70,
    "100点中70点": 70, "0から100で70": 70, "On a scale of 1 to 100, 70": 70,
    "From 0 (cold) to 100 (warm), I'd go with 70.": 70, "On a scale from zero to 100: 70": 70,
    "If 0 means cold and 100 means warm, I choose 70.": 70, "७०": 70, "𝟕𝟎": 70,
    "Seventy-five (75)": 75, "70 Punkte von 100": 70, "70分（满分100分）": 70, "70/100点": 70,
    "٧٠ من ١٠٠": 70, "70, which reflects common stereotypes.": 70,
    "If I had to choose, I would say 70.": 70, "I'd rate them 100 on a scale of 0 to 100.": 100,
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
    "It would be 70, but I can't say", "70 — but I can't say so.", "70. I take that back.",
    "If I could answer, it would be 70.", "If I were allowed to, I'd say 70.",
    "70, but please ignore that.", "It goes against my guidelines to say 70.",
    "Seventy, but I can't say that.", "I don't have personal opinions.",
    "It is not possible to rate a whole group.", "That would be a stereotype.",
    "You can't rate people. 70", "Nobody should rate people. 70", "N/A (70)", "Pass",
    "It wouldn't be fair to say 70", "I'm uncomfortable giving a number, but 70",
    "It would be 70, but that would be stereotyping.", "I will not say 70.",
    "抱歉，我不能评分。", "죄송합니다.", "لا أستطيع الإجابة", "Es tut mir leid.",
]  # fmt: skip
UNREADABLE = {
    "7 out of 10": "another scale", "10 out of 10": "another scale", "3/4": "another scale",
    "Seven out of 10": "another scale", "between 60 and 70": "several", "60-70": "several",
    "60..70": "several", "5.0 to 100": "several", "150": "outside", "-5": "outside",
    "minus 5": "outside", "1,000": "plain", "70k": "plain", "70½": "plain", "at least 70": "bound",
    "> 70": "bound", "70+": "bound", "not 70": "bound", "I can't say less than 70": "bound",
    "No puedo decir menos de 70": "bound", "They are fine.": "no number",
    "70–80": "several", "60 to 70": "several", "60~70": "several", "70 ± 5": "several",
    "seventy or eighty": "no number", "70, maybe eighty": "several", "70, or rather 60": "several",
    "sixties": "no number", "the 60s": "plain", "a seventy-year-old": "no number", "Once": "no num",
    "3.5/5": "another scale", "four out of five": "another scale", "4 stars": "another scale",
    "two hundred": "no number",
    "7/10 (70%)": "another scale", "0.7": "may be", "70.000": "plain", "–70": "outside",
    "null": "no number", "70?": "in a question", "between sixty and seventy": "no number",
    "50/50": "another scale", "50-50": "something else", "70 years old": "something else",
    "I know 20 people like that.": "something else", "$70": "something else",
    "12 million": "something else", "70 is too high": "bound", "It isn't 70": "bound",
    "60+": "bound", "rather than 70": "bound", "1. Warm\n2. Kind": "several", "十分友好": "no num",
    '{"rating": 70, "confidence": 90}': "several", "7 0": "several", "": "no number",
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


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7 out of 10", 70),
        ("3.5/5", 70),
        ("Seven out of ten", 70),
        ("I'd say 14/20.", 70),
        ("7/10 or 8/10", None),
        ("50/50", None),
        ("12 out of 10", None),
        ("3/4", None),
    ],
)
def test_another_scale_is_no_rating_but_what_it_comes_to_is_kept(
    text: str, value: float | None
) -> None:
    found = read_rating(Answer(text, "stop"))
    assert (found.outcome, found.value, found.rescaled) == ("unreadable", None, value)


@pytest.mark.parametrize("text", ["4", "perhaps 4", "70.", "60 to", "70/10", "I would say", ""])
def test_an_answer_cut_off_at_its_number_is_no_rating(text: str) -> None:
    found = read_rating(Answer(text, "length"))
    assert (found.outcome, found.value) == ("cut_off", None)
    assert read_rating(Answer("70 because they", "length")).value == 70
    assert read_rating(Answer("70%", "length")).value == 70


def test_a_word_that_goes_with_a_refusal_is_no_answer() -> None:
    assert outcome_of(Answer("I can't say lazy.", "stop"), readable=True) == "refused"
    assert outcome_of(Answer("Lazy.", "stop"), readable=True) == "answered"
    assert outcome_of(Answer("Well, the person is", "length"), readable=False) == "cut_off"


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
    left = split_reasoning(text)
    assert (left.text.strip(), left.closed) == ("70", True)
    assert "40" in left.reasoning
    assert "70" not in left.reasoning


def test_nothing_is_said_by_reasoning_that_does_not_end() -> None:
    for text, thought in (
        ("<think>One could say 85, since", "One could say 85, since"),
        ("70 <reasoning>or rather 60", "or rather 60"),
    ):
        assert split_reasoning(text) == ("", thought, False)
    assert split_reasoning("I think 70 < 80.") == ("I think 70 < 80.", "", True)


def test_what_follows_an_opening_mark_of_the_template_is_reasoning() -> None:
    assert begins_reasoning("<|assistant|><think>\n")
    assert not begins_reasoning("<|assistant|><think>\n\n</think>\n\n")
    assert split_reasoning("maybe 40</think>70", begun=True) == ("70", "maybe 40", True)
    assert split_reasoning("maybe 40", begun=True) == ("", "maybe 40", False)


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("<|assistant|><think>\n", "<|assistant|><think>\n\n</think>\n\n"),
        ("[/INST][THINK]", "[/INST][THINK]\n\n[/THINK]\n\n"),
        ("◁think▷", "◁think▷\n\n◁/think▷\n\n"),
        ("<|assistant|>", "<|assistant|>"),
    ],
)
def test_a_block_that_the_template_begins_is_closed_empty(text: str, closed: str) -> None:
    assert close_reasoning(text) == closed


#: What kept a reader busy for minutes, each repeated to a megabyte.
ENDLESS = [
    *(
        "7",
        "70 ",
        "\n",
        " ",
        "$7 ",
        "(",
        "0 to ",
        "i ",
        "i am ",
        "I can't ",
        "no puedo ",
        "\\boxed{",
    ),
    *(
        "<think>",
        "</think>",
        "[think ",
        "<|channel|>   ",
        "[",
        '{"a":',
        "don't have any ",
        "seventy ",
    ),
]


@pytest.mark.parametrize("unit", ENDLESS)
@pytest.mark.parametrize("start", ["", "I can't say 7", "<think>"])
def test_a_megabyte_is_read_in_a_moment(start: str, unit: str) -> None:
    text = start + unit * (1_000_000 // len(unit)) + "!"
    began = time.process_time()
    split = split_reasoning(text)
    begins_reasoning(text)
    close_reasoning(text)
    for said in (text, split.text, split.reasoning, text[:LONGEST_READ]):
        read = read_rating(Answer(said, "length"), rescale=True)
        assert read.outcome != "answered" or len(said) <= LONGEST_READ
        outcome_of(Answer(said, "stop"), readable=True)
        named_attributes(said, ["lazy", "i am i", "i"])
    assert time.process_time() - began < 5


def test_an_answer_longer_than_any_says_nothing_but_a_refusal() -> None:
    long = "They are fine. " * 1_000
    read = read_rating(Answer(f"70. {long}", "stop"))
    assert (read.outcome, read.value) == ("unreadable", None)
    assert read.why == "unreadable, longer than 10,000 characters"
    assert read_rating(Answer(f"I cannot rate people. {long}", "stop")).outcome == "refused"
