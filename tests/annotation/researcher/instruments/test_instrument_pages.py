"""An instrument's pages: the designer and what it asks for, previews, pilots, versions."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.http import HttpResponse
from django.urls import reverse

from annotation.instruments.comparison import compare_versions
from annotation.instruments.content_hash import hash_instrument
from annotation.instruments.default_wording import default_wording
from annotation.instruments.documents.document import hash_document, write_document
from annotation.instruments.languages.language_service import add_known_language
from annotation.instruments.versions import create_version
from annotation.models import (
    CheckResponse,
    Instrument,
    SocialGroup,
    Study,
    StudyMembership,
    Submission,
)
from annotation.steps.choice import Choice
from annotation.steps.comprehension import Comprehension
from annotation.steps.free_text import FreeText
from annotation.steps.kind import KINDS
from annotation.steps.matrix import Matrix
from annotation.steps.number import Number
from annotation.steps.page import PageToRead
from annotation.steps.practice import Practice
from annotation.steps.ranking import Ranking
from annotation.steps.reading_checks import Instructed, Nonsensical
from annotation.steps.slider import Slider
from annotation.studies.lifecycle import launch_study
from annotation.studies.pilot import start_pilot
from annotation.survey.preview import start_preview
from tests.annotation.researcher.conftest import log_in, save
from tests.annotation.researcher.studies.study_pages import act
from tests.annotation.studies.people import make_study, make_submission, make_user
from tests.annotation.survey.flows import choice, every_kind, free_text, instructed

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft(alice: User) -> Study:
    return make_study(owner=alice, launched=False)


def page(name: str, instrument: Instrument, *more: Any) -> str:
    return reverse(f"admin:annotation_instrument_{name}", args=[instrument.pk, *more])


def check(user: User, study: Study, flow: object) -> list[dict[str, Any]]:
    """Save steps; return what is said to be wrong with them."""
    response = save(user, study.instruments.get(), flow=flow)
    assert response.status_code == 200
    return [found for found in response.json()["findings"] if found["blocks"]]


def test_what_is_wrong_is_told_at_its_step_while_one_edits(draft: Study, alice: User) -> None:
    assert check(alice, draft, ["consent", "rating"]) == []
    flow = ["consent", choice(options=[]), "rating", free_text(show_if={"step": "no", "is": "x"})]
    problems = check(alice, draft, flow)
    assert [(problem["step"], problem["field"]) for problem in problems] == [
        (1, "options"),
        (3, "show_if"),
    ]
    # A draft may be incomplete; it is stored, and cannot be launched.
    assert draft.instruments.get().flow == flow
    assert "Step 2 is “dance”" in check(alice, draft, ["consent", "dance", "rating"])[0]["text"]
    (missing,) = check(alice, draft, ["consent"])
    assert (missing["step"], missing["text"][:27]) == (None, "The flow has no rating page")


def test_every_new_step_begins_complete(draft: Study, alice: User) -> None:
    flow: list[Any] = ["consent", "instructions"]
    flow += [
        {"kind": kind, "key": kind.replace("_", "-"), **KINDS[kind].new}
        for kind in (Comprehension.name, PageToRead.name, Practice.name)
    ]
    flow += ["rating"]
    flow += [
        {"kind": kind, "key": kind.replace("_", "-"), **KINDS[kind].new}
        for kind in (
            Instructed.name,
            Nonsensical.name,
            Choice.name,
            FreeText.name,
            Slider.name,
            Number.name,
            Matrix.name,
            Ranking.name,
        )
    ]
    assert {item["kind"] for item in flow if isinstance(item, dict)} == {
        name for name, kind in KINDS.items() if kind.new
    }
    assert check(alice, draft, flow) == []


def test_only_who_sees_the_study_may_ask_or_preview(draft: Study, bob: User, charlie: User) -> None:
    instrument = draft.instruments.get()
    for name in ("draft", "preview", "clear_previews"):
        assert log_in(charlie).post(page(name, instrument)).status_code == 404
        assert log_in(bob).get(page(name, instrument)).status_code == 405


def test_the_page_brings_the_designer_what_it_has_to_know(draft: Study, alice: User) -> None:
    shown = log_in(alice).get(page("change", draft.instruments.get())).content.decode()
    found = re.search(r'<script id="designer-config" type="application/json">(.*?)</script>', shown)
    assert found is not None
    config = json.loads(found[1])
    assert set(config["kinds"]) == set(KINDS)
    assert {kind for part in config["menu"] for kind in part["kinds"]} == set(KINDS)
    assert [language["code"] for language in config["languages"]] == ["en"]
    # Every text and every setting of an instrument has a kind of step where it is edited.
    kinds = config["kinds"].values()
    texts = {text["key"] for kind in kinds for text in kind["texts"]}
    assert texts == set(default_wording(draft.kind)) == set(config["document"]["texts"]["en"])
    settings = {setting["name"] for kind in kinds for setting in kind["settings"]}
    assert settings == set(config["document"]["settings"])


def test_nobody_saves_over_a_colleagues_edits(draft: Study, alice: User) -> None:
    instrument = draft.instruments.get()
    ed = make_user("edward")
    StudyMembership.objects.create(study=draft, user=ed, role="editor")
    token = hash_document(write_document(instrument))
    assert save(ed, instrument, token=token, flow=["consent", "rating"]).status_code == 200
    refused = save(alice, instrument, token=token, flow=["rating", "rating"])
    assert refused.status_code == 409
    answer = refused.json()
    assert answer["text"].startswith("edward changed this version on ")
    assert draft.instruments.get().flow == ["consent", "rating"]
    # Having looked, one may put one's own in the place of theirs.
    again = save(alice, instrument, token=answer["token"], flow=["rating", "rating"])
    assert again.status_code == 200
    # Sent again because its answer was lost, the same edit is no conflict.
    lost = save(alice, instrument, token=token, flow=["rating", "rating"])
    assert (lost.status_code, lost.json()["token"]) == (200, again.json()["token"])
    # A text that was edited elsewhere meanwhile counts as well.
    token = again.json()["token"]
    draft.instruments.get().wordings.filter(key="question").update(text="Who are {group}?")
    assert save(alice, instrument, token=token, flow=["rating"]).status_code == 409


def test_one_types_on_after_an_answer_was_lost(draft: Study, alice: User) -> None:
    instrument = draft.instruments.get()
    token = hash_document(write_document(instrument))
    address = reverse("admin:annotation_instrument_draft", args=[instrument.pk])

    def send(flow: list[str], key: str, *unanswered: str) -> int:
        sent = {"token": token, "parts": {"flow": flow}, "key": key, "unanswered": unanswered}
        return log_in(alice).post(address, sent, content_type="application/json").status_code

    assert send(["rating"], "first") == 200  # an answer that never came
    assert send(["consent", "rating"], "second", "first") == 200
    # The second one's answer is lost, too, and so was a third one before it arrived.
    assert send(["rating", "consent"], "fourth", "first", "second", "third") == 200
    instrument.refresh_from_db()
    assert instrument.flow == ["rating", "consent"]
    # What somebody else, or another window, has stored in between is no save of one's own.
    assert send(["rating"], "fifth", "first", "second") == 409
    assert save(alice, instrument, flow=["rating", "demographics"]).status_code == 200
    assert send(["rating"], "fifth", "fourth") == 409
    assert send(["rating"], "sixth", "") == 409
    for key, unanswered in (("x" * 41, []), (5, []), ("x", "first"), ("x", [5])):
        sent = {"token": token, "parts": {}, "key": key, "unanswered": unanswered}
        assert log_in(alice).post(address, sent, content_type="application/json").status_code == 422


def test_edits_of_one_sitting_are_one_entry_of_the_history(draft: Study, alice: User) -> None:
    instrument = draft.instruments.get()
    n = instrument.history.count()
    for flow in (["rating"], ["consent", "rating"], ["consent", "rating", "repeat"]):
        assert save(alice, instrument, flow=flow).status_code == 200
    assert instrument.history.count() == n + 1
    newest = instrument.history.first()
    assert (newest.history_user, newest.flow) == (alice, ["consent", "rating", "repeat"])


def test_a_draft_is_edited_part_by_part(draft: Study, alice: User) -> None:
    instrument = draft.instruments.get()
    before = write_document(instrument)
    average = SocialGroup.objects.get(slug="average")
    forms = {"singular": "usual person", "plural": "usual people"}
    group = {"slug": "average", **forms, "plural_capitalised": "Usual people", "domains": []}
    question = {"slug": "pet", "kind": "choice", "label": "Any pets?", "options": ["Yes", "No"]}
    parts = {
        "settings": before["settings"] | {"show_ticks": True, "high_from": 70},
        "groups": [group, *before["groups"][2:]],
        "scales": before["scales"][::-1][:4],
        "questions": [question, before["questions"][1]],
        "texts": {"en": before["texts"]["en"] | {"consent_agree": "I agree."}},
    }
    kept = instrument.groups.get(slug=before["groups"][2]["slug"]).pk
    assert save(alice, instrument, **parts).status_code == 200
    instrument = draft.instruments.get()
    after = write_document(instrument)
    assert (instrument.show_ticks, instrument.high_from) == (True, 70)
    assert [one["slug"] for one in after["groups"]] == [one["slug"] for one in parts["groups"]]
    assert instrument.groups.get(slug="average").group == average
    assert instrument.groups.get(slug="average").plural == "usual people"
    assert instrument.groups.get(slug=before["groups"][2]["slug"]).pk == kept
    assert after["scales"] == parts["scales"]
    assert [one["slug"] for one in after["questions"]] == ["pet", "age"]
    assert instrument.wordings.get(key="consent_agree").text == "I agree."
    assert after["flow"] == before["flow"]


@pytest.mark.parametrize(
    ("change", "path", "expected"),
    [
        (lambda d: {"flow": "consent"}, "flow", "Expected a list."),
        (lambda d: {"flow": ["x" * 400_000]}, "flow", "expected at most 400000."),
        (lambda d: {"flow": ["a\x00b"]}, "flow", "cannot be stored"),
        (lambda d: {"settings": {**d["settings"], "high_from": 40}}, "settings high_from", "51"),
        (lambda d: {"settings": {"high_from": 60}}, "settings low_to", "It is missing."),
        (lambda d: {"groups": [d["groups"][0]] * 2}, "groups 2 slug", "stands there twice"),
        (lambda d: {"groups": [{**d["groups"][0], "slug": "x"}]}, "groups 1", "not in the library"),
        (lambda d: {"scales": [{**d["scales"][0], "low": ""}]}, "scales 1 low", "It is empty."),
        (lambda d: {"questions": [{"slug": "a"}]}, "questions 1 kind", "It is missing."),
        (lambda d: {"texts": {"en!": {}}}, "texts", "is no language code"),
        (lambda d: {"kind": "guise_rating"}, "kind", "It is not known here."),
    ],
)
def test_what_cannot_be_stored_is_refused_at_its_field(
    draft: Study, alice: User, change: Any, path: str, expected: str
) -> None:
    before = write_document(draft.instruments.get())
    response = save(alice, draft.instruments.get(), **change(before))
    assert response.status_code == 422
    problems = response.json()["problems"]
    assert any(path in where and expected in said for where, said in problems.items()), problems
    assert write_document(draft.instruments.get()) == before
    nothing = log_in(alice).post(
        page("draft", draft.instruments.get()), "[" * 100_000, content_type="application/json"
    )
    assert nothing.status_code == 422


def test_questions_that_nobody_can_answer_keep_a_study_from_its_launch(
    draft: Study, alice: User
) -> None:
    questions = write_document(draft.instruments.get())["questions"]
    questions[0]["options"] = ["Man"]
    questions[1]["minimum"] = 130
    response = save(alice, draft.instruments.get(), questions=questions)
    found = [(one["step"], one["field"], one["text"]) for one in response.json()["findings"]]
    assert found == [
        (
            9,
            "questions 1 options",
            "“What is your gender?”: enter at least two options for a choice.",
        ),
        (9, "questions 2 maximum", "“How old are you?”: 120 is below the minimum of 130."),
    ]


# --- what the designer looks up -------------------------------------------------------------------


def test_groups_and_scales_of_ones_own_join_the_library(draft: Study, alice: User) -> None:
    address = page("library", draft.instruments.get())

    def add(**values: str) -> HttpResponse:
        return log_in(alice).post(address, values, content_type="application/json")  # type: ignore[return-value]

    assert add(plural="bakers").status_code == 403
    names = ["add_socialgroup", "add_traitpair"]
    alice.user_permissions.set(Permission.objects.filter(codename__in=names))
    assert add(plural="women bakers").json() == {
        "slug": "women-baker",
        "singular": "women baker",
        "plural": "women bakers",
        "plural_capitalised": "Women bakers",
        "domains": [],
        "paired": False,
    }
    assert add(plural="Women bakers").json()["slug"] == "women-baker"
    assert add(plural="veterans").json()["slug"] == "veteran"
    assert SocialGroup.objects.filter(plural="women bakers").count() == 1
    assert add(plural=" ").status_code == 422
    scale = add(low="lazy", high="hard-working", dimension="agency").json()
    assert scale["slug"] == "lazy-hard-working"
    assert add(low="lazy", high="hard-working", dimension="agency").json() == scale
    assert "Both poles are" in add(low="lazy", high="lazy", dimension="agency").json()["text"]
    for dimension in ("size", ""):
        refused = add(low="shy", high="bold", dimension=dimension)
        assert refused.status_code == 422
        assert "Choose the dimension of the ABC model" in refused.json()["text"]
    library = log_in(alice).get(address).json()
    assert {"women-baker", "veteran"} <= {group["slug"] for group in library["groups"]}
    assert library["scales"][-1]["slug"] == "lazy-hard-working"


def test_translations_are_listed_with_where_they_stand(draft: Study, alice: User) -> None:
    instrument = draft.instruments.get()
    add_known_language(instrument=instrument, language="es")
    flow = ["consent", choice(question={"en": "Where?", "es": "¿Dónde?"}), "rating"]
    texts = write_document(draft.instruments.get())["texts"]
    texts["es"]["question"] = "¿Cómo ve la gente a {group}?"
    assert save(alice, instrument, flow=flow, texts=texts).status_code == 200
    listed = log_in(alice).get(page("texts", instrument), {"language": "es"}).json()["texts"]
    by_key = {text["key"]: text for text in listed}
    assert by_key["question"]["translation"] == "¿Cómo ve la gente a {group}?"
    assert by_key["step.heard.question"]["path"] == [1, "question"]
    assert by_key["step.heard.options.1.text"]["path"] == [1, "options", 0, "text"]
    # Reworded since: whoever reads Spanish still gets the former text.
    texts["en"]["question"] = "Who are {group}?"
    save(alice, instrument, texts=texts)
    listed = log_in(alice).get(page("texts", instrument), {"language": "es"}).json()["texts"]
    assert [text["key"] for text in listed if text["stale"]] == ["question"]
    assert log_in(alice).get(page("texts", instrument), {"language": "xx"}).status_code == 422


def test_every_step_is_drawn_as_participants_see_it_and_nothing_is_stored(
    draft: Study, alice: User
) -> None:
    instrument = draft.instruments.get()
    add_known_language(instrument=instrument, language="es")
    flow = [item if isinstance(item, str) else item["kind"] for item in every_kind()]
    kinds = [*dict.fromkeys(flow)]
    assert set(kinds) == set(KINDS)
    items = [{"kind": kind, "key": f"k{n}", **KINDS[kind].new} for n, kind in enumerate(kinds)]
    assert save(alice, instrument, flow=items).status_code == 200
    client = log_in(alice)
    for number, item in enumerate(items, start=1):
        drawn = client.get(page("draw", instrument), {"step": number, "language": "es"})
        shown = drawn.content.decode()
        assert "data-step" in shown, item["kind"]
        assert 'lang="es"' in shown
        assert "annotation/designer-frame.js" in shown
        assert "frame-ancestors 'self'" in drawn["Content-Security-Policy"]
        assert "unsafe" not in drawn["Content-Security-Policy"]
        assert drawn["X-Frame-Options"] == "SAMEORIGIN"
    assert not Submission.objects.exists()
    assert not CheckResponse.objects.exists()
    nothing = save(alice, instrument, flow=["consent", choice(options=[]), "rating"], groups=[])
    assert nothing.status_code == 200
    for number, said in ((2, "options: There are 0"), (3, "choose groups"), (9, "no such step")):
        assert said in client.get(page("draw", instrument), {"step": number}).content.decode()


def test_a_step_with_content_is_saved_and_shown_in_words(draft: Study, alice: User) -> None:
    client, instrument = log_in(alice), draft.instruments.get()
    flow = ["consent", choice(), "rating", instructed(show_if={"step": "heard", "is": "panel"})]
    assert save(alice, instrument, flow=flow).status_code == 200
    assert draft.instruments.get().flow == flow
    launch_study(study=draft)
    shown = client.get(page("change", instrument)).content.decode()
    assert "en: Where did you hear of this study?" in shown
    assert "Only if “heard” is “panel”" in shown
    assert "expected: somewhat-disagree" in shown


# --- previews -------------------------------------------------------------------------------------


def test_a_draft_is_previewed_from_its_page(draft: Study, bob: User, alice: User) -> None:
    response = log_in(alice).post(page("preview", draft.instruments.get()))
    submission = Submission.objects.get()
    assert response["Location"] == reverse("survey:page", args=[submission.token])
    assert submission.origin == "preview"
    shown = log_in(alice).get(page("change", draft.instruments.get())).content.decode()
    assert "Erase 1 preview" in shown


def test_a_viewer_may_preview_and_not_erase(study: Study, bob: User) -> None:
    client, instrument = log_in(bob), study.instruments.get()
    assert client.post(page("preview", instrument)).status_code == 302
    assert client.post(page("clear_previews", instrument)).status_code == 403
    assert Submission.objects.count() == 1


def test_a_draft_that_cannot_be_shown_says_why(draft: Study, alice: User) -> None:
    Instrument.objects.update(flow=["consent"])
    response = log_in(alice).post(page("preview", draft.instruments.get()), follow=True)
    assert "The flow has no rating page" in response.content.decode()
    assert not Submission.objects.exists()


def test_editing_or_discarding_a_draft_clears_its_previews(study: Study, alice: User) -> None:
    client = log_in(alice)
    kept = start_preview(instrument=study.instruments.get())
    version = create_version(study=study)
    start_preview(instrument=version)
    document = write_document(version)
    parts = {name: document[name][1:] for name in ("groups", "scales")}
    assert save(alice, version, **parts).status_code == 200
    assert Submission.objects.get() == kept
    start_preview(instrument=version)
    discard = reverse("admin:annotation_study_action", args=[study.pk, "discard"])
    done = client.post(discard, {"confirmed": "yes"}, follow=True).content.decode()
    assert "The draft is discarded." in done
    assert Submission.objects.get() == kept
    client.post(page("clear_previews", study.instruments.get()))
    assert not Submission.objects.exists()


def test_previews_do_not_keep_a_draft_from_being_deleted(draft: Study, alice: User) -> None:
    start_preview(instrument=draft.instruments.get())
    address = reverse("admin:annotation_study_delete", args=[draft.pk])
    client = log_in(alice)
    assert client.get(address).status_code == 200
    client.post(address, {"post": "yes"})
    assert not Study.objects.exists()


def test_previews_stand_in_the_queue_only_where_they_are_asked_for(
    study: Study, alice: User
) -> None:
    preview = start_preview(instrument=study.instruments.get())
    queue = reverse("admin:annotation_submission_changelist")
    client = log_in(alice)
    for show, expected in (("all", False), ("in-progress", False), ("previews", True)):
        assert (str(preview) in client.get(f"{queue}?show={show}").content.decode()) is expected
    review = reverse("admin:annotation_submission_review", args=[preview.pk])
    assert "Preview" in client.get(review).content.decode()
    listed = client.get(reverse("admin:annotation_study_changelist")).content.decode()
    assert re.search(r"field-n_submissions[^>]*>\s*0\s*<", listed)


# --- pilots ---------------------------------------------------------------------------------------


def test_a_pilot_is_started_and_ended_from_the_studys_page(draft: Study, alice: User) -> None:
    client = log_in(alice)
    started = act(client, draft, "pilot")
    assert "The study is piloting." in started
    assert "Piloting: 0 of 10 places taken." in started
    assert "Go live" in started
    ended = act(client, draft, "end-pilot")
    assert "The pilot has ended." in ended
    assert "Instrument, version 2" in ended


@pytest.mark.parametrize(
    ("action", "said", "counted"),
    [
        ("launch", "kept apart from the numbers below", False),
        (
            "launch-with-pilot",
            "1 submission of the pilot counts with the live data, as decided at the launch",
            True,
        ),
    ],
)
def test_going_live_decides_about_the_pilot(
    draft: Study, alice: User, action: str, said: str, counted: bool
) -> None:
    start_pilot(study=draft)
    pilot = make_submission(Study.objects.get())
    Submission.objects.update(origin="pilot", is_counted=False)
    client = log_in(alice)
    assert "Go live, pilot apart" in client.get(overview(draft)).content.decode()
    assert said in act(client, draft, action)
    pilot.refresh_from_db()
    assert pilot.is_counted is counted
    shown = client.get(overview(draft)).content.decode()
    assert 'type="checkbox" name="pilot"' in shown  # the choice of what exports hold
    history = client.get(reverse("admin:annotation_study_history", args=[draft.pk]))
    assert "Went live; the pilot’s submissions" in history.content.decode()


def test_a_viewer_cannot_start_a_pilot(study: Study, bob: User) -> None:
    address = reverse("admin:annotation_study_action", args=[study.pk, "pilot"])
    assert log_in(bob).post(address).status_code == 403


def overview(study: Study) -> str:
    return reverse("admin:annotation_study_overview", args=[study.pk])


# --- what is missing ------------------------------------------------------------------------------


def test_what_is_missing_links_to_where_it_is_mended(draft: Study, alice: User) -> None:
    instrument = draft.instruments.get()
    instrument.flow = ["consent", choice(question={"es": "¿Dónde?"}), *["rating"] * 4]
    instrument.save()
    instrument.scales.all().delete()
    Study.objects.update(contact_email="")
    client = log_in(alice)
    shown = client.get(overview(draft)).content.decode()
    step = reverse("admin:annotation_study_instrument", args=[draft.pk]) + "#step-2"
    settings = reverse("admin:annotation_study_change", args=[draft.pk]) + "#id_contact_email"
    for address in (step, settings):
        assert f'href="{address}"' in shown
    assert "Launch study" not in shown
    own = client.get(page("change", instrument)).content.decode()
    config = json.loads(re.search(r'"designer-config"[^>]*>(.*?)</script>', own)[1])  # type: ignore[index]
    located = {(one["step"], one["address"]) for one in config["findings"]}
    # At the step, at the first rating page for the scales, on another page for settings.
    assert located == {(1, ""), (2, ""), (None, settings)}
    change = client.get(reverse("admin:annotation_study_change", args=[draft.pk]))
    assert 'id="id_contact_email"' in change.content.decode()


# --- versions -------------------------------------------------------------------------------------


def test_two_versions_are_compared_part_by_part(study: Study, alice: User) -> None:
    first = study.instruments.get()
    frozen = first.content_hash
    second = create_version(study=study)
    assert compare_versions(first, second) == []
    assert save(alice, second, **{n: write_document(second)[n] for n in ("texts", "flow")}).json()
    assert compare_versions(first, second) == []
    second.flow = [step for step in second.flow if step != "marked_traits"]
    second.flow.insert(1, choice())
    second.show_ticks = True
    second.save()
    second.wordings.filter(key="question").update(text="How do people in Ohio view {group}?")
    second.groups.all()[0].delete()
    second.scales.filter(position=1).update(low="feeble")
    second.questions.filter(slug="age").update(label="Your age?")
    shown = log_in(alice).get(page("compare", second, first.pk)).content.decode()
    assert "From version 1 to version 2" in shown
    assert "view {group}" in shown
    assert "<del>America</del>" in shown
    assert "<ins>Ohio</ins>" in shown
    assert "<del>feeble" not in shown
    assert "<ins>feeble</ins>" in shown
    assert "<del>Check: one trait high, one trait low</del>" in shown
    assert "<ins>Question with answers to choose from [heard]" in shown
    headings = re.findall(r"<h2>([^<]+)</h2>", shown)
    assert headings == [
        "Steps",
        "Texts",
        "Groups",
        "Trait scales",
        "Demographic questions",
        "Settings",
    ]
    # The older one stands first, whichever way they are asked for; looking changes nothing.
    again = log_in(alice).get(page("compare", first, second.pk)).content.decode()
    assert "From version 1 to version 2" in again
    first.refresh_from_db()
    assert (first.content_hash, hash_instrument(first)) == (frozen, frozen)


def test_a_changed_order_is_a_difference(study: Study) -> None:
    first, second = study.instruments.get(), create_version(study=study)
    second.groups.filter(position=1).update(position=999)
    (difference,) = compare_versions(first, second)
    assert difference.part == "groups"
    assert sorted(difference.before.split(" · ")) == sorted(difference.after.split(" · "))


def test_versions_of_other_studies_are_not_compared(study: Study, draft: Study, alice) -> None:  # type: ignore[no-untyped-def]
    other = draft.instruments.get()
    assert log_in(alice).get(page("compare", study.instruments.get(), other.pk)).status_code == 404


def test_a_version_that_cannot_be_edited_does_not_say_how_to(draft: Study, alice: User) -> None:
    address = page("change", draft.instruments.get())
    client = log_in(alice)
    hints = ("Drag a step", "Click a text to edit it.")
    shown = client.get(address).content.decode()
    assert all(hint in shown for hint in hints)
    launch_study(study=draft)
    shown = client.get(address).content.decode()
    assert not [hint for hint in hints if hint in shown]
