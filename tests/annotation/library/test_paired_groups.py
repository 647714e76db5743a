"""Paired groups: their grammar, what is left out, and how they are stored."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.test import Client

from annotation.library.abc_model import EXCLUDED_PAIRS, FURTHER_GROUPS, HUMAN_STUDY_GROUPS
from annotation.library.paired_groups import create_paired_groups, pair_groups, plan_pairs
from annotation.models import GroupExclusion, GroupSet, SocialGroup

TABLE_3 = (*HUMAN_STUDY_GROUPS, *FURTHER_GROUPS)


def entries(*slugs: str) -> list:
    return [entry for entry in TABLE_3 if entry.slug in slugs]


def test_both_orders_are_named_as_in_the_paper() -> None:
    """Cao et al. (2022), §5.2: “Asian teenager” and “teenage Asian person”."""
    named = {pair.singular for pair in pair_groups(entries("asian", "teenager"))}
    assert named == {"Asian teenager", "teenage Asian person"}


def test_every_surface_form_fits_its_place() -> None:
    pair = next(p for p in pair_groups(entries("teenager", "asian")) if p.first == "teenager")
    assert (pair.slug, pair.plural, pair.plural_capitalised, pair.domains) == (
        "teenager--asian",
        "teenage Asian people",
        "Teenage Asian people",
        ("age", "race"),
    )


def test_a_group_without_a_modifier_never_comes_first() -> None:
    """The paper leaves out “doctor elderly person” as awkward."""
    named = [pair.singular for pair in pair_groups(entries("doctor", "elderly"))]
    assert named == ["elderly doctor"]


def test_table_3_has_eight_domains_of_the_printed_sizes() -> None:
    """Counted in Table 3: 7 gender, 5 race, 10 religion, 8 socio-economic, 2, 5, 2 and 14."""
    sizes: dict[str, int] = {}
    for entry in TABLE_3:
        sizes[entry.domains[0]] = sizes.get(entry.domains[0], 0) + 1
    assert sizes == {
        "gender": 7,
        "race": 5,
        "religion": 10,
        "socioeconomic": 8,
        "age": 2,
        "disability": 5,
        "politics": 2,
        "nationality": 14,
    }


def test_every_exclusion_names_two_groups_of_table_3() -> None:
    known = {entry.slug for entry in TABLE_3}
    for first, second, reason in EXCLUDED_PAIRS:
        assert {first, second} <= known
        assert first != second
        assert reason


@pytest.mark.django_db
def test_the_library_holds_the_published_sets() -> None:
    sizes = {entry.slug: entry.groups.count() for entry in GroupSet.objects.all()}
    assert sizes == {
        "cao-2022-human-study": 25,
        "cao-2022-table-3": 53,
        "cao-2022-released": 51,
    }
    released = GroupSet.objects.get(slug="cao-2022-released").groups
    assert released.filter(singular="gay man").exists()
    assert not released.filter(slug__in=["protestant", "hindu"]).exists()


@pytest.mark.django_db
def test_all_pairs_of_table_3_become_groups_with_components() -> None:
    made = create_paired_groups(group_set=GroupSet.objects.get(slug="cao-2022-table-3"))
    assert made.n_groups == made.n_created > 2000
    group = SocialGroup.objects.get(slug="asian--teenager")
    assert group.plural == "Asian teenagers"
    components = group.component_links.values_list("component__slug", flat=True)
    assert list(components) == ["asian", "teenager"]
    assert made.group_set.groups.count() == made.n_groups


@pytest.mark.django_db
def test_an_excluded_pair_is_left_out_in_both_orders_and_comes_back_when_allowed() -> None:
    group_set = GroupSet.objects.get(slug="cao-2022-human-study")
    slugs = {pair.slug for pair in plan_pairs(group_set=group_set)}
    assert not slugs & {"teenager--elderly", "elderly--teenager"}
    GroupExclusion.objects.filter(first__slug="elderly", second__slug="teenager").delete()
    GroupExclusion.objects.filter(first__slug="teenager", second__slug="elderly").delete()
    slugs = {pair.slug for pair in plan_pairs(group_set=group_set)}
    assert slugs >= {"teenager--elderly", "elderly--teenager"}


@pytest.mark.django_db
def test_creating_pairs_again_keeps_edits_and_follows_the_set() -> None:
    group_set = GroupSet.objects.get(slug="cao-2022-human-study")
    create_paired_groups(group_set=group_set)
    SocialGroup.objects.filter(slug="asian--woman").update(singular="Asian lady")
    group_set.groups.remove(SocialGroup.objects.get(slug="man"))
    again = create_paired_groups(group_set=group_set)
    assert again.n_created == 0
    assert SocialGroup.objects.get(slug="asian--woman").singular == "Asian lady"
    assert not again.group_set.groups.filter(slug="asian--man").exists()


@pytest.mark.django_db
def test_a_set_that_allows_no_pair_says_so() -> None:
    group_set = GroupSet.objects.create(slug="alone", title="Alone")
    group_set.groups.add(SocialGroup.objects.get(slug="doctor"))
    with pytest.raises(ValidationError, match="“Alone” allows no paired group"):
        create_paired_groups(group_set=group_set)


@pytest.mark.django_db
def test_an_exclusion_is_stored_once_whichever_way_it_was_entered() -> None:
    cuban, deaf = (SocialGroup.objects.get(slug=slug) for slug in ("cuban", "deaf"))
    GroupExclusion.objects.create(first=cuban, second=deaf, reason="a test")
    with pytest.raises(IntegrityError), transaction.atomic():
        GroupExclusion.objects.create(first=deaf, second=cuban, reason="a test")


@pytest.mark.django_db
def test_a_researcher_creates_pairs_from_the_list_of_sets(admin_user: User) -> None:
    client = Client()
    client.force_login(admin_user)
    group_set = GroupSet.objects.get(slug="cao-2022-human-study")
    page = client.post(
        "/admin/annotation/groupset/",
        {"action": "pair_groups", "_selected_action": [group_set.pk]},
        follow=True,
    )
    assert "paired groups" in page.content.decode()
    paired = client.get("/admin/annotation/socialgroup/?kind=paired&q=asian").content.decode()
    assert "Asian teenagers" in paired
    excluded = client.get("/admin/annotation/groupexclusion/").content.decode()
    assert "nobody is both" in excluded
