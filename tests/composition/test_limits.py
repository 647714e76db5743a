"""Limits by client: what is too much is refused with 429, and nobody locks out somebody else."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone
from django.utils.module_loading import import_string
from rest_framework.settings import api_settings
from rest_framework.test import APIClient
from rest_framework.throttling import UserRateThrottle
from rest_framework.views import APIView

from annotation.common.limits import client_address
from annotation.models import Submission
from stereoscope import settings as product
from stereoscope.api.throttles import ChangeRateThrottle
from tests.annotation.studies.people import make_study
from tests.tokens import header_for

pytestmark = pytest.mark.django_db
PASSWORD = "a long pass phrase"


@pytest.fixture(autouse=True)
def fresh_counts() -> Any:
    cache.clear()
    yield
    cache.clear()


def log_in(username: str, password: str, address: str, **headers: str) -> int:
    sent = {"username": username, "password": password}
    client = Client(REMOTE_ADDR=address, headers=headers)
    return client.post(reverse("admin:login"), sent).status_code


@pytest.mark.services  # PostgreSQL refuses what is longer than its column
@pytest.mark.parametrize("name", ["admin:login", "annotators:login"])
@pytest.mark.parametrize("username", ["x" * 20_000, "9" * 400, "\N{PILE OF POO}" * 300])
def test_a_name_longer_than_any_account_is_refused_like_any_other(name: str, username: str) -> None:
    response = Client().post(reverse(name), {"username": username, "password": PASSWORD})
    assert response.status_code == (200 if name == "admin:login" else 422)
    assert AccessAttempt.objects.get().username == username[:150]


@pytest.mark.parametrize(
    ("trusted", "forwarded", "expected"),
    [
        (0, "203.0.113.9", "10.0.0.1"),
        (1, "203.0.113.9", "203.0.113.9"),
        (1, "6.6.6.6, 203.0.113.9", "203.0.113.9"),
        (2, "6.6.6.6, 203.0.113.9, 10.0.0.2", "203.0.113.9"),
        (2, "203.0.113.9", "10.0.0.1"),
        (1, "", "10.0.0.1"),
    ],
)
def test_the_client_is_whom_the_outermost_trusted_proxy_saw(
    settings: Any, trusted: int, forwarded: str, expected: str
) -> None:
    settings.TRUSTED_PROXIES = trusted
    headers = {"HTTP_X_FORWARDED_FOR": forwarded} if forwarded else {}
    request = RequestFactory().get("/", REMOTE_ADDR="10.0.0.1", **headers)
    assert client_address(request) == expected


def test_wrong_passwords_of_one_client_lock_out_nobody_else(settings: Any) -> None:
    settings.TRUSTED_PROXIES = 1
    User.objects.create_user("alice", password=PASSWORD, is_staff=True)
    proxy = "10.0.0.1"
    for _ in range(settings.AXES_FAILURE_LIMIT):
        last = log_in("alice", "wrong", proxy, x_forwarded_for="203.0.113.66")
    assert last == 429
    assert log_in("alice", PASSWORD, proxy, x_forwarded_for="203.0.113.66") == 429
    assert log_in("alice", PASSWORD, proxy, x_forwarded_for="203.0.113.7") == 302


def test_each_lock_out_of_a_day_takes_twice_as_long(settings: Any) -> None:
    User.objects.create_user("alice", password=PASSWORD, is_staff=True)
    now = timezone.now()
    with time_machine.travel(now, tick=False) as clock:
        for seconds in (60, 120, 240):
            for _ in range(settings.AXES_FAILURE_LIMIT):
                last = log_in("alice", "wrong", "203.0.113.66")
            assert last == 429
            clock.shift(timedelta(seconds=seconds - 2))
            assert log_in("alice", PASSWORD, "203.0.113.66") == 429
            clock.shift(timedelta(seconds=4))
        assert log_in("alice", PASSWORD, "203.0.113.66") == 302


def test_one_client_cannot_try_many_accounts_quickly(settings: Any) -> None:
    settings.LOGINS_PER_MINUTE = 5
    codes = [log_in(f"name-{number}", "guess", "203.0.113.66") for number in range(6)]
    assert codes[:5] == [200] * 5
    assert codes[5] == 429
    assert log_in("somebody", "guess", "203.0.113.7") == 200


def test_one_address_cannot_fill_a_study(settings: Any) -> None:
    settings.ARRIVALS_PER_HOUR = 2
    study, other = make_study(), make_study(title="Another")

    def start(link: str, address: str = "203.0.113.66") -> Any:
        return Client(REMOTE_ADDR=address).post(link)

    link = study.get_absolute_url()
    first = Client(REMOTE_ADDR="203.0.113.66")
    assert first.post(link).status_code == 302
    assert start(link).status_code == 302
    refused = start(link)
    assert refused.status_code == 429
    assert "Nothing was stored" in refused.content.decode()
    assert Submission.objects.count() == 2
    # Who has started goes on; other studies and other addresses are not concerned.
    assert first.post(link).status_code == 302
    assert start(other.get_absolute_url()).status_code == 302
    assert start(link, "203.0.113.7").status_code == 302


def test_one_client_cannot_try_many_tokens_quickly(settings: Any) -> None:
    settings.WRONG_TOKENS_PER_MINUTE = 3
    alice = User.objects.create_superuser("alice")

    def ask(authorization: str, address: str = "203.0.113.66") -> Any:
        client = APIClient(REMOTE_ADDR=address)
        return client.get("/api/v1/studies/", headers={"Authorization": authorization})

    answers = [ask(f"Token st_{number}") for number in range(4)]
    assert [answer.status_code for answer in answers] == [401, 401, 401, 429]
    assert int(answers[3]["Retry-After"]) == 60
    assert "Too many wrong tokens" in answers[3].json()["detail"]
    assert ask("Token st_9", "203.0.113.7").status_code == 401
    # Whoever has a right one is not locked out by a neighbour.
    assert ask(header_for(alice)).status_code == 200


def test_the_api_says_when_to_ask_again(monkeypatch: Any) -> None:
    # Those of the product; the tests' own settings have none.
    names = product.REST_FRAMEWORK["DEFAULT_THROTTLE_CLASSES"]
    monkeypatch.setattr(APIView, "throttle_classes", [import_string(name) for name in names])
    rates = {**api_settings.DEFAULT_THROTTLE_RATES, "user": "3/min", "change": "1/min"}
    for throttle in (UserRateThrottle, ChangeRateThrottle):
        monkeypatch.setattr(throttle, "THROTTLE_RATES", rates)
    client = APIClient()
    client.force_authenticate(User.objects.create_superuser("alice"))
    assert client.post("/api/v1/models/", {}, format="json").status_code == 400
    refused = client.post("/api/v1/models/", {}, format="json")
    assert refused.status_code == 429
    assert int(refused["Retry-After"]) > 0
    assert refused.json()["title"] == "Too Many Requests"
    assert client.get("/api/v1/studies/").status_code == 200
    assert client.get("/api/v1/studies/").status_code == 429
