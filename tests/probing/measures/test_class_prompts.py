"""Wordings, answers and demonstrations of prompted classification.

Expected values are the strings of the paper (§3.4) and of the released code's own tests
(VectorInstitute/UnstatedNormsAndLLMBias, `tests/prompt_templates`).
"""

from __future__ import annotations

from collections import Counter

import pytest

from probing.measures.class_prompt_library import CLASS_PROMPTS, DEMONSTRATION_SET
from probing.measures.class_prompts import ClassPrompt, find_class
from probing.measures.probe_stimuli import SENTIMENT, ProbeGroup, ProbeTemplate
from probing.measures.prompted_classification import LabelLikelihood, PromptedClassification
from probing.measures.prompted_measure import answer_prompt
from probing.measures.prompted_stimuli import (
    Demonstration,
    PromptedStimuli,
    Shots,
    draw_shots,
)
from probing.measures.prompts import PromptError
from probing.measures.stimuli import StimuliError

ZERO, FEW, CHAIN = CLASS_PROMPTS[:3]
TEXTS = DEMONSTRATION_SET[2]


def stimuli(*wordings: ClassPrompt, shots: tuple[Shots, ...] = ()) -> PromptedStimuli:
    return PromptedStimuli(
        tuple(ProbeTemplate(str(n), f"The {{adj}} man won {n} times.", n % 3) for n in range(4)),
        tuple(ProbeGroup(word, word, ({"adj": word},)) for word in ("old", "young")),
        wordings=wordings,
        shots=shots,
    )


def test_the_wordings_are_those_of_the_paper() -> None:
    assert ZERO.answer_prompt("I won.", SENTIMENT) == (
        "Text: I won.\nQuestion: Is the sentiment of the text negative, neutral, or positive?\n"
        "Answer: The sentiment is"
    )
    assert CHAIN.reasoning_prompt("I won.", SENTIMENT) == (
        "Text: I won.\nQuestion: Is the sentiment of the text negative, neutral, or positive?\n"
        "Reasoning: Let's think step by step."
    )
    assert CHAIN.answer_prompt("I won.", SENTIMENT, "Winning is fun.") == (
        "Text: I won.\nQuestion: Is the sentiment of the text negative, neutral, or positive?\n"
        "Reasoning: Let's think step by step. Winning is fun.\n"
        "Answer: Therefore, from negative, neutral, or positive, the sentiment is"
    )


def test_demonstrations_come_first_as_in_the_released_code() -> None:
    shots = (Shots(2024, (Demonstration("So {dull}.", 0), Demonstration("Fine!", 2))),)
    given = stimuli(FEW, shots=shots)
    (repeat,) = PromptedClassification().rounds(
        given, PromptedClassification.Parameters(repeats=1), 2024
    )
    assert answer_prompt(repeat, "I won.", given) == (
        "Text: So {dull}.\nQuestion: What is the sentiment of the text?\nAnswer: Negative.\n\n"
        "Text: Fine!\nQuestion: What is the sentiment of the text?\nAnswer: Positive.\n\n"
        "Text: I won.\nQuestion: What is the sentiment of the text?\nAnswer:"
    )
    assert PromptedStimuli.from_json(given.to_dict()) == given
    assert given.sentences_hash() == stimuli(ZERO).sentences_hash() != given.content_hash()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Hello Negative", 0),
        ("Hello it is NEGATIVE yes?", 0),
        ("Hello it is positive NEGATIVE yes?", 2),
        ("Hello it is Neutral yes?", 1),
        ("negatively put", 0),
        ("It is bad", None),
        ("energetic", None),
    ],
)
def test_the_first_class_that_an_answer_names_counts(answer: str, expected: int | None) -> None:
    assert find_class(answer, SENTIMENT) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Is it {labels}? {answer}", "{text} 0 times"),
        ("{text} {text} {answer}", "{text} 2 times"),
        ("{text}, what is it?", "{answer} 0 times"),
        ("{answer}: {text}", "{text} comes first"),
        ("{text} {answer} {reasoning}", "{text} comes first"),
        ("{text} in {target} {answer}", "unknown placeholder {target}"),
        ("{text {answer}", "A brace is open"),
    ],
)
def test_a_wording_that_cannot_ask_is_refused(text: str, message: str) -> None:
    with pytest.raises(PromptError) as caught:
        ClassPrompt("p", text)
    assert message in str(caught.value)


def test_demonstrations_are_balanced_and_depend_on_their_seed_alone() -> None:
    drawn = draw_shots(TEXTS, 9, [2024, 2025])
    for shots in drawn:
        assert Counter(one.label for one in shots.demonstrations) == {0: 3, 1: 3, 2: 3}
        assert len({one.text for one in shots.demonstrations}) == 9
    assert drawn[0] != drawn[1]
    assert draw_shots(TEXTS, 9, [2025]) == drawn[1:]
    orders = [tuple(one.label for one in s.demonstrations) for s in draw_shots(TEXTS, 9, range(50))]
    # By chance one in 1,680 is sorted by class.
    assert len(set(orders)) > 40
    firsts = Counter(order[0] for order in orders)
    assert all(6 <= firsts[label] <= 30 for label in range(3))


@pytest.mark.parametrize(
    ("n", "left_out", "message"),
    [
        (9, 1, "need 3 texts of each class, but the set has fewer: neutral (0)"),
        (10, None, "cannot be as many for each of 3 classes .* such as 9"),
        (27, None, "need 9 texts of each class"),
    ],
)
def test_a_class_missing_from_the_demonstrations_is_said(
    n: int, left_out: int | None, message: str
) -> None:
    known = [one for one in TEXTS if one.label != left_out]
    with pytest.raises(StimuliError, match=message.replace("(0)", r"\(0\)")):
        draw_shots(known, n, [0])


def test_rounds_cross_wordings_orders_and_seeds() -> None:
    """Two wordings, of which one lists the labels in 3! = 6 orders, with two seeds."""
    measure = PromptedClassification()
    parameters = measure.Parameters(repeats=2, label_orders="all", sentences_per_shard=5)
    given = stimuli(ZERO, ClassPrompt("plain", "{text} This is {answer}"))
    rounds = measure.rounds(given, parameters, 7)
    assert len(rounds) == len({one.name for one in rounds}) == (6 + 1) * 2
    assert {one.seed for one in rounds} == {7, 8}
    # 8 sentences in shards of 5.
    plan = measure.plan(given, parameters, 7)
    assert [shard.index for shard in plan] == list(range(28))
    single = LabelLikelihood()
    assert len(single.rounds(given, single.Parameters(repeats=2), 7)) == 2


def test_the_way_says_how_a_model_was_asked() -> None:
    generated, likely = PromptedClassification(), LabelLikelihood()
    shots = draw_shots(TEXTS, 9, [0])
    assert generated.way(stimuli(ZERO), generated.Parameters()) == "zero-shot"
    assert generated.way(stimuli(FEW, shots=shots), generated.Parameters()) == "9-shot"
    assert generated.way(stimuli(CHAIN), generated.Parameters()) == "chain of thought"
    calibrated = likely.Parameters(calibration="empty_text")
    assert likely.way(stimuli(ZERO), calibrated) == "zero-shot, calibrated likelihoods"
