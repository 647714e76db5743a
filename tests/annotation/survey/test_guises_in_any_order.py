"""Nobody meets both guises of a pair, whatever people do, in whatever order.

People of a small study with hard quotas start, read, answer, let their places lapse, come back and
withdraw, as hypothesis draws it. What they meet is read off the pages that they were shown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from annotation.models import LateReturn, QuotaRule, Study, Submission, Text
from annotation.studies.quotas import count_quotas
from tests.annotation.survey.guises import find_shown, make_guise_study, make_pairs
from tests.annotation.survey.participants import InProcess, Person, spread
from tests.depth import DEEP, examples

pytestmark = [pytest.mark.django_db, pytest.mark.services]

QUOTA, MOST = 2, 6
WHO = st.integers(0, MOST - 1)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(("start", "start", "answer", "answer", "look", "lapse", "leave")), WHO
    ),
    min_size=10,
    max_size=40,
)
DEPTH = settings(
    max_examples=examples(12, 400),
    deadline=None,
    derandomize=not DEEP,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@dataclass
class World:
    study: Study
    texts: dict[str, Text]
    people: list[Person] = field(default_factory=list)
    met: list[set[str]] = field(default_factory=list)

    def submission(self, who: int) -> Submission:
        return Submission.objects.get(token=self.people[who].path.strip("/").split("/")[1])

    def do(self, action: str, who: int) -> None:
        if action == "start" or not self.people:
            self.start()
            return
        who %= len(self.people)
        match action:
            case "answer":
                self.answer(who)
            case "look":
                self.look(who)
            case "lapse":
                Submission.objects.filter(pk=self.submission(who).pk).update(
                    reserved_until=timezone.now() - timedelta(minutes=1)
                )
            case "leave":
                own = self.people[who].path.replace("/r/", "/w/")
                self.people[who].connection.post(own, {"confirm": "yes"})

    def start(self) -> None:
        person = Person(InProcess(), spread)
        if len(self.people) < MOST and person.start(self.study.get_absolute_url()).status == 302:
            self.people.append(person)
            self.met.append(set())
            self.look(len(self.people) - 1)

    def look(self, who: int):  # type: ignore[no-untyped-def]
        """Load the person's page, and note the text that stands on it."""
        answer = self.people[who].see()
        if answer.status != 200:
            return None
        page = answer.page
        if page.lines:
            shown = find_shown(page.text, self.texts)
            assert shown
            self.met[who].add(shown)
        return page

    def answer(self, who: int) -> None:
        page = self.look(who)
        if page is None:
            return
        person = self.people[who]
        if "return" in page.fields:
            person.connection.post(person.path, {"return": "yes"})
        elif page.fields.get("step"):
            person.send(page)
        self.look(who)

    def check(self) -> None:
        item_of = {slug: slug.split("-")[0] for slug in self.texts}
        for met in self.met:
            assert len({item_of[slug] for slug in met}) == len(met), sorted(met)
        quotas = count_quotas(self.study, instrument=self.study.instruments.get())
        assert all(quota.taken <= QUOTA for quota in quotas) or (
            self.study.quota_rule == QuotaRule.SOFT
        )


@DEPTH
@given(steps=STEPS, rule=st.sampled_from(("hard", "hard", "soft")))
def test_nobody_meets_both_guises_of_a_pair(steps: list[tuple[str, int]], rule: str) -> None:
    with transaction.atomic():
        study = make_guise_study(
            make_pairs(4),
            quota_per_group=QUOTA,
            quota_rule=rule,
            flow=["rating", "rating", "rating", "repeat"],
        )
        world = World(study, {text.slug: text for text in Text.objects.all()})
        for action, who in steps:
            world.do(action, who)
            world.check()
        transaction.set_rollback(True)


def test_a_text_that_was_read_and_lost_is_not_followed_by_its_other_guise() -> None:
    """A visit lapses on its page, somebody takes the text; its other guise has a place."""
    for _ in range(6):
        study = make_guise_study(make_pairs(2), quota_per_group=1, flow=["rating"])
        world = World(study, {text.slug: text for text in Text.objects.all()})
        world.start()
        world.do("lapse", 0)
        first = world.submission(0).assignments.get()
        world.start()
        world.submission(1).assignments.update(group=first.group, item=first.item)
        world.answer(0)
        world.check()
        assert LateReturn.objects.get(submission=first.submission).result == "changed"
        assert world.submission(0).assignments.get().item != first.item
