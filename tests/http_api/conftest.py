"""Accounts, a small study, a tiny real model with a finished run, and a report about both.

Alice owns the study, Bob is a member, Charlie is a researcher who has nothing to do with it, and
Dora has an account without being staff.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User
from rest_framework.test import APIClient

from annotation.models import Study, StudyMembership
from annotation.studies.creation import create_study, human_study_groups
from annotation.studies.lifecycle import launch_study
from evaluation.models import Report
from evaluation.reports.building import build_report
from evaluation.reports.requesting import request_report
from probing.models import LanguageModel, Run
from probing.runs.creation import create_run
from probing.runs.language_models import register_model
from probing.runs.stimuli import load_stimuli
from probing.runs.worker import work
from stereoscope.demo.simulation import fill_with_simulated_people
from tests.tokens import header_for

GROUPS = ["asian", "black", "elderly"]
TEMPLATES = ["that-group-is-trait"]


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory) -> Path:
    """A real masked model: the demo's own, hardly trained, since no number of it is looked at."""
    from annotation.library.abc_model import HUMAN_STUDY_GROUPS, TRAIT_PAIRS
    from probing.measures.stimuli import Group, Stimuli, Template, Trait
    from probing.training.demo.model import train_demo_model

    stimuli = Stimuli(
        groups=tuple(
            Group(
                slug=entry.slug,
                singular=entry.singular,
                plural=entry.plural,
                plural_capitalised=entry.plural_capitalised,
            )
            for entry in HUMAN_STUDY_GROUPS
        ),
        traits=tuple(
            Trait(slug=entry.slug, low=entry.low, high=entry.high, dimension=entry.dimension)
            for entry in TRAIT_PAIRS
        ),
        templates=(Template(slug="that", text="That {singular} is {trait}."),),
    )
    folder = tmp_path_factory.mktemp("models") / "tiny"
    train_demo_model(folder, stimuli=stimuli, seed=1, steps=2)
    return folder


def make_researcher(name: str) -> User:
    """Return a staff account that may do with models, runs and reports what researchers do."""
    user = User.objects.create_user(name, is_staff=True)
    user.user_permissions.set(
        Permission.objects.filter(content_type__app_label__in=["probing", "evaluation"])
    )
    return user


@pytest.fixture
def alice(db) -> User:
    return make_researcher("alice")


@pytest.fixture
def bob(db) -> User:
    return make_researcher("bob")


@pytest.fixture
def charlie(db) -> User:
    return make_researcher("charlie")


@pytest.fixture
def dora(db) -> User:
    return User.objects.create_user("dora")


@pytest.fixture
def api() -> Callable[[User | None], APIClient]:
    """Return a client that sends the account's token, or none."""

    def build(user: User | None) -> APIClient:
        client = APIClient()
        if user is not None:
            client.credentials(HTTP_AUTHORIZATION=header_for(user))
        return client

    return build


def make_study(alice: User, bob: User) -> Study:
    """Return three groups, rated by simulated people through the survey's own services."""
    wanted = [group for group in human_study_groups() if group.slug in GROUPS]
    study = create_study(
        title="Three groups",
        owner=alice,
        contact_email="alice@example.org",
        groups=wanted,
        flow=["consent", "rating", "rating", "repeat"],
        quota_per_group=3,
        reward_cents=200,
        decide_by_checks=True,
    )
    StudyMembership.objects.create(study=study, user=bob)
    study = launch_study(study=study)
    fill_with_simulated_people(study=study, seed=5)
    return study


def make_model(folder: Path) -> LanguageModel:
    return register_model(location=str(folder), name="Tiny (meaningless)", is_demo=True)


def make_run(model: LanguageModel, alice: User) -> Run:
    """Return a run that waits for a worker."""
    return create_run(
        measure="set",
        model=model,
        stimuli=load_stimuli(groups=GROUPS, templates=TEMPLATES),
        parameters={},
        seed=0,
        created_by=alice,
    )


def finish(run: Run) -> Run:
    work(worker="test")
    run.refresh_from_db()
    assert run.status == "finished", run.error
    return run


def make_report(study: Study, run: Run, alice: User) -> Report:
    asked = request_report(
        kind="alignment",
        study=study,
        runs=[run],
        created_by=alice,
        parameters={"resamples": 100, "splits": 100},
    )
    built = build_report(report_id=asked.pk)
    assert built is not None
    assert built.status == "final", built.error
    return built


@pytest.fixture
def study(alice, bob) -> Study:
    return make_study(alice, bob)


@pytest.fixture
def model(db, model_folder) -> LanguageModel:
    return make_model(model_folder)


@pytest.fixture
def run(model, alice) -> Run:
    return make_run(model, alice)


@pytest.fixture
def finished_run(run) -> Run:
    return finish(run)


@pytest.fixture
def report(study, finished_run, alice) -> Report:
    return make_report(study, finished_run, alice)
