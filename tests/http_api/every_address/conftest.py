"""The actors, study, run and report of the folder above, stored once for all tests of a module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from annotation.models import Study
from evaluation.models import Report
from probing.models import LanguageModel, Run
from tests.http_api.conftest import (
    finish,
    make_model,
    make_report,
    make_researcher,
    make_run,
    make_study,
)
from tests.kept_rows import keep_rows


@pytest.fixture(scope="module")
def kept_report(django_db_setup, django_db_blocker, model_folder: Path) -> Iterator[int]:
    """Everything that the fixtures below return; yields the key of the report."""
    with keep_rows(django_db_blocker):
        alice, bob = make_researcher("alice"), make_researcher("bob")
        make_researcher("charlie")
        User.objects.create_user("dora")
        run = finish(make_run(make_model(model_folder), alice))
        yield make_report(make_study(alice, bob), run, alice).pk


@pytest.fixture
def alice(kept_report, db) -> User:
    return User.objects.get(username="alice")


@pytest.fixture
def bob(kept_report, db) -> User:
    return User.objects.get(username="bob")


@pytest.fixture
def charlie(kept_report, db) -> User:
    return User.objects.get(username="charlie")


@pytest.fixture
def dora(kept_report, db) -> User:
    return User.objects.get(username="dora")


@pytest.fixture
def study(kept_report, db) -> Study:
    return Study.objects.get()


@pytest.fixture
def model(kept_report, db) -> LanguageModel:
    return LanguageModel.objects.get()


@pytest.fixture
def finished_run(kept_report, db) -> Run:
    return Run.objects.get(status="finished")


@pytest.fixture
def report(kept_report, db) -> Report:
    return Report.objects.get(pk=kept_report)
