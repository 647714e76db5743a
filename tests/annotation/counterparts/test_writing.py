"""Drafts and submitted counterparts: what is stored, and what never gets lost."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from annotation.annotators.errors import NotLive, TaskTaken, WorkRefused
from annotation.counterparts.assignment_service import (
    add_writer,
    assign_unassigned,
    find_unassigned,
    hand_over,
    remove_writer,
)
from annotation.counterparts.creation import create_writing_study
from annotation.counterparts.drafts import (
    LONGEST_BODY,
    LONGEST_DETAIL,
    Draft,
    StaleDraft,
    current_draft,
    save_draft,
)
from annotation.counterparts.lifecycle import find_launch_problems, launch_writing_study
from annotation.counterparts.views import SameAsSource
from annotation.models import (
    Adjudication,
    Counterpart,
    Overlap,
    Study,
    TaskState,
    TextPair,
    WritingTask,
)
from annotation.studies.lifecycle import close_study, pause_study
from tests.annotation.counterparts.studies import (
    join,
    make_corpus,
    make_writing_study,
    place_of,
    tasks_of,
    write,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return make_writing_study("ann", "ben")


@pytest.fixture
def task(study: Study) -> WritingTask:
    return tasks_of(study, "ann")[0]


def test_a_launch_gives_out_the_designed_overlap(study: Study):
    # 20 texts, 4 common, one pair with 25 % of the other 16: 4 shared, 12 single. By hand.
    assert WritingTask.objects.filter(overlap=Overlap.COMMON).count() == 8
    assert WritingTask.objects.filter(overlap=Overlap.SHARED).count() == 8
    assert WritingTask.objects.filter(overlap=Overlap.SINGLE).count() == 12
    assert [task.position for task in tasks_of(study, "ann")] == list(range(1, 15))


def test_a_launch_names_everything_that_is_missing():
    empty = make_corpus(0, name="Empty")
    study = make_writing_study(corpus=empty, launched=False)
    with pytest.raises(ValidationError) as refused:
        launch_writing_study(study=study)
    said = " ".join(refused.value.messages)
    assert "Nobody is invited yet" in said
    assert "has no text in AAL" in said
    study.refresh_from_db()
    assert study.status == "draft"


def test_a_launch_refuses_more_shares_than_there_are_texts():
    study = make_writing_study("ann", "ben", "cleo", launched=False, shared_percent=40)
    # 3 pairs at 40 % are 120 %.
    assert any("120 %" in problem for problem in find_launch_problems(study))


def test_texts_with_a_gold_counterpart_are_not_drawn():
    corpus = make_corpus(4)
    first, *_rest, last = corpus.texts.order_by("slug")
    last.variety = "WME"
    last.save()
    TextPair.objects.create(corpus=corpus, slug="pair", source_text=first, target_text=last)
    study = make_writing_study("ann", corpus=corpus, common_texts=0)
    assert {task.text.slug for task in tasks_of(study, "ann")} == {"text-001", "text-002"}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"n_texts": 21}, "expected 1 to 20"),
        ({"n_texts": 3, "common_texts": 4}, "expected at most the 3 texts"),
        ({"shared_percent": 101}, "less than or equal to 100"),
        ({"guidelines": []}, "at least one guideline"),
    ],
)
def test_a_bad_design_is_refused_and_nothing_is_stored(options, problem):
    values = {"title": "Counterparts", "owner": None, "contact_email": "lab@example.org"}
    corpus = make_corpus()
    with pytest.raises(ValidationError, match=problem):
        create_writing_study(corpus=corpus, **(values | options))
    assert not Study.objects.exists()


def test_a_counterpart_is_stored_once_however_often_it_is_sent(study: Study, task: WritingTask):
    first = write(task, "I am always happy.")
    assert write(task, "I am always happy.") == first
    assert Counterpart.objects.count() == 1
    assert first.history.count() == 1
    task.refresh_from_db()
    assert task.state == TaskState.DONE
    assert first.variety == "WME"


def test_a_changed_counterpart_keeps_its_history(task: WritingTask):
    write(task, "First words.")
    stored = write(task, "Other words.")
    assert [row.body for row in stored.history.order_by("history_id")] == [
        "First words.",
        "Other words.",
    ]


def test_a_text_that_cannot_be_interpreted_needs_a_reason(task: WritingTask):
    with pytest.raises(WorkRefused, match=r"Choose why the text cannot be interpreted\.$"):
        write(task, not_interpretable=True)
    with pytest.raises(WorkRefused, match="Write the reason"):
        write(task, not_interpretable=True, reason="other")
    stored = write(task, "Half a text", not_interpretable=True, reason="unknown word", detail="cus")
    assert (stored.body, stored.reason) == ("", "unknown word: cus")
    assert stored.not_interpretable


def test_an_empty_or_an_over_long_counterpart_is_refused_with_what_is_expected(task: WritingTask):
    with pytest.raises(WorkRefused, match="Write a counterpart"):
        write(task, " \n ")
    with pytest.raises(WorkRefused, match="5,001 characters, expected at most 5,000"):
        write(task, "a" * (LONGEST_BODY + 1))
    assert not Counterpart.objects.exists()


def test_the_source_unchanged_is_asked_about_and_then_taken(task: WritingTask):
    copy = f"  {task.text.body}\n"
    with pytest.raises(SameAsSource):
        write(task, copy)
    task.refresh_from_db()
    assert task.draft == task.text.body
    assert write(task, copy, is_unchanged_meant=True).body == task.text.body


def test_control_characters_are_left_out(task: WritingTask):
    assert write(task, "One\r\ntwo\x00\x07 three").body == "One\ntwo three"


@pytest.mark.parametrize("stop", [pause_study, close_study])
def test_a_study_that_stops_takes_no_counterpart_but_keeps_the_text(study, task, stop):
    stop(study=study)
    with pytest.raises(NotLive):
        write(task, "Written while it was live.", draft_number=3)
    task.refresh_from_db()
    assert (task.draft, task.state) == ("Written while it was live.", TaskState.OPEN)
    assert save_draft(task=task, number=9, draft=Draft("And some more.")) == 9


def test_an_older_draft_never_wins(task: WritingTask):
    save_draft(task=task, number=2, draft=Draft("newer"))
    with pytest.raises(StaleDraft) as stale:
        save_draft(task=task, number=1, draft=Draft("older"))
    assert (stale.value.number, stale.value.draft) == (2, Draft("newer"))
    # Its answer was lost, it came again.
    assert save_draft(task=task, number=2, draft=Draft("newer")) == 2
    with pytest.raises(StaleDraft):
        save_draft(task=task, number=2, draft=Draft("from another window"))


def test_a_draft_that_was_on_its_way_does_not_reopen_what_was_submitted(task: WritingTask):
    save_draft(task=task, number=1, draft=Draft("One"))
    write(task, "One two", draft_number=2)
    with pytest.raises(StaleDraft):
        save_draft(task=task, number=2, draft=Draft("One t"))
    task.refresh_from_db()
    assert task.draft == ""


def test_a_draft_carries_why_a_text_is_not_interpretable(task: WritingTask):
    unsure = Draft("He will", True, "other", "half of it is cut off")
    save_draft(task=task, number=1, draft=unsure)
    task.refresh_from_db()
    assert (task.state, task.counterpart) == (TaskState.OPEN, None)
    assert current_draft(task) == unsure
    refused = Draft(detail="a" * (LONGEST_DETAIL + 1))
    with pytest.raises(WorkRefused, match="401 characters, expected at most 400"):
        save_draft(task=task, number=2, draft=refused)
    with pytest.raises(WorkRefused, match="“bored” is no reason"):
        save_draft(task=task, number=2, draft=Draft(reason="bored"))
    task.refresh_from_db()
    assert current_draft(task) == unsure


def test_a_draft_takes_a_tick_back_and_an_unchanged_one_is_none(task: WritingTask):
    write(task, not_interpretable=True, reason="unknown word", detail="finna")
    submitted = Draft("", True, "unknown word", "finna")
    task.refresh_from_db()
    assert current_draft(task) == submitted
    save_draft(task=task, number=task.draft_number + 1, draft=Draft())
    task.refresh_from_db()
    assert (task.has_draft, current_draft(task)) == (True, Draft())
    save_draft(task=task, number=task.draft_number + 1, draft=submitted)
    task.refresh_from_db()
    assert not task.has_draft


def test_a_refused_reason_stays_on_the_page_with_the_text(task: WritingTask):
    with pytest.raises(WorkRefused, match=r"interpreted\. What you wrote is kept\."):
        write(task, "Half", not_interpretable=True, reason="", draft_number=4)
    task.refresh_from_db()
    assert current_draft(task) == Draft("Half", not_interpretable=True)
    with pytest.raises(WorkRefused):
        write(task, "Half", not_interpretable=True, reason="other", draft_number=5)
    task.refresh_from_db()
    assert current_draft(task) == Draft("Half", True, "other")


def test_time_is_counted_once_for_each_draft_and_never_wildly(task: WritingTask):
    save_draft(task=task, number=1, draft=Draft("One"), seconds=5)
    save_draft(task=task, number=1, draft=Draft("One"), seconds=5)
    save_draft(task=task, number=2, draft=Draft("One two"), seconds=float("nan"))
    write(task, "One two", draft_number=3, seconds=2)
    task.refresh_from_db()
    assert task.active_seconds == 7


def test_texts_in_the_same_words_are_settled_and_unsettled(study: Study):
    text = WritingTask.objects.filter(overlap=Overlap.COMMON).first().text
    ann, ben = (
        next(task for task in tasks_of(study, name) if task.text == text) for name in ("ann", "ben")
    )
    write(ann, "The same words")
    assert not Adjudication.objects.exists()
    write(ben, "The  same\nwords")
    (settled,) = Adjudication.objects.all()
    assert (settled.is_automatic, settled.body, settled.decided_by) == (
        True,
        "The same words",
        None,
    )
    write(ben, "Other words")
    assert not Adjudication.objects.exists()


def test_open_texts_move_to_the_others_and_done_ones_stay(study: Study):
    done = tasks_of(study, "ann")[0]
    write(done, "Done before.")
    hand_over(giver=place_of(study, "ann"))
    left = [task for task in tasks_of(study, "ann") if task.state != TaskState.WITHDRAWN]
    assert left == [done]
    held = WritingTask.objects.exclude(state=TaskState.WITHDRAWN)
    assert held.values("text").distinct().count() == 20
    with pytest.raises(TaskTaken):
        write(tasks_of(study, "ann")[1], "Too late.")
    late = tasks_of(study, "ann")[1]
    assert late.draft == "Too late."


def test_a_text_that_comes_back_brings_its_draft(study: Study):
    task = next(task for task in tasks_of(study, "ann") if task.overlap == Overlap.SINGLE)
    save_draft(task=task, number=1, draft=Draft("Half a text"))
    ann, ben = place_of(study, "ann"), place_of(study, "ben")
    hand_over(giver=ann, receiver=ben)
    hand_over(giver=ben, receiver=ann)
    task.refresh_from_db()
    assert (task.state, task.draft) == (TaskState.OPEN, "Half a text")


def test_somebody_who_comes_late_gets_texts_at_once(study: Study):
    late = join(study, "cleo")
    mine = tasks_of(study, "cleo")
    assert sum(task.overlap == Overlap.COMMON for task in mine) == 4
    loads = [len(tasks_of(study, "ann")), len(tasks_of(study, "ben"))]
    assert late.number == 3
    assert len(mine) >= 8
    assert max(loads) <= 14


def test_a_removed_writer_leaves_no_text_behind(study: Study):
    remove_writer(annotator=place_of(study, "ann"))
    assert find_unassigned(study) == []
    # The last one goes: now nobody has them, until somebody comes.
    remove_writer(annotator=place_of(study, "ben"))
    assert len(find_unassigned(study)) == 20
    with pytest.raises(ValidationError, match="invite somebody first"):
        assign_unassigned(study=study)
    add_writer(study=study)
    assert find_unassigned(study) == []


def test_examples_stand_as_pairs_beside_the_guidelines(task: WritingTask):
    client = Client()
    client.force_login(task.annotator.user)
    address = reverse("counterparts:write", args=[task.study.public_id, task.position])
    html = client.get(address).content.decode()
    rules, _, examples = html.partition('class="examples"')
    assert "Keep user names, hashtags and web addresses as they are." in rules
    pair = ("She be working late.", "She usually works late.")
    assert all(text in examples for text in pair)
    assert not any(text in rules for text in pair)
    assert "→" not in html.partition("data-guidelines")[2].partition("</section>")[0]
