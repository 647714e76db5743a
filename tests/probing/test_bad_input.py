"""What cannot work is said before any work starts, on the page, by the command and over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from html import unescape
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.models import Corpus, SocialGroup, TraitPair
from probing.models import LanguageModel, Run, Shard, Template
from probing.runs.language_models import register_model
from tests.probing.runs.fixtures import bert, one_thread  # noqa: F401
from tests.probing.runs.sentence_fixtures import SENTENCES, make_text_corpus
from tests.tokens import header_for

pytestmark = [pytest.mark.django_db, pytest.mark.shared]


@dataclass(frozen=True)
class Asked:
    """A run as somebody asks for it, whichever way."""

    model: LanguageModel
    measure: str = "set"
    groups: tuple[str, ...] = ("man", "woman")
    templates: tuple[str, ...] = ("that-group-is-trait",)
    corpus: Corpus | None = None
    sentences: tuple[str, ...] | None = None
    parameters: dict[str, str] = field(default_factory=dict)


def on_the_page(asked: Asked, folder: Path, *, dry: bool) -> str:
    from probing.measures.registry import MEASURES

    client = Client()
    client.force_login(
        User.objects.get_or_create(username="alice", is_superuser=True, is_staff=True)[0]
    )
    schema = MEASURES[asked.measure].Parameters.model_json_schema()["properties"]
    data: dict[str, Any] = {
        "model": asked.model.pk,
        "seed": "0",
        "single_groups": asked.groups,
        **{f"parameter_{name}": one["default"] for name, one in schema.items() if one["default"]},
        **{f"parameter_{name}": value for name, value in asked.parameters.items()},
        ("preview" if dry else "create"): "1",
    }
    if asked.measure == "ceat":
        data["corpus"] = asked.corpus.pk if asked.corpus else ""
        if asked.sentences is not None:
            content = "\n".join(asked.sentences).encode()
            data["sentences"] = SimpleUploadedFile("sentences.txt", content)
    else:
        data["single_templates"] = asked.templates
    answer = client.post(reverse("admin:probing_run_add") + f"?measure={asked.measure}", data)
    assert answer.status_code == 200, "a page that says what is wrong, not one of a new run"
    content = unescape(answer.content.decode())
    assert "Create run" not in content
    return content


def by_the_command(asked: Asked, folder: Path, *, dry: bool) -> str:
    arguments = ["--model", asked.model.name, "--measure", asked.measure, "--groups", *asked.groups]
    arguments += [part for k, v in asked.parameters.items() for part in ("--param", f"{k}={v}")]
    if asked.measure != "ceat":
        arguments += ["--templates", *asked.templates]
    if asked.corpus:
        arguments += ["--corpus", asked.corpus.name]
    if asked.sentences is not None:
        file = folder / "sentences.txt"
        file.write_text("\n".join(asked.sentences), encoding="utf-8")
        arguments += ["--sentences", str(file)]
    arguments += ["--dry-run" if dry else "--no-wait"]
    with pytest.raises(CommandError) as caught:
        call_command("probe", *arguments, stdout=StringIO())
    assert "\n" not in str(caught.value)
    return str(caught.value)


def over_http(asked: Asked, folder: Path, *, dry: bool) -> str:
    user = User.objects.get_or_create(username="alice", is_superuser=True, is_staff=True)[0]
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=header_for(user))
    body: dict[str, Any] = {
        "measure": asked.measure,
        "model": asked.model.public_id,
        "groups": asked.groups,
        "parameters": asked.parameters,
    }
    if asked.measure != "ceat":
        body["templates"] = asked.templates
    if asked.corpus:
        body["corpus"] = asked.corpus.public_id
    if asked.sentences is not None:
        body["sentences"] = asked.sentences
    answer = client.post(f"/api/v1/runs/{'dry-run/' if dry else ''}", body, format="json")
    content = answer.json()
    if answer.status_code == 200:
        assert dry
        assert content["cost"] is None
        return " ".join(one["message"] for one in content["problems"] if one["fatal"])
    assert answer.status_code == 400, content
    assert all(fault["field"] for fault in content["errors"])
    return " ".join(fault["message"] for fault in content["errors"])


WAYS: list[Callable[..., str]] = [on_the_page, by_the_command, over_http]


@pytest.fixture(params=WAYS, ids=lambda way: way.__name__)
def refused(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Asked], str]:
    """Ask for a run, dry and for good, and return what was said; nothing may be stored."""

    def refuse(asked: Asked) -> str:
        said = [request.param(asked, tmp_path, dry=dry) for dry in (True, False)]
        assert not Run.objects.exists()
        assert not Shard.objects.exists()
        return "\n".join(said)

    return refuse


def twice(said: str, *parts: str) -> bool:
    """Whether dry run and creation both said all of it."""
    return all(said.count(part) >= 2 for part in parts)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("That {group} is {trait}.", ("holds '{group}'", "{singular}, {plural} or {Plural}")),
        ("That {singular} is {}.", ("holds '{}'",)),
        ("That {singular is {trait}.", ("single brace",)),
        ("{Plural} and {plural} are {trait}.", ("2 group slots", "{Plural}, {plural}")),
        ("{Plural} are {trait} and {trait}.", ("2 trait slots",)),
        ("Everyone is {trait}.", ("no group slot",)),
        ("{Plural} are here.", ("no trait slot",)),
        ("Everyone is here.", ("no group slot",)),
    ],
)
def test_a_template_that_cannot_be_filled(
    refused: Callable[[Asked], str],
    bert: LanguageModel,  # noqa: F811
    text: str,
    parts: tuple[str, ...],
) -> None:
    """Forms and imports refuse such texts; this one went round them, into the table itself."""
    Template.objects.create(slug="broken", text=text)
    said = refused(Asked(bert, templates=("that-group-is-trait", "broken")))
    assert twice(said, text, *parts)


@pytest.mark.parametrize(
    ("form", "template", "text"),
    [
        ("singular", "that-group-is-trait", "That {singular} is {trait}."),
        ("plural", "all-groups-are-trait", "All {plural} are {trait}."),
        ("plural_capitalised", "groups-should-be-trait", "{Plural} should be {trait}."),
    ],
)
def test_a_group_without_the_form_that_a_template_needs(
    refused: Callable[[Asked], str],
    bert: LanguageModel,  # noqa: F811
    form: str,
    template: str,
    text: str,
) -> None:
    """The database refuses an empty form; one of spaces goes round that."""
    SocialGroup.objects.filter(slug="man").update(**{form: "  "})
    said = refused(Asked(bert, templates=(template,)))
    assert twice(said, "The group “man” has no ", f"the template “{text}” needs")


@pytest.mark.parametrize("measure", ["set", "ceat"])
@pytest.mark.parametrize("pole", ["low", "high"])
def test_an_empty_list_of_adjectives(
    refused: Callable[[Asked], str],
    bert: LanguageModel,  # noqa: F811
    measure: str,
    pole: str,
) -> None:
    TraitPair.objects.filter(slug="cold-warm").update(**{f"{pole}_synonyms": []})
    asked = Asked(bert, measure=measure, parameters={"adjectives": "lists"})
    if measure == "ceat":
        asked = replace(asked, sentences=SENTENCES)
    word = {"low": "cold", "high": "warm"}[pole]
    assert twice(refused(asked), f"The list of “{word}” is empty", "choose pole")


@pytest.mark.parametrize("measure", ["set", "ilps", "ceat"])
def test_a_model_that_cannot_do_what_the_measure_asks(
    refused: Callable[[Asked], str], measure: str
) -> None:
    model = register_model(location="http://localhost:8001/v1", served_name="served")
    asked = Asked(model, measure=measure, sentences=SENTENCES if measure == "ceat" else None)
    assert twice(refused(asked), "masked", "causal")


@pytest.mark.parametrize("refused", [by_the_command, over_http], indirect=True)
def test_a_causal_model_and_a_prior_that_needs_a_mask(
    refused: Callable[[Asked], str], checkpoints: Path
) -> None:
    model = register_model(location=str(checkpoints / "tiny-gpt2"))
    asked = Asked(model, measure="ilps_star", parameters={"prior": "mask"})
    assert twice(refused(asked), "Choose the prior noun")


# --- sentences ------------------------------------------------------------------------------------


def test_no_corpus_and_no_sentences(
    refused: Callable[[Asked], str],
    bert: LanguageModel,  # noqa: F811
) -> None:
    assert twice(refused(Asked(bert, measure="ceat")), "Choose a corpus, or give a file")


def test_a_corpus_and_sentences_at_once(
    refused: Callable[[Asked], str],
    bert: LanguageModel,  # noqa: F811
) -> None:
    asked = Asked(bert, measure="ceat", corpus=make_text_corpus(), sentences=SENTENCES)
    assert twice(refused(asked), "expected one of the two")


def test_a_corpus_without_texts_to_evaluate(
    refused: Callable[[Asked], str],
    bert: LanguageModel,  # noqa: F811
) -> None:
    corpus = make_text_corpus()
    corpus.texts.filter(split="evaluation").delete()
    said = refused(Asked(bert, measure="ceat", corpus=corpus))
    assert twice(said, "“Sentences” has no text to read sentences from")


@pytest.mark.parametrize(
    ("sentences", "part"),
    [
        ((), "holds no sentences"),
        (("", "  "), "holds no sentences"),
        (("It is cold.", "It is warm."), "None of the groups occurs in the 2 sentences"),
        (("A man is here.", "It is warm."), "No trait has sentences for all adjectives"),
        (("A man is here.", "It is warm.", "It is cold."), "say too little"),
    ],
)
def test_sentences_that_give_no_score(
    refused: Callable[[Asked], str],
    bert: LanguageModel,  # noqa: F811
    sentences: tuple[str, ...],
    part: str,
) -> None:
    assert twice(refused(Asked(bert, measure="ceat", sentences=sentences)), part)


def test_a_corpus_in_which_no_group_occurs(
    refused: Callable[[Asked], str],
    bert: LanguageModel,  # noqa: F811
) -> None:
    corpus = make_text_corpus(("It is cold today.", "It was warm then."))
    said = refused(Asked(bert, measure="ceat", corpus=corpus))
    assert twice(said, "None of the groups occurs in the 2 sentences of “Sentences”")


def test_a_parameter_out_of_range(
    refused: Callable[[Asked], str],
    bert: LanguageModel,  # noqa: F811
) -> None:
    asked = Asked(bert, measure="ceat", sentences=SENTENCES, parameters={"sentences_per_word": "0"})
    assert twice(refused(asked), "1")


# --- files that are none --------------------------------------------------------------------------


def test_the_command_names_a_file_that_is_not_there_or_of_no_known_kind(
    bert: LanguageModel,  # noqa: F811
    tmp_path: Path,
) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF")
    for name, part in (
        ("gone.txt", "cannot be read"),
        ("a.pdf", ".jsonl"),
        (".", "cannot be read"),
    ):
        with pytest.raises(CommandError, match=part):
            call_command(
                *("probe", "--model", bert.name, "--measure", "ceat", "--dry-run"),
                *("--sentences", str(tmp_path / name)),
                stdout=StringIO(),
            )


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("a.pdf", b"%PDF", "pdf"),
        ("a.txt", b"", "holds no sentences"),
        ("a.tsv", b"a\tb\n1\t2\n", "expected a column"),
        ("a.txt", b"A man.\x00", "Line 1 holds a control character"),
    ],
)
def test_the_page_names_what_is_wrong_with_an_upload(
    bert: LanguageModel,  # noqa: F811
    client: Client,
    name: str,
    content: bytes,
    part: str,
) -> None:
    client.force_login(User.objects.create_superuser("alice"))
    data = {
        "model": bert.pk,
        "seed": "0",
        "single_groups": ["man"],
        "sentences": SimpleUploadedFile(name, content),
        "parameter_adjectives": "pole",
        "parameter_sentences_per_word": "10",
        "parameter_combination": "automatic",
        "parameter_draws": "10",
        "parameter_pieces": "first",
        "parameter_p_value": "permutation",
        "parameter_permutations": "1000",
        "preview": "1",
    }
    answer = client.post(reverse("admin:probing_run_add") + "?measure=ceat", data)
    said = unescape(answer.content.decode())
    assert part in said
    assert "Some fields need another value" in said
    assert not Run.objects.exists()


def test_the_page_names_a_file_that_is_too_large_for_it(
    bert: LanguageModel,  # noqa: F811
    client: Client,
) -> None:
    client.force_login(User.objects.create_superuser("alice"))
    upload = SimpleUploadedFile("a.txt", b"A man.\n" * (3 * 2**20))  # 21 MB
    answer = client.post(
        reverse("admin:probing_run_add") + "?measure=ceat",
        {"model": bert.pk, "seed": "0", "single_groups": ["man"], "sentences": upload},
    )
    said = unescape(answer.content.decode())
    assert "The file has 21 MB, expected 20 at most here" in said
    assert not Run.objects.exists()
