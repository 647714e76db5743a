"""A study with the people in it: what they do is done to the product and told to the model."""

from __future__ import annotations

import copy
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from annotation.models import SocialGroup, Study, Submission
from annotation.studies.place_counts import find_wrong_counts
from annotation.studies.quotas import count_quotas
from tests.annotation.survey.expected_visits import (
    FLOW,
    POSITIONS,
    REPEAT_POSITION,
    RESERVED,
    Effect,
    Expectation,
    Guest,
    Ledger,
)
from tests.annotation.survey.participants import Answer, InProcess
from tests.annotation.survey.sheets import Fields, Sheet, read_record, read_sheet

SCALES = ("cold-warm", "poor-wealthy")
GROUPS = ("elderly", "teenager", "veteran", "immigrant")
QUOTA = 2


class World:
    """``steps`` counts what people did, in all worlds together."""

    steps = 0

    def __init__(self, make_study: Callable[..., Study]) -> None:
        self.study = make_study(
            flow=FLOW,
            groups=GROUPS,
            scales=SCALES,
            quota_per_group=QUOTA,
            panel="prolific",
            reservation_minutes=RESERVED // timedelta(minutes=1),
        )
        plurals = SocialGroup.objects.filter(slug__in=GROUPS).values_list("slug", "plural")
        self.plurals = dict(plurals)
        self.ledger = Ledger(list(GROUPS), QUOTA)
        self.sheets: dict[int, list[Sheet]] = {}
        self.browser = InProcess()
        self.returns = self.arrivals = 0

    @property
    def now(self) -> datetime:
        return datetime.now(UTC)

    def find(self, who: int) -> Guest | None:
        guests = self.ledger.guests
        return guests[who % len(guests)] if guests else None

    def invite(self, habits: dict[str, Any]) -> Guest:
        self.arrivals += 1
        return Guest(len(self.ledger.guests), f"guest{self.arrivals}", **habits)

    def start(self, guest: Guest, browser: InProcess | None = None) -> Answer:
        """Open the panel's link and press the button, where there is one."""
        World.steps += 1
        browser = browser or self.browser
        link = f"{self.study.get_absolute_url()}?PROLIFIC_PID={guest.identity}&SESSION_ID=s"
        shown = browser.get(link)
        if shown.status != 200:
            return shown
        return browser.post(shown.page.action, dict(shown.page.fields))

    def send(self, guest: Guest, fields: Fields, browser: InProcess | None = None) -> Answer:
        World.steps += 1
        return (browser or self.browser).post(guest.path, fields)

    def admit(self, guest: Guest, answer: Answer) -> None:
        guest.number, guest.path = len(self.ledger.guests), answer.location
        self.ledger.guests.append(guest)
        self.sheets[guest.number] = []
        guest.record.groups = read_record(guest.path).groups
        given = self.list_groups(guest)
        assert guest.record.groups[REPEAT_POSITION] in (given[:-1] or given)
        guest.advance(0, self.now)

    def list_groups(self, guest: Guest) -> list[str]:
        groups = guest.record.groups
        return [groups[position] for position in sorted(groups) if position != REPEAT_POSITION]

    def load_page(self, guest: Guest) -> Sheet | None:
        """Load the visit's page, which must be the one that the model expects."""
        World.steps += 1
        answer = self.browser.get(guest.path)
        if guest.record.state == "withdrawn":
            assert (answer.status, answer.location) == (302, guest.path.replace("/r/", "/w/"))
            return None
        assert answer.status == 200
        page = answer.page
        if not guest.is_going or guest.is_lapsed(self.now):
            assert "step" not in page.fields
            assert ("return" in page.fields) == guest.is_going
            return None
        sheet = read_sheet(guest, page)
        assert (sheet.index, sheet.kind, sheet.group) == (
            guest.record.step,
            guest.kind,
            guest.group,
        )
        if sheet.page.lines:
            assert page.group == self.plurals[sheet.group]
        self.sheets[guest.number].append(sheet)
        return sheet

    def post(self, guest: Guest, sheet: Sheet, salt: int) -> None:
        """Send a page; it is taken if it is the current one, as the visit is by then."""
        fields, effect = sheet.filled[salt]
        is_here = self.is_at(guest, sheet)
        if is_here:
            answer = self.settle(guest, lambda: self.send(guest, fields))
        else:
            answer = self.send(guest, fields)
        is_taken = self.is_at(guest, sheet)
        has_moved = is_here and not is_taken and guest.is_going
        assert answer.status == (409 if has_moved else 302)
        if is_taken and sheet.number_of_try in {0, guest.tries + 1}:
            guest.take(effect, self.now)
        self.compare(guest)

    def settle(self, guest: Guest, act: Callable[[], Answer]) -> Answer:
        """Do what makes a lapsed visit take its places again, or others, or end."""
        if not guest.is_lapsed(self.now):
            return act()
        expected = self.ledger.expect_return(guest, self.now)
        answer = act()
        self.returns += 1
        if expected.result == "lost":
            guest.end("timed_out" if guest.record.ratings else "quota_full")
            return answer
        before, guest.record.groups = guest.record.groups, read_record(guest.path).groups
        self.check_changes(before, guest.record.groups, expected)
        step = guest.record.step
        if step is not None and POSITIONS.get(step) in expected.gone:
            guest.advance(step, self.now)
        else:
            guest.reserved_until = self.now + RESERVED
        return answer

    def check_changes(
        self, before: dict[int, str], after: dict[int, str], expected: Expectation
    ) -> None:
        """Groups that are gone have new ones that were free, as far as there are any."""
        own = {position: group for position, group in after.items() if position != REPEAT_POSITION}
        kept = {
            position: own.pop(position)
            for position in {1, 2} - {*expected.gone}
            if before.get(position)
        }
        assert kept == {position: before[position] for position in kept}
        assert sorted(own) == expected.gone[: expected.n_fresh]
        assert set(own.values()) <= expected.free - set(kept.values())
        assert len(set(own.values())) == len(own)
        if not expected.gone:
            assert after == before
            return
        held = [group for _, group in sorted((kept | own).items())]
        assert after[REPEAT_POSITION] in (held[:-1] or held)

    def follow_stored(self, guest: Guest, effects: list[Effect]) -> None:
        """Let the model follow the one of several simultaneous pages that was stored."""
        stored = read_record(guest.path)
        for effect in effects:
            taken = copy.deepcopy(guest)
            taken.take(effect, self.now)
            if taken.record == stored:
                guest.record, guest.tries = taken.record, taken.tries
                guest.reserved_until = taken.reserved_until
                break
        self.compare(guest)

    def is_at(self, guest: Guest, sheet: Sheet) -> bool:
        here = (guest.record.step, guest.group)
        return guest.is_going and here == (sheet.index, sheet.group)

    def compare(self, guest: Guest) -> None:
        """What is stored is what was taken, and no group has more people than places."""
        assert read_record(guest.path) == guest.record
        instrument = self.study.instruments.get()
        quotas = count_quotas(self.study, instrument=instrument)
        taken = {quota.group.slug: quota.taken for quota in quotas}
        assert taken == self.ledger.taken(self.now)
        assert max(taken.values()) <= QUOTA
        assert find_wrong_counts() == []
        mine = Submission.objects.filter(study=self.study)
        assert mine.count() == len(self.ledger.guests)
