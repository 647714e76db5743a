"""Which installations the tests run on: the embedded parts, then those with services."""

from __future__ import annotations

import os

import pytest

from tests.conftest import ROOT
from tests.services import Installation, plan_installations, run_on
from tools.faults.installation import SETUPS

DATABASE, BROKER, RABBITMQ = "postgres://a@b/c", "redis://b/14", "amqp://guest:guest@b:1//"


def test_tests_run_on_three_installations() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipes = {
        name: makefile.partition(f"\n{name}:")[2].partition("\n.PHONY")[0]
        for name in ("test", "test-rest", "test-all")
    }
    for name in ("test", "test-rest"):
        assert "$(EMBEDDED) $(PYTHON) -m pytest" in recipes[name]  # SQLite and files
    assert "$(PYTHON) -m tests.services" in recipes["test-rest"]
    assert recipes["test-all"].split()[:2] == ["test", "test-rest"]
    redis, rabbitmq = plan_installations(DATABASE, BROKER, RABBITMQ)
    assert redis.services == ("PostgreSQL", "Redis")
    assert redis.environment == {"DATABASE_URL": DATABASE, "CELERY_BROKER_URL": BROKER}
    assert rabbitmq.services == ("PostgreSQL", "RabbitMQ")
    assert rabbitmq.environment == {"DATABASE_URL": DATABASE, "CELERY_BROKER_URL": RABBITMQ}
    # Workers that die, compute and pay: on both, by the same files.
    dying = {"tests/faults/test_payment_worker.py", "tests/faults/test_worker_death.py"}
    assert dying <= set(rabbitmq.arguments)
    assert {str(ROOT / name) for name in dying} <= set(redis.arguments)


def test_side_by_side_each_says_its_own_and_a_failure_counts(
    capfd: pytest.CaptureFixture[str],
) -> None:
    good = Installation(("PostgreSQL",), {}, ("--version",))
    bad = Installation(("RabbitMQ",), {}, ("--no-such-option",))
    for chosen, failed in (([good, good], 0), ([good, bad], 1), ([bad, good], 1), ([], 0)):
        assert run_on(chosen, dict(os.environ)) == failed
        said = "".join(capfd.readouterr())
        assert said.count("Once more on") == len(chosen)
        assert said.count("no-such-option") >= failed


def test_what_is_not_there_is_left_out() -> None:
    assert plan_installations(None, None, None) == []
    (alone,) = plan_installations(None, BROKER, None)
    assert (alone.services, list(alone.environment)) == (("Redis",), ["CELERY_BROKER_URL"])
    (on_files,) = plan_installations(None, None, RABBITMQ)
    assert on_files.services == ("RabbitMQ",)


def test_installations_that_are_broken_and_attacked_are_the_same_three() -> None:
    assert [setup.name for setup in SETUPS.values()] == [
        "SQLite + files",
        "PostgreSQL + Redis",
        "PostgreSQL + RabbitMQ",
    ]
