"""Where a study begins: ready-made ones, a copy, the file of an instrument; and back to a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.http import HttpResponse
from django.urls import reverse

from annotation.instruments.documents.document import hash_document, write_document
from annotation.instruments.documents.instrument_file import write_instrument_file
from annotation.instruments.languages.language_service import add_known_language
from annotation.models import Corpus, Instrument, SocialGroup, Study, TraitPair
from annotation.studies.lifecycle import find_launch_problems
from tests.annotation.researcher.conftest import log_in
from tests.annotation.studies.people import make_study

pytestmark = pytest.mark.django_db
GIVEN = {"title": "Anew", "contact_email": "lab@example.org"}


def begin(user: User, start: str, **values: Any) -> HttpResponse:
    address = reverse("admin:annotation_study_begin", args=[start])
    response: HttpResponse = log_in(user).post(address, GIVEN | values)  # type: ignore[assignment]
    return response


def newest() -> Study:
    return Study.objects.order_by("-pk")[0]


def carry(study: Study, change: Any = None) -> bytes:
    """Return the file of a study, changed by ``change`` and with a hash that fits."""
    data = json.loads(write_instrument_file(study.instruments.get()))
    if change:
        change(data["instrument"])
        data["hash"] = hash_document(data["instrument"])
    return json.dumps(data).encode()


def test_every_way_to_begin_is_offered_and_opens(alice: User) -> None:
    client = log_in(alice)
    gallery = client.get(reverse("admin:annotation_study_add"), follow=True)
    assert gallery.redirect_chain[0][0] == reverse("admin:annotation_study_gallery")
    shown = gallery.content.decode()
    for title, address in (
        ("Cao et al. 2022, as printed", reverse("admin:annotation_study_begin", args=["cao-2022"])),
        ("Short ABC survey", reverse("admin:annotation_study_begin", args=["short-abc"])),
        ("Counterpart writing", reverse("admin:annotation_writingstudy_add")),
        ("Judging", reverse("admin:annotation_judgmentstudy_add")),
        ("Speakers of texts", f"{reverse('admin:annotation_study_add')}?kind=guise_rating"),
        ("From a file", reverse("admin:annotation_study_begin", args=["file"])),
    ):
        assert f'<a href="{address}">{title}</a>' in shown
        assert client.get(address).status_code == 200
    assert "Copy a study" not in shown
    assert client.get(reverse("admin:annotation_study_begin", args=["nothing"])).status_code == 404


@pytest.mark.parametrize(
    ("start", "rated", "scales", "check"),
    [
        ("cao-2022", 4, 16, "typed_traits"),
        ("short-abc", 2, 6, "group_name"),
        ("group-ratings", 4, 16, "marked_traits"),
    ],
)
def test_a_ready_made_study_can_be_launched_as_it_begins(
    alice: User, start: str, rated: int, scales: int, check: str
) -> None:
    response = begin(alice, start)
    study = newest()
    assert response["Location"] == reverse("admin:annotation_study_instrument", args=[study.pk])
    instrument = study.instruments.get()
    assert (study.owner, study.title, study.status) == (alice, "Anew", "draft")
    assert not study.is_paid  # a promise of money is a person's
    assert (instrument.flow.count("rating"), instrument.scales.count()) == (rated, scales)
    assert check in instrument.flow
    assert study.estimated_minutes == (4 if start == "short-abc" else 10)
    assert find_launch_problems(study) == []
    refused = begin(alice, start, contact_email="nobody")
    assert refused.status_code == 422
    assert "Enter a valid email address." in refused.content.decode()


def test_a_copy_has_settings_and_content_and_nothing_of_people(
    study: Study, bob: User, charlie: User
) -> None:
    add_known_language(instrument=make_study(launched=False).instruments.get(), language="es")
    Study.objects.filter(pk=study.pk).update(quota_per_group=7, reward_cents=340)
    assert begin(bob, "copy", study=study.pk).status_code == 403
    for user in (bob, charlie):
        user.user_permissions.add(Permission.objects.get(codename="add_study"))
    response = begin(bob, "copy", study=study.pk)
    assert response.status_code == 302, response.content.decode()
    copy = newest()
    assert (copy.owner, copy.status, copy.title) == (bob, "draft", "Anew")
    assert (copy.quota_per_group, copy.reward_cents, copy.launched_at) == (7, 340, None)
    assert copy.public_id != study.public_id
    assert not set(copy.completion_codes.values()) & set(study.completion_codes.values())
    before, after = study.instruments.get(), copy.instruments.get()
    assert write_document(before) == write_document(after)
    assert (after.version, after.is_frozen) == (1, False)
    # Nobody copies what they may not see.
    assert begin(charlie, "copy", study=study.pk).status_code == 422


def test_an_instrument_comes_back_from_its_file_as_it_was(study: Study, alice: User) -> None:
    add_known_language(
        instrument=make_study(owner=alice, launched=False).instruments.get(), language="es"
    )
    source = newest()
    client = log_in(alice)
    page = reverse("admin:annotation_instrument_file", args=[source.instruments.get().pk])
    content = client.get(page).content
    data = json.loads(content)
    assert data["schema"] == "stereoscope-instrument/1"
    assert data["hash"] == hash_document(data["instrument"])
    response = begin(alice, "file", file=SimpleUploadedFile("instrument.json", content))
    assert response.status_code == 302, response.content.decode()
    assert newest() != source
    assert write_document(newest().instruments.get()) == write_document(source.instruments.get())


def test_entries_that_the_library_lacks_join_it_where_that_is_allowed(alice: User) -> None:
    def change(document: dict[str, Any]) -> None:
        group = {"slug": "baker", "singular": "baker", "plural": "bakers"}
        document["groups"].append(group | {"plural_capitalised": "Bakers"})
        scale = {"slug": "shy-bold", "low": "shy", "high": "bold", "dimension": "agency"}
        document["scales"].append(scale)

    content = carry(make_study(launched=False), change)
    n = Study.objects.count()
    refused = begin(alice, "file", file=SimpleUploadedFile("i.json", content))
    assert refused.status_code == 422
    assert "“baker” is not in the library of groups." in refused.content.decode()
    assert Study.objects.count() == n
    names = ["add_study", "add_socialgroup", "add_traitpair"]
    alice.user_permissions.set(Permission.objects.filter(codename__in=names))
    alice = User.objects.get(pk=alice.pk)
    assert begin(alice, "file", file=SimpleUploadedFile("i.json", content)).status_code == 302
    assert newest().instruments.get().groups.get(slug="baker").group.plural == "bakers"
    assert TraitPair.objects.get(slug="shy-bold").dimension == "agency"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\xff", "The file is no JSON in UTF-8."),
        (b"[" * 100_000, "The file is no JSON in UTF-8."),
        (b"[]", "The file holds no instrument."),
        (b'{"instrument": {}, "schema": "x/9"}', "The schema is “x/9”, expected"),
        (lambda d: d.update(flow="rating"), "<b>flow</b>: Expected a list."),
        (lambda d: d.pop("groups"), "<b>groups</b>: It is missing."),
        (lambda d: d["groups"][0].update(plural=7), "<b>groups 1 plural</b>: Expected a text."),
        (lambda d: d["settings"].update(low_to=70), "<b>settings low_to</b>"),
        (lambda d: d.update(kind="guise_rating"), "The instrument rates texts of a corpus"),
        (lambda d: d["scales"].append(d["scales"][0]), "<b>scales 17 slug</b>"),
    ],
)
def test_a_bad_file_is_refused_with_its_places_and_nothing_is_stored(
    alice: User, content: Any, expected: str
) -> None:
    alice.is_superuser = True
    alice.save()
    raw = content if isinstance(content, bytes) else carry(make_study(launched=False), content)
    before = (Study.objects.count(), SocialGroup.objects.count(), Corpus.objects.count())
    response = begin(alice, "file", file=SimpleUploadedFile("i.json", raw))
    assert response.status_code == 422
    assert expected in response.content.decode()
    assert (Study.objects.count(), SocialGroup.objects.count(), Corpus.objects.count()) == before


def test_a_file_takes_the_place_of_a_draft_and_of_nothing_else(
    study: Study, alice: User, bob: User
) -> None:
    draft = make_study(owner=alice, launched=False).instruments.get()
    content = carry(study, lambda document: document.update(flow=["consent", "rating"]))

    def send(user: User, instrument: Instrument, raw: bytes = content) -> HttpResponse:
        address = reverse("admin:annotation_instrument_import", args=[instrument.pk])
        file = SimpleUploadedFile("i.json", raw)
        return log_in(user).post(address, {"file": file})  # type: ignore[return-value]

    assert send(alice, draft).status_code == 302
    assert Instrument.objects.get(pk=draft.pk).flow == ["consent", "rating"]
    assert draft.history.first().history_user == alice
    wrong = send(alice, draft, b"{}")
    assert wrong.status_code == 422
    assert "The file holds no instrument." in wrong.content.decode()
    assert send(alice, study.instruments.get()).status_code == 403
    assert send(bob, study.instruments.get()).status_code == 403
    assert send(bob, draft).status_code == 404


def test_the_command_writes_and_reads_files(tmp_path: Path, capsys: Any) -> None:
    study, file = make_study(), tmp_path / "instrument.json"
    call_command("instrument_file", "export", str(file), study=study.public_id)
    given = {"title": "Anew", "contact": "lab@example.org"}
    call_command("instrument_file", "import", str(file), **given)
    assert "is a draft" in capsys.readouterr().out
    document = write_document(newest().instruments.get())
    assert document == write_document(study.instruments.get())
    data = json.loads(file.read_text())
    data["instrument"]["flow"].pop()
    file.write_text(json.dumps(data))
    n = Study.objects.count()
    with pytest.raises(CommandError, match="its hash does not fit"):
        call_command("instrument_file", "import", str(file), **given)
    with pytest.raises(CommandError, match="No such file"):
        call_command("instrument_file", "import", str(tmp_path / "none.json"), **given)
    with pytest.raises(CommandError, match="has the public id “x”"):
        call_command("instrument_file", "export", str(file), study="x")
    assert Study.objects.count() == n


def test_the_form_with_all_settings_has_checkboxes_for_whoever_has_no_script(alice: User) -> None:
    address = f"{reverse('admin:annotation_study_add')}?kind=abc_survey"
    shown = log_in(alice).get(address).content.decode()
    assert shown.count('type="checkbox" name="trait_pairs"') == TraitPair.objects.count()
    assert shown.count("data-picker=") == 3
    assert 'data-categories="Communion"' in shown
    assert "annotation/picker-form.js" in shown
