"""What leads a study through its life: its buttons, and the versions of its instrument."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotation.instruments.documents.document import write_document
from annotation.instruments.versions import create_version
from annotation.models import Study, StudyMembership, StudyStatus, Submission
from annotation.studies.pilot import start_pilot
from annotation.studies.review_service import review_submission
from tests.annotation.researcher.conftest import log_in, save
from tests.annotation.researcher.studies.study_pages import act, overview, text_of
from tests.annotation.studies.people import make_study, make_submission

pytestmark = pytest.mark.django_db


def test_buttons_lead_a_study_through_its_life(alice: User) -> None:
    study = make_study(owner=alice, launched=False)
    client = log_in(alice)
    for action, status in [
        ("launch", StudyStatus.LIVE),
        ("pause", StudyStatus.PAUSED),
        ("launch", StudyStatus.LIVE),
        ("close", StudyStatus.CLOSED),
        ("archive", StudyStatus.ARCHIVED),
    ]:
        act(client, study, action)
        study.refresh_from_db()
        assert study.status == status, action
    assert study.instruments.get().is_frozen


def test_chosen_studies_are_archived_at_once_where_that_is_possible(
    alice: User, study: Study
) -> None:
    drafts = [make_study(owner=alice, launched=False) for _ in range(2)]
    foreign = make_study(launched=False, title="Somebody else's")
    StudyMembership.objects.create(study=foreign, user=alice, role="viewer")
    address = reverse("admin:annotation_study_changelist")
    assert 'name="action"' in log_in(alice).get(address).content.decode()
    chosen = [one.pk for one in (*drafts, study, foreign)]
    sent = {"action": "archive_selected", "_selected_action": chosen}
    words = text_of(log_in(alice).post(address, sent, follow=True).content.decode())
    assert "Archived: 2." in words
    assert "The study is live and cannot become archived." in words
    assert "1 study is not yours to change." in words
    assert set(Study.objects.filter(status="archived")) == set(drafts)
    assert Study.objects.get(pk=foreign.pk).status == "draft"


def test_launch_and_close_ask_first_and_say_what_freezes(alice: User) -> None:
    study = make_study(owner=alice, launched=False)
    client = log_in(alice)

    def press(action: str) -> tuple[str, str]:
        address = reverse("admin:annotation_study_action", args=[study.pk, action])
        words = text_of(client.post(address, follow=True).content.decode())
        study.refresh_from_db()
        return words, study.status

    words, status = press("launch")
    assert status == StudyStatus.DRAFT
    assert "The instrument is frozen" in words
    assert "It cannot be taken back." in words
    act(client, study, "launch")
    words, status = press("close")
    assert status == StudyStatus.LIVE
    assert "participants who have started can continue" in words
    assert "It cannot be taken back." not in words
    # To go on after a pause loses nothing, so nothing is asked.
    press("pause")
    assert press("launch")[1] == StudyStatus.LIVE


def test_a_launch_says_what_it_promises_and_what_becomes_of_a_pilot(alice: User) -> None:
    study = make_study(owner=alice, launched=False, quota_per_group=6)
    client = log_in(alice)

    def ask(action: str) -> str:
        address = reverse("admin:annotation_study_action", args=[study.pk, action])
        return text_of(client.post(address).content.decode())

    # 25 groups of 6, four by each person: 38 people for 2 dollars each.
    assert "promised $2.00 each, about $76.00 for all that is still wanted" in ask("launch")
    start_pilot(study=study)
    submission = make_submission(study)
    Submission.objects.filter(pk=submission.pk).update(origin="pilot", is_counted=False)
    submission.refresh_from_db()
    review_submission(
        submission=submission,
        reviewer=None,
        data_decision="accepted",
        pay_decision="approved",
    )
    apart = ask("launch")
    assert "about $76.00" in apart
    assert "The 1 submission of the pilot stays apart and counts nowhere." in apart
    # Four of the 150 ratings are there then: 37 people.
    counted = ask("launch-with-pilot")
    assert "about $74.00" in counted
    assert "The 1 submission of the pilot counts with the live data." in counted
    study.refresh_from_db()
    assert study.status == StudyStatus.PILOTING
    study.reward_cents = 0
    study.save()
    assert "Participants are promised no pay." in ask("launch")


def test_a_draft_says_what_it_promises_and_where_that_is_set(alice: User) -> None:
    study = make_study(owner=alice, launched=False)
    client = log_in(alice)
    shown = client.get(overview(study)).content.decode()
    assert "Participants are promised $2.00 for finishing." in text_of(shown)
    Study.objects.filter(pk=study.pk).update(reward_cents=0)
    shown = client.get(overview(study)).content.decode()
    assert "Participants are promised no pay." in text_of(shown)
    address = reverse("admin:annotation_study_change", args=[study.pk])
    assert f'href="{address}#id_reward_cents"' in shown
    form = text_of(client.get(address).content.decode())
    assert "0: no pay, and no page speaks of it." in form


def test_the_link_of_a_study_says_what_it_promises(alice: User) -> None:
    study = make_study(owner=alice)
    client = log_in(alice)
    words = text_of(client.get(overview(study)).content.decode())
    assert "The page behind it promises $2.00 for finishing" in words
    Study.objects.filter(pk=study.pk).update(reward_cents=0)
    words = text_of(client.get(overview(study)).content.decode())
    assert "Anyone who opens it can start." in words
    assert "promises" not in words


@pytest.mark.parametrize("launched", [True, False], ids=["closed", "draft"])
def test_a_study_comes_back_from_the_archive_as_it_was(alice: User, launched: bool) -> None:
    study = make_study(owner=alice, launched=launched)
    client = log_in(alice)
    before = StudyStatus.CLOSED if launched else StudyStatus.DRAFT
    if launched:
        act(client, study, "close")
    study.refresh_from_db()
    closed_at = study.closed_at
    assert (study.status, closed_at is not None) == (before, launched)
    assert "Take out of the archive" in act(client, study, "archive")
    act(client, study, "launch")
    study.refresh_from_db()
    assert study.status == StudyStatus.ARCHIVED
    act(client, study, "restore")
    study.refresh_from_db()
    assert (study.status, study.closed_at) == (before, closed_at)
    assert "expected an archived one" in text_of(act(client, study, "restore"))


def test_actions_take_a_post(study: Study, alice: User) -> None:
    address = reverse("admin:annotation_study_action", args=[study.pk, "close"])
    assert log_in(alice).get(address).status_code == 405
    study.refresh_from_db()
    assert study.status == "live"


def test_an_unknown_action_is_not_found(study: Study, alice: User) -> None:
    address = reverse("admin:annotation_study_action", args=[study.pk, "explode"])
    assert log_in(alice).post(address).status_code == 404


def test_what_the_state_forbids_is_said(study: Study, alice: User) -> None:
    page = act(log_in(alice), study, "archive")
    assert "The study is live and cannot become archived." in text_of(page)
    study.refresh_from_db()
    assert study.status == "live"


def test_launch_problems_are_listed_and_the_button_is_not_there(alice: User) -> None:
    study = make_study(owner=alice, launched=False)
    instrument = study.instruments.get()
    instrument.scales.all().delete()
    instrument.wordings.filter(key="debrief_title").update(text="")
    client = log_in(alice)
    page = client.get(overview(study)).content.decode()
    assert "The study cannot be launched yet." in page
    assert "The instrument has no trait scale, expected at least one." in page
    assert "Texts are missing in English: What the study was about: Title." in page
    assert "Launch study" not in page
    assert "no trait scale" in act(client, study, "launch")
    study.refresh_from_db()
    assert study.status == "draft"


def test_a_frozen_instrument_is_shown_and_never_edited(study: Study, alice: User) -> None:
    instrument = study.instruments.get()
    page = log_in(alice).get(reverse("admin:annotation_instrument_change", args=[instrument.pk]))
    assert "This version is frozen." in page.content.decode()
    assert "Check: name the group just rated" in page.content.decode()
    assert "data-undo" not in page.content.decode()
    assert save(alice, instrument, flow=["rating"]).status_code == 403
    instrument.refresh_from_db()
    assert len(instrument.flow) == 10


def test_a_new_version_is_edited_and_put_in_force(study: Study, alice: User) -> None:
    client = log_in(alice)
    page = act(client, study, "new-version")
    assert "People still see version 1." in page
    draft = study.instruments.order_by("-version")[0]
    settings = write_document(draft)["settings"]
    assert save(alice, draft, settings=settings | {"show_ticks": True}).status_code == 200
    asked = act(client, study, "publish")
    assert "Put this version in force?" in asked
    assert not study.instruments.get(version=2).is_frozen
    address = reverse("admin:annotation_study_action", args=[study.pk, "publish"])
    done = client.post(address, {"confirmed": "yes"}, follow=True).content.decode()
    assert "In force" in done
    assert "Put this version in force" not in done
    newest = study.instruments.order_by("-version")[0]
    assert (newest.version, newest.is_frozen, newest.show_ticks) == (2, True, True)


def test_a_draft_version_is_discarded(study: Study, alice: User) -> None:
    create_version(study=study)
    client = log_in(alice)
    asked = act(client, study, "discard")
    assert "Discard this draft?" in asked
    assert study.instruments.count() == 2
    address = reverse("admin:annotation_study_action", args=[study.pk, "discard"])
    assert f'<form method="post" action="{address}"' in asked
    client.post(address, {"confirmed": "yes"})
    assert [instrument.version for instrument in study.instruments.all()] == [1]
