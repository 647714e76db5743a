"""Empty databases for a measurement, gone afterwards: a SQLite file, a PostgreSQL database."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

PATIENCE_SECONDS = 3


def postgres_addresses() -> list[str]:
    """Return where to look: `DATABASE_URL`, the PG* variables, then the usual accounts."""
    host = os.environ.get("PGHOST", "127.0.0.1")
    port = os.environ.get("PGPORT", "5432")
    user = os.environ.get("PGUSER", os.environ.get("POSTGRES_USER", "postgres"))
    passwords = [os.environ.get("PGPASSWORD"), os.environ.get("POSTGRES_PASSWORD"), "", "postgres"]
    given = os.environ.get("DATABASE_URL", "")
    found = [given] if given.startswith("postgres") else []
    for password in dict.fromkeys(word for word in passwords if word is not None):
        credentials = f"{user}:{password}" if password else user
        found.append(f"postgres://{credentials}@{host}:{port}/postgres")
    return found


def postgres_answers(address: str) -> bool:
    try:
        with _connect(address):
            return True
    except psycopg.Error:
        return False


@contextmanager
def empty_sqlite(folder: Path) -> Iterator[str]:
    """Yield the address of a database file in ``folder`` that is not there yet."""
    yield f"sqlite:///{folder / 'load.sqlite3'}"


@contextmanager
def empty_postgres(address: str) -> Iterator[str]:
    """Yield the address of a new database on the server of ``address``; dropped at the end."""
    name = sql.Identifier(f"stereoscope_load_{os.getpid()}")
    with _connect(address) as server:
        server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
        server.execute(sql.SQL("CREATE DATABASE {}").format(name))
    try:
        yield f"{address.rpartition('/')[0]}/{name.as_string().strip(chr(34))}"
    finally:
        with _connect(address) as server:
            server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))


def _connect(address: str) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(
        address.replace("postgres://", "postgresql://", 1),
        connect_timeout=PATIENCE_SECONDS,
        autocommit=True,
    )
