"""Stimuli of matched guise probing: texts in two varieties, prompts with a slot, attributes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from probing.measures.prompts import PromptError, parse_prompt
from probing.measures.stimuli import StimuliError
from probing.measures.stored_stimuli import StoredStimuli

#: Base of the logarithm of association scores.
Base = Literal["10", "e"]
#: The last word of a prompt for occupations, and how the attributes begin that follow it.
_VOWELS = tuple("aeiou")


@dataclass(frozen=True)
class GuiseText:
    """A text; both texts of a pair carry the pair's slug."""

    slug: str
    body: str

    def __post_init__(self) -> None:
        if not self.body.strip():
            raise StimuliError(f"The text '{self.slug}' is empty. Give it words, or leave it out.")


@dataclass(frozen=True)
class GuisePrompt:
    """A wording with {text} for the text; the attribute follows its end. `purpose` as stored."""

    slug: str
    text: str
    purpose: str = ""

    def __post_init__(self) -> None:
        try:
            parse_prompt(self.text)
            self.fill("")
        except KeyError as error:
            raise StimuliError(
                f"The prompt '{self.slug}' has {{{error.args[0]}}}, but a guise is not named: "
                "write {text} alone."
            ) from None
        except PromptError as error:
            raise StimuliError(f"'{self.slug}': {error}") from error
        if self.text != self.text.rstrip():
            raise StimuliError(
                f"The prompt '{self.slug}' ends with a space, which belongs to the attribute. "
                "Delete it."
            )

    def fill(self, text: str) -> str:
        """Return the prompt with a text; braces in the text stay as they are."""
        return self.text.format(text=text)

    def agrees_with(self, attribute: str) -> bool:
        """Return whether the attribute can follow: after *an* those with a vowel, after *a* others.

        Decided by the last word of the wording, never by the text in it (methods.md §10.3).
        """
        last = self.text.rsplit(maxsplit=1)[-1]
        if last not in ("a", "an"):
            return True
        return attribute.startswith(_VOWELS) == (last == "an")


@dataclass(frozen=True)
class GuiseStimuli(StoredStimuli):
    """Texts in two varieties; `paired` where the i-th texts of both say the same.

    q > 0 means: more associated with the first variety. `attribute_list` names where the
    attributes come from.
    """

    first_variety: str
    second_variety: str
    first: tuple[GuiseText, ...]
    second: tuple[GuiseText, ...]
    paired: bool
    prompts: tuple[GuisePrompt, ...]
    attributes: tuple[str, ...]
    attribute_list: str = ""

    def __post_init__(self) -> None:
        if self.first_variety == self.second_variety:
            raise StimuliError(
                f"Both guises are '{self.first_variety}'. Give texts in two varieties."
            )
        if self.paired and [text.slug for text in self.first] != [
            text.slug for text in self.second
        ]:
            raise StimuliError(
                f"There are {len(self.first)} texts in {self.first_variety} and "
                f"{len(self.second)} in {self.second_variety} that do not pair up. Give every "
                "text its counterpart, or compare the sets as a whole (pooled)."
            )
        _require_unique("attribute", [attribute.casefold() for attribute in self.attributes])
        _require_unique("prompt", [prompt.slug for prompt in self.prompts])
        for texts in (self.first, self.second):
            _require_unique("text", [text.slug for text in texts])

    @property
    def varieties(self) -> tuple[str, str]:
        return self.first_variety, self.second_variety

    @property
    def texts(self) -> tuple[tuple[GuiseText, ...], tuple[GuiseText, ...]]:
        """The texts of both varieties."""
        return self.first, self.second

    @classmethod
    def from_plain(cls, raw: Mapping[str, Any]) -> Self:
        return cls(
            **{
                **raw,
                "first": tuple(GuiseText(**text) for text in raw["first"]),
                "second": tuple(GuiseText(**text) for text in raw["second"]),
                "prompts": tuple(GuisePrompt(**prompt) for prompt in raw["prompts"]),
                "attributes": tuple(raw["attributes"]),
            }
        )


def _require_unique(noun: str, names: Sequence[str]) -> None:
    doubled = [name for name, times in Counter(names).items() if times > 1]
    if doubled:
        raise StimuliError(f"The {noun} '{doubled[0]}' comes twice. Name it once.")
