"""What a model writes before its answer, between marks such as <think> and </think>."""

from __future__ import annotations

import re

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


def without_reasoning(text: str) -> tuple[str, bool]:
    """Return a text without its blocks of reasoning, and whether the last one was closed.

    What stands before a closing mark without an opening one is reasoning too: some servers write
    the opening mark themselves. Nothing is left of a text that ends within a block.
    """
    kept: list[str] = []
    depth = last = 0
    for mark in _MARK.finditer(text):
        if mark["open"]:
            if depth == 0:
                kept.append(text[last : mark.start()])
            depth += 1
        elif depth > 1:
            depth -= 1
        else:
            if depth == 0:
                kept.clear()
            depth = 0
        last = mark.end()
    if depth:
        return "", False
    return "".join([*kept, text[last:]]), True
