"""Second factors as they are stored: no dump of the database lets anybody pass.

The library's tables with rows of our own making. The secret of an authenticator is encrypted with
the key for ids of people. Recovery codes, which are only ever compared, are kept as slow digests.
"""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from annotation.common.encryption import decrypt, encrypt

#: A code has 60 bits; codes from before digests have 40, which is why the digest is slow.
ROUNDS = 200_000
DIGEST_BYTES = 10  # 16 characters, as many as the table takes


def seal_secret(secret: bytes) -> str:
    """Return a secret as it is stored: in base 32, because in base 16 it would be too long."""
    return encrypt(base64.b32encode(secret).decode())


def digest_code(code: str, device: int) -> str:
    """Return what a recovery code of a device is stored as."""
    salt = f"stereoscope recovery code\0{device}".encode()
    digest = hashlib.pbkdf2_hmac("sha256", code.encode(), salt, ROUNDS, DIGEST_BYTES)
    return base64.b32encode(digest).decode().lower()


class Authenticator(TOTPDevice):
    """A device that shows codes; its secret is read with the key for ids of people."""

    class Meta:
        proxy = True
        verbose_name = "authenticator"

    @property
    def bin_key(self) -> bytes:
        return base64.b32decode(decrypt(self.key))


class RecoveryCodes(StaticDevice):
    """The recovery codes of an account; each is good once."""

    class Meta:
        proxy = True
        verbose_name_plural = "recovery codes"

    def verify_token(self, token: Any) -> bool:
        return bool(super().verify_token(digest_code(str(token), self.pk)))
