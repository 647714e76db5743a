"""Researchers' pages of prompts: what comes with the platform, what is taken, what is refused."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from probing.library.default_entries import seed_prompts
from probing.models import Prompt

pytestmark = pytest.mark.django_db

LIST = reverse("admin:probing_prompt_changelist")
ADD = reverse("admin:probing_prompt_add")


@pytest.fixture
def alice(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("alice"))
    return client


@pytest.fixture
def charlie() -> Client:
    client = Client()
    client.force_login(User.objects.create_user("charlie", is_staff=True))
    return client


def test_the_papers_prompt_comes_with_the_platform_and_an_edit_stays() -> None:
    seed_prompts()
    prompt = Prompt.objects.get(slug="translate-arrow-aave-sae")
    # Deas et al. (2023), Figure 1.
    assert prompt.text == "Translate the following {source} into {target}:\n{text} =>"
    assert prompt.variety_names["AAL"] == "African American Vernacular English"
    Prompt.objects.filter(pk=prompt.pk).update(text="{text} in {target}:")
    seed_prompts()
    prompt.refresh_from_db()
    assert prompt.text == "{text} in {target}:"


def test_a_prompt_is_added_edited_and_shown_as_a_model_reads_it(alice: Client) -> None:
    form = {
        "slug": "say-it",
        "purpose": "counterparts",
        "text": "Say it in {target}, not in {source}:\r\n{text}",
        "names": "AAL: African American Language\r\n\r\nWME: White Mainstream English\r\n",
    }
    assert alice.post(ADD, form).status_code == 302
    prompt = Prompt.objects.get(slug="say-it")
    assert prompt.text == "Say it in {target}, not in {source}:\n{text}"
    assert prompt.variety_names == {
        "AAL": "African American Language",
        "WME": "White Mainstream English",
    }
    address = reverse("admin:probing_prompt_change", args=[prompt.pk])
    content = alice.get(address).content.decode()
    assert (
        "Say it in White Mainstream English, not in African American Language:\n"
        "they be talkin on the phone" in content
    )
    assert "AAL: African American Language\nWME: White Mainstream English" in content
    assert alice.post(address, {**form, "names": ""}).status_code == 302
    prompt.refresh_from_db()
    assert prompt.variety_names == {}
    assert "say-it" in alice.get(LIST, {"q": "say it"}).content.decode()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"text": "Translate"}, "has {text} 0 times, expected exactly once"),
        ({"text": "{text} {txt}"}, "unknown placeholder {txt}"),
        ({"text": "{text} {"}, "unpaired brace"),
        ({"names": "AAL African"}, "Line 1 is “AAL African”, expected a variety, a colon"),
        ({"names": "AAL: a\nAAL: b"}, "Line 2 names “AAL” again"),
        ({"names": f"AAL: {'x' * 121}"}, "Line 1 is too long"),
        ({"slug": "translate-aave-sae"}, "already exists"),
    ],
)
def test_a_bad_prompt_is_named_and_not_stored(
    alice: Client, changes: dict[str, str], said: str
) -> None:
    before = Prompt.objects.count()
    answer = alice.post(ADD, {"slug": "new", "text": "{text}", "names": "", **changes})
    assert answer.status_code == 200
    assert said in answer.content.decode()
    assert Prompt.objects.count() == before


def test_prompts_are_for_staff_with_the_permission(charlie: Client) -> None:
    assert charlie.get(LIST).status_code == 403
    user = User.objects.get(username="charlie")
    user.user_permissions.add(Permission.objects.get(codename="view_prompt"))
    assert charlie.get(LIST).status_code == 200
    assert charlie.get(ADD).status_code == 403
    prompt = Prompt.objects.first()
    assert prompt is not None
    page = charlie.get(reverse("admin:probing_prompt_change", args=[prompt.pk]))
    assert page.status_code == 200
    assert "What a model reads" in page.content.decode()
