"""Template texts: what they may hold and how their slots are filled.

A text holds one group placeholder, which names the surface form that it needs, and ``{trait}``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

GroupForm = Literal["singular", "plural", "Plural"]

#: The generic nouns that stand for no group in particular (Cao et al. 2022, released code).
GENERIC_NOUNS: dict[GroupForm, str] = {"singular": "person", "plural": "people", "Plural": "People"}

_FORMS: tuple[GroupForm, ...] = get_args(GroupForm)
_REMEDY = (
    "Write one of {singular}, {plural} or {Plural} for the group and {trait} for the adjective, "
    "as in 'That {singular} is {trait}.'"
)
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


class TemplateError(ValueError):
    """A template text that cannot be used; the message names the fault and the remedy."""


@dataclass(frozen=True)
class ParsedTemplate:
    """A template cut at its slots: `opening`, first slot, `middle`, second slot, `closing`."""

    form: GroupForm
    group_first: bool
    opening: str
    middle: str
    closing: str

    @property
    def opens_with_trait(self) -> bool:
        """Whether the adjective is the first word of the sentence."""
        return not self.group_first and not self.opening.strip()

    def around_trait(self, group: str) -> tuple[str, str]:
        """Return the text before and after the trait slot, with `group` in the group slot."""
        if self.group_first:
            return f"{self.opening}{group}{self.middle}", self.closing
        return self.opening, f"{self.middle}{group}{self.closing}"


def parse_template(text: str) -> ParsedTemplate:
    """Return the parts of a template text.

    Raises
    ------
    TemplateError
        Not exactly one group slot and one trait slot, an unknown placeholder, a stray brace,
        a line break, or a slot that is glued to a letter.
    """
    if not text.strip():
        raise TemplateError(f"The template is empty. {_REMEDY}")
    if text != text.strip() or "\n" in text or "\r" in text:
        raise TemplateError(
            f"The template {text!r} begins or ends with a space or holds a line break. "
            "Write one sentence on one line."
        )
    found = list(_PLACEHOLDER.finditer(text))
    names = [match.group(1) for match in found]
    for name in names:
        if name not in _FORMS and name != "trait":
            raise TemplateError(f"The template '{text}' holds '{{{name}}}'. {_REMEDY}")
    if "{" in _PLACEHOLDER.sub("", text) or "}" in _PLACEHOLDER.sub("", text):
        raise TemplateError(f"The template '{text}' holds a single brace. {_REMEDY}")
    _require_one(text, [name for name in names if name != "trait"], "group")
    _require_one(text, [name for name in names if name == "trait"], "trait")
    for match in found:
        around = text[: match.start()][-1:], text[match.end() :][:1]
        if any(neighbor.isalnum() or neighbor in ("{", "}") for neighbor in around if neighbor):
            raise TemplateError(
                f"In the template '{text}' the slot '{match.group()}' touches a letter "
                "or the other slot. A slot stands for whole words; put a space beside it."
            )
    first, second = found
    group_first = first.group(1) != "trait"
    return ParsedTemplate(
        form=(first if group_first else second).group(1),  # type: ignore[arg-type]
        group_first=group_first,
        opening=text[: first.start()],
        middle=text[first.end() : second.start()],
        closing=text[second.end() :],
    )


def _require_one(text: str, slots: list[str], what: str) -> None:
    if len(slots) != 1:
        count = f"{len(slots)} {what} slots" if slots else f"no {what} slot"
        shown = f" ({', '.join('{' + slot + '}' for slot in slots)})" if slots else ""
        raise TemplateError(f"The template '{text}' has {count}{shown}. {_REMEDY}")
