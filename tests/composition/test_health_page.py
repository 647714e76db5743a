"""The page of administrators names what is wrong, with its remedy, and nobody else sees it."""

from __future__ import annotations

import os
import shutil
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from probing.models import Run, RunEvent, RunStatus
from stereoscope import apps
from stereoscope.health_page.page import Finding, State, find_all
from stereoscope.models import Milestone, MilestoneName, WorkerPresence
from stereoscope.presence import note_presence
from tests.ports import free_port
from tests.probing.conftest import checkpoints  # noqa: F401
from tests.probing.runs.fixtures import bert, make_run  # noqa: F401

pytestmark = pytest.mark.django_db


class Disk(NamedTuple):
    total: int
    used: int
    free: int


def by_title() -> dict[str, Finding]:
    return {finding.title: finding for finding in find_all()}


def test_only_administrators_see_it(client: Client) -> None:
    address = reverse("health")
    assert client.get(address).status_code == 302
    bob = User.objects.create_user("bob", is_staff=True)
    client.force_login(bob)
    assert client.get(address).status_code == 403
    assert address not in client.get(reverse("admin:index")).content.decode()
    bob.user_permissions.set(
        Permission.objects.filter(content_type__app_label__in=["annotation", "probing"])
    )
    assert client.get(address).status_code == 403
    client.force_login(User.objects.create_superuser("alice"))
    assert address in client.get(reverse("admin:index")).content.decode()
    answer = client.get(address)
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]


def test_every_part_that_is_not_in_order_has_a_remedy(settings) -> None:
    settings.CELERY_BROKER_URL = f"redis://user:secret@127.0.0.1:{free_port()}/0"
    settings.IS_OWN_MACHINE = False
    found = find_all()
    wrong = [finding for finding in found if finding.state != State.GOOD]
    assert all(finding.remedy and finding.docs for finding in wrong)
    titles = {finding.title for finding in wrong}
    assert {"Workers", "Messages to workers", "Backup"} <= titles
    assert any(title.startswith("Settings (security.") for title in titles)
    assert "secret" not in "".join(finding.said for finding in found)


def test_a_machine_for_itself_is_not_asked_for_certificates(settings) -> None:
    settings.IS_OWN_MACHINE = True
    assert by_title()["Settings"].state == State.GOOD


def test_a_worker_and_its_heartbeat() -> None:
    assert by_title()["Workers"].state == State.BAD
    note_presence(name="celery@bench", started_at=timezone.now())
    assert by_title()["Workers"].said.startswith("1 runs, heard of")
    WorkerPresence.objects.update(seen_at=timezone.now() - timedelta(minutes=5))
    assert by_title()["Workers"].said == "Last seen 300 s ago"


def test_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    for free, state in ((1_000, State.BAD), (2_000_000_000, State.WARN), (10**12, State.GOOD)):
        monkeypatch.setattr(shutil, "disk_usage", lambda _folder, free=free: Disk(10**12, 0, free))
        assert by_title()["Disk"].state == state


@pytest.mark.django_db(transaction=True)  # SQLite copies nothing while somebody writes
def test_a_backup_is_noted_and_grows_old(tmp_path: Path) -> None:
    assert by_title()["Backup"].state == State.WARN
    call_command("backup", str(tmp_path / "copy"))
    assert by_title()["Backup"].state == State.GOOD
    assert os.stat(tmp_path / "copy").st_mode & 0o077 == 0
    Milestone.objects.update(at=timezone.now() - timedelta(days=3))
    assert "3\xa0days ago" in by_title()["Backup"].said
    assert by_title()["Backup"].state == State.WARN


def test_the_sweep_that_erases_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert by_title()["Erasing what is due"].state == State.WARN
    monkeypatch.setattr(apps, "_looked_at", -apps.EXPIRED_SECONDS)
    apps.sweep_expired()
    assert Milestone.objects.get().name == MilestoneName.RETENTION
    assert by_title()["Erasing what is due"].state == State.GOOD


def test_a_run_that_stands_still_and_one_that_failed(make_run) -> None:  # noqa: F811
    run: Run = make_run()
    assert by_title()["Open runs"].said == "1, at work."
    earlier = timezone.now() - timedelta(hours=1)
    Run.objects.update(created_at=earlier)
    RunEvent.objects.update(at=earlier)
    found = by_title()["Open runs"]
    assert found.state == State.WARN
    assert found.said.endswith(f"in run {run.pk}.")
    Run.objects.update(status=RunStatus.FAILED, finished_at=timezone.now())
    assert by_title()["Failed work"].said == "In a week 1 runs and 0 reports."
