"""The researchers' pages of judgment studies: alice owns, bob sees, charlie is an outsider."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.judgments.questions import default_wording
from annotation.judgments.views import submit_judgment
from annotation.models import (
    ASPECTS,
    JudgmentStudy,
    MembershipRole,
    Study,
    StudyMembership,
    StudyStatus,
    TaskState,
)
from tests.annotation.annotators.people import make_annotator
from tests.annotation.judgments.corpora import (
    RUNS,
    answers,
    launch,
    make_corpus,
    make_study,
    tasks_of,
    write_counterpart,
)
from tests.annotation.studies.people import make_creator, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice() -> User:
    return make_creator("alice")


def log_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def page(name: str, study: Study, *more: str) -> str:
    return reverse(f"admin:annotation_judgmentstudy_{name}", args=[study.pk, *more])


def act(client: Client, study: Study, action: str) -> str:
    sent = {"confirmed": "yes"}
    return client.post(page("action", study, action), sent, follow=True).content.decode()


def filled_form(corpus, **changes) -> dict:
    wording = default_wording()
    sent = {
        "title": "Judging, autumn",
        "contact_email": "lab@example.org",
        "ethics_reference": "",
        "corpus": corpus.pk,
        "runs": list(RUNS),
        "include_human": "on",
        "n_texts": "2",
        "complete": "on",
        "overlap_percent": "50",
        "seed": "",
    }
    for aspect in ASPECTS:
        sent[f"{aspect}_question"] = wording[aspect]["question"]
        sent[f"{aspect}_answers"] = "\r\n".join(wording[aspect]["answers"])
    return sent | changes


def test_a_researcher_creates_a_study_invites_and_launches(alice):
    corpus = make_corpus(3)
    corpus.owner = alice
    corpus.save()
    client = log_in(alice)
    add = reverse("admin:annotation_judgmentstudy_add")
    assert "tiny-bart@0f3c: 3 AAL, 3 WME (aaaa1111bbbb)" in client.get(add).content.decode()
    answer = client.post(add, filled_form(corpus), follow=True)
    study = JudgmentStudy.objects.get()
    assert answer.redirect_chain[-1][0] == page("judges", study)
    assert (study.owner, study.judging.runs) == (alice, list(RUNS))
    client.post(page("judges", study), {"do": "invite"})
    assert study.annotators.count() == 1
    said = client.get(page("overview", study)).content.decode()
    assert "Nobody has joined yet" in said
    make_annotator(study, "ann")
    make_annotator(study, "ben")
    preview = client.get(page("overview", study)).content.decode()
    # 2 pairs, 2 directions, 3 producers: 12 counterparts, half of them twice.
    assert "18, as 6 counterparts are judged twice" in preview
    assert "<dt>Counterparts</dt><dd>12</dd>" in preview
    assert "2 of 3 that can be drawn" in preview
    assert "The study is live" in act(client, study, "launch")
    assert study.judgment_tasks.count() == 18


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"runs": [], "include_human": ""}, "include the human counterparts"),
        ({"n_texts": "0"}, "greater than or equal to 1"),
        ({"n_texts": "100"}, "has 2 pairs, expected no more."),
        ({"overlap_percent": "101"}, "less than or equal to 100"),
        (
            {"tone_preservation_answers": "a\nb\nc"},
            "Enter five answers, one per line, from 1 to 5.",
        ),
        ({"linguistic_match_question": "Like {dialect}?"}, "“{dialect}” is unknown"),
    ],
)
def test_a_design_that_cannot_be_is_refused_where_it_was_entered(alice, changes, problem):
    corpus = make_corpus(2)
    corpus.owner = alice
    corpus.save()
    add = reverse("admin:annotation_judgmentstudy_add")
    answer = log_in(alice).post(add, filled_form(corpus, **changes))
    assert problem in answer.content.decode()
    assert not JudgmentStudy.objects.exists()


def test_runs_of_another_corpus_are_refused(alice):
    corpus, other = make_corpus(2), make_corpus(2, name="Others", runs=[])
    for one in (corpus, other):
        one.owner = alice
        one.save()
    add = reverse("admin:annotation_judgmentstudy_add")
    answer = log_in(alice).post(add, filled_form(other))
    assert "No counterpart of “Others” is stored from" in answer.content.decode()


def test_a_draft_is_changed_and_a_launched_design_is_frozen(alice):
    corpus = make_corpus(3)
    study = make_study(corpus, owner=alice)
    client = log_in(alice)
    client.post(page("change", study), filled_form(corpus, n_texts="1") | no_members())
    study.judging.refresh_from_db()
    assert (study.judging.n_texts, study.judging.overlap_percent) == (1, 50)
    launch(study, "ann", "ben")
    client.post(page("change", study), filled_form(corpus, n_texts="3") | no_members())
    study.refresh_from_db()
    study.judging.refresh_from_db()
    assert study.judging.n_texts == 1
    assert study.title == "Judging, autumn"


def no_members() -> dict:
    return {"memberships-TOTAL_FORMS": "0", "memberships-INITIAL_FORMS": "0"}


def test_the_overview_counts_judgments_judges_and_producers(alice):
    study = launch(make_study(make_corpus(2), owner=alice, overlap_percent=100), "ann", "ben")
    for name in ("ann", "ben"):
        for task in tasks_of(study, name)[:3]:
            submit_judgment(task=task, ratings=answers(), seconds=30)
    said = log_in(alice).get(page("overview", study)).content.decode()
    # 2 pairs, 2 directions, 3 producers, all twice: 24 judgments.
    assert "of 24" in said
    assert "Annotator 2" in said
    assert "tiny-gpt@9e1d" in said
    assert "30 <small>s</small>" in said
    live = log_in(alice).get(page("live", study))
    assert "no-store" in live["Cache-Control"]
    assert "of 24" in live.content.decode()


def test_pages_ask_the_database_as_often_whatever_the_size(alice, django_assert_max_num_queries):
    study = launch(make_study(make_corpus(6), owner=alice, overlap_percent=50), "ann", "ben")
    client = log_in(alice)
    with django_assert_max_num_queries(7):  # session, account, study, then four
        client.get(page("live", study))


def test_a_judge_is_removed_and_their_work_given_to_the_other(alice):
    study = launch(make_study(make_corpus(2), owner=alice), "ann", "ben")
    ann = study.annotators.get(number=1)
    client = log_in(alice)
    sent = {"do": "remove", "annotator": ann.public_id}
    said = client.post(page("judges", study), sent, follow=True).content.decode()
    assert "Annotator 1 is removed" in said
    assert len(tasks_of(study, "ben")) == 12
    make_annotator(study, "cleo")
    said = client.get(page("judges", study)).content.decode()
    assert "Annotator 3 has no counterparts." in said
    said = client.post(page("judges", study), {"do": "give-out"}, follow=True).content.decode()
    assert "6 counterparts have a new judge." in said
    assert len(tasks_of(study, "cleo")) == 6


def test_work_that_nobody_may_do_is_shown_with_the_remedy(alice):
    corpus = make_corpus(2)
    write_counterpart("ben", corpus.pairs.first().source_text)
    study = launch(make_study(corpus, owner=alice), "ann", "ben")
    client = log_in(alice)
    sent = {"do": "remove", "annotator": study.annotators.get(number=1).public_id}
    client.post(page("judges", study), sent)
    assert study.judgment_tasks.filter(state=TaskState.OPEN).count() == 6
    said = client.get(page("overview", study)).content.decode()
    assert "6 judgments are in nobody’s queue." in said
    assert "Invite a judge who did not write" in said


def test_work_that_is_not_given_out_has_its_reason(alice):
    corpus = make_corpus(2)
    study = launch(make_study(corpus, owner=alice, overlap_percent=0), "ann")
    client = log_in(alice)

    def give_out() -> str:
        return client.post(page("judges", study), {"do": "give-out"}, follow=True).content.decode()

    assert "shared as evenly as the rules allow" in give_out()
    for pair in corpus.pairs.all():
        write_counterpart("ben", pair.source_text)
    make_annotator(study, "ben")
    said = give_out()
    assert "Annotator 2 gets nothing: they wrote or decided counterparts of all texts." in said
    assert "shared as evenly" not in said
    sent = {"do": "remove", "annotator": study.annotators.get(number=1).public_id}
    client.post(page("judges", study), sent)
    assert "12 counterparts have no judge" in give_out()
    sent["annotator"] = study.annotators.get(number=2).public_id
    client.post(page("judges", study), sent)
    assert "No judge has joined yet." in give_out()


def test_nothing_left_to_judge_and_missing_second_judgments_are_told_apart(alice):
    study = launch(make_study(make_corpus(1), owner=alice, overlap_percent=50), "ann")
    client = log_in(alice)
    for task in tasks_of(study, "ann"):
        submit_judgment(task=task, ratings=answers())
    sent = {"do": "give-out"}
    said = client.post(page("judges", study), sent, follow=True).content.decode()
    assert "3 second judgments cannot be given" in said
    study.judging.__class__.objects.filter(study=study).update(overlap_percent=0)
    said = client.post(page("judges", study), sent, follow=True).content.decode()
    assert "Nothing is open: all counterparts have been judged." in said


def test_viewers_look_and_outsiders_find_nothing(alice):
    study = launch(make_study(make_corpus(1), owner=alice), "ann")
    bob, charlie = make_user("bob"), make_user("charlie")
    StudyMembership.objects.create(study=study, user=bob, role=MembershipRole.VIEWER)
    viewer, outsider = log_in(bob), log_in(charlie)
    for name in ("overview", "judges", "live"):
        assert viewer.get(page(name, study)).status_code == 200
        assert outsider.get(page(name, study)).status_code == 404
    assert viewer.post(page("action", study, "pause")).status_code == 403
    assert viewer.post(page("judges", study), {"do": "invite"}).status_code == 403
    assert outsider.post(page("action", study, "pause")).status_code == 404
    assert outsider.get(page("export", study, "judgments.csv")).status_code == 404
    study.refresh_from_db()
    assert study.status == StudyStatus.LIVE


def test_a_study_is_paused_closed_and_archived(alice):
    study = launch(make_study(make_corpus(1), owner=alice), "ann")
    client = log_in(alice)
    assert "The study is paused." in act(client, study, "pause")
    assert "The study is live." in act(client, study, "launch")
    assert "The study is closed." in act(client, study, "close")
    assert "The study is archived." in act(client, study, "archive")
    assert client.post(page("action", study, "explode")).status_code == 404
    history = client.get(page("history", study))
    assert history.status_code == 200
    assert "alice" in history.content.decode()


def test_the_list_holds_judgment_studies_alone(alice):
    make_study(make_corpus(1), owner=alice)
    client = log_in(alice)
    listed = client.get(reverse("admin:annotation_judgmentstudy_changelist")).content.decode()
    assert "Judging, spring" in listed
    surveys = client.get(reverse("admin:annotation_study_changelist")).content.decode()
    assert "Judging, spring" not in surveys
