"""How deep property tests dig: few examples in the suite, many where they are asked for.

``make model-test`` asks for many.
"""

from __future__ import annotations

import os

DEEP = os.environ.get("STEREOSCOPE_TESTS_DEEP") == "1"


def examples(few: int, many: int) -> int:
    """Return how many examples a property test draws."""
    return many if DEEP else few
