"""Tokens of programs, sign-ins that nobody uses any more, and the second factor."""

from __future__ import annotations

import html
import io
import re
from datetime import timedelta
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
import time_machine
import vl_convert
import zxingcpp
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django_otp.oath import totp
from PIL import Image
from rest_framework.test import APIClient

from stereoscope.api_authentication import create_token
from stereoscope.models import ApiToken, Authenticator, RecoveryCodes

pytestmark = pytest.mark.django_db

STUDIES = "/api/v1/studies/"
WRITING = "/api/v1/writing-studies/"


@pytest.fixture
def alice() -> User:
    return User.objects.create_superuser("alice", password="a long password of hers")


def program(key: str) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {key}")
    return client


def test_a_token_is_kept_as_a_digest_and_has_scopes(alice) -> None:
    token, key = create_token(user=alice, name="export", scopes=["read"])
    assert key not in str(ApiToken.objects.values().get())
    answer = program(key).get(STUDIES)
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]
    refused = program(key).post(WRITING, {}, format="json")
    assert refused.status_code == 403
    assert "expected the scope “write”" in refused.json()["detail"]
    payments = f"{STUDIES}{'a' * 12}/payments/"
    assert "“pay”" in program(key).get(payments).json()["detail"]
    _token, paying = create_token(user=alice, name="pay", scopes=["pay"])
    assert program(paying).get(payments).status_code == 404
    assert program(paying).get(STUDIES).status_code == 403
    token.refresh_from_db()
    assert token.last_used_at is not None


def test_a_token_expires_and_can_be_taken_back(alice) -> None:
    token, key = create_token(user=alice, name="export", days=1)
    with time_machine.travel(timezone.now() + timedelta(days=2)):
        answer = program(key).get(STUDIES)
    assert answer.status_code == 401
    assert "expired" in answer.json()["detail"]
    alice.is_active = False
    alice.save()
    assert program(key).get(STUDIES).status_code == 401
    token.delete()
    assert program(key).get(STUDIES).status_code == 401


def test_the_page_shows_a_new_token_once(alice) -> None:
    bob = User.objects.create_user("bob", is_staff=True)
    browser = Client()
    browser.force_login(bob)
    address = reverse("admin:stereoscope_apitoken_add")
    made = browser.post(address, {"name": "mine", "scopes": ["read", "write"], "days": 30})
    key = re.search(r"st_[\w-]{40,}", made.content.decode())
    assert key is not None
    assert "no-store" in made["Cache-Control"]
    token = ApiToken.objects.get()
    assert (token.user, token.scopes) == (bob, ["read", "write"])
    shown = browser.get(reverse("admin:stereoscope_apitoken_change", args=[token.pk]))
    assert key[0] not in shown.content.decode()
    too_long = browser.post(address, {"name": "mine", "scopes": ["read"], "days": 1000})
    assert (too_long.status_code, ApiToken.objects.count()) == (200, 1)
    create_token(user=alice, name="of alice")
    listed = browser.get(reverse("admin:stereoscope_apitoken_changelist")).content.decode()
    assert "of alice" not in listed


def test_the_command_makes_a_token(alice, capsys) -> None:
    call_command("create_api_token", "alice", "--scope", "read", "--days", "7")
    assert program(capsys.readouterr().out.strip()).get(STUDIES).status_code == 200
    with pytest.raises(CommandError, match="no active account"):
        call_command("create_api_token", "nobody")


def test_a_session_that_nobody_uses_ends(alice, settings) -> None:
    settings.SESSION_IDLE_MINUTES = 30
    browser = Client()
    home = reverse("admin:index")
    with time_machine.travel("2026-05-04 09:00Z", tick=False) as clock:
        browser.force_login(alice)
        for _ in range(4):  # somebody works
            assert browser.get(home).status_code == 200
            clock.shift(timedelta(minutes=29))
        assert browser.get(home).status_code == 200
        # A page that is left open asks by itself, which is no sign of anybody.
        for _ in range(3):
            clock.shift(timedelta(minutes=15))
            browser.get("/reports/agreement/none/live/")
        answer = browser.get(home)
    assert answer.status_code == 302
    assert reverse("admin:login") in answer["Location"]


def test_a_session_ends_that_nobody_used_since_the_sign_in(alice, settings) -> None:
    settings.SESSION_IDLE_MINUTES = 30
    browser = Client()
    with time_machine.travel("2026-05-04 09:00Z", tick=False) as clock:
        browser.force_login(alice)
        clock.shift(timedelta(minutes=31))
        assert browser.get(reverse("admin:index")).status_code == 302


def test_a_clock_that_was_set_back_keeps_no_session_open(alice, settings) -> None:
    settings.SESSION_IDLE_MINUTES = 30
    browser = Client()
    home = reverse("admin:index")
    with time_machine.travel("2026-05-04 12:00Z", tick=False):
        browser.force_login(alice)
    with time_machine.travel("2026-05-04 09:00Z", tick=False) as clock:
        assert browser.get(home).status_code == 200
        clock.shift(timedelta(minutes=31))
        assert browser.get(home).status_code == 302


def read_code(user: User, *, steps: int = 0) -> str:
    device = Authenticator.objects.get(user=user)
    return f"{totp(device.bin_key, drift=steps):06d}"


def sign_in(name: str = "alice") -> Client:
    browser = Client()
    sent = {"username": name, "password": "a long password of hers"}
    browser.post(reverse("admin:login"), sent)
    return browser


