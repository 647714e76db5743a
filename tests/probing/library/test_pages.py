"""Researchers' pages of templates and word lists: checks, sentences, files, what is kept."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.models import SocialGroup, TraitPair
from evaluation.models import Report
from probing.models import LanguageModel, Run, Template, TemplateSet, WordList
from tests.annotation.studies.people import make_user

pytestmark = pytest.mark.django_db

ADD = reverse("admin:probing_template_add")
SENTENCES = reverse("admin:probing_template_sentences")


@pytest.fixture
def alice(client: Client, admin_user: User) -> Client:
    client.force_login(admin_user)
    return client


@pytest.fixture
def run() -> Run:
    """A run on two groups, as it is stored; whether it was computed does not matter here."""
    model = LanguageModel.objects.create(name="tiny", location="/nowhere", kind="masked")
    return Run.objects.create(
        measure="set",
        model=model,
        parameters={},
        stimuli={
            "groups": [{"slug": "elderly"}, {"slug": "man"}],
            "traits": [{"slug": "cold-warm"}],
            "templates": [{"slug": "many-groups-are-trait"}],
        },
        stimuli_hash="0" * 64,
        seed=0,
        shard_count=1,
        code_version="test",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("All {singular} are {trait}.", "“all” does not go with {singular}, expected {plural}."),
        ("{plural} seem {trait}.", "{plural} begins the sentence, expected {Plural}"),
        ("That {singular} and {plural} are {trait}.", "2 group slots"),
        ("", "This field is required."),
    ],
)
def test_a_template_that_reads_wrong_is_refused(alice: Client, text: str, message: str) -> None:
    answer = alice.post(ADD, {"text": text, "slug": "mine"})
    assert answer.status_code == 200
    assert message in answer.text
    assert not Template.objects.filter(slug="mine").exists()


def test_a_template_is_taken_as_written_on_demand(alice: Client) -> None:
    values = {"text": "A los {plural} les dicen {trait}.", "slug": "spanish", "as_written": "on"}
    assert alice.post(ADD, values).status_code == 302
    wrong = {"text": "All {singular} are {trait}.", "slug": "odd", "as_written": "on"}
    answer = alice.post(ADD, wrong, follow=True)
    assert "Please check: “all” does not go with {singular}" in answer.text


def test_a_new_template_tells_where_its_article_does_not_fit_and_leads_to_its_sentences(
    alice: Client,
) -> None:
    values = {"text": "Often a {singular} is {trait}.", "slug": "often-a"}
    answer = alice.post(ADD, values, follow=True)
    # Of the 25: Asian, autistic, elderly, immigrant, unemployed.
    assert "The article does not fit 5 of the 25 groups" in answer.text
    assert f"{SENTENCES}?single_templates=often-a" in answer.text


def test_every_sentence_can_be_read_with_the_wrong_ones_marked(alice: Client) -> None:
    answer = alice.get(
        SENTENCES, {"single_templates": ["a-group-is-trait"], "single_groups": ["man", "elderly"]}
    )
    assert "1 of 2 sentences may read wrong." in answer.text
    assert '<mark>A elderly person is <span class="blank">___</span>.</mark>' in answer.text
    assert "“A elderly” has the wrong article, expected “An elderly”." in answer.text
    assert 'A man is <span class="blank">___</span>.' in answer.text
    only = alice.get(
        SENTENCES,
        {
            "single_templates": ["a-group-is-trait", "that-group-is-trait"],
            "single_groups": ["man", "elderly"],
            "only_wrong": "on",
        },
    )
    assert "1 of 4 sentences may read wrong." in only.text
    assert "A man is" not in only.text
    assert "That {singular}" not in only.text.split('id="sentences"')[1]


def test_a_template_that_is_wrong_with_every_group_says_so_once(alice: Client) -> None:
    Template.objects.create(slug="odd", text="All {singular} are {trait}.")
    answer = alice.get(SENTENCES, {"single_templates": "odd", "groups": "cao-2022-human-study"})
    assert "25 of 25 sentences may read wrong." in answer.text
    assert answer.text.count("“all” does not go with {singular}") == 1


def test_sentences_begin_with_what_a_run_begins_with(alice: Client) -> None:
    answer = alice.get(SENTENCES)
    assert "25 sentences, nothing to remark." in answer.text
    assert "That elderly person is" in answer.text


def test_sentences_cost_few_queries(alice: Client, django_assert_max_num_queries) -> None:
    with django_assert_max_num_queries(25):
        alice.get(SENTENCES, {"templates": "cao-2022-table-4", "groups": "cao-2022-table-3"})


def test_only_staff_with_the_permission_reads_them(client: Client) -> None:
    client.force_login(make_user("charlie"))
    assert client.get(SENTENCES).status_code == 403
    assert Client().get(SENTENCES).status_code == 302


@pytest.mark.parametrize(("name", "kind"), [("template", "templates"), ("wordlist", "word-lists")])
def test_both_kinds_have_their_files(alice: Client, name: str, kind: str) -> None:
    example = b"".join(alice.get(reverse(f"admin:probing_{name}_example")).streaming_content)
    address = f"{reverse('admin:probing_run_import')}?kind={kind}"
    file = SimpleUploadedFile("example.csv", example)
    preview = alice.post(address, {"file": file, "preview": ""})
    held = {field: preview.context["form"].data[field] for field in ("content", "file_name")}
    held["digest"] = preview.context["digest"]
    assert alice.post(address, {**held, "import": ""}).status_code == 302
    assert Template.objects.filter(slug="few-groups-are-trait").exists() is (name == "template")
    assert WordList.objects.filter(slug="mild-words").exists() is (name == "wordlist")
    listed = alice.get(reverse(f"admin:probing_{name}_changelist")).text
    assert address in listed
    exported = alice.get(reverse(f"admin:probing_{name}_export")).streaming_content
    assert b"".join(exported).startswith(b"slug,")


def test_slugs_are_given_once(alice: Client) -> None:
    template = Template.objects.get(slug="many-groups-are-trait")
    address = reverse("admin:probing_template_change", args=[template.pk])
    assert alice.post(address, {"text": template.text, "slug": "other"}).status_code == 302
    template.refresh_from_db()
    assert template.slug == "many-groups-are-trait"


def delete(client: Client, entry, name: str) -> str:
    return client.post(reverse(f"admin:{name}_delete", args=[entry.pk]), {"post": "yes"}).text


def test_what_a_run_uses_is_kept_and_the_page_says_which(alice: Client, run: Run) -> None:
    for name, entry in (
        ("annotation_socialgroup", SocialGroup.objects.get(slug="elderly")),
        ("annotation_traitpair", TraitPair.objects.get(slug="cold-warm")),
        ("probing_template", Template.objects.get(slug="many-groups-are-trait")),
    ):
        said = delete(alice, entry, name)
        assert "cannot be deleted" in said
        assert f"<li>run {run.pk}</li>" in said
        entry.refresh_from_db()


def test_what_new_runs_begin_with_is_kept(alice: Client) -> None:
    for name, entry in (
        ("probing_template", Template.objects.get(slug="that-group-is-trait")),
        ("probing_templateset", TemplateSet.objects.get(slug="cao-2022-best-roberta")),
    ):
        assert "new runs, which begin with it" in delete(alice, entry, name)
        entry.refresh_from_db()
    spare = Template.objects.get(slug="why-are-groups-trait")
    assert delete(alice, spare, "probing_template") == ""
    assert not Template.objects.filter(pk=spare.pk).exists()


def test_a_word_list_that_a_report_counts_with_is_kept(alice: Client) -> None:
    chosen = WordList.objects.create(slug="mild", title="Mild", license="CC0", words=["dang"])
    Report.objects.create(kind="dataset", title="Dataset report", parameters={"word_list": "mild"})
    assert "the report “Dataset report”" in delete(alice, chosen, "probing_wordlist")
    Report.objects.all().delete()
    assert delete(alice, chosen, "probing_wordlist") == ""
    assert not WordList.objects.filter(slug="mild").exists()
