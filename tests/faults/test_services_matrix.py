"""Which installations the tests run on: the embedded parts, then those with services."""

from __future__ import annotations

from tests.conftest import ROOT
from tests.services import plan_installations
from tools.faults.installation import SETUPS

DATABASE, BROKER, RABBITMQ = "postgres://a@b/c", "redis://b/14", "amqp://guest:guest@b:1//"


def test_tests_run_on_three_installations() -> None:
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ntest:")[2]
    recipe = recipe.partition("\n.PHONY")[0]
    assert "$(EMBEDDED) $(PYTHON) -m pytest" in recipe  # SQLite and files
    assert "$(PYTHON) -m tests.services" in recipe
    redis, rabbitmq = plan_installations(DATABASE, BROKER, RABBITMQ)
    assert redis.services == ("PostgreSQL", "Redis")
    assert redis.environment == {"DATABASE_URL": DATABASE, "CELERY_BROKER_URL": BROKER}
    assert rabbitmq.services == ("PostgreSQL", "RabbitMQ")
    assert rabbitmq.environment == {"DATABASE_URL": DATABASE, "CELERY_BROKER_URL": RABBITMQ}
    # Workers that die, compute and pay: on both, by the same files.
    dying = {"tests/faults/test_payment_worker.py", "tests/faults/test_worker_death.py"}
    assert dying <= set(rabbitmq.arguments)
    assert {str(ROOT / name) for name in dying} <= set(redis.arguments)


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
