"""Wordings in which a model is asked for the class of a text: Kohankhaki et al., §3.4.

The model goes on where {answer} stands ({Answer} asks for a capital). With {reasoning} it is asked
twice: first up to there, then with what it wrote in its place. Demonstrations are whole wordings.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from probing.measures.prompts import PromptError

PLACEHOLDERS = ("text", "labels", "reasoning", "answer", "Answer")
#: Between demonstrations, and before the text that is asked about; as in the released code.
GAP = "\n\n"
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class ClassPrompt:
    """A wording; :class:`PromptError` where it cannot ask for a class."""

    slug: str
    text: str

    def __post_init__(self) -> None:
        names = [match.group(1) for match in _PLACEHOLDER.finditer(self.text)]
        if unknown := [name for name in names if name not in PLACEHOLDERS]:
            raise PromptError(
                f"The prompt has the unknown placeholder {{{unknown[0]}}}, expected {{text}}, "
                "{labels}, {reasoning} or {answer}."
            )
        if re.search(r"[{}]", _PLACEHOLDER.sub("", self.text)):
            raise PromptError("A brace is open. Write every placeholder as {name}.")
        lower = [name.lower() for name in names]
        for name in ("text", "answer"):
            if lower.count(name) != 1:
                raise PromptError(
                    f"The prompt has {{{name}}} {lower.count(name)} times, expected exactly once."
                )
        if lower.count("reasoning") > 1:
            raise PromptError("The prompt has {reasoning} more than once.")
        order = [name for name in lower if name != "labels"]
        if order not in (["text", "answer"], ["text", "reasoning", "answer"]):
            raise PromptError("{text} comes first, then {reasoning} if any, and {answer} last.")

    @property
    def reasons(self) -> bool:
        """Whether the model writes a chain of thought first."""
        return "{reasoning}" in self.text

    @property
    def lists_labels(self) -> bool:
        return "{labels}" in self.text

    @cached_property
    def _before_answer(self) -> str:
        return re.split(r"\{answer\}", self.text, flags=re.IGNORECASE)[0].rstrip()

    def reasoning_prompt(self, text: str, labels: Sequence[str]) -> str:
        """Return what a model reads before it writes its reasoning."""
        before = self._before_answer.split("{reasoning}")[0].rstrip()
        return _fill(before, text=text, labels=label_list(labels))

    def answer_prompt(self, text: str, labels: Sequence[str], reasoning: str = "") -> str:
        """Return what a model reads before it answers."""
        return _fill(self._before_answer, text=text, labels=label_list(labels), reasoning=reasoning)

    def demonstration(self, text: str, label: str, labels: Sequence[str]) -> str:
        """Return the wording with its answer."""
        named = {"answer": label, "Answer": label.capitalize()}
        return _fill(self.text, text=text, labels=label_list(labels), **named)

    def answer_word(self, label: str) -> str:
        """Return a label as an answer spells it."""
        return label.capitalize() if "{Answer}" in self.text else label


def label_list(labels: Sequence[str]) -> str:
    """Return the labels as a question lists them: “negative, neutral, or positive”."""
    if len(labels) < 3:
        return " or ".join(labels)
    return f"{', '.join(labels[:-1])}, or {labels[-1]}"


def find_class(answer: str, classes: Sequence[str]) -> int | None:
    """Return the number of the class that an answer names first, None where it names none.

    Kohankhaki et al., §3.4: case does not matter, and “negatively” counts.
    """
    match = re.search("|".join(map(re.escape, classes)), answer, re.IGNORECASE)
    if match is None:
        return None
    return [name.casefold() for name in classes].index(match.group().casefold())


def _fill(wording: str, /, **values: str) -> str:
    """Return the wording with values for placeholders; braces in values stay as they are."""
    return _PLACEHOLDER.sub(lambda match: values.get(match.group(1), match.group()), wording)
