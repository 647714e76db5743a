"""The loss curve over HTTP: points in order, for those who may see runs."""

from __future__ import annotations

import pytest

from probing.runs.training_progress import store_point
from probing.training.schedule import LossPoint

pytestmark = [pytest.mark.django_db, pytest.mark.services]


def test_the_loss_curve_is_listed_step_by_step(api, alice, run):
    for step, held_out in ((2, 0.1 + 0.2), (1, None)):
        store_point(run_id=run.pk, point=LossPoint(step, step / 2, 2.0 / 3, held_out, 3e-5))
    content = api(alice).get(f"/api/v1/runs/{run.public_id}/training/").json()
    rows = [{key: row[key] for key in row if key != "at"} for row in content["results"]]
    first = {"step": 1, "epoch": 0.5, "loss": 2.0 / 3, "held_out_loss": None}
    second = {"step": 2, "epoch": 1.0, "loss": 2.0 / 3, "held_out_loss": 0.1 + 0.2}
    of_writing = {"training": 0, "accuracy": None, "held_out_accuracy": None}
    assert rows == [{**one, **of_writing, "learning_rate": 3e-5} for one in (first, second)]


def test_a_run_that_trains_nothing_has_no_points(api, alice, run):
    content = api(alice).get(f"/api/v1/runs/{run.public_id}/training/").json()
    assert content["results"] == []


def test_an_unknown_run_is_named(api, alice):
    answer = api(alice).get("/api/v1/runs/000000000000/training/")
    assert answer.status_code == 404
    assert "000000000000" in answer.content.decode()


def test_who_is_not_staff_sees_no_curve(api, dora, run):
    assert api(dora).get(f"/api/v1/runs/{run.public_id}/training/").status_code == 403
