"""What those who run the platform see: logs by request, metrics, answers to JSON that hurts."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from datetime import timedelta
from email.message import Message
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from annotation.common.log_context import logging_as, run_id
from annotation.models import (
    ActionKind,
    ActionState,
    Panel,
    PanelAction,
    PanelSettings,
    Participant,
    Study,
    Submission,
)
from annotation.panels.views import EventRefused, read_event
from probing.models import Run, Shard
from probing.runs.leases import claim_shard
from probing.runs.worker import work
from stereoscope.logs import JsonFormatter
from stereoscope.metrics import WorkCollector
from tests.probing.conftest import checkpoints  # noqa: F401
from tests.probing.runs.fixtures import bert, make_run  # noqa: F401
from tests.tokens import header_for
from tests.web_server import HOST, run_web_server

DEEP = '{"title":' * 200 + "1" + "}" * 200
DEEPER = "[" * 100_000 + "]" * 100_000
TWICE = '{"title": "one", "title": "two"}'
HUGE = '{"quota": 1e999}'
SURROGATE = '{"title": "half of a pair: \\ud800"}'
METRICS_TOKEN = "what the scraper sends"


@pytest.mark.django_db
@pytest.mark.parametrize(
    "body", [DEEP, DEEPER, TWICE, HUGE, '{"a": NaN}', SURROGATE, '{"\\udfff": 1}']
)
def test_the_api_answers_400_to_json_that_nobody_means(body) -> None:
    alice = User.objects.create_superuser("alice")
    header = header_for(alice)
    for address in ("/api/v1/writing-studies/", "/api/v1/reports/", "/api/v1/imports/"):
        answer = Client().post(
            address, body, content_type="application/json", headers={"Authorization": header}
        )
        assert answer.status_code == 400, address
        detail = answer.json()["detail"]
        said = ("nested deeper", "surrogate", "stands twice", "beyond what", "no number")
        assert any(words in detail for words in said)


@pytest.mark.django_db
def test_a_signed_webhook_of_endless_depth_is_refused(monkeypatch) -> None:
    monkeypatch.setenv("PROLIFIC_SECRET_OF_TESTS", "a secret between two")
    study = Study.objects.create(title="S", contact_email="a@b.org", panel=Panel.PROLIFIC)
    PanelSettings.objects.create(study=study, webhook_secret_variable="PROLIFIC_SECRET_OF_TESTS")
    body = b"[" * 30_000 + b"]" * 30_000
    timestamp = str(int(time.time()))
    digest = hmac.new(b"a secret between two", timestamp.encode() + body, hashlib.sha256).digest()
    headers = {
        "X-Prolific-Request-Timestamp": timestamp,
        "X-Prolific-Request-Signature": base64.b64encode(digest).decode(),
        "X-Event-ID": "1",
    }
    with pytest.raises(EventRefused, match="nested deeper"):
        read_event(panel=Panel.PROLIFIC, headers=headers, body=body)


def test_a_line_of_json_says_what_it_belongs_to() -> None:
    def write() -> dict[str, object]:
        try:
            raise ValueError("no number")
        except ValueError:
            error = sys.exc_info()
        line = logging.LogRecord("probing", logging.ERROR, "", 0, "shard %s", (7,), error)
        return json.loads(JsonFormatter().format(line))

    with logging_as(run_id, "a1b2c3"):
        line = write()
    assert (line["level"], line["message"], line["run"]) == ("ERROR", "shard 7", "a1b2c3")
    assert "ValueError: no number" in str(line["traceback"])
    assert "run" not in write()
    assert "\n" not in JsonFormatter().format(
        logging.LogRecord("probing", logging.INFO, "", 0, "two\nlines", None, None)
    )


def ask(port: int, path: str, **headers: str) -> tuple[int, str, Message]:
    request = urllib.request.Request(f"http://{HOST}:{port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode(), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), error.headers


def test_metrics_and_logs_of_a_running_server(tmp_path, make_database, monkeypatch) -> None:
    database = tmp_path / "var" / "stereoscope.sqlite3"
    make_database(database)
    for name, value in {
        "METRICS_TOKEN": METRICS_TOKEN,
        "LOG_FORMAT": "json",
        "LOG_REQUESTS": "true",
        "WEB_PROCESSES": "2",
    }.items():
        monkeypatch.setenv(name, value)
    token = "0123456789abcdefghijklmnopqrstuv"
    with run_web_server(f"sqlite:///{database}", tmp_path) as port:
        _status, _text, headers = ask(port, "/", **{"X-Request-ID": "of-the-proxy-1"})
        assert headers["x-request-id"] == "of-the-proxy-1"
        for _ in range(6):
            status, _text, headers = ask(port, f"/r/{token}/", **{"X-Request-ID": "a b"})
            assert status == 404
            assert headers["x-request-id"] != "a b"
        assert ask(port, "/metrics")[0] == 401
        bearer = {"Authorization": f"Bearer {METRICS_TOKEN}"}
        status, text, _headers = ask(port, "/metrics", **bearer)
    assert status == 200
    # Of both processes, by the names of pages.
    counted = 'stereoscope_requests_total{method="GET",page="survey:page",status="404"} 6.0'
    assert counted in text
    assert "stereoscope_leases 0.0" in text
    assert "stereoscope_pages_submitted 0.0" in text
    assert token not in text
    lines = [json.loads(line) for line in Path(tmp_path / "web.log").read_text().splitlines()]
    home = next(line for line in lines if line.get("request") == "of-the-proxy-1")
    assert (home["page"], home["status"]) == ("survey:home", 200)
    assert token not in (tmp_path / "web.log").read_text()


@pytest.mark.django_db
def test_metrics_count_submissions_runs_shards_leases_and_payments(make_run) -> None:  # noqa: F811
    run = make_run()
    shard, lost = claim_shard(worker="w1"), claim_shard(worker="killed")
    assert shard is not None
    assert lost is not None
    past = timezone.now() - timedelta(minutes=5)
    Shard.objects.filter(pk=lost.pk).update(lease_until=past)
    study = Study.objects.create(title="S", contact_email="a@b.org", panel=Panel.PROLIFIC)
    submissions = [
        Submission.objects.create(
            study=study,
            instrument=study.instruments.first() or study.instruments.create(version=1),
            participant=Participant.objects.create(),
        )
        for _ in range(3)
    ]
    for place in range(2):
        submissions[0].pages.create(
            step_index=place, step_kind="rating", submitted_at=timezone.now()
        )
    PanelAction.objects.create(
        study=study,
        submission=submissions[0],
        kind=ActionKind.APPROVE,
        amount_minor=200,
        currency="USD",
        state=ActionState.CONFIRMED,
        try_at=timezone.now(),
        settled_at=timezone.now(),
    )
    found = {
        (sample.name, *sample.labels.values()): sample.value
        for family in WorkCollector().collect()
        for sample in family.samples
    }
    assert found["stereoscope_submissions", "in_progress"] == 3
    assert found["stereoscope_runs", Run.objects.get().status] == 1
    assert found["stereoscope_pages_submitted",] == 2
    assert found["stereoscope_shards", "leased"] == 2
    assert found["stereoscope_leases",] == 1, "the other one ran out"
    assert found["stereoscope_shards", "pending"] == run.shards.count() - 2
    assert found["stereoscope_payments", "confirmed"] == 1


@pytest.mark.django_db
def test_what_a_worker_logs_says_of_which_run_it_is(make_run, monkeypatch) -> None:  # noqa: F811
    run, said = make_run(), []
    monkeypatch.setattr(
        "probing.runs.worker.compute_shard", lambda _shard: said.append(run_id.get())
    )
    assert work(worker="w1", run=run).shards == run.shards.count()
    assert set(said) == {run.public_id}
    assert run_id.get() == ""


def test_without_a_token_there_are_no_metrics(client, db) -> None:
    assert client.get("/metrics").status_code == 404


@pytest.mark.parametrize(("given", "expected"), [("", "False"), ("true", "True")])
def test_browsers_preload_list_is_asked_for_by_a_setting_alone(tmp_path, given, expected) -> None:
    environment = {
        **os.environ,
        "VAR_DIR": str(tmp_path),
        "HTTPS": "true",
        "PYTHONPATH": ".:platform",
    }
    environment |= {"DJANGO_SETTINGS_MODULE": "stereoscope.settings"}
    environment |= {"HSTS_PRELOAD": given} if given else {}
    shown = subprocess.run(
        [
            sys.executable,
            "-c",
            "from django.conf import settings as s\n"
            "print(s.SECURE_HSTS_PRELOAD, s.SECURE_HSTS_SECONDS)",
        ],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.split() == [expected, "31536000"]
