"""Words that begin the answer to a question in a chat: how they are spelled, and how likely."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotation.common.lazy import np, npt
from probing.lm.errors import WordEdgeError
from probing.lm.question_protocols import Question

Row = tuple[int, ...]


def spellings(word: str, *, opened: bool) -> tuple[str, ...]:
    """Return the texts that stand for a word where an answer begins.

    After an opening the word follows with its space. At the beginning of an answer models also
    write a capital, or a space before the word: the probabilities of all of these are summed.
    """
    if opened:
        return (f" {word}",)
    capital = word[:1].upper() + word[1:]
    return tuple(dict.fromkeys((word, capital, f" {word}", f" {capital}")))


def spelled_answers(
    tokenizer: Any, asked: Question, words: Sequence[str], *, opened: bool
) -> list[list[Row]]:
    """Return, for every word, the ids of its spellings of one token as answers to a question.

    Of a word without one, those of its first spelling. Raises UnknownWordError where it has no
    tokens of its own there.
    """
    found = []
    for word in words:
        rows: list[Row] = []
        for form in spellings(word, opened=opened):
            try:
                rows += tokenizer.encode_answers(asked, [form])
            except WordEdgeError:
                continue  # the other spellings remain
        if not rows:
            tokenizer.encode_answers(asked, [word])  # raises
        rows = list(dict.fromkeys(rows))
        found.append([ids for ids in rows if not ids[1:]] or rows[:1])
    return found


def word_logprobs(
    lm: Any, asked: Sequence[Question], words: Sequence[str], *, opened: bool
) -> npt.NDArray[np.float64]:
    """Return ln P that an answer begins with each word, (n_questions, n_words).

    asked : questions whose answers begin alike, after the same template and opening
    """
    if not asked:
        return np.empty((0, len(words)))
    spelled = spelled_answers(lm.tokenizer, asked[0], words, opened=opened)
    rows = [lm.encode_question(one) for one in asked]
    told = lm.begin_logprobs(rows, [ids for some in spelled for ids in some])
    found: npt.NDArray[np.float64] = np.logaddexp.reduceat(
        told, np.cumsum([0, *map(len, spelled)])[:-1], axis=1
    )
    return found
