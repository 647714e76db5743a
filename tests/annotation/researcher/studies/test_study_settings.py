"""What a study is made with and changed to, what is refused, and the history of both."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotation.models import SocialGroup, Study
from tests.annotation.researcher.conftest import log_in
from tests.annotation.researcher.studies.study_pages import (
    new_study_values,
    overview,
    settings_values,
)
from tests.annotation.studies.people import make_study

pytestmark = pytest.mark.django_db


def test_a_new_study_is_a_draft_of_its_creator_with_the_chosen_content(alice: User) -> None:
    response = log_in(alice).post(reverse("admin:annotation_study_add"), new_study_values())
    study = Study.objects.get()
    assert response["Location"] == overview(study)
    assert (study.owner, study.status, study.currency) == (alice, "draft", "GBP")
    assert (study.quota_per_group, study.panel, study.reward_cents) == (12, "prolific", 250)
    instrument = study.instruments.get()
    assert {group.slug for group in instrument.groups.all()} == {
        "woman",
        "man",
        "veteran",
        "teenager",
        "average",
    }
    assert instrument.scales.count() == 6
    assert (instrument.scale_order, instrument.pole_sides) == ("fixed", "fixed")
    assert instrument.show_ticks


@pytest.mark.parametrize("kind", ["group_rating", "guise_rating"])
def test_a_new_study_is_offered_sides_for_each_scale_by_itself(alice: User, kind: str) -> None:
    address = f"{reverse('admin:annotation_study_add')}?kind={kind}"
    page = log_in(alice).get(address).content.decode()
    sides = page.partition('name="pole_sides"')[2].partition("</select>")[0]
    assert re.findall(r'value="(\w+)"\s+selected', sides) == ["per_scale"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"title": ""}, "This field is required."),
        ({"contact_email": "nobody"}, "Enter a valid email address."),
        ({"quota_per_group": 0}, "greater than or equal to 1"),
        ({"currency": "$"}, "Enter three letters such as USD, not “$”."),
        (
            {"single_groups": []},
            "Choose at least 4 groups, one for each rating page.",
        ),
        ({"trait_pairs": []}, "This field is required."),
        ({"single_groups": [999_999]}, "not one of the available choices"),
    ],
)
def test_a_wrong_study_is_refused_at_the_field_and_nothing_is_stored(
    alice: User, changes: dict[str, object], expected: str
) -> None:
    response = log_in(alice).post(
        reverse("admin:annotation_study_add"), new_study_values(**changes)
    )
    assert response.status_code == 200
    assert expected in response.content.decode().replace("&quot;", '"')
    assert not Study.objects.exists()


def test_settings_can_be_changed_while_live_but_not_panel_and_currency(
    study: Study, alice: User
) -> None:
    address = reverse("admin:annotation_study_change", args=[study.pk])
    values = settings_values(study, panel="prolific", currency="EUR", code_completed="C1ABC")
    response = log_in(alice).post(address, values)
    assert response.status_code == 302, response.context["adminform"].form.errors
    study.refresh_from_db()
    assert (study.quota_per_group, study.quota_rule, study.reward_cents) == (30, "soft", 300)
    assert (study.panel, study.currency) == ("link", "USD")
    assert study.completion_codes["completed"] == "C1ABC"


def test_a_completion_code_that_no_panel_would_take_is_refused(study: Study, alice: User) -> None:
    before = dict(study.completion_codes)
    address = reverse("admin:annotation_study_change", args=[study.pk])
    response = log_in(alice).post(address, settings_values(study, code_completed="a b"))
    assert response.status_code == 200
    assert (
        "Enter 1 to 40 letters, digits, hyphens or underscores, not “a b”"
        in response.content.decode()
    )
    study.refresh_from_db()
    assert study.completion_codes == before


def test_only_an_empty_draft_can_be_deleted(alice: User) -> None:
    draft = make_study(owner=alice, launched=False)
    live = make_study(owner=alice)
    client = log_in(alice)
    for study in (draft, live):
        client.post(reverse("admin:annotation_study_delete", args=[study.pk]), {"post": "yes"})
    assert list(Study.objects.all()) == [live]


def test_edits_are_kept_in_the_history(study: Study, alice: User) -> None:
    client = log_in(alice)
    client.post(reverse("admin:annotation_study_change", args=[study.pk]), settings_values(study))
    newest = study.history.first()
    assert newest is not None
    assert (newest.history_user, newest.quota_per_group) == (alice, 30)
    page = client.get(reverse("admin:annotation_study_history", args=[study.pk]))
    assert "alice" in page.content.decode()


def test_the_library_keeps_a_slug_and_the_history_of_edits() -> None:
    root = User.objects.create_superuser("root")
    group = SocialGroup.objects.get(slug="veteran")
    client = log_in(root)
    response = client.post(
        reverse("admin:annotation_socialgroup_change", args=[group.pk]),
        {
            "slug": "other",
            "singular": "veteran",
            "plural": "US veterans",
            "plural_capitalised": "US veterans",
            "domains": ["socioeconomic"],
            "component_links-TOTAL_FORMS": 0,
            "component_links-INITIAL_FORMS": 0,
        },
    )
    assert response.status_code == 302
    group.refresh_from_db()
    assert (group.slug, group.plural) == ("veteran", "US veterans")
    page = client.get(reverse("admin:annotation_socialgroup_history", args=[group.pk]))
    assert "root" in page.content.decode()
