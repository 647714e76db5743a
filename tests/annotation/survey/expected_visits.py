"""What a survey should hold, told apart from the product: a small model of visits and quotas.

It knows one flow, `FLOW`, and nothing of the product's code. A test feeds it with what people do
and compares its records with the rows in the database.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from tests.annotation.survey.flows import choice, comprehension, free_text, instructed

FLOW: list[Any] = [
    "consent",
    "instructions",
    comprehension(on_failure="screen_out"),
    "rating",
    "group_name",
    "rating",
    "marked_traits",
    choice(),
    free_text(show_if={"step": "heard", "is": "other"}),
    "repeat",
    instructed(),
    "demographics",
    "debrief",
]
KINDS = [item if isinstance(item, str) else item["kind"] for item in FLOW]
CONSENT, COMPREHENSION, MARKED_TRAITS = 0, 2, 6
# Places among the rating pages, by step.
POSITIONS = {3: 1, 4: 1, 5: 2, 6: 2, 9: 3}
REPEAT_POSITION = 3
# The study's own thresholds: at 60 or more, or at 40 or less, a rating is marked.
HIGH_FROM, LOW_TO = 60, 40
RESERVED = timedelta(minutes=40)


@dataclass
class Record:
    """What is stored of one visit. ``step`` is None once it has ended in any way."""

    state: str = "in_progress"
    outcome: str = ""
    step: int | None = 0
    groups: dict[int, str] = field(default_factory=dict)
    ratings: dict[tuple[int, str, str], int] = field(default_factory=dict)
    checks: dict[int, tuple[str, bool | None]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    age: int | None = None
    pages: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Effect:
    """What one page stores if it is taken."""

    ratings: dict[str, int] = field(default_factory=dict)
    check: bool | None = None
    text: tuple[str, str] | None = None
    age: int | None = None
    declines: bool = False
    is_elsewhere: bool = False


@dataclass
class Guest:
    """Somebody with habits, and the record that their visit should have."""

    number: int
    identity: str = ""
    lukewarm: bool = False
    forgets: bool = False
    changes_their_mind: bool = False
    careless: bool = False
    hears_other: bool = False
    declines: bool = False
    is_elsewhere: bool = False
    wrong_tries: int = 0
    path: str = ""
    tries: int = 0
    reserved_until: datetime | None = None
    record: Record = field(default_factory=Record)

    @property
    def is_going(self) -> bool:
        return self.record.state == "in_progress"

    @property
    def kind(self) -> str:
        return "" if self.record.step is None else KINDS[self.record.step]

    @property
    def group(self) -> str:
        """The group of the current step, "" for none."""
        position = POSITIONS.get(-1 if self.record.step is None else self.record.step, 0)
        return self.record.groups.get(position, "")

    def is_lapsed(self, now: datetime) -> bool:
        return self.is_going and self.reserved_until is not None and self.reserved_until <= now

    def rate(self, group: str, scale: str, salt: int) -> int:
        """Return a rating that tells person, group, scale and attempt apart, in most cases."""
        text = f"{self.number}/{group}/{scale}/{salt}"
        drawn = hashlib.sha256(text.encode()).digest()[0]
        if self.lukewarm:
            return 45 + drawn % 11
        return 3 + drawn % 17 if drawn % 2 else 81 + drawn % 17

    def rate_again(self, group: str, scale: str) -> int:
        """Return the rating of the repeated group: the first one, or one far from it."""
        first = self.find_rating(group, scale)
        if not self.changes_their_mind:
            return first
        return 95 if first < 50 else 5

    def find_rating(self, group: str, scale: str) -> int:
        return next(
            value
            for (position, rated, line), value in self.record.ratings.items()
            if (rated, line) == (group, scale) and position != REPEAT_POSITION
        )

    def take(self, effect: Effect, now: datetime) -> None:
        """Take the current page: store what it says and go on to the next one."""
        record, step = self.record, self.record.step
        assert step is not None
        if KINDS[step] == "comprehension":
            self.tries += 1
            record.checks[step] = (KINDS[step], effect.check)
            if not effect.check and self.tries == 1:
                record.checks[step] = (KINDS[step], None)
                return
        elif effect.check is not None:
            kind = "repeated_group" if KINDS[step] == "repeat" else KINDS[step]
            record.checks[step] = (kind, effect.check)
        for scale, value in effect.ratings.items():
            record.ratings[POSITIONS[step], self.group, scale] = value
        if effect.text is not None:
            record.texts[effect.text[0]] = effect.text[1]
        record.age = effect.age if effect.age is not None else record.age
        record.pages.append(step)
        if effect.declines:
            self.end("no_consent")
        elif KINDS[step] == "comprehension" and not effect.check:
            self.end("screened_out")
        else:
            self.advance(step + 1, now)

    def advance(self, to: int, now: datetime) -> None:
        self.reserved_until = now + RESERVED
        for step in range(to, len(KINDS)):
            if self._is_asked(step):
                self.record.step = step
                return
        failed = any(passed is False for _, passed in self.record.checks.values())
        self.record.state, self.record.step = "finished", None
        self.record.outcome = "failed_check" if failed else "completed"

    def end(self, outcome: str) -> None:
        self.record.state, self.record.outcome, self.record.step = "ended", outcome, None

    def withdraw(self) -> None:
        kept = self.record
        self.record = Record("withdrawn", kept.outcome, None, kept.groups)

    def _is_asked(self, step: int) -> bool:
        record = self.record
        if step in POSITIONS and POSITIONS[step] not in record.groups:
            return False
        if KINDS[step] == "free_text":
            return record.texts.get("heard") == "other"
        if step == MARKED_TRAITS:
            values = [value for (place, _, _), value in record.ratings.items() if place == 2]
            if all(LOW_TO < value < HIGH_FROM for value in values):
                record.checks[step] = (KINDS[step], None)
                return False
        return True


@dataclass
class Expectation:
    """What coming back late leads to; ``gone`` are positions whose group is lost."""

    result: str
    gone: list[int]
    n_fresh: int
    free: set[str]


@dataclass
class Ledger:
    """All guests of one study, and its places: ``quota`` for each group, never more."""

    groups: list[str]
    quota: int
    guests: list[Guest] = field(default_factory=list)

    def taken(self, now: datetime) -> dict[str, int]:
        """Count the places that are filled or held, by group."""
        counts = dict.fromkeys(self.groups, 0)
        for guest in self.guests:
            record = guest.record
            holds = guest.is_going and not guest.is_lapsed(now)
            fills = record.state == "finished" and record.outcome == "completed"
            if holds or fills:
                for position, group in record.groups.items():
                    counts[group] += position != REPEAT_POSITION
        return counts

    def free(self, now: datetime) -> set[str]:
        return {group for group, count in self.taken(now).items() if count < self.quota}

    def expect_return(self, guest: Guest, now: datetime) -> Expectation:
        """Return what becomes of a lapsed visit."""
        free = self.free(now)
        held = {p: g for p, g in guest.record.groups.items() if p != REPEAT_POSITION}
        gone = sorted(position for position, group in held.items() if group not in free)
        rated = {position for position, _, _ in guest.record.ratings}
        n_fresh = min(len(gone), len(free - set(held.values())))
        if rated & set(gone) or (len(gone) == len(held) and not n_fresh):
            return Expectation("lost", gone, 0, free)
        return Expectation("changed" if gone else "kept", gone, n_fresh, free)
