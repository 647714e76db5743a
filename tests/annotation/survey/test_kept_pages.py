"""Pages that are drawn once for all visits: everybody sees their own, and what is true now."""

from __future__ import annotations

import pytest
from django.utils.safestring import SafeString

from annotation.instruments.content import load_frozen
from annotation.models import Study, Submission
from annotation.survey.stencil import Stencil, gap
from tests.annotation.survey.flows import every_kind

pytestmark = pytest.mark.django_db


def test_a_stencil_fills_each_gap_wherever_it_is() -> None:
    stencil = Stencil(f"<a href='{gap('token')}'>{gap('name')}</a> {gap('token')}.")
    assert stencil.fill({"token": "t1", "name": "A & B"}) == "<a href='t1'>A & B</a> t1."
    assert Stencil("nothing to fill").fill({}) == "nothing to fill"
    assert isinstance(gap("token"), SafeString)


def test_two_visits_share_no_more_than_the_instrument(make_study, make_person) -> None:  # type: ignore[no-untyped-def]
    study: Study = make_study(flow=every_kind())
    people = [make_person(), make_person()]
    for person in people:
        person.start(study.get_absolute_url())
    while not all("data-finished" in person.see().html for person in people):
        shown = [person.see().html for person in people]
        for person, html in zip(people, shown, strict=True):
            # As it is drawn for this visit alone, in a process that has kept nothing.
            load_frozen.cache_clear()
            assert person.see().html == html
            (own,) = Submission.objects.filter(token=person.path.strip("/").split("/")[-1])
            (other,) = Submission.objects.exclude(pk=own.pk)
            assert own.token in html
            assert other.token not in html
            assert other.public_id not in html
            page = person.see().page
            chosen = {"choice": page.options["choice"][1]} if "choice" in page.options else {}
            assert person.send(page, text="A text.", **chosen).status == 302


def test_what_a_study_changes_shows_at_once(study: Study, person) -> None:  # type: ignore[no-untyped-def]
    assert "lab@example.org" in person.see().html
    assert "About 5 minutes" not in person.see().html
    Study.objects.update(
        contact_email="new@example.org", estimated_minutes=5, ethics_reference="REB-77"
    )
    html = person.see().html
    assert "mailto:new@example.org" in html
    assert "About 5 minutes" in html
    assert "REB-77" in html
    assert "lab@example.org" not in html
