"""Wait for what another thread or process does, as long as it may take on a busy machine."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_SECONDS = 120.0


def wait_until(
    condition: Callable[[], object],
    *,
    seconds: float = PATIENCE_SECONDS,
    explain: Callable[[], object] = str,
    pause: Callable[[float], object] = time.sleep,
) -> None:
    """Return once ``condition`` holds; fail where it does not in time, with an explanation.

    pause : lets some seconds go by; what a browser reports needs a pause of its own
    """
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds:g} s {explain()}"
        pause(0.01)
