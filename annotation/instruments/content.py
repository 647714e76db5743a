"""The content of an instrument as pages read it; of a frozen one it is kept in memory.

A frozen instrument never changes, so that every process may keep what it has read of it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from datetime import datetime
from functools import lru_cache
from typing import TypeVar

from django.utils.functional import cached_property

from annotation.instruments.arms import Arm, read_arms
from annotation.instruments.files import list_files
from annotation.instruments.flow import Step, parse_flow
from annotation.models import DemographicQuestion, Instrument, StudyFile, StudyGroup, TraitScale

MOST_KEPT = 64
T = TypeVar("T")


class Content:
    """The parts of one instrument, each read once. Shared between visits: nobody may change it."""

    def __init__(self, instrument: Instrument) -> None:
        self.instrument = instrument
        self._kept: dict[Hashable, object] = {}

    def keep(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what ``make`` has made of the content for ``key``, which says all that it knows
        besides."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]  # type: ignore[return-value]  # what `make` returned for the key

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        return parse_flow(self.instrument.flow)

    @cached_property
    def groups(self) -> dict[int, StudyGroup]:
        """Groups by primary key, in their order."""
        return {group.pk: group for group in self.instrument.groups.all()}

    @cached_property
    def scales(self) -> tuple[TraitScale, ...]:
        return tuple(self.instrument.scales.all())

    @cached_property
    def questions(self) -> tuple[DemographicQuestion, ...]:
        return tuple(self.instrument.questions.all())

    @cached_property
    def arms(self) -> dict[str, Arm]:
        """The arms by name, empty where everybody gets the same."""
        return read_arms(self.instrument.arms)

    @cached_property
    def files(self) -> dict[str, StudyFile]:
        """The study's pictures and sounds by digest, without their content."""
        files = list_files(self.instrument.study).select_related("study")
        return {file.digest: file for file in files}

    @cached_property
    def languages(self) -> list[str]:
        """The languages in which it can be read, its main one first."""
        own = self.instrument.language
        return [own, *sorted(set(self.wordings) - {own})]

    @cached_property
    def wordings(self) -> dict[str, dict[str, str]]:
        """Texts by language and key."""
        texts: dict[str, dict[str, str]] = {}
        for row in self.instrument.wordings.all():
            texts.setdefault(row.language, {})[row.key] = row.text
        return texts

    def wording_in(self, language: str, arm: str = "") -> dict[str, str]:
        """Return texts by key in ``language``, in the instrument's own where one is missing.

        Those of the arm stand in place of the others.
        """
        main = self.instrument.language
        words = self.wordings.get(main, {}) | self.wordings.get(language, {})
        return words | self.arms[arm].words_in(language, main) if arm in self.arms else words


def load_content(instrument: Instrument) -> Content:
    """Return an instrument's content. No query for a frozen one that was met before."""
    if instrument.frozen_at is None:
        return Content(instrument)
    return load_frozen(instrument.pk, instrument.content_hash, instrument.frozen_at)


@lru_cache(maxsize=MOST_KEPT)
def load_frozen(pk: int, content_hash: str, frozen_at: datetime) -> Content:
    """Return a frozen instrument’s content, with the instrument. No query if met before."""
    # The hash and the moment stand for the content: a key that a restored database uses again for
    # another instrument does not find this one.
    return Content(Instrument.objects.get(pk=pk))
