"""Runs that train classifiers: the best are kept, and classification is run with them."""

from __future__ import annotations

import pytest

from probing.models import LanguageModel, Run, RunStatus, Score, TrainingPoint
from probing.runs.worker import work
from tests.probing.runs.tuning_fixtures import TuningMaker

pytestmark = [pytest.mark.django_db, pytest.mark.shared]


def finish(run: Run) -> Run:
    work(worker="w", run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED, run.error
    return run


def test_the_best_become_models(make_tuning: TuningMaker) -> None:
    run = finish(make_tuning())
    print(run.notices, run.parameters)
    print(list(LanguageModel.objects.values()))
    print(list(Score.objects.values_list("name", "group", "value", "n")))
    print(TrainingPoint.objects.count(), TrainingPoint.objects.values().last())
    assert 0
