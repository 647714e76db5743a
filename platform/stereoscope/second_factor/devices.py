"""Second factors of an account: a time-based code (RFC 6238), and recovery codes for its loss."""

from __future__ import annotations

import base64

import segno
from django.contrib.auth.models import User
from django.db import transaction
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from annotation.audit.record import record
from annotation.models import AuditAction

RECOVERY_CODES = 10
NAME = "authenticator"


def has_second_factor(user: User) -> bool:
    """One query."""
    return TOTPDevice.objects.filter(user=user, confirmed=True).exists()


def begin(user: User) -> TOTPDevice:
    """Return the device that is being set up, the same one until it is confirmed."""
    device, _created = TOTPDevice.objects.get_or_create(user=user, confirmed=False, name=NAME)
    return device


def show_secret(device: TOTPDevice) -> str:
    """Return the secret as authenticators take it when it is typed: groups of four."""
    secret = base64.b32encode(device.bin_key).decode().rstrip("=")
    return " ".join(secret[start : start + 4] for start in range(0, len(secret), 4))


def draw_code(device: TOTPDevice) -> str:
    """Return the QR code that authenticators scan, as the address of a picture that holds itself.

    Black on white with the quiet zone of the standard, also where the page is dark.
    """
    code = segno.make(device.config_url, error="m", micro=False)
    return str(code.svg_data_uri(scale=4, border=4, light="#fff"))


@transaction.atomic
def confirm(device: TOTPDevice) -> list[str]:
    """Turn a device on whose code was right; return the recovery codes, which are shown once."""
    user = device.user
    TOTPDevice.objects.filter(user=user).exclude(pk=device.pk).delete()
    device.confirmed = True
    device.save()
    record(AuditAction.ACCESS, f"account {user}", detail="second factor turned on")
    return renew_recovery_codes(user)


@transaction.atomic
def renew_recovery_codes(user: User) -> list[str]:
    """Replace the recovery codes; each of them is good once."""
    StaticDevice.objects.filter(user=user).delete()
    device = StaticDevice.objects.create(user=user, name=NAME)
    codes = [StaticToken.random_token() for _ in range(RECOVERY_CODES)]
    StaticToken.objects.bulk_create(StaticToken(device=device, token=code) for code in codes)
    return codes


@transaction.atomic
def turn_off(user: User) -> None:
    TOTPDevice.objects.filter(user=user).delete()
    StaticDevice.objects.filter(user=user).delete()
    record(AuditAction.ACCESS, f"account {user}", detail="second factor turned off")
