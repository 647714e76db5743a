"""An instrument's page besides its form: live checks, previews, pilots, versions side by side."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.instruments.comparison import compare_versions
from annotation.instruments.content_hash import hash_instrument
from annotation.instruments.step_defaults import DEFAULT_CONTENT
from annotation.instruments.step_kinds import StepKind
from annotation.instruments.versions import create_version
from annotation.models import Instrument, Study, Submission
from annotation.studies.lifecycle import launch_study
from annotation.studies.pilot import start_pilot
from annotation.survey.preview import start_preview
from tests.annotation.researcher.conftest import log_in
from tests.annotation.researcher.studies.test_study_pages import act, instrument_values
from tests.annotation.studies.people import make_study, make_submission
from tests.annotation.survey.flows import choice, free_text, instructed

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft(alice: User) -> Study:
    return make_study(owner=alice, launched=False)


def page(name: str, instrument: Instrument, *more: Any) -> str:
    return reverse(f"admin:annotation_instrument_{name}", args=[instrument.pk, *more])


def check(client: Client, study: Study, flow: object) -> list[dict[str, Any]]:
    body = flow if isinstance(flow, str) else json.dumps(flow)
    address = page("check_flow", study.instruments.get())
    response = client.post(address, body, content_type="application/json")
    assert response.status_code == 200
    return response.json()["problems"]


def test_what_is_wrong_is_told_at_its_step_while_one_edits(draft: Study, alice: User) -> None:
    client = log_in(alice)
    assert check(client, draft, ["consent", "rating"]) == []
    flow = ["consent", choice(options=[]), "rating", free_text(show_if={"step": "no", "is": "x"})]
    problems = check(client, draft, flow)
    assert [(problem["step"], problem["field"]) for problem in problems] == [
        (1, "options"),
        (3, "show_if"),
    ]
    assert check(client, draft, "[")[0]["text"] == "The steps are not valid JSON."
    assert check(client, draft, "[" * 100_000)[0]["text"] == "The steps are not valid JSON."
    assert check(client, draft, {})[0]["step"] is None
    assert draft.instruments.get().flow[0] == "consent"
    assert len(draft.instruments.get().flow) == 10


def test_every_new_step_begins_complete(draft: Study, alice: User) -> None:
    flow: list[Any] = ["consent", "instructions"]
    flow += [
        {"kind": kind.value, "key": kind.value.replace("_", "-"), **DEFAULT_CONTENT[kind]}
        for kind in (StepKind.COMPREHENSION, StepKind.PAGE, StepKind.PRACTICE)
    ]
    flow += ["rating"]
    flow += [
        {"kind": kind.value, "key": kind.value.replace("_", "-"), **DEFAULT_CONTENT[kind]}
        for kind in (
            StepKind.INSTRUCTED,
            StepKind.NONSENSICAL,
            StepKind.CHOICE,
            StepKind.FREE_TEXT,
            StepKind.SLIDER,
            StepKind.NUMBER,
            StepKind.MATRIX,
            StepKind.RANKING,
        )
    ]
    assert {item["kind"] for item in flow if isinstance(item, dict)} == set(DEFAULT_CONTENT)
    assert check(log_in(alice), draft, flow) == []


def test_only_who_sees_the_study_may_ask_or_preview(draft: Study, bob: User, charlie: User) -> None:
    instrument = draft.instruments.get()
    for name in ("check_flow", "preview", "clear_previews"):
        assert log_in(charlie).post(page(name, instrument)).status_code == 404
        assert log_in(bob).get(page(name, instrument)).status_code == 405


def test_the_page_brings_the_editor_what_it_has_to_know(draft: Study, alice: User) -> None:
    shown = log_in(alice).get(page("change", draft.instruments.get())).content.decode()
    found = re.search(r'<script id="flow-config" type="application/json">(.*?)</script>', shown)
    assert found is not None
    config = json.loads(found[1])
    assert set(config["kinds"]) == set(StepKind)
    assert {kind for part in config["menu"] for kind in part["kinds"]} == set(StepKind)
    assert config["languages"] == ["en"]
    assert 'src="/static/annotation/flow-editor' in shown


def test_saving_stays_at_the_instrument(draft: Study, alice: User) -> None:
    client, instrument = log_in(alice), draft.instruments.get()
    saved = client.post(page("change", instrument), instrument_values(instrument), follow=True)
    assert saved.redirect_chain == [(page("change", instrument), 302)]
    assert "Save and continue" not in saved.content.decode()


def test_nobody_saves_over_a_colleagues_edits(draft: Study, alice: User) -> None:
    client, instrument = log_in(alice), draft.instruments.get()
    first = instrument_values(instrument, flow='["consent", "rating"]')
    second = instrument_values(instrument, flow='["rating", "rating"]')
    assert client.post(page("change", instrument), first).status_code == 302
    refused = client.post(page("change", instrument), second)
    assert refused.status_code == 200
    assert "Somebody else saved this version after you opened it" in refused.content.decode()
    kept = refused.content.decode()
    assert "&quot;rating&quot;,\n &quot;rating&quot;" in kept
    assert draft.instruments.get().flow == ["consent", "rating"]
    # A text that was edited meanwhile counts as well.
    third = instrument_values(draft.instruments.get())
    draft.instruments.get().wordings.filter(key="question").update(text="Who are {group}?")
    assert client.post(page("change", instrument), third).status_code == 200


def test_a_step_with_content_is_saved_and_shown_in_words(draft: Study, alice: User) -> None:
    client, instrument = log_in(alice), draft.instruments.get()
    flow = ["consent", choice(), "rating", instructed(show_if={"step": "heard", "is": "panel"})]
    values = instrument_values(instrument, flow=json.dumps(flow))
    assert client.post(page("change", instrument), values).status_code == 302
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
    values = instrument_values(version, **{"groups-0-DELETE": "on", "scales-0-DELETE": "on"})
    assert client.post(page("change", version), values).status_code == 302
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
        ("launch-with-pilot", "counts with the live data, as decided at the launch", True),
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
    assert "ratings.zip/?pilot=1" in shown
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
    for address in ("#step-2", "#scales-group", settings):
        assert f'href="{address}"' in own
    for anchor in ("scales-group", "wordings-group", "groups-group"):
        assert f'id="{anchor}"' in own
    change = client.get(reverse("admin:annotation_study_change", args=[draft.pk]))
    assert 'id="id_contact_email"' in change.content.decode()


# --- versions -------------------------------------------------------------------------------------


def test_two_versions_are_compared_part_by_part(study: Study, alice: User) -> None:
    first = study.instruments.get()
    frozen = first.content_hash
    second = create_version(study=study)
    assert compare_versions(first, second) == []
    # A browser sends every line end as two characters: saved as it was, nothing differs.
    texts = {
        f"wordings-{n}-text": row.text.replace("\n", "\r\n")
        for n, row in enumerate(second.wordings.all())
    }
    values = instrument_values(second, **texts)
    assert log_in(alice).post(page("change", second), values).status_code == 302
    assert not second.wordings.filter(text__contains="\r").exists()
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
