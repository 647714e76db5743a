"""Notices that a server answers with another model than before, under the same name.

Twenty fixed prompts are asked at temperature 0. The first time each is asked twice: prompts whose
two answers differ say nothing later and are left out. A model has changed if at least three of the
others are answered differently; one or two may differ by the server's own arithmetic.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from probing.lm.question_protocols import Question
from probing.lm.text_protocols import GenerationSettings

if TYPE_CHECKING:
    from probing.lm.chat import ChatModel

#: Short questions of many kinds; answers go on for `MOST_TOKENS`.
PROMPTS = (
    "Name three rivers.",
    "What is 17 times 24?",
    "Write one sentence about rain.",
    "Translate “good morning” into Spanish.",
    "Which is heavier, iron or cork?",
    "Complete: The old man opened the",
    "List two uses of salt.",
    "Who wrote Hamlet?",
    "Give a synonym of “brave”.",
    "What comes after Wednesday?",
    "Describe the sea in five words.",
    "Spell “neighbor” backwards.",
    "Why is the sky blue?",
    "Name a fruit that is not red.",
    "Write a title for a story about a lost dog.",
    "What is the capital of Kenya?",
    "Finish the rhyme: The cat sat on the",
    "Explain gravity to a child.",
    "Is 91 a prime number?",
    "Say something kind about Mondays.",
)
MOST_TOKENS = 16
#: First tokens whose log-probability, in nats, differs by more count as another answer.
STEADY_NATS, DIFFERENT_NATS = 0.05, 0.2
LEAST_DIFFERENT = 3
LEAST_STEADY = 5


class PromptAnswer(BaseModel):
    """An answer, and the highest log-probability at its first place if the server tells it."""

    model_config = ConfigDict(frozen=True)

    text: str
    logprob: float | None = None

    def is_like(self, other: PromptAnswer, nats: float) -> bool:
        if self.text != other.text:
            return False
        if self.logprob is None or other.logprob is None:
            return True
        return abs(self.logprob - other.logprob) <= nats


class ServerFingerprint(BaseModel):
    """What a served model answered, and what later checks found.

    Attributes
    ----------
    taken_at, checked_at : when it was taken, and compared last, in UTC.
    answers : one for each of `PROMPTS`; None for a prompt without a steady answer.
    differing : how many were answered differently at the last check.
    changed_at : when changes were noticed; the answers are those after the latest one.
    """

    model_config = ConfigDict(frozen=True)

    taken_at: str
    checked_at: str
    answers: tuple[PromptAnswer | None, ...]
    differing: int = 0
    changed_at: tuple[str, ...] = ()

    @property
    def steady(self) -> int:
        return sum(answer is not None for answer in self.answers)

    @property
    def has_changed(self) -> bool:
        """Return whether the latest check noticed a change."""
        return bool(self.changed_at) and self.changed_at[-1] == self.checked_at

    def lines(self) -> list[str]:
        """Return what was found in sentences, for pages and the command line."""
        since, checked = self.taken_at[:10], self.checked_at[:10]
        if self.steady < LEAST_STEADY:
            return [
                f"Watched since {since}, but only {self.steady} of {len(self.answers)} prompts are "
                "answered alike twice: a change can't be noticed."
            ]
        found = [f"The served model has changed: noticed on {at[:10]}." for at in self.changed_at]
        if not self.has_changed:
            found.append(
                f"Watched since {since}: on {checked}, {self.differing} of {self.steady} prompts "
                "were answered differently" + (", too few for a change." if self.differing else ".")
            )
        return found


def take_fingerprint(chat: ChatModel) -> ServerFingerprint:
    """Ask every prompt twice. Raises as :meth:`ChatModel.answer`."""
    first, second = _ask(chat), _ask(chat)
    now = _now()
    answers = tuple(
        one if one.is_like(other, STEADY_NATS) else None
        for one, other in zip(first, second, strict=True)
    )
    return ServerFingerprint(taken_at=now, checked_at=now, answers=answers)


def check_fingerprint(chat: ChatModel, before: ServerFingerprint) -> ServerFingerprint:
    """Ask again and compare; after a change, the fingerprint is taken anew. Raises as above."""
    now = _ask(chat)
    differing = sum(
        old is not None and not old.is_like(new, DIFFERENT_NATS)
        for old, new in zip(before.answers, now, strict=True)
    )
    if differing < LEAST_DIFFERENT or before.steady < LEAST_STEADY:
        return before.model_copy(update={"checked_at": _now(), "differing": differing})
    anew = take_fingerprint(chat)
    changes = (*before.changed_at, anew.checked_at)
    return anew.model_copy(update={"differing": differing, "changed_at": changes})


def _ask(chat: ChatModel) -> list[PromptAnswer]:
    settings = GenerationSettings(max_new_tokens=MOST_TOKENS, temperature=0)
    answers = chat.answer(
        [Question(prompt) for prompt in PROMPTS], settings, seeds=[0] * len(PROMPTS), top=1
    )
    return [
        PromptAnswer(
            text=one.text,
            logprob=one.tokens[0].likeliest[0][1]
            if one.tokens and one.tokens[0].likeliest
            else None,
        )
        for one in answers
    ]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
