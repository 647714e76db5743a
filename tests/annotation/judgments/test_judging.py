"""Launching, judging, changing, moving work: what the services let happen."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from annotation.annotators.errors import NotLive, TaskTaken, WorkRefused
from annotation.annotators.invitations import accept_invitation, invite_annotator
from annotation.judgments.assignment_service import (
    check_nobody_has_their_own,
    give_out_again,
    preview_assignment,
    remove_judge,
)
from annotation.judgments.lifecycle import (
    find_launch_problems,
    find_launch_remarks,
    launch_judgment_study,
)
from annotation.judgments.questions import wrote_everything
from annotation.judgments.ratings import load_judgments
from annotation.judgments.views import OwnCounterpart, open_task, submit_judgment
from annotation.models import Counterpart, Judgment, JudgmentTask, StudyStatus, TaskState
from annotation.studies.lifecycle import pause_study
from tests.annotation.annotators.people import make_account, make_annotator
from tests.annotation.judgments.corpora import (
    answers,
    launch,
    make_corpus,
    make_study,
    tasks_of,
    write_counterpart,
)

pytestmark = pytest.mark.django_db


def remarks(study):
    return " ".join(find_launch_remarks(study, preview_assignment(study)))


def test_a_launch_gives_every_counterpart_to_a_judge_who_did_not_write_it():
    corpus = make_corpus(4)
    first, second, *_rest = corpus.pairs.order_by("pk")
    write_counterpart("ann", first.source_text)
    write_counterpart("ben", second.target_text)
    study = launch(make_study(corpus), "ann", "ben")
    assert study.status == StudyStatus.LIVE
    given = {name: {task.item.pair for task in tasks_of(study, name)} for name in ("ann", "ben")}
    assert first not in given["ann"]
    assert second not in given["ben"]
    assert first in given["ben"]
    assert JudgmentTask.objects.filter(study=study).count() == 24
    assert [task.position for task in tasks_of(study, "ann")] == list(range(1, 13))


def test_a_second_launch_changes_nothing_and_resuming_keeps_the_tasks():
    study = launch(make_study(make_corpus(2)), "ann")
    before = list(study.judgment_tasks.values_list("pk", flat=True))
    launch_judgment_study(study=study)
    pause_study(study=study)
    assert launch_judgment_study(study=study).status == StudyStatus.LIVE
    assert list(study.judgment_tasks.values_list("pk", flat=True)) == before


def test_items_keep_the_counterpart_as_it_was():
    study = launch(make_study(make_corpus(1)), "ann")
    Counterpart.objects.filter(text__corpus=study.judging.corpus).update(body="changed later")
    assert not study.judgment_items.filter(body="changed later").exists()


def test_a_study_without_judges_is_not_launched():
    study = make_study(make_corpus(1))
    invite_annotator(study=study)
    with pytest.raises(ValidationError, match="Nobody has joined yet"):
        launch_judgment_study(study=study)


def test_too_few_pairs_are_named_with_the_remedy():
    study = make_study(make_corpus(2), n_texts=3)
    make_annotator(study, "ann")
    (problem,) = find_launch_problems(study)
    assert problem.startswith("The study draws 3 pairs, but only 2 of “Posts” can be drawn.")
    assert "Ask for 2 or fewer" in problem


def test_counterparts_that_nobody_may_judge_keep_the_study_from_its_launch():
    corpus = make_corpus(3)
    first = corpus.pairs.first()
    write_counterpart("ann", first.source_text)
    study = make_study(corpus)
    make_annotator(study, "ann")
    (problem,) = find_launch_problems(study)
    assert problem == (
        "6 of 18 counterparts can be judged by nobody: everyone who has joined wrote or decided a "
        "counterpart of their texts. Invite a judge who did not."
    )
    with pytest.raises(ValidationError):
        launch_judgment_study(study=study)
    assert not study.judgment_items.exists()
    make_annotator(study, "ben")
    assert find_launch_problems(study) == []


def test_a_judge_who_wrote_everything_is_named_and_gets_nothing():
    corpus = make_corpus(2)
    for pair in corpus.pairs.all():
        write_counterpart("ann", pair.source_text)
    study = make_study(corpus)
    make_annotator(study, "ann")
    make_annotator(study, "ben")
    assert "Annotator 1 wrote or decided a counterpart of every text" in remarks(study)
    study = launch(study)
    assert tasks_of(study, "ann") == []
    assert wrote_everything(study.annotators.get(number=1))
    assert not wrote_everything(study.annotators.get(number=2))


def test_what_is_easily_overlooked_is_said_before_the_launch():
    study = make_study(make_corpus(2))
    make_annotator(study, "ann")
    invite_annotator(study=study)
    said = remarks(study)
    assert "1 person is invited and has not joined" in said
    assert "No counterpart is judged twice, so" in said


def test_a_judgment_is_stored_once_however_often_it_is_sent():
    study = launch(make_study(make_corpus(1)), "ann")
    task = tasks_of(study, "ann")[0]
    for _again in range(3):
        submit_judgment(task=task, ratings=answers(), comment=" fine ", seconds=7)
    judgment = Judgment.objects.get()
    assert (judgment.human_likeness, judgment.tone_preservation) == (4, 2)
    assert judgment.comment == "fine"
    assert judgment.history.count() == 1
    task.refresh_from_db()
    assert (task.state, task.active_seconds) == (TaskState.DONE, 7)


def test_a_changed_answer_keeps_its_history():
    study = launch(make_study(make_corpus(1)), "ann")
    task = tasks_of(study, "ann")[0]
    submit_judgment(task=task, ratings=answers(1))
    submit_judgment(task=task, ratings=answers(5))
    assert Judgment.objects.get().human_likeness == 5
    assert [row.human_likeness for row in Judgment.objects.get().history.all()] == [5, 1]


def test_missing_and_wrong_answers_are_named_and_nothing_is_stored():
    study = launch(make_study(make_corpus(1)), "ann")
    task = tasks_of(study, "ann")[0]
    sent = answers() | {"tone_preservation": "", "linguistic_match": "6"}
    with pytest.raises(WorkRefused) as caught:
        submit_judgment(task=task, ratings=sent, comment="x" * 2001)
    assert caught.value.problems == {
        "tone_preservation": "Not answered yet: Tone preservation. Choose one of the five.",
        "linguistic_match": "“6” is no answer, expected a number from 1 to 5.",
        "comment": "The comment has 2,001 characters, expected at most 2,000. "
        "It is still in the field.",
    }
    assert not Judgment.objects.exists()


def test_a_paused_study_takes_no_judgment():
    study = launch(make_study(make_corpus(1)), "ann")
    task = tasks_of(study, "ann")[0]
    pause_study(study=study)
    with pytest.raises(NotLive):
        submit_judgment(task=task, ratings=answers())


def test_a_judge_who_has_written_one_meanwhile_loses_the_counterpart():
    study = launch(make_study(make_corpus(2)), "ann")
    task, other, *_rest = tasks_of(study, "ann")
    write_counterpart("ann", task.item.pair.source_text)
    with pytest.raises(OwnCounterpart):
        submit_judgment(task=task, ratings=answers())
    task.refresh_from_db()
    assert task.state == TaskState.WITHDRAWN
    assert not Judgment.objects.exists()
    if other.item.pair != task.item.pair:
        submit_judgment(task=other, ratings=answers())


def test_opening_it_is_enough_to_lose_it():
    study = launch(make_study(make_corpus(1)), "ann")
    task = tasks_of(study, "ann")[0]
    open_task(task=task)
    task.refresh_from_db()
    assert task.opened_at is not None
    write_counterpart("ann", task.item.text)
    task.refresh_from_db()
    with pytest.raises(OwnCounterpart):
        open_task(task=task)


def test_the_database_is_asked_that_nobody_has_their_own():
    study = launch(make_study(make_corpus(1)), "ann")
    task = tasks_of(study, "ann")[0]
    check_nobody_has_their_own(study)
    task.item.writers.add(task.annotator.user)
    with pytest.raises(ValidationError, match="1 counterparts would have gone to people who wrote"):
        check_nobody_has_their_own(study)


def test_the_database_refuses_a_rating_beyond_the_scale_and_a_second_judgment():
    study = launch(make_study(make_corpus(1)), "ann")
    task = tasks_of(study, "ann")[0]
    values = {name: int(value) for name, value in answers().items()}
    with pytest.raises(IntegrityError), transaction.atomic():
        Judgment.objects.create(task=task, **(values | {"tone_preservation": 6}))
    Judgment.objects.create(task=task, **values)
    with pytest.raises(IntegrityError), transaction.atomic():
        Judgment.objects.create(task=task, **values)


def test_who_joins_later_gets_a_fair_share_when_work_is_given_out_again():
    study = make_study(make_corpus(4), overlap_percent=0)
    late = invite_annotator(study=study)
    study = launch(study, "ann")
    done = tasks_of(study, "ann")[:4]
    for task in done:
        submit_judgment(task=task, ratings=answers())
    late = accept_invitation(token=late.invitation_token, user=make_account("ben"))
    assert give_out_again(study=study).moved == 10
    # 24 counterparts, 4 done: 20 open, 10 each. What was first in the queue stays.
    assert len(tasks_of(study, "ben")) == 10
    assert [task.pk for task in tasks_of(study, "ann")][:4] == [task.pk for task in done]
    assert len(tasks_of(study, "ann")) == 14
    items = {task.item_id for name in ("ann", "ben") for task in tasks_of(study, name)}
    assert len(items) == 24
    assert give_out_again(study=study).moved == 0


def test_second_judgments_are_drawn_once_a_second_judge_has_come():
    study = make_study(make_corpus(2), overlap_percent=50)
    make_annotator(study, "ann")
    assert "No counterpart is judged twice yet" in remarks(study)
    study = launch(study)
    assert not study.judgment_items.filter(judges_wanted=2).exists()
    for task in tasks_of(study, "ann"):
        submit_judgment(task=task, ratings=answers())
    make_annotator(study, "ben")
    # 2 pairs, 2 directions, 3 producers: 12 counterparts, half of them get a second judgment.
    assert give_out_again(study=study).moved == 6
    assert study.judgment_items.filter(judges_wanted=2).count() == 6
    assert len(tasks_of(study, "ben")) == 6
    assert len(tasks_of(study, "ann")) == 12
    assert give_out_again(study=study).moved == 0


def test_the_work_of_a_removed_judge_goes_to_the_others_and_what_is_done_stays():
    study = launch(make_study(make_corpus(4), overlap_percent=50), "ann", "ben", "cleo")
    done = tasks_of(study, "ann")[0]
    submit_judgment(task=done, ratings=answers())
    remove_judge(annotator=done.annotator)
    states = {task.state for task in tasks_of(study, "ann")}
    assert states == {TaskState.DONE}
    assert len(load_judgments(study)) == 1
    # 24 counterparts, 12 of them twice: 36 judgments, one of them done.
    open_tasks = study.judgment_tasks.filter(state=TaskState.OPEN)
    assert open_tasks.count() == 35
    withdrawn = study.judgment_tasks.filter(state=TaskState.WITHDRAWN).first()
    with pytest.raises(TaskTaken):
        submit_judgment(task=withdrawn, ratings=answers())


def test_ratings_are_loaded_in_one_query(django_assert_num_queries):
    study = launch(make_study(make_corpus(2), overlap_percent=100), "ann", "ben")
    for name in ("ann", "ben"):
        for task in tasks_of(study, name):
            submit_judgment(task=task, ratings=answers())
    with django_assert_num_queries(1):
        rows = load_judgments(study)
    assert len(rows) == 24
    assert {row.producer for row in rows} == {"human", "tiny-bart@0f3c", "tiny-gpt@9e1d"}
    assert {(row.source, row.annotator) for row in rows} == {("Posts", 1), ("Posts", 2)}
    assert len({row.item for row in rows}) == 12
    first = rows[0]
    ratings = (first.human_likeness, first.linguistic_match, first.meaning_preservation)
    assert (*ratings, first.tone_preservation) == (4, 5, 3, 2)
