"""What a model writes before its answer, between marks such as <think> and </think>."""

from __future__ import annotations

import re
from typing import NamedTuple

_NAMES = (
    r"(?:seed:)?(?:think|thinking|thoughts?|reason|reasoning|reflection|analysis|scratchpad|"
    r"inner_monologue)"
)
_OPEN = (
    rf"[<\[◁]\|?\s*(?:begin_of_)?{_NAMES}\b[^<>\[\]◁▷]*[>\]▷]"
    r"|<\|channel\|>\s*(?:analysis|commentary)\s*<\|message\|>"
)
_CLOSE = (
    rf"[<\[◁]\s*/\s*{_NAMES}\s*[>\]▷]|<\|\s*(?:end_of_|/\s*){_NAMES}\s*\|>"
    r"|(?:<\|end\|>)?(?:<\|start\|>\s*assistant)?<\|channel\|>\s*final\s*<\|message\|>"
)
_MARK = re.compile(rf"(?P<open>{_OPEN})|(?P<close>{_CLOSE})", re.IGNORECASE)


#: An opening mark that ends a text, as some chat templates begin an answer.
_BEGUN = re.compile(rf"(?:{_OPEN})\s*$", re.IGNORECASE)
#: Tokens that tokenizers call special although marks are made of them.
_MARK_TOKEN = re.compile(
    rf"(?:{_OPEN}|{_CLOSE}|<\|(?:channel|message|start|end)\|>)", re.IGNORECASE
)


class Split(NamedTuple):
    """A text without its blocks of reasoning, what is in these, and whether the last one ends."""

    text: str
    reasoning: str
    closed: bool


def split_reasoning(text: str, *, begun: bool = False) -> Split:
    """Split a text into what it says and the blocks of reasoning in it.

    What stands before a closing mark without an opening one is reasoning too: some servers write
    the opening mark themselves. Nothing is said by a text that ends within a block.

    begun : whether it goes on from an opening mark
    """
    said: list[str] = []
    thought: list[str] = []
    depth, last = int(begun), 0
    for mark in _MARK.finditer(text):
        before = text[last : mark.start()]
        if mark["open"]:
            (thought if depth else said).append(before)
            depth += 1
        else:
            if depth == 0:
                thought += said
                said = []
            thought.append(before)
            depth = max(depth - 1, 0)
        last = mark.end()
    (thought if depth else said).append(text[last:])
    reasoning = "".join(thought).strip()
    return Split("", reasoning, False) if depth else Split("".join(said), reasoning, True)


def begins_reasoning(text: str) -> bool:
    """Return whether what follows a text is within a block of reasoning."""
    return _BEGUN.search(text) is not None


def close_reasoning(text: str) -> str:
    """Return a text that ends with an opening mark with an empty block instead."""
    found = _BEGUN.search(text)
    mark = found.group().strip() if found else ""
    if mark[-1:] not in (">", "]", "▷") or mark.startswith("<|"):
        return text
    return f"{text.rstrip()}\n\n{mark[0]}/{mark[1:]}\n\n"


def is_mark(token: str) -> bool:
    """Return whether a token is a mark of reasoning, or a part of one."""
    return _MARK_TOKEN.fullmatch(token) is not None
