"""Limits by client: what is too much is refused with 429, and nobody locks out somebody else."""

from __future__ import annotations

from collections.abc import Callable
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
from rest_framework.views import APIView

from annotation.common.limits import client_address
from annotation.models import Submission
from stereoscope import settings as product
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
        # Of IPv6 a client has as many addresses as it likes, in one network of 64 bits.
        (1, "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        (1, "[2001:db8:1:2:ffff::1]", "2001:db8:1:2::"),
        (1, "::ffff:203.0.113.9", "203.0.113.9"),
        (1, "fe80::1%eth0", "fe80::"),
        (1, "a name", "a name"),
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


def test_one_network_of_ipv6_cannot_try_many_passwords(settings: Any) -> None:
    User.objects.create_user("alice", password=PASSWORD, is_staff=True)
    for number in range(settings.AXES_FAILURE_LIMIT):
        last = log_in("alice", "wrong", f"2001:db8:1:2::{number}")
    assert last == 429
    assert log_in("alice", PASSWORD, "2001:db8:1:3::1") == 302


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
    # Whoever has a right one is not locked out by a neighbor.
    assert ask(header_for(alice)).status_code == 200


@pytest.fixture
def set_rates(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that puts the product's throttles in force, with other rates.

    The tests' own settings have none.
    """

    def set_them(**rates: str) -> None:
        names = product.REST_FRAMEWORK["DEFAULT_THROTTLE_CLASSES"]
        throttles = [import_string(name) for name in names]
        monkeypatch.setattr(APIView, "throttle_classes", throttles)
        for throttle in throttles:
            known = {**api_settings.DEFAULT_THROTTLE_RATES, **rates}
            monkeypatch.setattr(throttle, "THROTTLE_RATES", known)

    return set_them


@pytest.mark.parametrize("address", ["/api/v1/studies/", "/api/v1/runs/", "/api/schema/"])
def test_who_has_no_account_is_counted_by_address(
    set_rates: Any, settings: Any, address: str
) -> None:
    set_rates(anon="3/min")
    header = header_for(User.objects.create_superuser("alice"))

    def ask(client: str = "203.0.113.66", **headers: str) -> Any:
        return APIClient(REMOTE_ADDR=client).get(address, headers=headers)

    answers = [ask() for _ in range(5)]
    assert [answer.status_code for answer in answers] == [401, 401, 401, 429, 429]
    assert 0 < int(answers[3]["Retry-After"]) <= 60
    assert "Too Many Requests" in answers[3].content.decode()
    # Another client is not concerned, nor whoever has an account at the same address.
    assert ask("203.0.113.7").status_code == 401
    assert ask(authorization=header).status_code == 200


def test_the_api_counts_a_network_of_ipv6_as_one_client(set_rates: Any) -> None:
    set_rates(anon="2/min")
    clients = [f"2001:db8:1:2::{number}" for number in range(3)] + ["2001:db8:1:3::1"]
    answers = [APIClient(REMOTE_ADDR=one).get("/api/v1/studies/") for one in clients]
    assert [answer.status_code for answer in answers] == [401, 401, 429, 401]


def test_an_account_that_may_not_see_anything_is_counted_too(set_rates: Any) -> None:
    set_rates(user="2/min")
    client = APIClient()
    client.force_authenticate(User.objects.create_user("dora"))
    answers = [client.get("/api/v1/studies/").status_code for _ in range(3)]
    assert answers == [403, 403, 429]


def test_what_staff_ask_for_is_counted_once(set_rates: Any) -> None:
    set_rates(user="2/min")
    client = APIClient()
    client.force_authenticate(User.objects.create_user("bob", is_staff=True))
    # One refused for lack of rights in the list of runs, one that is answered.
    answers = [client.get(f"/api/v1/{name}/").status_code for name in ("runs", "studies", "runs")]
    assert answers == [403, 200, 429]


def test_the_api_says_when_to_ask_again(set_rates: Any) -> None:
    set_rates(user="3/min", change="1/min")
    client = APIClient()
    client.force_authenticate(User.objects.create_superuser("alice"))
    assert client.post("/api/v1/models/", {}, format="json").status_code == 400
    refused = client.post("/api/v1/models/", {}, format="json")
    assert refused.status_code == 429
    assert int(refused["Retry-After"]) > 0
    assert refused.json()["title"] == "Too Many Requests"
    assert client.get("/api/v1/studies/").status_code == 200
    assert client.get("/api/v1/studies/").status_code == 429


def send(client: Client, address: str, n_bytes: int, content_type: str) -> int:
    return client.post(address, "x" * n_bytes, content_type=content_type).status_code


def send_text(client: Client, address: str, body: str) -> int:
    return client.post(address, body, content_type=URLENCODED).status_code


MULTIPART = "multipart/form-data; boundary=b"
URLENCODED = "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    "address",
    [
        *("/s/none/", "/r/none/", "/w/none/", "/panels/prolific/events/", "/api/v1/studies/"),
        *("/admin/login/", "/admin/annotation/study/new/", "/annotate/login/", "/annotate/join/a/"),
    ],
)
def test_nobody_without_an_account_sends_a_large_body(db: None, address: str) -> None:
    assert send(Client(), address, 1_000_001, URLENCODED) == 413
    assert send(Client(), address, 1_000, URLENCODED) != 413


@pytest.mark.parametrize("address", ["/s/none/", "/r/none/", "/w/none/", "/annotate/login/"])
@pytest.mark.parametrize(
    "content_type", ["application/json", "text/plain", "image/png", MULTIPART, "Multipart/mixed"]
)
def test_pages_for_everyone_take_forms_alone(address: str, content_type: str) -> None:
    assert send(Client(), address, 100, content_type) == 415


@pytest.mark.parametrize("address", ["/admin/login/", "/admin/annotation/study/new/", "/api/v1/"])
def test_files_come_from_researchers_alone(address: str, client: Client, db: None) -> None:
    assert send(client, address, 100, MULTIPART) == 415
    client.force_login(User.objects.create_user("annotator"))
    assert send(client, address, 100, MULTIPART) == 415


def test_a_form_of_thousands_of_fields_is_refused(client: Client, db: None) -> None:
    assert send_text(client, "/r/none/", "&".join(f"a{n}=1" for n in range(2_000))) == 400


def test_a_researcher_sends_large_files_but_not_to_a_survey(admin_client: Client) -> None:
    library = reverse("admin:annotation_study_gallery")
    assert send(admin_client, library, 1_000_001, URLENCODED) != 413
    assert send(admin_client, "/s/none/", 1_000_001, URLENCODED) == 413
