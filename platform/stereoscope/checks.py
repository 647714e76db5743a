"""System checks: a wrong setting is named at start, with its remedy."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

LEAST_KEY = 32


@register("stereoscope")
def check_lease(**_: Any) -> list[CheckMessage]:
    """A lease must outlive the pause between two sweeps, or working shards would be taken away."""
    if settings.SHARD_LEASE_SECONDS <= settings.SWEEP_SECONDS:
        return [
            Error(
                f"SHARD_LEASE_SECONDS is {settings.SHARD_LEASE_SECONDS:g}, expected more than "
                f"SWEEP_SECONDS ({settings.SWEEP_SECONDS:g}).",
                hint="Raise SHARD_LEASE_SECONDS or lower SWEEP_SECONDS.",
                id="stereoscope.E001",
            )
        ]
    return []


@register("stereoscope")
def check_identity_keys(**_: Any) -> list[CheckMessage]:
    """A key that can be guessed protects nobody."""
    if any(len(key) < LEAST_KEY for key in settings.IDENTITY_KEYS):
        return [
            Error(
                f"A key of IDENTITY_KEYS has fewer than {LEAST_KEY} characters.",
                hint="Make one with: python -c 'import secrets; print(secrets.token_urlsafe(48))'",
                id="stereoscope.E002",
            )
        ]
    return []


@register("stereoscope", deploy=True)
def check_embedded_parts(**_: Any) -> list[CheckMessage]:
    """The embedded database and broker serve one machine; say so before production starts."""
    found: list[CheckMessage] = []
    if settings.CELERY_BROKER_URL.startswith("filesystem"):
        found.append(
            Warning(
                "Celery uses the filesystem broker, which serves one machine.",
                hint="Set CELERY_BROKER_URL to Redis or RabbitMQ for several machines.",
                id="stereoscope.W001",
            )
        )
    if settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        found.append(
            Warning(
                "The database is SQLite, which serves one machine.",
                hint="Set DATABASE_URL to PostgreSQL for several machines.",
                id="stereoscope.W002",
            )
        )
    return found
