"""The run page of a training: curve, table, download, and the way to the trained model."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from probing.models import LanguageModel, Run, TrainingPoint
from probing.runs.training_progress import store_point
from probing.runs.worker import work
from probing.training.schedule import LossPoint
from tests.probing.runs.training_fixtures import (  # noqa: F401
    TrainingMaker,
    copier,
    copying_model,
    dialect,
    make_training,
    own_folder,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("alice"))
    return client


def page(name: str, run: Run) -> str:
    return reverse(f"admin:probing_run_{name}", args=[run.pk])


def test_the_page_follows_a_training_to_its_model(
    make_training: TrainingMaker,  # noqa: F811
    alice: Client,
) -> None:
    run = make_training(held_out_share=0.25)
    waiting = alice.get(page("change", run)).content.decode()
    assert "The curve begins with the second step." in waiting
    assert "8 pairs of texts, 1 prompt" in waiting
    assert "No step is done yet." in waiting

    for step, held_out in ((1, None), (2, 2.25)):
        store_point(run_id=run.pk, point=LossPoint(step, step / 2, 2.5, held_out, 0.001))
    live = alice.get(page("live", run)).content.decode()
    assert '<polyline class="line-interval"' in live
    assert live.count("<title>2.2500</title>") == 1
    assert "Held-out pairs 2.250 after epoch 1." in live
    assert "Time left" in live

    work(worker="w", run=run)
    model = LanguageModel.objects.get(training_run=run.public_id)
    done = alice.get(page("live", run)).content.decode()
    address = reverse("admin:probing_languagemodel_change", args=[model.pk])
    assert f'<a href="{address}">{model.name}</a>' in done
    assert done.count("<tr><td") >= TrainingPoint.objects.filter(run=run).count() == 4


def test_the_curve_is_downloaded_to_the_last_bit(
    make_training: TrainingMaker,  # noqa: F811
    alice: Client,
) -> None:
    run = make_training()
    store_point(run_id=run.pk, point=LossPoint(1, 0.5, 2.0 / 3, None, 0.1))
    answer: Any = alice.get(page("training", run))
    head, line = b"".join(answer.streaming_content).decode().split()[:2]
    assert head == "step,epoch,loss,held_out_loss,learning_rate,at"
    assert line.startswith("1,0.5,0.6666666666666666,,0.1,")
    assert Client().get(page("training", run)).status_code == 302


def test_the_curve_is_drawn_on_an_axis_of_all_epochs() -> None:
    from probing.admin.run_page import BASE, LEFT, RIGHT, TOP, draw_loss

    points = [
        TrainingPoint(step=1, epoch=0.5, loss=4.0),
        TrainingPoint(step=2, epoch=1.0, loss=2.0, held_out_loss=3.0),
    ]
    assert draw_loss(points[:1], 2) is None
    chart = draw_loss(points, 2)
    assert chart is not None
    # By hand: a quarter and a half of the width; 4 is the highest level, 2 half of it.
    width, height = RIGHT - LEFT, BASE - TOP
    assert chart.line == f"{LEFT + width / 4},{TOP} {LEFT + width / 2},{TOP + height / 2}"
    assert [(mark.x, mark.y) for mark in chart.held_out] == [
        (LEFT + width / 2, BASE - height * 0.75)
    ]
    assert [tick.label for tick in chart.levels] == ["0", "1", "2", "3", "4"]
    assert [tick.label for tick in chart.epochs] == ["0", "1", "2"]
