"""Sets of groups over HTTP, and the paired groups that are made of them."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission

from annotation.models import GroupSet, SocialGroup

pytestmark = [pytest.mark.django_db, pytest.mark.services]


@pytest.fixture
def few(db) -> GroupSet:
    found = GroupSet.objects.create(slug="few", title="Few")
    found.groups.set(SocialGroup.objects.filter(slug__in=["teenager", "wealthy"]))
    return found


def test_a_set_is_listed_with_its_groups(api, bob, few):
    listed = api(bob).get("/api/v1/group-sets/").json()["results"]
    assert {"slug": "few", "title": "Few", "n_groups": 2} in listed
    groups = api(bob).get("/api/v1/group-sets/few/").json()["groups"]
    assert {group["slug"] for group in groups} == {"teenager", "wealthy"}


def test_whoever_may_add_sets_makes_the_paired_groups(api, alice, few):
    address = "/api/v1/group-sets/few/pairs/"
    assert api(alice).post(address).status_code == 403
    alice.user_permissions.add(Permission.objects.get(codename="add_groupset"))
    client = api(type(alice).objects.get(pk=alice.pk))
    answer = client.post(address)
    assert (answer.status_code, answer.json()["slug"]) == (200, "few-paired")
    made = set(GroupSet.objects.get(slug="few-paired").groups.values_list("slug", flat=True))
    assert made == {"teenager--wealthy", "wealthy--teenager"}
    assert answer.json()["n_created"] == 2
    again = client.post(address).json()
    assert (again["n_groups"], again["n_created"]) == (2, 0)


def test_a_set_that_allows_no_pair_says_what_it_needs(api, alice, few):
    alice.user_permissions.add(Permission.objects.get(codename="add_groupset"))
    few.groups.set([])
    answer = api(type(alice).objects.get(pk=alice.pk)).post("/api/v1/group-sets/few/pairs/")
    assert answer.status_code == 400
    assert "needs two groups" in answer.content.decode()
