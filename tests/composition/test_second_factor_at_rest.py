"""Whoever reads the database alone can neither make codes of an authenticator nor use a code."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django_otp.oath import totp
from django_otp.plugins.otp_static.models import StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from annotation.common.encryption import KeyMissing
from stereoscope.models import Authenticator
from stereoscope.second_factor import devices

pytestmark = pytest.mark.django_db

OLD, NEW = "the key that is being replaced, long enough", "the key that comes, long enough too"


@pytest.fixture
def alice() -> User:
    return User.objects.create_user("alice", is_staff=True)


def turn_on(user: User) -> tuple[bytes, list[str]]:
    device = devices.begin(user)
    return device.bin_key, devices.confirm(device)


def current_code(user: User) -> str:
    return f"{totp(Authenticator.objects.get(user=user).bin_key):06d}"


@pytest.mark.django_db(transaction=True)  # SQLite copies nothing while somebody writes
def test_a_copy_of_the_database_holds_no_secret_and_no_code(alice: User, tmp_path: Path) -> None:
    secret, codes = turn_on(alice)
    assert len(secret) == devices.SECRET_BYTES
    stored = [*TOTPDevice.objects.values_list("key"), *StaticToken.objects.values_list("token")]
    dump = repr(stored).lower().encode()
    if connection.vendor == "sqlite":
        call_command("backup", str(tmp_path / "copy"))
        dump += (tmp_path / "copy").read_bytes().lower()
    found = [secret.hex(), base64.b32encode(secret).decode(), *(c.replace(" ", "") for c in codes)]
    assert len(found) == 12
    for text in found:
        assert text.lower().encode() not in dump


def test_codes_of_both_kinds_still_open_and_only_once(alice: User) -> None:
    _secret, codes = turn_on(alice)
    typed = codes[3].replace(" ", "")
    assert devices.match_code(alice, typed) is not None
    assert devices.match_code(alice, typed) is None
    assert StaticToken.objects.count() == devices.RECOVERY_CODES - 1
    Authenticator.objects.update(throttling_failure_count=0, throttling_failure_timestamp=None)
    assert devices.match_code(alice, current_code(alice)) is not None


def test_rotation_takes_second_factors_along(alice: User, settings: Any, capsys: Any) -> None:
    settings.IDENTITY_KEYS = [OLD]
    secret, _codes = turn_on(alice)
    settings.IDENTITY_KEYS = [NEW, OLD]
    call_command("rotate_identity_key")
    assert "1 rows" in capsys.readouterr().out
    assert devices.rotate_secrets() == 0
    settings.IDENTITY_KEYS = [NEW]
    assert Authenticator.objects.get().bin_key == secret
    settings.IDENTITY_KEYS = [OLD]
    with pytest.raises(KeyMissing):
        _ = Authenticator.objects.get().bin_key
