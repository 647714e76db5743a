"""Limits of how often something may be asked for, by client; nothing of it is stored.

Each web process counts for itself in memory: with four of them a limit is four times as wide.
"""

from __future__ import annotations

import ipaddress
import time
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

DAY_SECONDS = 24 * 60 * 60


def client_address(request: HttpRequest) -> str:
    """Return the address of the client, as the outermost of the trusted proxies saw it.

    With no trusted proxy the connection's own address: anybody can write the header. Of IPv6 it is
    the network of 64 bits, within which one client has as many addresses as it likes.
    """
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    trusted = settings.TRUSTED_PROXIES
    if 0 < trusted <= len(forwarded) and (address := forwarded[-trusted].strip()):
        return _client_network(str(address))
    return _client_network(str(request.META.get("REMOTE_ADDR", "")))


def _client_network(address: str) -> str:
    try:
        found = ipaddress.ip_address(address.strip("[]").partition("%")[0])
    except ValueError:  # a name, or with a port
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return address
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, 64), strict=False).network_address)


def tried_account(request: HttpRequest | None, credentials: dict[str, Any] | None) -> str | None:
    """Return the user name that somebody tries, as `AXES_USERNAME_CALLABLE`.

    No longer than a name can be, since what is longer has no place in the table of failures.
    """
    sent = credentials or (request.POST if request else {})
    name = sent.get("username")
    return None if name is None else str(name)[: User._meta.get_field("username").max_length]


def is_over_limit(name: str, who: str, *, most: int, seconds: int) -> bool:
    """Count one more for ``who``; return whether that is more than ``most`` in this period.

    0 for ``most`` is no limit. Addresses are kept hashed, until the period ends.
    """
    if not most:
        return False
    key = _key(f"limit.{name}.{int(time.time() // seconds)}", who)
    cache.add(key, 0, seconds)
    return cache.incr(key) > most


def lockout_time(request: HttpRequest | None) -> timedelta:
    """Return how long a log-in is locked, as `AXES_COOLOFF_TIME`: doubled each time in a day."""
    n = 1 if request is None else cache.get(_lockout_key(request), 1)
    return timedelta(seconds=_lockout_seconds(n))


def count_lockout(sender: object, request: HttpRequest, **others: object) -> None:
    """Count a lock-out of one account from one client; a receiver of `user_locked_out`.

    Who tries again while locked out is told so, and not locked out for longer.
    """
    key = _lockout_key(request)
    n = cache.get(key, 0) + 1
    if cache.add(f"{key}.now", n, _lockout_seconds(n)):
        cache.set(key, n, DAY_SECONDS)


def _lockout_seconds(n: int) -> int:
    return int(min(settings.LOCKOUT_SECONDS * 2 ** (n - 1), settings.LONGEST_LOCKOUT_SECONDS))


def _lockout_key(request: HttpRequest) -> str:
    return _key("lockout", f"{request.POST.get('username', '')}\n{client_address(request)}")


def _key(name: str, who: str) -> str:
    return f"{name}.{salted_hmac('annotation.common.limits', who).hexdigest()}"
