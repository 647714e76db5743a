"""Arms: participants dealt out by shares, each with the texts, groups and steps of their arm."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
from collections import Counter

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.common.tables import Table, stream_csv
from annotation.exports.ratings import build_rating_table
from annotation.exports.submissions import build_submission_table
from annotation.instruments.arm_service import store_arms
from annotation.instruments.arms import find_arm_faults, read_arms
from annotation.instruments.content_hash import hash_instrument
from annotation.instruments.documents.document import (
    DocumentError,
    hash_document,
    write_document,
)
from annotation.instruments.documents.draft_service import save_draft
from annotation.instruments.documents.instrument_file import (
    read_instrument_file,
    write_instrument_file,
)
from annotation.instruments.files import choose_logo, store_file
from annotation.instruments.languages.language_file import import_language, stream_language
from annotation.instruments.languages.language_service import remove_language
from annotation.models import Instrument, Panel, Study, Submission
from annotation.studies.instrument_import import import_study, replace_instrument
from annotation.studies.lifecycle import launch_study
from annotation.studies.readiness import examine_study
from annotation.survey.arrival import Arrival, start_submission
from tests.annotation.survey.conftest import GROUPS
from tests.annotation.survey.flows import choice
from tests.annotation.survey.media import picture
from tests.annotation.survey.test_concurrency import at_once

FEW = sorted(GROUPS)[:2]
ARMS = [
    {"name": "all", "label": "As ever", "share": 2},
    {
        "name": "few",
        "label": "Few groups",
        "groups": FEW,
        "texts": {"question": {"en": "What do people say of {group}?"}},
    },
]
FLOW = ["rating", "rating", choice(show_if={"visit": "arm", "is": "few"})]


def begin(make_study, arms=ARMS, **options) -> Study:  # type: ignore[no-untyped-def]
    study: Study = make_study(flow=FLOW, launched=False, **options)
    study.instruments.update(arms=arms)
    return launch_study(study=study)


def read(table: Table) -> list[dict[str, str]]:
    text = b"".join(stream_csv(table)).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.mark.parametrize(
    ("arms", "told"),
    [
        (ARMS[:1], "There are 1 arms, expected none or 2 to 12."),
        ([ARMS[0], ARMS[0]], "Two arms have the same name"),
        ([{**ARMS[0], "name": "No Name"}, ARMS[1]], "is no name for the data"),
        ([{**ARMS[0], "share": 0}, ARMS[1]], "0 share"),
        ("x", "list"),
    ],
)
def test_arms_that_cannot_be_read_are_refused(arms: object, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        read_arms(arms)


@pytest.mark.services
def test_people_who_start_at_once_fill_the_arms_by_their_shares(  # type: ignore[no-untyped-def]
    shared_database: str, make_study
) -> None:
    study = begin(make_study, quota_per_group=20)
    started = at_once(
        *[
            lambda name=name: start_submission(
                study=study, arrival=Arrival(Panel.LINK, f"person {name}")
            )
            for name in range(9)
        ]
    )
    assert Counter(submission.arm for submission in started) == {"all": 6, "few": 3}
    assert Counter(Submission.objects.values_list("arm", flat=True)) == {"all": 6, "few": 3}
    for submission in Submission.objects.filter(arm="few"):
        rated = submission.assignments.values_list("group__slug", flat=True)
        assert sorted(rated) == FEW


@pytest.mark.django_db
def test_each_reads_the_texts_and_steps_of_their_arm_and_exports_tell_which(  # type: ignore[no-untyped-def]
    make_study, make_person
) -> None:
    study = begin(make_study, quota_per_group=9)
    seen: dict[str, set[str]] = {"all": set(), "few": set()}
    for _ in range(3):
        person = make_person()
        person.start(study.get_absolute_url())
        own = Submission.objects.get(token=person.path.strip("/").split("/")[-1])
        seen[own.arm].add(person.see().page.framed)
        person.send(person.see().page)
        person.send(person.see().page)
        html = person.see().html
        assert ("Where did you hear of this study?" in html) == (own.arm == "few")
        if own.arm == "few":
            person.send(person.see().page, choice="panel")
        own.refresh_from_db()
        assert own.state == "finished"
    assert seen == {"all": {"How do people in America view"}, "few": {"What do people say of"}}
    counts = Counter(row["arm"] for row in read(build_submission_table(study)))
    assert counts == {"all": 2, "few": 1}
    assert {row["group"] for row in read(build_rating_table(study)) if row["arm"] == "few"} == set(
        FEW
    )


@pytest.mark.django_db
def test_an_arm_without_an_open_group_is_passed_over(make_study) -> None:  # type: ignore[no-untyped-def]
    apart = [{**ARMS[0], "groups": sorted(GROUPS)[2:]}, ARMS[1]]
    study = begin(make_study, apart, quota_per_group=1)
    arms = [
        start_submission(study=study, arrival=Arrival(Panel.LINK, f"person {n}")).arm
        for n in range(3)
    ]
    assert Counter(arms) == {"all": 2, "few": 1}


@pytest.mark.django_db
def test_arms_are_written_on_their_page_and_part_of_the_hash(make_study) -> None:  # type: ignore[no-untyped-def]
    alice = User.objects.create_user("alice", is_staff=True, is_superuser=True)
    study: Study = make_study(flow=FLOW, launched=False, owner=alice)
    instrument = study.instruments.get()
    before = hash_instrument(instrument)
    assert "depends on the arm “few”" in examine_study(study, instrument)[0].text
    client = Client()
    client.force_login(alice)
    page = reverse("admin:annotation_instrument_arms", args=[instrument.pk])
    assert "everybody gets the same" in client.get(page).content.decode()
    sent = {
        "arm-0-label": "As ever",
        "arm-0-name": "all",
        "arm-0-share": "2",
        "arm-1-label": "Few groups",
        "arm-1-name": "few",
        "arm-1-groups": FEW,
    }
    wrong = client.post(page, {**sent, "arm-1-name": "all"})
    assert wrong.status_code == 422
    assert "Two arms have the same name" in wrong.content.decode()
    text = {"arm-1-text-question-en": "What do people say of them?"}
    assert client.post(page, {**sent, **text}).status_code == 302
    instrument = Instrument.objects.get()
    assert "lacks “{group}”" in examine_study(study, instrument)[0].text
    text = {"arm-1-text-question-en": "What do people say of {group}?"}
    assert client.post(page, {**sent, **text}).status_code == 302
    instrument = Instrument.objects.get()
    assert read_arms(instrument.arms) == read_arms(ARMS)
    assert not [found for found in examine_study(study, instrument) if found.blocks]
    assert hash_instrument(instrument) != before
    launch_study(study=study)
    assert client.post(page, sent).status_code == 403
    # Whoever loaded the draft before the launch is told that nothing was stored.
    with pytest.raises(ValidationError, match="frozen"):
        store_arms(instrument=instrument, arms=ARMS[::-1])
    assert read_arms(Instrument.objects.get().arms) == read_arms(ARMS)


def test_what_an_arm_lacks_is_named_as_its_page_names_it() -> None:
    arms = read_arms(
        [
            {"name": "a", "label": "Warm", "texts": {"consent_title": {"en": "Welcome"}}},
            {"name": "b", "label": "Plain"},
        ]
    )
    faults = find_arm_faults(arms, groups={"x"}, wanted=1, languages=["en", "es"])
    assert list(faults) == ["The arm “Warm” lacks “Consent: Title” in Español."]


# --- the instrument's file and its languages -----------------------------------------------------


def make_illustrated(make_study, **options):  # type: ignore[no-untyped-def]
    """A draft with arms, a logo, and a picture that a step shows."""
    study = make_study(flow=["rating"], launched=False, **options)
    instrument = study.instruments.get()
    seen = store_file(study=study, name="seen.png", content=picture())
    logo = store_file(study=study, name="logo.png", content=picture(size=(60, 20)))
    store_file(study=study, name="unused.png", content=picture(size=(30, 30)))
    choose_logo(instrument=instrument, file=logo, alt="A lab")
    store_arms(instrument=instrument, arms=ARMS)
    instrument.refresh_from_db()
    media = {"file": seen.digest, "alt": {"en": "A square"}}
    instrument.flow = ["rating", "rating", choice(media=media)]
    instrument.save()
    return instrument


@pytest.mark.services
def test_arms_logo_pictures_and_sounds_travel_in_the_file(db, make_study) -> None:  # type: ignore[no-untyped-def]
    source = make_illustrated(make_study)
    content = write_instrument_file(source)
    data = json.loads(content)
    assert data["hash"] == hash_document(data["instrument"])
    names = {file["name"] for file in data["instrument"]["files"]}
    assert names == {"seen.png", "logo.png"}, "what nothing shows stays behind"
    study = import_study(
        document=read_instrument_file(content),
        title="Anew",
        owner=None,
        contact_email="lab@example.org",
        may_add=False,
    )
    copy = study.instruments.get()
    assert copy.arms == source.arms == ARMS
    assert copy.logo is not None
    assert (copy.logo.name, copy.logo_alt) == ("logo.png", "A lab")
    assert set(study.files.values_list("name", flat=True)) == {"seen.png", "logo.png"}
    kept = study.files.get(name="seen.png")
    assert bytes(kept.content) == picture()
    assert copy.flow[-1]["media"]["file"] == kept.digest
    assert hash_instrument(copy) == hash_instrument(source)
    assert json.loads(write_instrument_file(copy)) == data
    assert not [found for found in examine_study(study, copy) if found.blocks]


def test_a_file_without_arms_takes_those_of_the_draft_away(db, make_study) -> None:  # type: ignore[no-untyped-def]
    draft = make_illustrated(make_study)
    plain = make_study(flow=["rating"], launched=False).instruments.get()
    content = write_instrument_file(plain)
    assert not {"arms", "logo", "files"} & set(json.loads(content)["instrument"])
    replace_instrument(instrument=draft, document=read_instrument_file(content), may_add=False)
    draft.refresh_from_db()
    assert (draft.arms, draft.logo, draft.logo_alt) == ([], None, "")


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda d: d["files"][0].update(content="AAAA"), "files 1"),
        (lambda d: d["files"][0].update(content="no base64!"), "files 1 content"),
        (lambda d: d["arms"][0].update(share=0), "arms"),
        (lambda d: d["logo"].update(file="0" * 64), "logo"),
        (lambda d: d["logo"].update(alt=""), "logo alt"),
    ],
)
def test_a_file_that_was_tampered_with_is_refused_with_the_place(  # type: ignore[no-untyped-def]
    db, make_study, change, place
) -> None:
    data = json.loads(write_instrument_file(make_illustrated(make_study)))
    change(data["instrument"])
    del data["hash"]
    with pytest.raises(DocumentError) as refusal:
        read_instrument_file(json.dumps(data).encode())
    assert list(refusal.value.problems) == [place]


def test_a_program_in_place_of_a_picture_is_refused(db, make_study) -> None:  # type: ignore[no-untyped-def]
    data = json.loads(write_instrument_file(make_illustrated(make_study)))
    evil = b"<script>alert(1)</script>"
    data["instrument"]["files"].append(
        {
            "digest": hashlib.sha256(evil).hexdigest(),
            "name": "evil.png",
            "content": base64.b64encode(evil).decode(),
        }
    )
    del data["hash"]
    draft = make_study(flow=["rating"], launched=False)
    with pytest.raises(DocumentError, match="no picture or sound"):
        replace_instrument(
            instrument=draft.instruments.get(),
            document=read_instrument_file(json.dumps(data).encode()),
            may_add=False,
        )
    assert not draft.files.exists()


def test_the_designer_leaves_arms_and_logo_as_they_are(db, make_study) -> None:  # type: ignore[no-untyped-def]
    draft = make_illustrated(make_study)
    user = User.objects.create_user("flora", is_staff=True)
    token = hash_document(write_document(draft))
    save_draft(instrument=draft, parts={"flow": ["rating"]}, token=token, by=user)
    draft.refresh_from_db()
    assert (draft.arms, draft.logo_alt, draft.flow) == (ARMS, "A lab", ["rating"])


def test_texts_of_arms_stand_in_the_language_file(db, make_study) -> None:  # type: ignore[no-untyped-def]
    draft = make_illustrated(make_study)
    key = "arm.few.question"
    rows = list(csv.DictReader(io.StringIO(b"".join(stream_language(draft, "es")).decode()[1:])))
    assert {row["key"]: row["source"] for row in rows}[key] == ARMS[1]["texts"]["question"]["en"]
    for row in rows:
        row["translation"] = row["source"]
        if row["key"] == key:
            row["translation"] = "¿Qué dice la gente de {group}?"
    out = io.StringIO()
    writer = csv.DictWriter(out, ["key", "source", "translation"])
    writer.writeheader()
    writer.writerows(rows)
    content = out.getvalue().encode()
    import_language(instrument=draft, language="es", content=content, file_name="es.csv")
    draft.refresh_from_db()
    question = draft.arms[1]["texts"]["question"]
    assert question["es"] == "¿Qué dice la gente de {group}?"
    assert read_arms(draft.arms)["few"].words_in("es", "en") == {"question": question["es"]}
    assert not draft.wordings.filter(key__startswith="arm.").exists()
    assert not [found for found in examine_study(draft.study, draft) if found.blocks]
    remove_language(instrument=draft, language="es")
    draft.refresh_from_db()
    assert draft.arms == ARMS


def test_pages_of_arms_take_as_many_queries_with_twelve_as_with_two(  # type: ignore[no-untyped-def]
    db, make_study
) -> None:
    owner = User.objects.create_superuser("owner")
    client = Client()
    client.force_login(owner)

    def count(n: int) -> int:
        study = make_study(flow=FLOW, launched=False, owner=owner)
        arms = [{**ARMS[1], "name": f"arm-{k}", "label": f"Arm {k}"} for k in range(n)]
        study.instruments.update(arms=arms)
        address = reverse("admin:annotation_instrument_arms", args=[study.instruments.get().pk])
        client.get(address)
        with CaptureQueriesContext(connection) as captured:
            assert client.get(address).status_code == 200
        return len(captured)

    assert count(2) == count(12) <= 20


def test_a_page_of_a_survey_with_arms_takes_no_more_queries_than_one_without(  # type: ignore[no-untyped-def]
    db, make_study, make_person
) -> None:
    def count(arms) -> int:  # type: ignore[no-untyped-def]
        flow = ["rating", "rating", choice()]
        study = make_study(flow=flow, launched=False)
        study.instruments.update(arms=arms)
        launch_study(study=study)
        person = make_person()
        person.start(study.get_absolute_url())
        person.see()
        with CaptureQueriesContext(connection) as captured:
            person.see()
        return len(captured)

    assert count(ARMS) == count([])
