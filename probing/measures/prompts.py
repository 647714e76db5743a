"""Prompts: wordings with placeholders for the text and the names of the varieties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter

PLACEHOLDERS = ("text", "source", "target")


class PromptError(ValueError):
    """A wording that cannot be a prompt; the message names the place and what is expected."""


@dataclass(frozen=True)
class ParsedPrompt:
    """A checked wording."""

    text: str

    def fill(self, *, text: str, source: str, target: str) -> str:
        """Return the prompt for one text; braces in the text stay as they are."""
        return self.text.format(text=text, source=source, target=target)


def parse_prompt(text: str) -> ParsedPrompt:
    """Check that `text` holds {text} exactly once, and {source} and {target} at will."""
    try:
        parts = list(Formatter().parse(text))
    except ValueError as error:
        raise PromptError(
            f"The prompt has an unpaired brace ({error}). Write {{{{ or }}}} for a brace itself."
        ) from error
    found = [name for _, name, _, _ in parts if name is not None]
    unknown = sorted(set(found) - set(PLACEHOLDERS))
    if unknown:
        raise PromptError(
            f"The prompt has the unknown placeholder {{{unknown[0]}}}, expected {{text}}, "
            "{source} or {target}."
        )
    if any(form or conversion for _, name, form, conversion in parts if name is not None):
        raise PromptError("A placeholder stands alone in its braces, as in {text}.")
    if found.count("text") != 1:
        raise PromptError(
            f"The prompt has {{text}} {found.count('text')} times, expected exactly once."
        )
    return ParsedPrompt(text)


def variety_name(names: Mapping[str, str], variety: str) -> str:
    """Return how a prompt calls a variety; its own name where the prompt has none for it."""
    return names.get(variety) or variety
