"""The demo seeds itself once, through the survey's and the engine's own services."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from annotation.models import DemographicAnswer, Origin, Study, StudyKind, Submission
from annotation.studies.creation import create_study, human_study_groups
from annotation.studies.lifecycle import launch_study
from annotation.studies.quotas import count_quotas
from annotation.studies.ratings import load_accepted_ratings
from evaluation.models import Report
from evaluation.reports.building import build_report
from probing.models import LanguageModel, Run
from probing.training.demo import model
from stereoscope.demo.seeding import (
    NOTES,
    RATINGS_PER_GROUP,
    RATINGS_PER_TEXT,
    DemoError,
    ensure_simulated_speakers,
    ensure_speakers_report,
    ensure_speakers_survey,
    seed_demo,
)
from stereoscope.demo.simulation import fill_with_simulated_people


@pytest.fixture
def owner(db) -> User:
    return User.objects.create_superuser("admin")


@pytest.mark.slow
def test_the_demo_is_complete_labeled_and_seeded_once(owner, settings, tmp_path, monkeypatch):
    settings.VAR_DIR = tmp_path
    # Hardly trained: the main job's test trains it as `make run` does.
    monkeypatch.setattr(model, "train_demo_model", partial(model.train_demo_model, steps=3))
    lines: list[str] = []
    demo = seed_demo(owner=owner, say=lines.append)
    assert any("means nothing" in line for line in lines)

    assert demo.survey.is_open
    assert demo.survey.decide_by_checks
    assert demo.survey.origin == Origin.COLLECTED
    assert not demo.survey.submissions.exists()

    assert demo.people.status == "closed"
    assert demo.people.origin == Origin.SIMULATED
    assert "not a finding" in demo.people.title
    instrument = demo.people.instruments.get()
    quotas = count_quotas(demo.people, instrument=instrument)
    assert [quota.accepted for quota in quotas] == [RATINGS_PER_GROUP] * 25
    assert len(load_accepted_ratings(demo.people)) == 25 * RATINGS_PER_GROUP * 16

    assert demo.run.model.is_demo
    assert "meaningless" in demo.run.model.name
    assert demo.run.measure == "set"
    assert demo.run.status == "waiting"
    assert demo.report.status == "waiting"
    assert (tmp_path / "models" / "demo" / "model.safetensors").exists()

    lines.clear()
    again = seed_demo(owner=owner, say=lines.append)
    assert again == demo
    assert lines == []
    kinds = (Study, LanguageModel, Run, Report)
    assert [kind.objects.count() for kind in kinds] == [4, 1, 1, 2]


@pytest.mark.slow
def test_the_demo_has_writers_of_notes_to_rate_and_simulated_people_who_did(owner):
    survey = ensure_speakers_survey(owner=owner)
    people = ensure_simulated_speakers(owner=owner)
    report = ensure_speakers_report(study=people, owner=owner)
    assert survey.is_open
    assert survey.kind == people.kind == StudyKind.GUISE_RATING
    assert (people.status, people.origin) == ("closed", Origin.SIMULATED)
    quotas = count_quotas(people, instrument=people.instruments.get())
    assert [quota.accepted for quota in quotas] == [RATINGS_PER_TEXT] * 2 * len(NOTES)
    build_report(report_id=report.pk)
    report.refresh_from_db()
    assert (report.status, report.error) == ("final", "")
    assert ensure_speakers_survey(owner=owner) == survey
    assert ensure_simulated_speakers(owner=owner) == people
    assert ensure_speakers_report(study=people, owner=owner) == report


def test_a_model_that_does_not_exist_is_one_plain_line_and_nothing_is_seeded(owner):
    with pytest.raises(DemoError) as caught:
        seed_demo(owner=owner, location="/no/such/folder")
    assert "/no/such/folder" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not Study.objects.exists()
    assert not Run.objects.exists()


def test_the_command_ends_with_that_line(db, settings, tmp_path):
    settings.VAR_DIR = tmp_path
    with pytest.raises(CommandError, match="/no/such/folder"):
        call_command("seed_demo", model="/no/such/folder")


def simulate(owner: User, title: str, quota: int, more: Sequence[str] = ()) -> Study:
    study = create_study(
        title=title,
        owner=owner,
        contact_email="demo@example.org",
        groups=human_study_groups()[:3],
        quota_per_group=quota,
        decide_by_checks=True,
        flow=["consent", "rating", "group_name", "rating", "marked_traits", "repeat", *more],
    )
    study = launch_study(study=study)
    fill_with_simulated_people(study=study, seed=3)
    return study


def test_simulated_people_fill_every_quota_exactly(owner):
    study = simulate(owner, "Simulated", quota=4)
    quotas = count_quotas(study, instrument=study.instruments.get())
    assert [(quota.accepted, quota.in_progress) for quota in quotas] == [(4, 0)] * 3


def test_careless_simulated_people_fail_their_checks_and_are_paid(owner):
    study = simulate(owner, "Simulated", quota=14)
    careless = study.submissions.filter(checks_passed=False)
    # Every twentieth answers without reading; 3 × 14 slots need at least 21 people, two a person.
    assert careless.count() == 1
    assert careless.get().data_decision == "excluded"
    assert careless.get().pay_decision == "approved"
    others = study.submissions.exclude(pk=careless.get().pk)
    assert set(others.values_list("checks_passed", "data_decision").distinct()) == {
        (True, "accepted")
    }


def test_simulated_visits_have_times_like_people(owner):
    study = simulate(owner, "Simulated", quota=4)
    for submission in study.submissions.all():
        minutes = (submission.finished_at - submission.started_at).total_seconds() / 60
        assert 1 < minutes < 60
        times = list(submission.pages.order_by("step_index").values_list("submitted_at", flat=True))
        assert submission.started_at < times[0]
        assert times == sorted(times)
        assert times[-1] <= submission.finished_at
    assert Submission.objects.filter(finished_at__isnull=True).count() == 0


def test_simulated_people_answer_the_questions_about_themselves(owner):
    study = simulate(owner, "Simulated", quota=14, more=["demographics"])
    answers = DemographicAnswer.objects.filter(submission__study=study)
    asked = study.instruments.get().questions.count()
    people = study.submissions.count()
    # Three in a hundred answers are left out.
    assert 0.85 * asked * people < answers.count() < asked * people
    assert answers.filter(declined=True).exists()
    for answer in answers.filter(declined=False).select_related("question"):
        question = answer.question
        if question.options:
            values = answer.value if isinstance(answer.value, list) else [answer.value]
            assert set(values) <= set(question.options)
        else:
            assert question.minimum <= answer.value <= question.maximum
    assert not answers.exclude(own_words="").exists()
