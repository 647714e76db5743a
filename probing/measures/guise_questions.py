"""Matched guise prompts as turns of a chat, and what attribute an answer names.

methods.md §10.5: either the assistant's turn begins with the last words of the prompt, or the user
is told to answer with one word of the list.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from probing.lm.question_protocols import Question
from probing.measures.guise_parameters import ATTRIBUTES_SLOT, MatchedGuiseParameters
from probing.measures.guise_stimuli import GuisePrompt, GuiseStimuli
from probing.measures.streams import named_stream

_TEXT = "{text}"
#: What closes the quotation of the text, before the last words of a prompt.
_CLOSING = re.compile(r"^[\s\"'”’»:.,!?]*")


def cut_prompt(prompt: GuisePrompt) -> tuple[str, str]:
    """Return a prompt up to the end of its quoted text, and its last words; these may be empty."""
    before, slot, after = prompt.text.partition(_TEXT)
    closing = _CLOSING.match(after)
    end = closing.end() if closing else 0
    return (before + slot + after[:end]).rstrip(), after[end:].strip()


def guise_question(
    prompt: GuisePrompt,
    text: str,
    attributes: Sequence[str],
    *,
    opening: bool,
    instruction: str,
    system: str = "",
) -> Question:
    """Return the question that stands for a prompt with a text.

    attributes : as the instruction lists them, where there is no opening.
    """
    if opening:
        user, last = cut_prompt(prompt)
        return Question(user.format(text=text), system, last)
    asked = instruction.replace(ATTRIBUTES_SLOT, ", ".join(attributes))
    return Question(f"{prompt.fill(text)} …\n\n{asked}", system)


def ask_guise(
    prompt: GuisePrompt,
    body: str,
    stimuli: GuiseStimuli,
    parameters: MatchedGuiseParameters,
    *,
    seed: int,
    slug: str,
) -> Question:
    """Return a prompt with a text as a question.

    Both texts of a pair see the attributes that fit the prompt in the same drawn order.
    """
    listed = [one for one in stimuli.attributes if prompt.agrees_with(one)]
    order = named_stream(seed, "listed", prompt.slug, slug).permutation(len(listed))
    return guise_question(
        prompt,
        body,
        [listed[place] for place in order],
        opening=bool(parameters.opening),
        instruction=parameters.instruction,
        system=parameters.system_message or "",
    )


def named_attributes(answer: str, attributes: Sequence[str]) -> list[str]:
    """Return the attributes that an answer names, in any case."""
    said = answer.casefold()
    return [
        attribute
        for attribute in dict.fromkeys(attributes)
        if re.search(rf"(?<![\w-]){re.escape(attribute.casefold())}(?![\w-])", said)
    ]
