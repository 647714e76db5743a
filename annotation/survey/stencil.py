"""A page that is drawn once, with gaps for what differs between visits.

Drawing a template takes longer than everything else that a page costs, and most of a page is the
same for everybody who reads the same instrument in the same language.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping

from django.utils.safestring import SafeString, mark_safe

# Drawn anew in every process: no text of a study can name a gap.
_MARK = secrets.token_hex(8)
_GAP = re.compile(rf"gap-([a-z_]+)-{_MARK}")


def gap(name: str) -> SafeString:
    """Return what stands for a value in a page that becomes a stencil: letters, digits, hyphens."""
    return mark_safe(f"gap-{name}-{_MARK}")  # noqa: S308 - nothing in it needs escaping


class Stencil:
    """A drawn page, cut at its gaps."""

    def __init__(self, drawn: str) -> None:
        # Text and names of gaps in turn.
        pieces = _GAP.split(drawn)
        self._texts, self._names = pieces[::2], pieces[1::2]

    def fill(self, values: Mapping[str, str]) -> str:
        """Return the page with ``values``, which are HTML, in its gaps."""
        filled = [self._texts[0]]
        for name, text in zip(self._names, self._texts[1:], strict=True):
            filled += values[name], text
        return "".join(filled)
