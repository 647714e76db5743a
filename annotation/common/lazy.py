"""Libraries, and entries of our registries, that are imported when something of them is first used.

Commands, workers and web processes start without them: a library takes tens of megabytes and a good
part of a second, our kinds of reports and measures together another, and most pages need none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar

__all__ = ["LazyRegistry", "httpx", "jwt", "np", "npt", "pd", "sparse", "stats"]

T = TypeVar("T")


class LazyModule:
    """Stands for a module; what is asked of it is kept, so that only the first time costs."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        found = getattr(import_module(self._name), attribute)
        setattr(self, attribute, found)
        return found


class LazyRegistry(Mapping[str, T], Generic[T]):
    """One object per class, by the object's ``name``; a class is imported when first asked for.

    Parameters
    ----------
    package : all classes lie below
    places : “module.Class” of each, by name. The names are known without an import.
    """

    def __init__(self, package: str, places: Mapping[str, str]) -> None:
        self._package = package
        self._places = dict(places)
        self._made: dict[str, T] = {}

    def add(self, name: str, place: str) -> None:
        self._places[name] = place

    def __getitem__(self, name: str) -> T:
        if name not in self._made:
            module, _, attribute = self._places[name].rpartition(".")
            self._made[name] = getattr(import_module(f"{self._package}.{module}"), attribute)()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places


if TYPE_CHECKING:
    import httpx
    import jwt
    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    from scipy import sparse, stats
else:
    httpx, jwt = map(LazyModule, ("httpx", "jwt"))
    np, npt, pd = map(LazyModule, ("numpy", "numpy.typing", "pandas"))
    sparse, stats = map(LazyModule, ("scipy.sparse", "scipy.stats"))
