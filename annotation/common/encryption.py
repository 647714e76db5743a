"""Ids of people are encrypted at rest, with a key that no backup of the database holds.

AES-SIV (RFC 5297) gives the same ciphertext for the same text, so that ids can still be looked up
and kept unique; who reads the database alone learns which rows are of one person, not who it is.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.db.models.lookups import Exact, In

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV

MARK = "e1"
#: Characters: ids have 120 at most, and are longer when they are stored.
LONGEST_STORED = 240


class KeyMissing(Exception):  # noqa: N818 - said to an administrator
    """A stored id needs a key that IDENTITY_KEYS does not hold."""


@cache
def _ciphers(secrets: tuple[str, ...]) -> dict[str, AESSIV]:
    """Return ciphers by the name of their key; the first is that for writing."""
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV  # only those who need it

    keys = [hashlib.sha512(f"stereoscope ids\0{secret}".encode()).digest() for secret in secrets]
    return {hashlib.sha256(key).hexdigest()[:8]: AESSIV(key) for key in keys}


def _current() -> dict[str, AESSIV]:
    return _ciphers(tuple(settings.IDENTITY_KEYS))


def encrypt(text: str) -> str:
    """Return ``text`` under the first key; "" stays "", which stands for no id."""
    return encrypt_by_all(text)[0]


def encrypt_by_all(text: str) -> list[str]:
    """Return what ``text`` may be stored as, under the first key and under those being replaced."""
    if not text:
        return [text]
    return [
        f"{MARK}.{name}."
        + base64.urlsafe_b64encode(cipher.encrypt(text.encode(), None)).decode().rstrip("=")
        for name, cipher in _current().items()
    ]


def decrypt(stored: str) -> str:
    """Return what a stored text stands for; one from before encryption stands for itself.

    Raises `KeyMissing`.
    """
    mark, _dot, rest = stored.partition(".")
    name, dot, body = rest.partition(".")
    if mark != MARK or not dot:
        return stored
    from cryptography.exceptions import InvalidTag

    cipher = _current().get(name)
    if cipher is None:
        raise KeyMissing(f"IDENTITY_KEYS lacks the key “{name}”, under which ids are stored.")
    try:
        padded = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
        return cipher.decrypt(padded, None).decode()
    except (InvalidTag, ValueError) as error:
        raise KeyMissing("A stored id cannot be read: it was changed in the database.") from error


def is_current(stored: str) -> bool:
    """Whether a stored text is under the first key."""
    return not stored or stored.startswith(f"{MARK}.{next(iter(_current()))}.")


class EncryptedCharField(models.CharField):
    """Text that is encrypted in the database, and plain in Python. It can be looked up whole."""

    def get_prep_value(self, value: Any) -> Any:
        prepared = super().get_prep_value(value)
        return encrypt(prepared) if isinstance(prepared, str) else prepared

    def from_db_value(self, value: Any, *_: Any) -> Any:
        return decrypt(value) if isinstance(value, str) else value


@EncryptedCharField.register_lookup
class EncryptedIn(In):
    """One of some texts, under whichever key each is stored."""

    def get_prep_lookup(self) -> Any:
        if isinstance(self.rhs, Iterable) and not hasattr(self.rhs, "resolve_expression"):
            return [stored for text in self.rhs for stored in encrypt_by_all(str(text))]
        return super().get_prep_lookup()


@EncryptedCharField.register_lookup
class EncryptedExact(Exact):
    """One text, under whichever key it is stored."""

    stored: Sequence[str] = ()

    def get_prep_lookup(self) -> Any:
        if hasattr(self.rhs, "resolve_expression"):
            return super().get_prep_lookup()
        self.stored = encrypt_by_all(str(self.rhs))
        return self.stored[0]

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        if not self.stored:
            return super().as_sql(compiler, connection)
        left, parameters = self.process_lhs(compiler, connection)
        places = ", ".join(["%s"] * len(self.stored))
        return f"{left} IN ({places})", [*parameters, *self.stored]


@EncryptedCharField.register_lookup
class AsStored(Exact):
    """One text as it is stored: what `encrypt_by_all` returns."""

    lookup_name = "stored"

    def get_prep_lookup(self) -> Any:
        return self.rhs

    def get_rhs_op(self, connection: Any, rhs: str) -> str:
        return f"= {rhs}"
