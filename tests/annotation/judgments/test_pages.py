"""The pages of judges, over HTTP."""

from __future__ import annotations

from itertools import pairwise

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Judgment, TaskState
from annotation.studies.lifecycle import close_study, pause_study
from tests.annotation.annotators.people import make_account, make_annotated_study, make_annotator
from tests.annotation.judgments.corpora import (
    RUNS,
    answers,
    launch,
    make_corpus,
    make_study,
    tasks_of,
    write_counterpart,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return launch(make_study(make_corpus(2)), "ann", "ben")


@pytest.fixture
def ann(study, client: Client) -> Client:
    client.force_login(study.annotators.get(number=1).user)
    return client


def address(study, position: int = 1) -> str:
    return reverse("judgments:judge", args=[study.public_id, position])


def queue_address(study) -> str:
    return reverse("judgments:queue", args=[study.public_id])


def test_a_page_shows_original_counterpart_and_four_questions(ann, study):
    task = tasks_of(study, "ann")[0]
    page = ann.get(address(study)).content.decode()
    assert task.item.text.body in page
    assert task.item.body in page
    assert page.count('role="radiogroup"') == 4
    assert page.count('type="radio"') == 20
    assert f"How well does the counterpart resemble {task.item.variety}?" in page
    assert "checked" not in page


def test_no_page_says_who_wrote_a_counterpart(ann, study):
    """Neither name nor revision nor run nor a number of the producer is anywhere in the source."""
    told = [*RUNS, *RUNS.values(), *(name.split("@")[0] for name in RUNS.values()), "producer"]
    pages = [ann.get(queue_address(study))]
    for task in tasks_of(study, "ann"):
        pages += [ann.get(address(study, task.position))]
        pages += [ann.post(address(study, task.position), answers() | {"tone_preservation": ""})]
        pages += [ann.post(address(study, task.position), answers())]
        pages += [ann.get(address(study, task.position))]
    pages += [ann.get(queue_address(study))]
    for page in pages:
        source = page.content.decode() + str(page.headers)
        assert not [word for word in told if word in source]
    # Two counterparts of one text differ in nothing but their words and the token of the form.
    assert all(page.status_code in {200, 302, 422} for page in pages)


def test_a_judgment_leads_to_the_next_counterpart_and_the_last_one_to_the_queue(ann, study):
    tasks = tasks_of(study, "ann")
    for task, following in pairwise(tasks):
        answer = ann.post(address(study, task.position), answers() | {"seconds": "12.5"})
        assert answer.url == address(study, following.position)
    answer = ann.post(address(study, tasks[-1].position), answers())
    assert answer.url == queue_address(study)
    assert "Nothing is left to do" in ann.get(answer.url).content.decode()
    assert Judgment.objects.count() == len(tasks)
    tasks[0].refresh_from_db()
    assert tasks[0].active_seconds == 12.5


def test_the_script_is_told_where_to_go(ann, study):
    answer = ann.post(address(study), answers(), headers={"accept": "application/json"})
    assert answer.json() == {"result": "saved", "next": address(study, 2)}
    answer = ann.post(address(study), {}, headers={"accept": "application/json"})
    assert answer.status_code == 422
    assert set(answer.json()["problems"]) == set(answers())


def test_a_missing_answer_is_named_and_the_others_are_kept(ann, study):
    sent = answers() | {"meaning_preservation": "", "comment": "<b>odd</b>"}
    answer = ann.post(address(study), sent)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "1 question is not answered yet." in page
    assert "Not answered yet: Meaning preservation. Choose one of the five." in page
    assert page.count(" checked") == 3
    assert "&lt;b&gt;odd&lt;/b&gt;" in page
    assert not Judgment.objects.exists()


def test_going_back_shows_the_answers_and_changes_them(ann, study):
    ann.post(address(study), answers(2))
    page = ann.get(address(study)).content.decode()
    assert page.count(" checked") == 4
    assert "Save the change" in page
    ann.post(address(study), answers(5))
    assert Judgment.objects.get().human_likeness == 5


def test_a_study_that_is_not_live_takes_nothing_and_says_so(ann, study):
    pause_study(study=study)
    answer = ann.post(address(study), answers())
    assert answer.status_code == 409
    assert "These answers were not stored" in answer.content.decode()
    assert "The study is paused." in ann.get(queue_address(study)).content.decode()
    close_study(study=study)
    assert "The study is closed." in ann.get(address(study)).content.decode()
    assert not Judgment.objects.exists()


def test_only_judges_of_the_study_see_its_counterparts(study, client: Client):
    assert client.get(address(study)).url.startswith(reverse("annotators:login"))
    client.force_login(make_account("eve"))
    assert client.get(address(study)).status_code == 404
    assert client.get(queue_address(study)).status_code == 404
    # A place in a study of another kind does not help.
    writing = make_annotator(make_annotated_study(), "dan")
    client.force_login(writing.user)
    assert client.get(queue_address(writing.study)).status_code == 404


def test_a_position_of_nobody_is_not_found(ann, study):
    assert ann.get(address(study, 999)).status_code == 404


def test_a_counterpart_that_went_to_somebody_else_says_so(ann, study):
    task = tasks_of(study, "ann")[0]
    type(task).objects.filter(pk=task.pk).update(state=TaskState.WITHDRAWN)
    for answer in (ann.get(address(study)), ann.post(address(study), answers())):
        assert answer.status_code == 410
        assert "given to somebody else" in answer.content.decode()


def test_a_judge_who_wrote_one_meanwhile_is_told_why_it_is_gone(ann, study):
    task = tasks_of(study, "ann")[0]
    write_counterpart("ann", task.item.pair.target_text)
    for answer in (ann.get(address(study)), ann.post(address(study), answers())):
        assert answer.status_code == 410
        assert "You wrote a counterpart of this text" in answer.content.decode()
    assert not Judgment.objects.exists()


def test_a_judge_who_wrote_everything_is_told_so(client: Client):
    corpus = make_corpus(2)
    for pair in corpus.pairs.all():
        write_counterpart("ann", pair.source_text)
    study = launch(make_study(corpus), "ann", "ben")
    client.force_login(study.annotators.get(number=1).user)
    page = client.get(queue_address(study)).content.decode()
    assert "There is nothing here that you may judge" in page


def test_the_list_of_studies_leads_to_the_judging(ann, study):
    page = ann.get(reverse("annotators:home")).content.decode()
    assert queue_address(study) in page
    assert "0 of 6 counterparts done" in page


def test_pages_ask_the_database_as_often_whatever_their_number(
    ann, study, django_assert_max_num_queries
):
    with django_assert_max_num_queries(7):  # session and account, place, then three of the page
        ann.get(queue_address(study))
    with django_assert_max_num_queries(13):  # and whether the judge wrote one of the text
        ann.get(address(study))
