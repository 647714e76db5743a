"""The library of questions: kept from one study, put into another, with translations and files."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.urls import reverse

from annotation.instruments.documents.document import read_document, write_document
from annotation.instruments.documents.draft_service import store_document
from annotation.instruments.files import store_file
from annotation.instruments.flow import parse_flow
from annotation.instruments.questions.library_content import check_content, find_languages
from annotation.instruments.questions.question_service import fill_in, keep_question, keep_step
from annotation.instruments.questions.ready_made import list_ready_made, seed_questions
from annotation.models import (
    ABOUT_PARTICIPANT,
    DemographicQuestion,
    Instrument,
    LibraryQuestion,
    Study,
    Wording,
)
from annotation.steps.kind import KINDS
from tests.annotation.researcher.conftest import log_in
from tests.annotation.studies.people import make_user
from tests.annotation.survey.flows import every_kind, slider, texts
from tests.annotation.survey.media import picture

pytestmark = pytest.mark.django_db
IN_TWO = {"en": "How sure are you?", "es": "¿Qué tan seguro está?"}


@pytest.fixture
def alice() -> User:
    return make_user("alice")  # type: ignore[return-value]


@pytest.fixture
def bob() -> User:
    return make_user("bob")  # type: ignore[return-value]


def make_draft(make_study, owner: User | None = None, **options) -> Instrument:  # type: ignore[no-untyped-def]
    study: Study = make_study(launched=False, owner=owner, **options)
    return study.instruments.select_related("study").get()


def keep(instrument: Instrument, owner: User, index: int = 2, **options) -> LibraryQuestion:  # type: ignore[no-untyped-def]
    given = {"name": "How sure", "is_shared": False, **options}
    return keep_step(instrument=instrument, index=index, owner=owner, **given)


def test_every_kind_of_own_step_is_kept_and_put_into_another_study(make_study, alice) -> None:  # type: ignore[no-untyped-def]
    flow = ["consent", "rating", *every_kind()]
    source, other = (make_draft(make_study, flow=flow) for _ in range(2))
    for index, item in enumerate(flow):
        if not isinstance(item, dict) or len(item) < 3:
            continue  # nothing but its kind
        kept = keep(source, alice, index)
        filled = fill_in(question=kept, instrument=other, languages=["en", "es"], taken=())
        expected = {name: part for name, part in item.items() if name != "show_if"}
        assert filled.step == expected
        assert not filled.is_foreign
        assert parse_flow(["instructions", filled.step, "rating"])[1].kind == item["kind"]


def test_conditions_stay_in_their_study(make_study, alice) -> None:  # type: ignore[no-untyped-def]
    first = slider("first")
    second = slider(show_if={"step": "first", "at_least": 5})
    kept = keep(make_draft(make_study, flow=["rating", first, second]), alice)
    assert "show_if" not in kept.content


def test_translations_travel_where_languages_are_shared(make_study, alice) -> None:  # type: ignore[no-untyped-def]
    source = make_draft(make_study, flow=["consent", "rating", slider(question=IN_TWO)])
    kept = keep(source, alice)

    def put(*languages: str) -> dict[str, str]:
        filled = fill_in(question=kept, instrument=source, languages=list(languages), taken=())
        assert filled.step is not None
        return dict(filled.step["question"]) | {"foreign": filled.is_foreign}

    assert put("en") == {"en": IN_TWO["en"], "foreign": False}
    assert put("en", "de") == {"en": IN_TWO["en"], "foreign": False}
    assert put("es-MX", "en") == {"es-MX": IN_TWO["es"], "en": IN_TWO["en"], "foreign": False}
    # Its own words stand in the study's language until somebody translates them.
    assert put("de") == {"de": IN_TWO["en"], "foreign": True}


def test_its_picture_travels_along(make_study, alice) -> None:  # type: ignore[no-untyped-def]
    source, other = make_draft(make_study), make_draft(make_study)
    file = store_file(study=source.study, name="seen.png", content=picture())
    media = {"file": file.digest, "alt": texts("A square")}
    source.flow = ["consent", "rating", slider(media=media)]
    source.save()
    kept = keep(source, alice)
    source.study.files.all().delete()
    filled = fill_in(question=kept, instrument=other, languages=["en"], taken=())
    copied = other.study.files.get()
    assert (copied.name, bytes(copied.content)) == ("seen.png", picture())
    assert filled.step is not None
    assert filled.step["media"]["file"] == copied.digest


def test_a_question_about_the_participant_brings_its_translations(make_study, alice) -> None:  # type: ignore[no-untyped-def]
    source, other = make_draft(make_study), make_draft(make_study)
    source.questions.all().delete()
    DemographicQuestion.objects.create(
        instrument=source, slug="pets", kind="choice", label="Any pets?", options=["Cat", "Dog"]
    )
    document = fill_in(
        question=LibraryQuestion.objects.get(slug="gender"),
        instrument=source,
        languages=["en", "es"],
        taken=["gender"],
    )
    assert document.question is not None
    assert document.question["slug"] == "gender-2"
    assert document.texts["es"]["question.gender-2.label"] == "¿Cuál es su género?"
    keys = {"question.pets.label": "¿Mascotas?"}
    Wording.objects.bulk_create(
        Wording(instrument=source, language="es", key=key, text=text) for key, text in keys.items()
    )
    kept = keep_question(instrument=source, slug="pets", name="Pets", owner=alice, is_shared=False)
    assert kept.kind == ABOUT_PARTICIPANT
    assert kept.content["label"] == {"en": "Any pets?", "es": "¿Mascotas?"}
    filled = fill_in(question=kept, instrument=other, languages=["en", "es"], taken=())
    assert filled.question is not None
    assert filled.question["options"] == ["Cat", "Dog"]
    assert filled.texts == {"es": {"question.pets.label": "¿Mascotas?"}}
    # What came out can be stored as it is.
    stored = write_document(other)
    stored["questions"] = [*stored["questions"], filled.question]
    stored["texts"]["es"] = filled.texts["es"]
    store_document(other, read_document(stored))
    assert other.questions.get(slug="pets").label == "Any pets?"


def test_an_incomplete_step_is_not_kept(make_study, alice) -> None:  # type: ignore[no-untyped-def]
    draft = make_draft(make_study, flow=["consent", "rating", slider()])
    draft.flow[2]["question"] = {}
    draft.save()
    with pytest.raises(ValidationError, match="Complete it before you keep it"):
        keep(draft, alice)
    with pytest.raises(ValidationError, match="texts of their own"):
        keep(draft, alice, 1)
    with pytest.raises(ValidationError, match="no such step"):
        keep(draft, alice, 9)
    assert not LibraryQuestion.objects.filter(owner=alice).exists()


@pytest.mark.parametrize("entry", list_ready_made(), ids=lambda entry: entry["slug"])
def test_every_ready_made_question_can_be_asked_in_english_and_spanish(make_study, entry) -> None:  # type: ignore[no-untyped-def]
    kind, content = entry["kind"], entry["content"]
    check_content(kind, content)
    assert find_languages(kind, content) == ["en", "es"]
    assert entry["source"]
    draft = make_draft(make_study)
    draft.questions.all().delete()
    row = LibraryQuestion.objects.get(slug=entry["slug"])
    for languages in (["en"], ["es", "en"]):
        filled = fill_in(question=row, instrument=draft, languages=languages, taken=())
        assert not filled.is_foreign
        if filled.question is not None:
            question = DemographicQuestion(instrument=draft, **filled.question)
            question.full_clean()
        else:
            assert parse_flow(["rating", filled.step])[1].kind in KINDS


def test_seeding_again_changes_nothing_and_drops_what_is_no_longer_brought_along() -> None:
    before = set(LibraryQuestion.objects.values_list("pk", "slug", "name"))
    LibraryQuestion.objects.create(
        slug="gone", name="Gone", kind="page", content={}, is_shared=True, asks="-"
    )
    seed_questions()
    assert set(LibraryQuestion.objects.values_list("pk", "slug", "name")) == before
    assert len(before) == len(list_ready_made()) > 20


# --- whose they are ------------------------------------------------------------------------------


def test_own_questions_are_seen_by_others_once_they_are_shared(make_study, alice, bob) -> None:  # type: ignore[no-untyped-def]
    kept = keep(make_draft(make_study, flow=["consent", "rating", slider()]), alice)
    seen = LibraryQuestion.objects.visible_to(bob).filter(slug="")
    assert not seen.exists()
    page = reverse("admin:annotation_libraryquestion_change", args=[kept.pk])
    assert log_in(bob).get(page).status_code == 302
    address = reverse("admin:annotation_libraryquestion_changelist")
    log_in(alice).post(address, {"action": "share", "_selected_action": [kept.pk]})
    assert seen.get() == kept
    assert log_in(bob).get(page).status_code == 200


def test_only_the_owner_renames_and_deletes(make_study, alice, bob) -> None:  # type: ignore[no-untyped-def]
    kept = keep(make_draft(make_study, flow=["consent", "rating", slider()]), alice, is_shared=True)
    ready = LibraryQuestion.objects.get(slug="age")
    names = {"name": "Renamed", "source": "", "is_shared": "on"}
    for user, row, is_allowed in ((bob, kept, False), (alice, ready, False), (alice, kept, True)):
        page = reverse("admin:annotation_libraryquestion_change", args=[row.pk])
        response = log_in(user).post(page, names)
        row.refresh_from_db()
        assert (row.name == "Renamed") is is_allowed, response.status_code
    address = reverse("admin:annotation_libraryquestion_changelist")
    chosen = {"action": "delete_selected", "_selected_action": [kept.pk, ready.pk], "post": "yes"}
    log_in(bob).post(address, chosen)
    log_in(alice).post(address, chosen)
    assert LibraryQuestion.objects.filter(pk__in=[kept.pk, ready.pk]).count() == 2
    page = reverse("admin:annotation_libraryquestion_delete", args=[kept.pk])
    assert "Renamed" in log_in(alice).get(page).content.decode()
    log_in(alice).post(page, {"post": "yes"})
    assert not LibraryQuestion.objects.filter(pk=kept.pk).exists()


def test_list_is_searched_by_words_and_filtered(make_study, alice) -> None:  # type: ignore[no-untyped-def]
    keep(make_draft(make_study, flow=["consent", "rating", slider()]), alice, name="My own line")
    client, address = log_in(alice), reverse("admin:annotation_libraryquestion_changelist")

    def names(**query: str) -> set[str]:
        rows = client.get(address, query).context["cl"].result_list
        return {row.name for row in rows}

    assert names(q="thermometer") == {"Feeling thermometer"}
    assert names(whose="own") == {"My own line"}
    assert "My own line" not in names(whose="ready")
    assert names(kind="ranking") == {"Sources of news"}
    assert (
        "No entry fits this search"
        in client.get(address, {"q": "nothing-like-it"}).content.decode()
    )


def test_list_takes_the_same_number_of_queries_however_long(  # type: ignore[no-untyped-def]
    make_study, alice, django_assert_max_num_queries
) -> None:
    client, address = log_in(alice), reverse("admin:annotation_libraryquestion_changelist")
    client.get(address)
    with django_assert_max_num_queries(12) as few:
        client.get(address)
    draft = make_draft(make_study, flow=["consent", "rating", slider()])
    for number in range(5):
        keep(draft, alice, name=f"Question {number}")
    with django_assert_max_num_queries(len(few)):
        assert "Question 4" in client.get(address).content.decode()


# --- beside the designer --------------------------------------------------------------------------


def test_designer_offers_keeps_and_puts_in(make_study, alice, bob) -> None:  # type: ignore[no-untyped-def]
    draft = make_draft(make_study, owner=alice, flow=["consent", "rating", slider()])
    client = log_in(alice)
    keep_it = reverse("admin:annotation_instrument_keep_question", args=[draft.pk])
    sent = {"step": 2, "name": " Sureness ", "shared": True}
    answer = client.post(keep_it, sent, content_type="application/json")
    assert answer.status_code == 201
    kept = LibraryQuestion.objects.get(owner=alice)
    assert (kept.name, kept.is_shared) == ("Sureness", True)
    sent["name"] = ""
    assert client.post(keep_it, sent, content_type="application/json").status_code == 422
    questions = reverse("admin:annotation_instrument_question_picker", args=[draft.pk])
    offered = {one["name"]: one for one in client.get(questions).json()["questions"]}
    assert offered["Sureness"]["of"] == "Yours"
    assert offered["Feeling thermometer"]["of"] == "Ready-made"
    put = {"pk": kept.pk, "taken": []}
    filled = client.post(questions, put, content_type="application/json").json()
    assert filled["step"] == kept.content
    # Somebody else's private question cannot be guessed; nor does an outsider reach the study.
    private = keep(draft, bob, name="Hidden")
    assert "Hidden" not in {one["name"] for one in client.get(questions).json()["questions"]}
    put["pk"] = private.pk
    assert client.post(questions, put, content_type="application/json").status_code == 404
    assert log_in(bob).post(questions, put, content_type="application/json").status_code == 404


def test_viewer_keeps_a_question_but_puts_none_in(make_study, alice, bob) -> None:  # type: ignore[no-untyped-def]
    draft = make_draft(make_study, owner=alice, flow=["consent", "rating", slider()])
    draft.study.memberships.create(user=bob, role="viewer")
    client = log_in(bob)
    keep_it = reverse("admin:annotation_instrument_keep_question", args=[draft.pk])
    sent = {"step": 2, "name": "Seen at Alice’s"}
    assert client.post(keep_it, sent, content_type="application/json").status_code == 201
    questions = reverse("admin:annotation_instrument_question_picker", args=[draft.pk])
    put = {"pk": LibraryQuestion.objects.get(owner=bob).pk, "taken": []}
    assert client.post(questions, put, content_type="application/json").status_code == 403
