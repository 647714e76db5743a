"""Models and templates in the admin."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from probing.models import LanguageModel, Template, TemplateSet

pytestmark = [pytest.mark.django_db, pytest.mark.shared]

ADD_MODEL = "admin:probing_languagemodel_add"


@pytest.fixture
def alice(client: Client) -> Client:
    """May everything."""
    client.force_login(User.objects.create_superuser("alice"))
    return client


def register(client: Client, location: str, **changes: str) -> str:
    form = {"location": location, "name": "", "revision": "", **changes}
    return client.post(reverse(ADD_MODEL), form, follow=True).content.decode()


def test_a_model_is_registered_by_its_place(alice: Client, checkpoints: Path) -> None:
    answer = register(alice, str(checkpoints / "tiny-roberta"), name="Small RoBERTa")
    assert "was added successfully" in answer
    assert "already exists" not in answer
    model = LanguageModel.objects.get()
    assert (model.name, model.family) == ("Small RoBERTa", "roberta")
    assert model.parameter_count
    content = alice.get(reverse("admin:probing_languagemodel_changelist")).content.decode()
    assert "Small RoBERTa" in content


def test_without_a_name_the_folder_gives_it(alice: Client, checkpoints: Path) -> None:
    register(alice, str(checkpoints / "tiny-bert"))
    assert LanguageModel.objects.get().name == "tiny-bert"


@pytest.mark.parametrize(
    ("checkpoint", "said"),
    [("nowhere", "nowhere"), ("", "no config.json")],
)
def test_a_place_that_holds_no_language_model_is_refused_at_the_field(
    alice: Client, checkpoints: Path, checkpoint: str, said: str
) -> None:
    content = register(alice, str(checkpoints / checkpoint))
    assert said in content
    assert not LanguageModel.objects.exists()


def test_a_model_is_not_registered_twice(alice: Client, checkpoints: Path) -> None:
    register(alice, str(checkpoints / "tiny-bert"), name="first")
    content = register(alice, str(checkpoints / "tiny-bert"), name="second")
    assert "already registered as “first”" in content
    assert LanguageModel.objects.get().name == "first"


def test_a_chat_model_is_registered_by_its_server(alice: Client) -> None:
    page = alice.get(reverse(ADD_MODEL)).content.decode()
    assert "Chat, behind a server" in page
    register(
        alice, "http://localhost:11434/v1/", served_name="llama3.2", key_variable="MODEL_KEY_TEST"
    )
    model = LanguageModel.objects.get()
    assert (model.name, model.kind, model.source) == ("llama3.2", "chat", "server")
    assert (model.location, model.key_variable) == ("http://localhost:11434/v1", "MODEL_KEY_TEST")
    address = reverse("admin:probing_languagemodel_change", args=[model.pk])
    content = alice.get(address).content.decode()
    assert "MODEL_KEY_TEST" in content
    listed = alice.get(reverse("admin:probing_languagemodel_changelist")).content.decode()
    assert "Chat, behind a server" in listed


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"served_name": ""}, "has a name there"),
        ({"served_name": "x", "key_variable": "sk-abc"}, "never the key itself"),
    ],
)
def test_what_a_chat_model_lacks_is_said_at_the_field(
    alice: Client, changes: dict[str, str], said: str
) -> None:
    assert said in register(alice, "http://localhost:11434/v1", **changes)
    assert not LanguageModel.objects.exists()


def test_only_the_name_of_a_model_can_be_changed(alice: Client, checkpoints: Path) -> None:
    register(alice, str(checkpoints / "tiny-bert"))
    model = LanguageModel.objects.get()
    address = reverse("admin:probing_languagemodel_change", args=[model.pk])
    alice.post(address, {"name": "renamed", "location": "/elsewhere", "is_demo": "on"})
    model.refresh_from_db()
    assert model.name == "renamed"
    assert model.location == str((checkpoints / "tiny-bert").resolve())
    assert not model.is_demo


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("All {groups} are {trait}.", "{groups}"),
        ("All people are {trait}.", "{singular}"),
        ("{Plural} are nice.", "{trait}"),
    ],
)
def test_a_template_without_its_slots_is_refused_at_the_field(
    alice: Client, text: str, said: str
) -> None:
    before = Template.objects.count()
    answer = alice.post(reverse("admin:probing_template_add"), {"text": text, "slug": "x"})
    assert answer.status_code == 200
    assert said in answer.content.decode()
    assert Template.objects.count() == before


def test_a_template_and_its_set_can_be_added(alice: Client) -> None:
    alice.post(
        reverse("admin:probing_template_add"),
        {"text": "Surely {plural} are {trait}.", "slug": "surely"},
    )
    template = Template.objects.get(slug="surely")
    alice.post(
        reverse("admin:probing_templateset_add"),
        {"title": "Mine", "slug": "mine", "templates": [template.pk]},
    )
    assert list(TemplateSet.objects.get(slug="mine").templates.all()) == [template]
    for name in ("template", "templateset"):
        assert alice.get(reverse(f"admin:probing_{name}_changelist")).status_code == 200
