"""The field that nobody sees: filled by programs, and never a reason to lose answers or pay."""

from __future__ import annotations

import re

import pytest

from annotation.models import PageEvent, Submission
from annotation.studies.quality import FlagName, assess_submissions
from tests.annotation.survey.flows import free_text
from tests.annotation.survey.participants import Person

pytestmark = pytest.mark.django_db


def test_the_field_is_hidden_from_people_in_every_way(person: Person) -> None:
    html = person.see().html
    field = re.search(r'<div class="beside" aria-hidden="true">.*?</div>', html, re.DOTALL)
    assert field is not None
    assert 'tabindex="-1"' in field[0]
    assert 'autocomplete="off"' in field[0]
    assert "style=" not in field[0]


def test_a_filled_field_is_a_flag_and_its_content_is_not_kept(make_study, make_person) -> None:
    study = make_study(flow=["consent", "rating", "rating", free_text()])
    person = make_person()
    person.start(study.get_absolute_url())
    assert person.send(person.see().page, website="https://spam.example").status == 302
    event = PageEvent.objects.get()
    assert event.client == {"hidden_field": True}
    person.go_on()
    submission = Submission.objects.get()
    assert submission.state == "finished"
    assert (submission.data_decision, submission.pay_decision) == ("waiting", "waiting")
    found = assess_submissions([submission])[submission.pk]
    assert FlagName.HIDDEN_FIELD in {flag.name for flag in found.flags}


@pytest.mark.parametrize("value", ["", "   "])
def test_an_empty_field_is_nothing(person: Person, value: str) -> None:
    person.send(person.see().page, website=value)
    assert PageEvent.objects.get().client == {}