def turn_on(user: User) -> tuple[Client, list[str]]:
    browser = sign_in()
    page = browser.get(reverse("security"))
    assert "data-secret" in page.content.decode()
    wrong = browser.post(reverse("security"), {"code": "000000"})
    assert wrong.status_code == 422
    Authenticator.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)
    done = browser.post(reverse("security"), {"code": read_code(user)})
    assert done.status_code == 200
    return browser, re.findall(r"<li><code>([\w ]+)</code>", done.content.decode())


def test_the_second_factor_is_asked_for_after_the_password(alice) -> None:
    first, codes = turn_on(alice)
    assert len(set(codes)) == 10
    home = reverse("admin:index")
    assert first.get(home).status_code == 200  # it was just confirmed here
    browser = sign_in()
    asked = browser.get(home)
    assert asked["Location"].startswith(reverse("second-factor"))
    assert browser.get(STUDIES).status_code == 403
    assert browser.get(reverse("security"))["Location"] == reverse("second-factor")
    assert browser.post(reverse("second-factor"), {"code": "123456"}).status_code == 422
    assert browser.get(home).status_code == 302
    Authenticator.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)
    Authenticator.objects.update(last_t=-1)
    there = browser.post(reverse("second-factor"), {"code": read_code(alice), "next": home})
    assert (there.status_code, there["Location"]) == (302, home)
    assert browser.get(home).status_code == 200
    # The same code is not good twice.
    replayed = sign_in().post(reverse("second-factor"), {"code": read_code(alice)})
    assert replayed.status_code == 422


def test_the_qr_code_holds_the_key_that_is_shown(alice) -> None:
    """Drawn and read by programs of others; the standard asks for a margin of four modules."""
    page = sign_in().get(reverse("security"))
    shown = page.content.decode()
    (source,) = re.findall(r'<img class="qr-code" src="([^"]+)"', shown)
    assert source.startswith("data:image/svg+xml")
    assert "data:" in page["Content-Security-Policy"].partition("img-src")[2].partition(";")[0]
    drawing = unquote(html.unescape(source).partition(",")[2])
    picture = Image.open(io.BytesIO(vl_convert.svg_to_png(drawing)))
    assert picture.convert("RGB").getpixel((3 * 4, 3 * 4)) == (255, 255, 255)
    (read,) = zxingcpp.read_barcodes(picture)
    address = urlsplit(read.text)
    assert (address.scheme, address.netloc) == ("otpauth", "totp")
    (typed,) = re.findall(r"data-secret>([A-Z2-7 ]+)<", shown)
    assert parse_qs(address.query)["secret"][0].rstrip("=") == typed.replace(" ", "")
    # Once it is confirmed, no page shows it again.
    browser, _codes = turn_on(alice)
    assert "qr-code" not in browser.get(reverse("security")).content.decode()


def test_a_recovery_code_is_good_once_and_leads_nowhere_else(alice) -> None:
    _first, codes = turn_on(alice)
    elsewhere = {"code": codes[0].upper(), "next": "https://evil.example/"}
    there = sign_in().post(reverse("second-factor"), elsewhere)
    assert (there.status_code, there["Location"]) == (302, reverse("admin:index"))
    assert sign_in().post(reverse("second-factor"), {"code": codes[0]}).status_code == 422


def test_guessing_codes_is_slowed_down(alice) -> None:
    turn_on(alice)
    browser = sign_in()
    Authenticator.objects.update(last_t=-1)
    browser.post(reverse("second-factor"), {"code": "123456"})
    # Even the right one has to wait after a wrong one.
    at_once = browser.post(reverse("second-factor"), {"code": read_code(alice)})
    assert at_once.status_code == 422


def test_it_is_turned_off_with_a_code(alice) -> None:
    browser, codes = turn_on(alice)
    assert browser.post(reverse("security"), {"do": "off", "code": "nothing"}).status_code == 422
    RecoveryCodes.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)
    assert browser.post(reverse("security"), {"do": "off", "code": codes[1]}).status_code == 200
    assert sign_in().get(reverse("admin:index")).status_code == 200


def test_a_site_can_ask_everybody_on_the_staff_for_it(alice, settings) -> None:
    settings.SECOND_FACTOR_REQUIRED = True
    browser = sign_in()
    led = browser.get(reverse("admin:index"))
    assert led["Location"].startswith(reverse("security"))
    assert "asks every researcher" in browser.get(reverse("security")).content.decode()
    browser.post(reverse("security"), {"code": read_code(alice)})
    assert browser.get(reverse("admin:index")).status_code == 200


def test_nobody_reads_secrets_of_others_in_the_admin(alice) -> None:
    browser = Client()
    browser.force_login(alice)
    for model in ("otp_totp/totpdevice", "otp_static/staticdevice"):
        assert browser.get(f"/admin/{model}/").status_code == 404


def test_sign_in_and_error_pages_say_whom_to_ask(settings) -> None:
    settings.CONTACT_EMAIL = "help@example.org"
    browser = Client(raise_request_exception=False)
    for address in (
        reverse("admin:login"),
        reverse("annotators:login"),
        "/there/is/nothing",
        "/s/nothing/",
        "/",
    ):
        assert "help@example.org" in browser.get(address).content.decode(), address
    for name in ("400", "403", "403_csrf", "500"):  # as Django draws them, without a context
        assert "help@example.org" in render_to_string(f"{name}.html"), name
    spanish = browser.get("/", headers={"Accept-Language": "es"}).content.decode()
    assert "Pregunta a quienes gestionan este sitio" in spanish
    settings.CONTACT_EMAIL = ""
    assert "mailto:" not in browser.get("/there/is/nothing").content.decode()
