"""Whatever people do with their pages, in whatever order: what is stored is what was taken.

A state machine draws the steps of a handful of participants of one small study, whose quotas are
hard and soon full. A model of its own (`expected_visits`) says what should be stored; after each
step the rows are compared with it, and at the end everybody must be able to finish.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,
)

from annotation.models import LateReturn, Rating, Study
from tests.annotation.survey.expected_visits import (
    KINDS,
    Guest,
)
from tests.annotation.survey.participants import InProcess
from tests.annotation.survey.sheets import spoil
from tests.annotation.survey.survey_world import QUOTA, SCALES, World
from tests.annotation.survey.test_concurrency import at_once
from tests.depth import DEEP

pytestmark = [pytest.mark.services, pytest.mark.slow]

MOST_GUESTS = 6
STEPS_EACH = 50
EXAMPLES, DEEP_EXAMPLES = 6, 50
DEEP_STEPS = 10_000
NEEDED = ("value-", "agree", "choice", "near", "group-name")
# In the suite always the same examples: whoever changes something else is not surprised.
DEPTH = settings(
    max_examples=DEEP_EXAMPLES if DEEP else EXAMPLES,
    stateful_step_count=STEPS_EACH,
    deadline=None,
    derandomize=not DEEP,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
WHO = st.integers(0, MOST_GUESTS - 1)
SALT = st.integers(0, 3)
HABITS = st.fixed_dictionaries(
    {
        **{
            name: st.booleans()
            for name in ("lukewarm", "forgets", "changes_their_mind", "careless", "hears_other")
        },
        "declines": st.sampled_from([False] * 5 + [True]),
        "wrong_tries": st.sampled_from([0, 0, 0, 1, 1, 2]),
    }
)


class SurveyMachine(RuleBasedStateMachine):
    """People in a study. ``make_study`` is set by the test."""

    make_study: Callable[..., Study]

    def __init__(self) -> None:
        super().__init__()
        self.clock = time_machine.travel(datetime(2026, 3, 2, 9, 0, tzinfo=UTC), tick=False)
        self.time = self.clock.start()
        self.world = World(type(self).make_study)
        self.ledger = self.world.ledger

    # --- what people do ---------------------------------------------------------------------------

    @rule(habits=HABITS)
    def arrive(self, habits: dict[str, Any]) -> None:
        if len(self.ledger.guests) == MOST_GUESTS:
            return
        guest = self.world.invite(habits)
        free = self.ledger.free(self.world.now)
        answer = self.world.start(guest)
        assert answer.status == (302 if free else 403)
        if not free:
            return
        self.world.admit(guest, answer)
        self.world.compare(guest)
        given = self.world.list_groups(guest)
        assert len(set(given)) == len(given) == min(2, len(free))
        assert set(given) <= free

    @rule(habits=st.lists(HABITS, min_size=2, max_size=3))
    def arrive_together(self, habits: list[dict[str, Any]]) -> None:
        guests = [
            self.world.invite(each) for each in habits[: MOST_GUESTS - len(self.ledger.guests)]
        ]
        if not guests:
            return
        n_free = sum(QUOTA - count for count in self.ledger.taken(self.world.now).values())
        answers = at_once(
            *[lambda one=guest: self.world.start(one, InProcess()) for guest in guests]
        )
        admitted = 0
        for guest, answer in zip(guests, answers, strict=True):
            assert answer.status in {302, 403}
            if answer.status == 302:
                self.world.admit(guest, answer)
                guest.is_elsewhere = True
                admitted += 1
        for guest in self.ledger.guests:
            self.world.compare(guest)
        assert (admitted > 0) == (n_free > 0)

    @rule(who=WHO)
    def arrive_again(self, who: int) -> None:
        """The panel's link once more: the same visit goes on, whatever has become of it."""
        if (guest := self.world.find(who)) is None:
            return
        if guest.is_elsewhere:  # a browser that did not start the visit changes nothing of it
            assert self.world.start(guest).status == 403
        else:
            answer = self.world.settle(guest, lambda: self.world.start(guest))
            assert (answer.status, answer.location) == (302, guest.path)
        self.world.compare(guest)

    @rule(who=WHO)
    def look(self, who: int) -> None:
        if (guest := self.world.find(who)) is not None:
            self.world.load_page(guest)

    @rule(who=WHO, salt=SALT)
    def answer(self, who: int, salt: int) -> None:
        guest = self.world.find(who)
        if guest is not None and (sheet := self.world.load_page(guest)) is not None:
            self.world.post(guest, sheet, salt)

    @rule(who=WHO, salt=SALT, pages=st.integers(2, 6))
    def answer_page_after_page(self, who: int, salt: int, pages: int) -> None:
        for _ in range(pages):
            self.answer(who=who, salt=salt)

    @rule(who=WHO, first=SALT, second=SALT)
    def answer_twice(self, who: int, first: int, second: int) -> None:
        """A double click, a lost answer sent again, or Back and other answers."""
        guest = self.world.find(who)
        if guest is not None and (sheet := self.world.load_page(guest)) is not None:
            self.world.post(guest, sheet, first)
            self.world.post(guest, sheet, second)

    @rule(who=WHO, which=st.integers(0, 30), salt=SALT)
    def answer_an_old_page(self, who: int, which: int, salt: int) -> None:
        """From another tab, or after going Back."""
        guest = self.world.find(who)
        if guest is not None and (sheets := self.world.sheets[guest.number]):
            self.world.post(guest, sheets[which % len(sheets)], salt)

    @rule(who=WHO)
    def answer_in_part(self, who: int) -> None:
        guest = self.world.find(who)
        if guest is None or (sheet := self.world.load_page(guest)) is None:
            return
        fields, _ = sheet.filled[0]
        needed = [name for name in fields if name.startswith(NEEDED)]
        if needed and not guest.declines:
            rest = {name: value for name, value in fields.items() if name != needed[-1]}
            assert self.world.send(guest, rest).status == 422
            self.world.compare(guest)

    @rule(who=WHO, how=st.sampled_from(["none", "forged", "twice", "foreign"]))
    def send_garbage(self, who: int, how: str) -> None:
        guest = self.world.find(who)
        if guest is None or not (sheets := self.world.sheets[guest.number]):
            return
        others = [
            pages[0]
            for number, pages in self.world.sheets.items()
            if number != guest.number and pages
        ]
        fields = spoil(sheets[-1].filled[1][0], how, others)
        if fields is not None:
            assert self.world.send(guest, fields).status == 400
            self.world.compare(guest)

    @rule(who=WHO, value=st.sampled_from(["101", "-1", "x", "", "5.5", "1e1", "٣"]))
    def send_impossible_ratings(self, who: int, value: str) -> None:
        guest = self.world.find(who)
        if guest is None or (sheet := self.world.load_page(guest)) is None or not sheet.page.lines:
            return
        fields, _ = sheet.filled[0]
        assert self.world.send(guest, fields | {f"value-{SCALES[1]}": value}).status == 422
        foreign = self.world.send(guest, fields | {"value-no-such-scale": "5"})
        assert foreign.status == 400
        self.world.compare(guest)

    @rule(who=WHO, salts=st.lists(SALT, min_size=2, max_size=3))
    def two_tabs_at_once(self, who: int, salts: list[int]) -> None:
        """One of the tabs is stored, all of it."""
        guest = self.world.find(who)
        if guest is None or (sheet := self.world.load_page(guest)) is None:
            return
        filled = [sheet.filled[salt] for salt in salts]
        tasks = [
            lambda sent=fields: self.world.send(guest, sent, InProcess()) for fields, _ in filled
        ]
        assert [answer.status for answer in at_once(*tasks)] == [302] * len(salts)
        self.world.follow_stored(guest, [effect for _, effect in filled])

    @rule(who=WHO)
    def press_return(self, who: int) -> None:
        if (guest := self.world.find(who)) is not None:
            answer = self.world.settle(guest, lambda: self.world.send(guest, {"return": "yes"}))
            assert answer.status == 302
            self.world.compare(guest)

    @rule(who=WHO, really=st.sampled_from([False, False, True]))
    def withdraw(self, who: int, really: bool) -> None:
        if (guest := self.world.find(who)) is None:
            return
        own = guest.path.replace("/r/", "/w/")
        World.steps += 1
        answer = self.world.browser.post(own, {"confirm": "yes"} if really else {})
        assert answer.status == (302 if really else 422)
        if really and guest.record.state != "withdrawn":
            guest.withdraw()
        self.world.compare(guest)

    @precondition(lambda self: any(guest.is_going for guest in self.ledger.guests))
    @rule(minutes=st.sampled_from([5, 20, 41]))
    def let_time_pass(self, minutes: int) -> None:
        self.time.shift(timedelta(minutes=minutes))

    # --- the end ----------------------------------------------------------------------------------

    def teardown(self) -> None:
        try:
            for guest in self.ledger.guests:
                self._finish(guest)
            for guest in self.ledger.guests:
                self.world.compare(guest)
            mine = Rating.objects.filter(assignment__submission__study=self.world.study)
            assert mine.count() == sum(len(guest.record.ratings) for guest in self.ledger.guests)
            assert (
                LateReturn.objects.filter(submission__study=self.world.study).count()
                == self.world.returns
            )
        finally:
            self.clock.stop()

    def _finish(self, guest: Guest) -> None:
        """Whoever is on their way gets to an end."""
        for _ in range(len(KINDS) + 3):
            if not guest.is_going:
                return
            if guest.is_lapsed(self.world.now):
                self.press_return(guest.number)
            else:
                self.answer(who=guest.number, salt=0)
        raise AssertionError(f"stuck at {guest.kind}: {guest}")


def test_any_order_of_steps_stores_what_was_taken(shared_database: str, make_study: Any) -> None:
    machine = type("Survey", (SurveyMachine,), {"make_study": staticmethod(make_study)})
    World.steps = 0
    while True:
        run_state_machine_as_test(machine, settings=DEPTH)
        print(f"{World.steps:,} client steps")
        if not DEEP or World.steps >= DEEP_STEPS:
            break
