"""Who changes or removes an entry of the audit log breaks its chain of seals, and where is said."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.utils import timezone

from annotation.audit.append_only import REMOVALS, TRIGGERS
from annotation.audit.record import record
from annotation.audit.seals import BEGINNING, find_breaks, last_seal, seal_all, seal_lately
from annotation.models import AuditAction, AuditEntry, AuditSeal
from tests.probing.runs.fixtures import shared_database  # noqa: F401

DELETE = "DELETE FROM annotation_auditentry WHERE id = %s"
pytestmark = pytest.mark.django_db


@contextmanager
def without_triggers() -> Iterator[Any]:
    """Yield a cursor as an owner of the database has it, who has taken the triggers away."""
    with connection.cursor() as cursor:
        for statement in REMOVALS[connection.vendor]:
            cursor.execute(statement)
        yield cursor
        for statement in TRIGGERS[connection.vendor]:
            cursor.execute(statement)


def change(cursor: Any, entry: int, column: str, value: str) -> None:
    cursor.execute(
        f"UPDATE annotation_auditentry SET {column} = %s WHERE id = %s",  # noqa: S608 - our own
        [value, entry],
    )


@pytest.fixture
def five() -> list[int]:
    """Five sealed entries."""
    entries = [record(AuditAction.VIEWED, f"page {n}").pk for n in range(5)]
    assert seal_all() == 5
    return entries


def test_a_whole_log_says_so_and_prints_its_last_seal(five: list[int], capsys: Any) -> None:
    call_command("verify_audit")
    said = capsys.readouterr().out
    assert said.startswith("The audit log is whole. Last seal: 5:")
    call_command("verify_audit", "--kept", said.split()[-1])


def test_a_seal_is_what_anybody_can_compute(five: list[int]) -> None:
    entry = AuditEntry.objects.get(pk=five[0])
    content = {
        "action": "viewed",
        "actor": "",
        "before": BEGINNING,
        "detail": "",
        "happened_at": entry.happened_at.strftime("%Y-%m-%dT%H:%M:%S.%f+00:00"),
        "pk": entry.pk,
        "study": None,
        "target": "page 0",
    }
    expected = hashlib.sha256(json.dumps(content).encode()).hexdigest()
    assert AuditSeal.objects.get(number=1).digest == expected


@pytest.mark.parametrize(
    ("column", "value"),
    [("actor", "mallory"), ("target", "page 9"), ("detail", "x"), ("happened_at", "2020-01-01")],
)
def test_a_changed_entry_is_named(five: list[int], column: str, value: str) -> None:
    with without_triggers() as cursor:
        change(cursor, five[2], column, value)
    assert list(find_breaks()) == [f"Entry {five[2]} was changed, or the seal before it (seal 3)."]
    with pytest.raises(CommandError, match="1 breaks"):
        call_command("verify_audit")


def test_a_removed_entry_is_named(five: list[int]) -> None:
    with without_triggers() as cursor:
        cursor.execute(DELETE, [five[1]])
    assert list(find_breaks()) == [f"Entry {five[1]} was removed (seal 2)."]


def test_an_entry_that_was_removed_with_its_seal_leaves_a_gap(five: list[int]) -> None:
    AuditSeal.objects.filter(entry=five[1]).delete()
    with without_triggers() as cursor:
        cursor.execute(DELETE, [five[1]])
    assert list(find_breaks()) == [
        "Seals 2 to 2 are missing.",
        f"Entry {five[2]} was changed, or the seal before it (seal 3).",
    ]


def test_a_chain_made_anew_lacks_the_seal_that_was_kept(five: list[int]) -> None:
    kept = last_seal()
    with without_triggers() as cursor:
        change(cursor, five[2], "actor", "mallory")
    AuditSeal.objects.all().delete()
    seal_all()
    assert list(find_breaks()) == []
    assert list(find_breaks(kept)) == ["The log no longer holds seal 5 as it was kept."]


def test_an_entry_that_nobody_sealed_is_named_after_a_while(five: list[int]) -> None:
    late = record(AuditAction.VIEWED, "written by hand").pk
    assert list(find_breaks()) == []
    with without_triggers() as cursor:
        earlier = timezone.now() - timedelta(hours=3)
        change(cursor, late, "happened_at", f"{earlier:%Y-%m-%d %H:%M:%S}")
    assert list(find_breaks()) == [
        f"Entry {late} has no seal, although it is older than two hours."
    ]
    assert seal_lately() == 1
    assert list(find_breaks()) == []


def test_many_entries_of_one_transaction_are_sealed_once(
    django_capture_on_commit_callbacks: Any,
) -> None:
    with django_capture_on_commit_callbacks() as callbacks, transaction.atomic():
        for n in range(4):
            record(AuditAction.VIEWED, f"page {n}")
    assert len(callbacks) == 1
    callbacks[0]()
    assert AuditSeal.objects.count() == 4


@pytest.mark.parametrize("kept", ["5", "x:1", f"1:{'g' * 64}"])
def test_what_is_no_seal_is_refused(kept: str) -> None:
    with pytest.raises(CommandError, match="is no seal"):
        call_command("verify_audit", "--kept", kept)


@pytest.mark.django_db(transaction=True)
@pytest.mark.services
def test_many_at_once_make_one_chain(shared_database: str) -> None:  # noqa: F811
    def log(name: int) -> None:
        for n in range(5):
            with transaction.atomic():
                record(AuditAction.VIEWED, f"page {n} of {name}")
        connection.close()

    threads = [threading.Thread(target=log, args=[name]) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert AuditEntry.objects.count() == 30
    # Acts seal what they log; whoever met too many others left some to the sweep.
    assert seal_all() < 30
    assert list(AuditSeal.objects.values_list("number", flat=True)) == list(range(1, 31))
    assert list(find_breaks()) == []
