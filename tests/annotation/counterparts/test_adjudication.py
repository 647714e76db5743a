"""From different counterparts to gold pairs."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from annotation.counterparts.adjudication import (
    Annotation,
    CaseState,
    adjudicate,
    collect_gold,
    find_queue,
    load_annotations,
    load_cases,
    publish_gold,
    undo_adjudication,
)
from annotation.counterparts.progress import load_progress
from annotation.models import Adjudication, Overlap, Study, TextPair
from tests.annotation.counterparts.studies import (
    make_corpus,
    make_writing_study,
    place_of,
    tasks_of,
    write,
)
from tests.annotation.studies.people import make_creator, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice() -> User:
    return make_creator("alice")


@pytest.fixture
def study(alice: User) -> Study:
    """Six texts, two of them common: ann and ben agree on one and differ on the other.

    Four single texts: three are written, one of these cannot be interpreted.
    """
    study = make_writing_study(
        "ann", "ben", corpus=make_corpus(6), common_texts=2, shared_percent=0, owner=alice
    )
    for name in ("ann", "ben"):
        common = sorted(
            (task for task in tasks_of(study, name) if task.overlap == Overlap.COMMON),
            key=lambda task: task.text.slug,
        )
        write(common[0], "The same")
        write(common[1], f"As {name} sees it")
    single = [task for task in tasks_of(study, "ann") if task.overlap == Overlap.SINGLE]
    write(single[0], "Only ann")
    write(single[1], not_interpretable=True, reason="meaning unclear")
    write(
        next(task for task in tasks_of(study, "ben") if task.overlap == Overlap.SINGLE), "Only ben"
    )
    return study


def states(study: Study) -> list[str]:
    return sorted(case.state.value for case in load_cases(study))


def test_only_texts_that_differ_wait_for_a_person(study: Study):
    assert states(study) == ["differs", "identical", "single", "single", "single", "waiting"]
    (case,) = find_queue(load_cases(study))
    assert [one.body for one in case.written] == ["As ann sees it", "As ben sees it"]


def test_a_decision_is_stored_changed_and_undone(study: Study, alice: User):
    (case,) = find_queue(load_cases(study))
    chosen = case.written[1]
    adjudicate(study=study, text=case.text, decided_by=alice, chosen=chosen)
    assert Adjudication.objects.get(text=case.text).body == "As ben sees it"
    decision = adjudicate(study=study, text=case.text, decided_by=alice, body=" Better \n")
    assert (decision.body, decision.chosen, decision.is_automatic) == ("Better", None, False)
    assert decision.history.count() == 2
    undo_adjudication(study=study, text=case.text)
    assert "differs" in states(study)


def test_a_decision_needs_a_counterpart_of_this_text_and_everybodys_work(study: Study, alice: User):
    (case,) = find_queue(load_cases(study))
    with pytest.raises(ValidationError, match="Choose a counterpart"):
        adjudicate(study=study, text=case.text, decided_by=alice)
    other = next(one for one in load_cases(study) if one.state == CaseState.SINGLE)
    with pytest.raises(ValidationError, match="not one of the text’s"):
        adjudicate(study=study, text=case.text, decided_by=alice, chosen=other.written[0])
    waiting = next(one for one in load_cases(study) if one.state == CaseState.WAITING)
    with pytest.raises(ValidationError, match="Not everybody"):
        adjudicate(study=study, text=waiting.text, decided_by=alice, body="Too early")


def test_what_was_changed_after_a_decision_shows(study: Study, alice: User):
    (case,) = find_queue(load_cases(study))
    adjudicate(study=study, text=case.text, decided_by=alice, chosen=case.written[0])
    task = next(task for task in tasks_of(study, "ann") if task.text == case.text)
    write(task, "Something else")
    changed = next(one for one in load_cases(study) if one.text == case.text)
    assert changed.has_changed
    assert changed.body == "As ann sees it"


def test_gold_pairs_are_published_once_and_follow_the_decisions(study: Study, alice: User):
    gold = collect_gold(load_cases(study))
    assert sorted(body for _text, body in gold.pairs) == ["Only ann", "Only ben", "The same"]
    assert (gold.not_interpretable, gold.undecided, gold.waiting) == (1, 1, 1)
    assert len(publish_gold(study=study).added) == 3
    assert publish_gold(study=study).added == []
    assert TextPair.objects.filter(study=study).count() == 3
    (case,) = find_queue(load_cases(study))
    adjudicate(study=study, text=case.text, decided_by=alice, chosen=case.written[0])
    publish_gold(study=study)
    assert TextPair.objects.get(source_text=case.text).target_text.body == "As ann sees it"
    undo_adjudication(study=study, text=case.text)
    assert publish_gold(study=study).removed == [case.text.slug]


def test_nothing_is_published_of_nothing():
    with pytest.raises(ValidationError, match="nothing to publish"):
        publish_gold(study=make_writing_study("ann"))


def test_progress_counts_by_hand(study: Study):
    progress = load_progress(study)
    ann, ben = progress.writers
    assert (ann.assigned, ann.done, ann.not_interpretable) == (4, 4, 1)
    assert (ben.assigned, ben.done, ben.not_interpretable) == (4, 3, 0)
    assert (progress.texts, progress.complete) == (6, 5)
    common = progress.overlaps[0]
    assert (common.texts, common.complete, common.partial) == (2, 2, 0)


def test_annotations_hold_what_was_submitted_alone(study: Study, django_assert_num_queries):
    with django_assert_num_queries(1):
        rows = load_annotations(study)
    assert len(rows) == 7
    assert {row.annotator_number for row in rows} == {1, 2}
    refused = [row for row in rows if row.not_interpretable]
    assert [(row.body, type(row)) for row in refused] == [("", Annotation)]


# --- pages ---------------------------------------------------------------------------------------


def open_page(user: User, name: str, *args: object) -> str:
    client = Client()
    client.force_login(user)
    answer = client.get(reverse(f"admin:annotation_writingstudy_{name}", args=args))
    assert answer.status_code == 200
    return answer.content.decode()


def post(user: User, name: str, *args: object, **sent: str):
    client = Client()
    client.force_login(user)
    address = reverse(f"admin:annotation_writingstudy_{name}", args=args)
    return client.post(address, sent, follow=True)


def test_the_researcher_sees_progress_by_number_alone(study: Study, alice: User):
    page = open_page(alice, "overview", study.pk)
    assert "Annotator 1" in page
    assert "7 <small>of 8</small>" in page
    assert "ann<" not in page
    assert 'data-live-on="true"' in open_page(alice, "live", study.pk)
    for name in ("annotators", "adjudication", "change", "history"):
        open_page(alice, name, study.pk)


def test_the_researcher_decides_on_a_page_and_publishes(study: Study, alice: User):
    (case,) = find_queue(load_cases(study))
    page = open_page(alice, "case", study.pk, case.text.slug)
    assert "As ann sees it" in page
    empty = post(alice, "case", study.pk, case.text.slug)
    assert empty.status_code == 422
    assert "Choose a counterpart" in empty.content.decode()
    post(alice, "case", study.pk, case.text.slug, choice=str(case.written[0].pk))
    assert Adjudication.objects.get(text=case.text).decided_by == alice
    answer = post(alice, "publish", study.pk)
    assert "4 gold pairs were stored." in answer.content.decode()
    post(alice, "undo", study.pk, case.text.slug)
    assert not Adjudication.objects.filter(text=case.text).exists()


def test_the_button_to_publish_is_there_while_something_is_to_publish(study: Study, alice: User):
    assert "Publish 3 changes" in open_page(alice, "adjudication", study.pk)
    assert "Publish" not in post(alice, "publish", study.pk).content.decode()
    (case,) = find_queue(load_cases(study))
    adjudicate(study=study, text=case.text, decided_by=alice, body="Decided")
    assert "Publish 1 change<" in open_page(alice, "adjudication", study.pk)
    publish_gold(study=study)
    adjudicate(study=study, text=case.text, decided_by=alice, not_interpretable=True)
    assert "Publish 1 change<" in open_page(alice, "adjudication", study.pk)


def test_a_text_of_a_single_annotator_is_corrected(study: Study, alice: User):
    case = next(one for one in load_cases(study) if one.body == "Only ann")
    address = reverse("admin:annotation_writingstudy_case", args=[study.pk, case.text.slug])
    assert address in open_page(alice, "adjudication", study.pk)
    page = open_page(alice, "case", study.pk, case.text.slug)
    assert "One annotator wrote this text." in page
    assert f'value="{case.written[0].pk}" checked' in page
    post(alice, "case", study.pk, case.text.slug, choice="other", body="Only ann, corrected")
    assert Adjudication.objects.get(text=case.text).body == "Only ann, corrected"
    post(alice, "undo", study.pk, case.text.slug)
    assert "single" in states(study)
    assert not Adjudication.objects.filter(text=case.text).exists()


def test_the_researcher_invites_moves_and_removes(study: Study, alice: User, settings):
    settings.EMAIL_HOST = "mail.example.org"
    page = post(alice, "annotators", study.pk, do="invite", emails="cleo@example.org, bad")
    said = page.content.decode()
    assert "1 invitation was sent." in said
    assert "“bad” is no e-mail address" in said
    ben = place_of(study, "ben")
    post(alice, "annotators", study.pk, do="hand-over", annotator=ben.public_id)
    assert load_progress(study).writers[1].open == 0
    post(alice, "annotators", study.pk, do="remove", annotator=ben.public_id)
    ben.refresh_from_db()
    assert ben.removed_at is not None


def test_outsiders_see_nothing_and_viewers_change_nothing(study: Study):
    client = Client()
    client.force_login(make_user("charlie"))
    for name in ("overview", "annotators", "adjudication", "live"):
        address = reverse(f"admin:annotation_writingstudy_{name}", args=[study.pk])
        assert client.get(address).status_code == 404
    bob = make_user("bob")
    study.memberships.create(user=bob, role="viewer")
    assert "Remove" not in open_page(bob, "annotators", study.pk)
    assert post(bob, "publish", study.pk).status_code == 403
    assert post(bob, "action", study.pk, "close").status_code == 403
    assert post(bob, "annotators", study.pk, do="invite").status_code == 403


def test_a_study_is_created_in_the_admin(alice: User):
    corpus = make_corpus(5, name="Five posts", owner=alice)
    sent = {
        "title": "New study",
        "contact_email": "lab@example.org",
        "corpus": str(corpus.pk),
        "common_texts": "6",
        "shared_percent": "10",
        "guidelines": "One\n\nTwo",
    }
    answer = post(alice, "add", **sent)
    assert "expected at most the 5 texts" in answer.content.decode()
    assert not Study.objects.exists()
    answer = post(alice, "add", **(sent | {"common_texts": "2", "weighted_by_features": "on"}))
    assert "Say how many texts are drawn" in answer.content.decode()
    assert not Study.objects.exists()
    post(alice, "add", **(sent | {"common_texts": "2"}))
    study = Study.objects.get()
    assert study.owner == alice
    assert study.writing.guidelines == ["One", "Two"]
    page = open_page(alice, "overview", study.pk)
    assert "Nobody is invited yet" in page


def test_surveys_pages_know_no_writing_study(study: Study, alice: User, client: Client):
    assert client.get(reverse("survey:landing", args=[study.public_id])).status_code == 404
    client.force_login(alice)
    assert (
        client.get(reverse("admin:annotation_study_overview", args=[study.pk])).status_code == 404
    )
    listed = client.get(reverse("admin:annotation_study_changelist")).content.decode()
    assert study.title not in listed


def test_exports_neutralize_formulas_and_name_nobody(study: Study, alice: User):
    task = next(task for task in tasks_of(study, "ann") if task.overlap == Overlap.SINGLE)
    write(task, "=cmd()")
    client = Client()
    client.force_login(alice)
    for name in ("counterparts.csv", "counterparts.jsonl", "tasks.csv", "tasks.jsonl"):
        answer = client.get(reverse("admin:annotation_writingstudy_export", args=[study.pk, name]))
        text = b"".join(answer.streaming_content).decode()
        assert text.count("\n") == {"c": 7, "t": 8}[name[0]] + name.endswith(".csv")
        assert "ann," not in text
    csv = client.get(
        reverse("admin:annotation_writingstudy_export", args=[study.pk, "counterparts.csv"])
    )
    assert b",'=cmd()," in b"".join(csv.streaming_content)


def test_the_api_lists_counterparts_and_tasks(study: Study, alice: User):
    client = Client()
    client.force_login(alice)
    rows = client.get(f"/api/v1/studies/{study.public_id}/counterparts/?annotator=1").json()
    assert rows["count"] == 4
    assert {row["annotator"] for row in rows["results"]} == {1}
    tasks = client.get(f"/api/v1/studies/{study.public_id}/writing-tasks/?state=open").json()
    assert tasks["count"] == 1
    client.force_login(make_user("charlie"))
    answer = client.get(f"/api/v1/studies/{study.public_id}/counterparts/")
    assert answer.status_code == 404
