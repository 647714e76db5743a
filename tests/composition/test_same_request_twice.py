"""The same request at the same moment: it is done once, and the second is told so."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.models import User
from django.db import connection, connections, transaction
from django.test import Client
from django.urls import reverse

from annotation.models import Team, TeamInvitation, TeamMember
from annotation.studies.teams import create_team, invite_to_team
from tests.annotation.studies.people import make_user
from tests.annotation.survey.test_concurrency import at_once
from tests.probing.runs.fixtures import shared_database  # noqa: F401
from tests.waiting import wait_until

pytestmark = pytest.mark.services


@pytest.fixture
def ann(shared_database: str) -> User:  # noqa: F811
    return make_user("ann", is_superuser=True)


def signed_in(user: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def somebody_waits_for_us() -> bool:
    waiting = "SELECT count(*) FROM pg_locks WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))"
    with connection.cursor() as cursor:
        cursor.execute(waiting)
        return cursor.fetchone()[0] > 0


def test_what_was_stored_in_between_is_no_fault_of_the_server(ann: User) -> None:
    """PostgreSQL lets the second request look before the first has stored; SQLite lets it wait."""
    if connection.vendor != "postgresql":
        pytest.skip("requests that write follow each other on SQLite")
    client = signed_in(ann)

    def send():  # type: ignore[no-untyped-def]
        try:
            address = reverse("admin:annotation_team_add")
            return client.post(address, {"name": "Lab"})
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            create_team(name="Lab", owner=ann)
            answer = pool.submit(send)
            wait_until(somebody_waits_for_us)
        response = answer.result()
    assert response.status_code == 409
    assert "This was done a moment ago" in response.content.decode()
    assert Team.objects.count() == 1


def test_a_link_that_two_people_open_at_once_takes_one_of_them(ann: User) -> None:
    team = create_team(name="Lab", owner=ann)
    token = invite_to_team(team=team, invited_by=ann)[1]
    address = reverse("admin:annotation_team_join", args=[token])
    clients = [signed_in(make_user(name, is_superuser=True)) for name in ("ben", "cleo", "dan")]
    answers = at_once(*[lambda client=client: client.post(address) for client in clients])
    # Who comes after the first finds the invitation over.
    found = sorted(answer.status_code for answer in answers)
    assert found[0] == 302
    assert set(found) <= {302, 404}
    assert TeamMember.objects.filter(team=team).exclude(user=ann).count() == 1
    assert TeamInvitation.objects.get().used_by_id is not None
