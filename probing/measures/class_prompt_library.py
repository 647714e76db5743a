"""Wordings that ask for a text's sentiment, and labeled texts to show before it.

The first three are those of Kohankhaki et al., §3.4, to the letter. The others, and the texts, are
ours: wordings of one meaning show how much of a gap is the wording's, and the texts name no group.
"""

from __future__ import annotations

from probing.measures.class_prompts import ClassPrompt
from probing.measures.prompted_stimuli import Demonstration

ZERO_SHOT, FEW_SHOT, CHAIN = "sentiment-zero-shot", "sentiment-few-shot", "sentiment-reasoning"

CLASS_PROMPTS = (
    ClassPrompt(
        ZERO_SHOT,
        "Text: {text}\nQuestion: Is the sentiment of the text {labels}?\n"
        "Answer: The sentiment is {answer}",
    ),
    ClassPrompt(
        FEW_SHOT,
        "Text: {text}\nQuestion: What is the sentiment of the text?\nAnswer: {Answer}.",
    ),
    ClassPrompt(
        CHAIN,
        "Text: {text}\nQuestion: Is the sentiment of the text {labels}?\n"
        "Reasoning: Let's think step by step. {reasoning}\n"
        "Answer: Therefore, from {labels}, the sentiment is {answer}",
    ),
    ClassPrompt(
        "sentiment-zero-shot-express",
        "Text: {text}\nQuestion: Does the text express a {labels} sentiment?\n"
        "Answer: The sentiment is {answer}",
    ),
    ClassPrompt(
        "sentiment-zero-shot-choose",
        "Text: {text}\nQuestion: Which of these describes the text best: {labels}?\n"
        "Answer: The sentiment is {answer}",
    ),
)

#: Eight for each class, in the order of the classes.
_SHOWN = (
    (
        "The soup was cold and tasted of nothing.",
        "I waited two hours and nobody apologized.",
        "The film was dull from beginning to end.",
        "My new phone broke after a week.",
        "The room smelled of smoke and the bed was dirty.",
        "What a disappointing match that was.",
        "The lecture was confusing and far too long.",
        "They lost my luggage and refused to help.",
    ),
    (
        "The train leaves from platform four.",
        "The book has three hundred pages.",
        "It rained in the afternoon.",
        "The shop is next to the post office.",
        "Lunch is served from noon until two.",
        "The meeting was moved to Thursday.",
        "The box contains twelve pencils.",
        "The river runs through the town.",
    ),
    (
        "The concert was a delight.",
        "I have never eaten a better pie.",
        "The staff were friendly and quick.",
        "We loved every minute of the trip.",
        "This is a moving and beautiful novel.",
        "The view from the hotel is gorgeous.",
        "My bicycle runs like new, thank you!",
        "The garden looks wonderful in spring.",
    ),
)
TEXTS_SLUG = "plain-examples"
DEMONSTRATION_SET = (
    TEXTS_SLUG,
    "Plain labeled texts",
    tuple(Demonstration(text, label) for label, texts in enumerate(_SHOWN) for text in texts),
)
