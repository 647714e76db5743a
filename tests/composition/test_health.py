"""The health addresses say which part does not answer, and nothing else."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from stereoscope.models import WorkerPresence
from stereoscope.presence import FORGET_AFTER, GONE_AFTER, end_presence, note_presence
from tests.ports import free_port


@pytest.fixture
def worker(db) -> WorkerPresence:
    note_presence(name="celery@bench", started_at=timezone.now())
    return WorkerPresence.objects.get()


def test_live_answers_without_the_database(client):
    response = client.get("/health/live")
    assert response.status_code == 200
    assert response.json() == {"status": "live"}


def test_ready_when_database_broker_and_worker_answer(client, worker):
    response = client.get("/health/ready")
    assert response.status_code == 200, response.json()
    assert response.json() == {
        "status": "ready",
        "database": "ok",
        "broker": "ok",
        "worker": "ok",
    }
    assert response["Cache-Control"] == "no-store"


def test_not_ready_without_a_worker(client, db):
    response = client.get("/health/ready")
    assert response.status_code == 503
    assert response.json()["worker"] == "none is running"
    assert response.json()["status"] == "not ready"


def test_a_worker_seen_while_the_clock_was_ahead_is_not_running_now(client, worker):
    WorkerPresence.objects.update(seen_at=timezone.now() + timedelta(hours=3))
    assert client.get("/health/ready").json()["worker"] == "none is running"


def test_not_ready_when_the_last_worker_has_fallen_silent(client, worker):
    WorkerPresence.objects.update(seen_at=timezone.now() - GONE_AFTER - timedelta(seconds=10))
    response = client.get("/health/ready")
    assert response.status_code == 503
    assert response.json()["worker"].startswith("last seen 4")


def test_one_living_worker_beside_dead_ones_is_enough(client, worker):
    WorkerPresence.objects.create(
        name="celery@old",
        started_at=timezone.now() - timedelta(hours=2),
        seen_at=timezone.now() - timedelta(hours=1),
    )
    assert client.get("/health/ready").status_code == 200


def test_not_ready_when_the_broker_is_away(client, worker, settings):
    settings.CELERY_BROKER_URL = f"redis://user:secret@127.0.0.1:{free_port()}/0"
    response = client.get("/health/ready")
    assert response.status_code == 503
    assert response.json()["broker"] == "does not answer"
    assert "secret" not in response.content.decode()


@pytest.mark.services
def test_ready_asks_the_broker_that_is_configured(client, worker):
    assert client.get("/health/ready").json()["broker"] == "ok"


def test_probes_need_no_allowed_host_and_follow_no_redirect(client, worker, settings):
    settings.ALLOWED_HOSTS = ["stereoscope.example"]
    settings.SECURE_SSL_REDIRECT = True
    assert client.get("/health/ready", headers={"host": "10.0.0.7:8000"}).status_code == 200


def test_presence_is_renewed_not_doubled(worker):
    note_presence(name=worker.name, started_at=worker.started_at)
    renewed = WorkerPresence.objects.get()
    assert renewed.seen_at >= worker.seen_at


def test_a_worker_that_stops_in_order_is_gone_at_once(client, worker):
    end_presence(name=worker.name)
    assert client.get("/health/ready").status_code == 503


def test_workers_that_never_came_back_are_forgotten(worker):
    WorkerPresence.objects.create(
        name="celery@gone",
        started_at=timezone.now() - 2 * FORGET_AFTER,
        seen_at=timezone.now() - 2 * FORGET_AFTER,
    )
    note_presence(name=worker.name, started_at=worker.started_at)
    assert not WorkerPresence.objects.filter(name="celery@gone").exists()
