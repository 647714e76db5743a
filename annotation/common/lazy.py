"""Libraries of numbers that are imported when something of them is first used.

Commands, workers and web processes start without them: each takes tens of megabytes and a good part
of a second, and pages and `--help` need none of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["np", "npt", "pd", "stats"]


class LazyModule:
    """Stands for a module; what is asked of it is kept, so that only the first time costs."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        found = getattr(import_module(self._name), attribute)
        setattr(self, attribute, found)
        return found


if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    from scipy import stats
else:
    np, npt, pd, stats = map(LazyModule, ("numpy", "numpy.typing", "pandas", "scipy.stats"))
