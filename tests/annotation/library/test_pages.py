"""Researchers' pages of the library: by hand, by file, pairs, and what is not deleted."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.library.paired_groups import create_paired_groups
from annotation.models import GroupSet, SocialGroup, TraitPair
from annotation.researcher.pages.kept_file import pack_file
from annotation.studies.creation import create_study
from tests.annotation.studies.people import make_user

pytestmark = pytest.mark.django_db

IMPORT = f"{reverse('admin:probing_run_import')}?kind=groups"
ADD = reverse("admin:annotation_socialgroup_add")
INLINE = {
    "component_links-TOTAL_FORMS": "0",
    "component_links-INITIAL_FORMS": "0",
    "component_links-MIN_NUM_FORMS": "0",
    "component_links-MAX_NUM_FORMS": "2",
}
GOOD = "slug,singular,plural,sets\nnurse,nurse,nurses,mine\nelderly,elderly person,older people,\n"
BAD = f"{GOOD}asian-2,asian person,asian people,\n"


def log_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def alice(admin_user: User) -> Client:
    return log_in(admin_user)


@pytest.fixture
def charlie() -> Client:
    """Staff who may read the library alone."""
    return log_in(make_user("charlie"))


def choose(client: Client, content: str, **values: str):
    file = SimpleUploadedFile("groups.csv", content.encode())
    return client.post(IMPORT, {"file": file, "preview": "", **values})


def confirm(client: Client, preview, **values: str):
    """Press the button of a preview: its page holds the file."""
    form = preview.context["form"]
    held = {name: form.data[name] for name in ("content", "file_name")}
    held["digest"] = preview.context["digest"]
    return client.post(IMPORT, {**held, "import": "", **values})


def components(*slugs: str) -> dict[str, str]:
    rows = {"component_links-TOTAL_FORMS": str(len(slugs))}
    for number, slug in enumerate(slugs):
        group = SocialGroup.objects.get(slug=slug)
        rows[f"component_links-{number}-component"] = str(group.pk)
        rows[f"component_links-{number}-position"] = str(number + 1)
    return {**INLINE, **rows}


# --- by file -------------------------------------------------------------------------------------


def test_a_file_is_looked_at_first_and_stored_on_the_second_press(alice: Client) -> None:
    preview = choose(alice, GOOD)
    assert preview.status_code == 200
    for part in ("1 added", "1 changed", "<del>elderly people</del>", "<ins>older people</ins>"):
        assert part in preview.text
    assert "New sets:" in preview.text
    assert 'name="import"' in preview.text
    assert not SocialGroup.objects.filter(slug="nurse").exists()
    answer = confirm(alice, preview)
    assert answer.status_code == 302
    listed = alice.get(answer["Location"]).text
    assert "Imported: Groups, 1 added, 1 changed, 0 unchanged." in listed
    assert SocialGroup.objects.get(slug="nurse").sets.get().slug == "mine"
    assert SocialGroup.objects.get(slug="elderly").plural == "older people"


def test_bad_rows_are_shown_and_stop_the_import_until_they_are_left_out(alice: Client) -> None:
    preview = choose(alice, BAD)
    assert "1 place is bad." in preview.text
    assert "“asian” is written with a capital, “Asian”." in preview.text
    assert 'name="import"' not in preview.text
    refused = confirm(alice, preview)
    assert refused.status_code == 422
    assert "Nothing was imported: 1 place is bad." in refused.text
    assert not SocialGroup.objects.filter(slug="nurse").exists()
    again = confirm(alice, preview, skip_bad_rows="on")
    assert again.status_code == 302
    assert SocialGroup.objects.filter(slug="nurse").exists()
    assert not SocialGroup.objects.filter(slug="asian-2").exists()


def test_words_are_taken_as_written_on_demand(alice: Client) -> None:
    preview = choose(alice, BAD, as_written="on")
    assert "“asian” is written with a capital, “Asian”." in preview.text
    assert "The file can be imported, with a warning." in preview.text
    assert confirm(alice, preview, as_written="on").status_code == 302
    assert SocialGroup.objects.get(slug="asian-2").singular == "asian person"


def test_a_library_that_changed_meanwhile_is_previewed_again(alice: Client) -> None:
    preview = choose(alice, GOOD)
    SocialGroup.objects.filter(slug="elderly").update(plural="old people")
    answer = confirm(alice, preview)
    assert answer.status_code == 422
    assert "has changed since the preview" in answer.text
    assert "<del>old people</del>" in answer.text
    assert confirm(alice, answer).status_code == 302


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "Choose a file."),
        ({"content": "no base64!"}, "Choose a file."),
        (
            {"content": pack_file(b"a,b\n1,2\n"), "file_name": "x.csv"},
            "There is no column “slug”",
        ),
        ({"file": SimpleUploadedFile("x.csv", b"x" * (20 * 2**20 + 1))}, "expected 20 MB at most"),
        ({"file": SimpleUploadedFile("x.xlsx", b"PK")}, "no workbook that can be read"),
        ({"file": SimpleUploadedFile("x.csv", b"")}, "The submitted file is empty."),
    ],
)
def test_a_file_that_cannot_be_read_says_why(alice: Client, values, message: str) -> None:
    answer = alice.post(IMPORT, {**values, "preview": ""})
    assert answer.status_code == 422
    assert message in answer.text


def test_without_a_preview_nothing_is_stored(alice: Client) -> None:
    file = SimpleUploadedFile("groups.csv", GOOD.encode())
    assert alice.post(IMPORT, {"file": file, "import": ""}).status_code == 200
    assert not SocialGroup.objects.filter(slug="nurse").exists()


def test_downloads_are_open_to_staff_and_imports_to_editors(charlie: Client) -> None:
    for name in ("socialgroup", "traitpair"):
        listed = charlie.get(reverse(f"admin:annotation_{name}_changelist"))
        assert reverse(f"admin:annotation_{name}_export") in listed.text
        assert reverse("admin:probing_run_import") not in listed.text
        assert charlie.get(IMPORT).status_code == 403
        for part in ("export", "example"):
            answer = charlie.get(reverse(f"admin:annotation_{name}_{part}"))
            content = b"".join(answer.streaming_content).decode()
            assert content.startswith("slug,")
            assert ".csv" in answer["Content-Disposition"]
    assert Client().get(IMPORT).status_code == 302


def test_whoever_may_not_change_sets_imports_no_groups() -> None:
    user = make_user("bob")
    user.user_permissions.set(
        Permission.objects.filter(codename__in=["add_socialgroup", "change_socialgroup"])
    )
    assert log_in(user).get(IMPORT).status_code == 403


def test_groups_come_over_http_with_a_mapping(alice: Client) -> None:
    asked = {
        "kind": "groups",
        "file_name": "groups.csv",
        "content": "Q1,singular,plural\nnurse,nurse,nurses\n",
        "columns": {"slug": "Q1"},
    }
    done = alice.post("/api/v1/imports/", asked, content_type="application/json")
    assert (done.status_code, done.json()["counts"]["added"]) == (201, 1)
    assert SocialGroup.objects.get(slug="nurse").plural == "nurses"
    user = make_user("bob")
    user.user_permissions.set(Permission.objects.filter(codename="add_socialgroup"))
    refused = log_in(user).post("/api/v1/imports/", asked, content_type="application/json")
    assert refused.status_code == 403


# --- by hand -------------------------------------------------------------------------------------


def test_a_group_needs_its_singular_alone(alice: Client) -> None:
    mine = GroupSet.objects.create(slug="mine", title="Mine")
    answer = alice.post(
        ADD,
        {"singular": "Swedish person", "group_sets": [mine.pk], "domains": "nationality", **INLINE},
    )
    assert answer.status_code == 302
    group = SocialGroup.objects.get(slug="swedish")
    assert (group.plural, group.plural_capitalised) == ("Swedish people", "Swedish people")
    assert group.domains == ["nationality"]
    assert list(group.sets.all()) == [mine]


def test_sets_of_a_group_are_edited_on_its_page(alice: Client) -> None:
    group = SocialGroup.objects.get(slug="elderly")
    address = reverse("admin:annotation_socialgroup_change", args=[group.pk])
    chosen = GroupSet.objects.get(slug="cao-2022-table-3")
    values = {
        "singular": group.singular,
        "plural": group.plural,
        "plural_capitalised": group.plural_capitalised,
        "modifier": group.modifier,
        "domains": group.domains,
    }
    assert alice.post(address, {**values, "group_sets": [chosen.pk], **INLINE}).status_code == 302
    assert list(group.sets.all()) == [chosen]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"singular": ""}, "This field is required."),
        ({"singular": "asian person"}, "“asian” is written with a capital, “Asian”."),
        ({"singular": "nurse", "plural": "nurse's man"}, "is a singular, expected a plural"),
        (
            {"singular": "nurse", "plural_capitalised": "nurses"},
            "expected the plural with a capital first letter, “Nurses”",
        ),
        ({"singular": "elderly person"}, "already exists"),
        ({"singular": "nurse", "slug": "lone--nurse"}, "Two hyphens in a row"),
    ],
)
def test_what_is_wrong_stands_at_its_field(alice: Client, values, message: str) -> None:
    before = SocialGroup.objects.count()
    answer = alice.post(ADD, {**values, **INLINE})
    assert answer.status_code == 200
    assert message in answer.text.replace("&#x27;", "'")
    assert SocialGroup.objects.count() == before


def test_words_are_stored_as_written_on_demand_and_remarked_on(alice: Client) -> None:
    values = {"singular": "asian person", "slug": "asian-2", "as_written": "on", **INLINE}
    answer = alice.post(ADD, values, follow=True)
    assert "Please check: “asian” is written with a capital" in answer.text
    assert SocialGroup.objects.get(slug="asian-2").plural == "asian people"


def test_a_paired_group_is_made_by_hand_of_two_single_ones(alice: Client) -> None:
    values = {"singular": "Asian doctor", "slug": "asian--doctor", "domains": ["race"]}
    assert alice.post(ADD, {**values, **components("asian", "doctor")}).status_code == 302
    pair = SocialGroup.objects.get(slug="asian--doctor")
    assert [link.component.slug for link in pair.component_links.all()] == ["asian", "doctor"]
    for wrong, message in (
        (components("asian"), "Choose two different components, or none."),
        (components("asian", "asian"), "Choose two different components, or none."),
        (components("asian--doctor", "elderly"), "is itself a paired group"),
    ):
        answer = alice.post(ADD, {**values, "slug": "other", **wrong})
        assert message in answer.text


def test_forms_and_findings_are_told_to_the_page(alice: Client, charlie: Client) -> None:
    address = reverse("admin:annotation_socialgroup_forms")
    answer = alice.get(address, {"singular": "asian <b> person", "plural": "x"}).json()
    assert answer["proposed"]["plural"] == "asian <b> people"
    assert "&lt;b&gt;" in answer["reads"]
    assert "<b>" not in answer["reads"]
    answer = alice.get(address, {"singular": "university student"}).json()
    assert answer["proposed"] == {
        "singular": "university student",
        "plural": "university students",
        "plural_capitalised": "University students",
        "modifier": "",
        "slug": "university-student",
    }
    assert alice.get(address).json()["proposed"] == {}
    assert charlie.get(address).status_code == 403


def test_a_trait_pair_is_checked_by_hand_as_from_a_file(alice: Client) -> None:
    address = reverse("admin:annotation_traitpair_add")
    values = {"slug": "lazy-busy", "low": "lazy", "high": "busy", "dimension": "agency"}
    values |= {"low_synonyms": "idle\nIdle", "high_synonyms": "", "position": "17"}
    answer = alice.post(address, values)
    assert "“Idle” comes twice for the low pole" in answer.text
    values["low_synonyms"] = "idle"
    assert alice.post(address, values).status_code == 302
    assert TraitPair.objects.get(slug="lazy-busy").low_synonyms == ["idle"]


def test_a_new_study_begins_with_the_papers_groups_and_scales_whatever_was_added(
    alice: Client,
) -> None:
    GroupSet.objects.create(slug="a-set-of-mine", title="Mine")
    TraitPair.objects.create(
        slug="lazy-busy", low="lazy", high="busy", dimension="agency", position=17
    )
    form = (
        alice.get(reverse("admin:annotation_study_add"), {"kind": "abc_survey"})
        .context["adminform"]
        .form
    )
    sets = GroupSet.objects.filter(pk__in=form["group_sets"].value())
    assert [chosen.slug for chosen in sets] == ["cao-2022-human-study"]
    pairs = TraitPair.objects.filter(pk__in=form["trait_pairs"].value())
    assert len(pairs) == 16
    assert not pairs.filter(slug="lazy-busy").exists()


# --- pairs ---------------------------------------------------------------------------------------


def test_pages_of_groups_lead_to_sets_and_exclusions(charlie: Client) -> None:
    listed = charlie.get(reverse("admin:annotation_socialgroup_changelist"))
    for name in ("groupset", "groupexclusion"):
        assert reverse(f"admin:annotation_{name}_changelist") in listed.text


def test_a_set_says_how_many_pairs_it_allows_and_makes_them(alice: Client, charlie: Client) -> None:
    chosen = GroupSet.objects.create(slug="mine", title="Mine")
    chosen.groups.set(
        SocialGroup.objects.filter(slug__in=["asian", "elderly", "teenager", "doctor"])
    )
    page = reverse("admin:annotation_groupset_change", args=[chosen.pk])
    pair = reverse("admin:annotation_groupset_pair", args=[chosen.pk])
    # Asian, elderly and teenage come first: 3 × 3 orders, without the two of teenager and elderly.
    assert "allow 7 paired groups" in alice.get(page).text
    assert pair not in charlie.get(page).text
    assert charlie.post(pair).status_code == 403
    assert alice.get(pair).status_code == 405
    done = alice.post(pair, follow=True)
    assert "holds 7 paired groups, 7 of them new" in done.text
    assert SocialGroup.objects.filter(slug="elderly--doctor").exists()
    assert not SocialGroup.objects.filter(slug="teenager--elderly").exists()


def test_chosen_groups_are_paired_from_their_list(alice: Client) -> None:
    chosen = SocialGroup.objects.filter(slug__in=["asian", "teenager"])
    values = {"action": "pair_groups", "_selected_action": [group.pk for group in chosen]}
    address = reverse("admin:annotation_socialgroup_changelist")
    assert "2 paired groups, 2 of them new." in alice.post(address, values, follow=True).text
    assert SocialGroup.objects.filter(slug="teenager--asian").exists()
    alone = {"action": "pair_groups", "_selected_action": [chosen.first().pk]}
    assert "allows no paired group" in alice.post(address, alone, follow=True).text


# --- what is not deleted -------------------------------------------------------------------------


def delete(client: Client, entry, *, model: str):
    return client.post(
        reverse(f"admin:annotation_{model}_delete", args=[entry.pk]), {"post": "yes"}
    )


def test_what_a_study_uses_is_kept_and_the_page_says_which(alice: Client) -> None:
    create_study(title="Group ratings, spring", owner=make_user("dave"), contact_email="a@b.org")
    for model, entry in (
        ("socialgroup", SocialGroup.objects.get(slug="elderly")),
        ("traitpair", TraitPair.objects.get(slug="cold-warm")),
    ):
        answer = delete(alice, entry, model=model)
        assert "cannot be deleted" in answer.text
        assert "the study “Group ratings, spring”" in answer.text
        entry.refresh_from_db()


def test_a_study_of_somebody_else_goes_without_its_name() -> None:
    create_study(title="Secret title", owner=make_user("dave"), contact_email="a@b.org")
    user = make_user("bob")
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="annotation"))
    answer = delete(log_in(user), SocialGroup.objects.get(slug="elderly"), model="socialgroup")
    assert "a study of somebody else" in answer.text
    assert "Secret title" not in answer.text


def test_components_and_the_set_that_everything_begins_with_are_kept(alice: Client) -> None:
    human = GroupSet.objects.get(slug="cao-2022-human-study")
    create_paired_groups(group_set=human)
    answer = delete(alice, SocialGroup.objects.get(slug="elderly"), model="socialgroup")
    assert "paired groups, such as “" in answer.text
    assert "new studies and runs" in delete(alice, human, model="groupset").text
    assert GroupSet.objects.filter(pk=human.pk).exists()


def test_what_nobody_uses_is_deleted(alice: Client) -> None:
    group = SocialGroup.objects.get(slug="filipino")
    assert delete(alice, group, model="socialgroup").status_code == 302
    assert not SocialGroup.objects.filter(pk=group.pk).exists()


def test_a_choice_with_one_used_entry_is_kept_whole(alice: Client) -> None:
    create_study(title="Spring", owner=make_user("dave"), contact_email="a@b.org")
    chosen = SocialGroup.objects.filter(slug__in=["elderly", "filipino", "man"])
    answer = alice.post(
        reverse("admin:annotation_socialgroup_changelist"),
        {
            "action": "delete_selected",
            "_selected_action": [group.pk for group in chosen],
            "post": "yes",
        },
    )
    assert "the study “Spring”: “elderly”, “man”" in answer.text
    assert chosen.count() == 3
