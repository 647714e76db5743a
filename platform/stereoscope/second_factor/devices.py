"""Second factors of an account: a time-based code (RFC 6238), and recovery codes for its loss."""

from __future__ import annotations

import base64
import secrets

import segno
from django.contrib.auth.models import User
from django.db import transaction
from django_otp.models import Device
from django_otp.plugins.otp_static.models import StaticToken

from annotation.audit.record import record
from annotation.common.encryption import decrypt, encrypt, is_current
from annotation.models import AuditAction
from stereoscope.second_factor.models import (
    Authenticator,
    RecoveryCodes,
    digest_code,
    seal_secret,
)

RECOVERY_CODES = 10
CODE_LENGTH = 12
CODE_CHARACTERS = "abcdefghijklmnopqrstuvwxyz234567"
SECRET_BYTES = 20  # RFC 4226, section 4
NAME = "authenticator"


def has_second_factor(user: User) -> bool:
    """One query."""
    return Authenticator.objects.filter(user=user, confirmed=True).exists()


def begin(user: User) -> Authenticator:
    """Return the device that is being set up, the same one until it is confirmed."""
    device, _created = Authenticator.objects.get_or_create(
        user=user,
        confirmed=False,
        name=NAME,
        defaults={"key": seal_secret(secrets.token_bytes(SECRET_BYTES))},
    )
    return device


def show_secret(device: Authenticator) -> str:
    """Return the secret as authenticators take it when it is typed: groups of four."""
    secret = base64.b32encode(device.bin_key).decode().rstrip("=")
    return _in_fours(secret)


def draw_code(device: Authenticator) -> str:
    """Return the QR code that authenticators scan, as the address of a picture that holds itself.

    Black on white with the quiet zone of the standard, also where the page is dark.
    """
    code = segno.make(device.config_url, error="m", micro=False)
    return str(code.svg_data_uri(scale=4, border=4, light="#fff"))


@transaction.atomic
def confirm(device: Authenticator) -> list[str]:
    """Turn a device on whose code was right; return the recovery codes, which are shown once."""
    user = device.user
    Authenticator.objects.filter(user=user).exclude(pk=device.pk).delete()
    device.confirmed = True
    device.save()
    record(AuditAction.ACCESS, f"account {user}", detail="second factor turned on")
    return renew_recovery_codes(user)


@transaction.atomic
def renew_recovery_codes(user: User) -> list[str]:
    """Replace the recovery codes; each of them is good once."""
    RecoveryCodes.objects.filter(user=user).delete()
    device = RecoveryCodes.objects.create(user=user, name=NAME)
    codes = [_make_code() for _ in range(RECOVERY_CODES)]
    StaticToken.objects.bulk_create(
        StaticToken(device=device, token=digest_code(code, device.pk)) for code in codes
    )
    return [_in_fours(code) for code in codes]


def _make_code() -> str:
    return "".join(secrets.choice(CODE_CHARACTERS) for _ in range(CODE_LENGTH))


def _in_fours(text: str) -> str:
    return " ".join(text[start : start + 4] for start in range(0, len(text), 4))


@transaction.atomic
def match_code(user: User, code: str) -> Device | None:
    """Return the device of an account that takes a code, None if none does; a code is good once.

    Rows are locked: the same code sent twice at once is taken once.
    """
    for kind in (Authenticator, RecoveryCodes):
        for device in kind.objects.select_for_update().filter(user=user, confirmed=True):
            if device.verify_token(code):
                found: Device = device
                return found
    return None


def rotate_secrets() -> int:
    """Store every secret under the first of IDENTITY_KEYS; return how many were not."""
    number = 0
    for pk, stored in Authenticator.objects.order_by("pk").values_list("pk", "key"):
        if is_current(stored):
            continue
        # Only this field, and only if nobody has changed it: a code may be taken meanwhile.
        changed = Authenticator.objects.filter(pk=pk, key=stored)
        number += changed.update(key=encrypt(decrypt(stored)))
    return number


@transaction.atomic
def turn_off(user: User) -> None:
    Authenticator.objects.filter(user=user).delete()
    RecoveryCodes.objects.filter(user=user).delete()
    record(AuditAction.ACCESS, f"account {user}", detail="second factor turned off")
