"""Pictures and sounds: taken in as they are or refused, shown to participants, part of the hash."""

from __future__ import annotations

import io

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.common.media_types import recognize_media
from annotation.instruments.content_hash import hash_instrument
from annotation.instruments.files import choose_logo, store_file
from annotation.instruments.versions import create_version
from annotation.models import Instrument, SocialGroup, Study, StudyFile, TraitPair
from annotation.studies.creation import create_study
from annotation.studies.lifecycle import launch_study
from annotation.studies.readiness import examine_flow
from tests.annotation.researcher.conftest import log_in
from tests.annotation.survey.flows import choice, texts
from tests.annotation.survey.media import picture, sound


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (picture(), ("image/png", 120, 40)),
        (picture("JPEG"), ("image/jpeg", 120, 40)),
        (picture("WEBP"), ("image/webp", 120, 40)),
        (picture("GIF"), ("image/gif", 120, 40)),
        (sound(), ("audio/wav", None, None)),
        (b"ID3" + bytes(20), ("audio/mpeg", None, None)),
        (b"OggS" + bytes(20), ("audio/ogg", None, None)),
        (bytes(4) + b"ftypM4A " + bytes(20), ("audio/mp4", None, None)),
        (picture(size=(4001, 1)), None),
        (picture()[:60], None),
        (picture("BMP"), None),
        (b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", None),
        (b"<html>", None),
        (b"", None),
    ],
)
def test_what_a_file_is_shows_in_what_it_holds(content: bytes, expected: object) -> None:
    found = recognize_media(content)
    assert (found and (found.name, found.width, found.height)) == expected


def files(instrument: Instrument, name: str = "files") -> str:
    return reverse(f"admin:annotation_instrument_{name}", args=[instrument.pk])


def upload(client: Client, instrument: Instrument, content: bytes, name: str = "a.png"):  # type: ignore[no-untyped-def]
    sent = {"do": "upload", "file": SimpleUploadedFile(name, content)}
    return client.post(files(instrument), sent)


@pytest.fixture
def draft(alice: User) -> Study:
    return create_study(
        title="Group ratings",
        owner=alice,
        contact_email="lab@example.org",
        groups=SocialGroup.objects.filter(slug="elderly"),
        trait_pairs=TraitPair.objects.all()[:1],
        flow=["consent", "rating", choice()],
    )


def test_files_of_a_draft_are_added_and_deleted_by_those_who_may_change_it(
    draft: Study, alice: User, bob: User, charlie: User
) -> None:
    instrument, client = draft.instruments.get(), log_in(alice)
    assert upload(client, instrument, picture()).status_code == 302
    assert upload(client, instrument, picture(), "again.png").status_code == 302
    file = StudyFile.objects.get()  # the same content is kept once
    assert (file.name, file.media_type, file.width) == ("a.png", "image/png", 120)
    assert bytes(file.content) == picture()  # as it is
    refused = upload(client, instrument, b"<svg/>", "x.svg")
    assert refused.status_code == 422
    assert "is no picture or sound that browsers show" in refused.content.decode()
    large = picture("JPEG", (2000, 2000), quality=100) + bytes(600 * 1024)
    assert "expected at most 500 kB" in upload(client, instrument, large).content.decode()
    listed = client.get(files(instrument, "file_list")).json()["files"]
    assert [one["name"] for one in listed] == ["a.png"]
    answer = client.post(files(instrument, "file_list"), {"file": io.BytesIO(b"no")})
    assert (answer.status_code, list(answer.json())) == (422, ["problem"])
    assert log_in(charlie).get(files(instrument)).status_code == 404
    assert upload(log_in(charlie), instrument, picture()).status_code == 404
    sent = {"do": "delete", "file": file.digest}
    assert client.post(files(instrument), sent, follow=True).status_code == 200
    assert not StudyFile.objects.exists()


def test_a_viewer_looks_and_changes_nothing(study: Study, bob: User) -> None:
    instrument = study.instruments.get()
    assert log_in(bob).get(files(instrument)).status_code == 200
    assert upload(log_in(bob), instrument, picture()).status_code == 403


def test_a_version_stands_for_its_pictures(draft: Study, alice: User) -> None:
    instrument, client = draft.instruments.get(), log_in(alice)
    logo = store_file(study=draft, name="logo.png", content=picture())
    shown = store_file(study=draft, name="b.png", content=picture(size=(30, 30)))
    before = hash_instrument(instrument)
    with pytest.raises(Exception, match="Say in words what the logo shows"):
        choose_logo(instrument=instrument, file=logo, alt=" ")
    sent = {"do": "logo", "file": logo.digest, "alt": "University of Vancouver"}
    assert client.post(files(instrument), sent).status_code == 302
    instrument = Instrument.objects.get()
    assert hash_instrument(instrument) != before
    media = {"file": shown.digest, "alt": texts("A blue square")}
    instrument.flow = ["consent", "rating", choice(media=media)]
    instrument.save()
    for file in (logo, shown):
        client.post(files(instrument), {"do": "delete", "file": file.digest})
    assert StudyFile.objects.count() == 2
    unknown = choice(media={"file": "0" * 64, "alt": texts("?")})
    (finding,) = examine_flow(instrument, ["rating", unknown])
    assert "does not have" in finding.text
    missing = choice(media={"file": shown.digest, "alt": {}})
    assert "The text is empty" in examine_flow(instrument, ["rating", missing])[0].text
    launch_study(study=draft)
    copy = create_version(study=draft)
    assert (copy.logo, copy.logo_alt) == (logo, "University of Vancouver")
    assert upload(client, instrument, picture("GIF")).status_code == 403  # frozen
