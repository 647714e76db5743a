"""Fixtures that every room's tests share."""

from __future__ import annotations

import gc
import logging
import os
import shutil
import sqlite3
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import pytest_randomly
from django.db import connection
from django.test import client as test_client
from django.test.client import MULTIPART_CONTENT
from django.utils.http import urlencode
from filelock import FileLock
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from tests.depth import DEEP
from tests.durations import find_cache
from tests.durations import pytest_addoption as pytest_addoption
from tests.durations import pytest_configure as pytest_configure
from tests.migrated_database import fetch_kept, hash_sources, keep
from tests.ordering import pytest_collection_modifyitems as pytest_collection_modifyitems
from tests.restoring import (
    keep_tables,
    restore_file,
    restore_instead_of_flush,
    restore_tables,
)

ROOT = Path(__file__).resolve().parent.parent
URLENCODED = "application/x-www-form-urlencoded"


# A busy machine makes no property false, so nothing is timed. In the suite always the same
# examples: whoever changes something else is not surprised.
hypothesis_settings.register_profile(
    "suite",
    deadline=None,
    derandomize=not DEEP,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
hypothesis_settings.load_profile("suite")


def seed_torch(seed: int) -> None:
    """Seed torch where it is there already: a test that imports it begins with torch's own seed.

    Its processor alone: the common way notes a stack for every sort of accelerator, which took a
    fortieth of the suite's computing.
    """
    if torch := sys.modules.get("torch"):
        torch.default_generator.manual_seed(seed)


# spaCy brings a function that does the same, and imports torch for it: also in the process that
# only hands out the tests, and for a folder that never needs torch.
pytest_randomly.entrypoint_reseeds = [seed_torch]

store_rendered_template = test_client.store_rendered_templates


def store_page(store: dict[str, Any], **signal: Any) -> None:
    """Keep of a page the context of its own template, not of ninety that it includes."""
    if "context" not in store:
        store_rendered_template(store, **signal)


test_client.store_rendered_templates = store_page


post_in_parts = test_client.RequestFactory.post


def post_as_browsers_do(
    factory: Any, path: str, data: Any = None, content_type: str = MULTIPART_CONTENT, **more: Any
) -> Any:
    """Send a form in parts only if it holds a file: other pages take none in parts."""
    if content_type == MULTIPART_CONTENT and not isinstance(data, str | bytes):
        values = [one if isinstance(one, list | tuple) else [one] for one in (data or {}).values()]
        if not any(hasattr(one, "read") for value in values for one in value):
            data, content_type = urlencode(data or {}, doseq=True), URLENCODED
    return post_in_parts(factory, path, data, content_type, **more)


test_client.RequestFactory.post = post_as_browsers_do


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Spare the garbage collector what was imported, and let it look at the rest less often.

    It looked through a million objects for nothing, which took a sixth of the suite's computing.
    """
    gc.freeze()
    often, _, _ = gc.get_threshold()
    gc.set_threshold(often, 10, 40)
    pass_on_logs_of_torch()


def pass_on_logs_of_torch() -> None:
    """Let what torch logs reach the root logger as everything else does.

    Around each part of every test, pytest hangs its handlers on whatever keeps its records to
    itself: on 42 loggers of torch, six times a test.
    """
    for logger in logging.root.manager.loggerDict.values():
        if isinstance(logger, logging.Logger) and not logger.propagate:
            logger.propagate = logger.name.startswith(("torch", "strobelight"))


def find_shared_dir() -> Path | None:
    """Return the reference data kept beside the checkout, or None where there is none."""
    candidate = Path(os.environ.get("STEREOSCOPE_SHARED", ROOT.parent / "shared"))
    return candidate if (candidate / "golden" / "expected").is_dir() else None


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder of golden values and published human data; skips loudly where it is absent."""
    found = find_shared_dir()
    if found is None:
        message = "reference data not found beside the checkout: golden tests are SKIPPED"
        warnings.warn(message, stacklevel=1)
        pytest.skip(message)
    return found


def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of this run of the suite, the same one for all of its processes."""
    place = tmp_path_factory.getbasetemp()
    return place.parent if place.name.startswith("popen-") else place


@pytest.fixture(scope="session")
def django_db_setup(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, django_db_blocker: Any
) -> Iterator[None]:
    """The test's database, as ever; on SQLite only one process of the suite migrates.

    It leaves a copy in a file. The others begin with that, and find nothing left to migrate; and so
    does the next run of the suite, as long as the product is the same.
    """
    if connection.vendor != "sqlite":
        request.getfixturevalue("django_db_setup")
        # No test cuts the server's power: a commit need not wait for the disk, here nor in the
        # processes that a test starts.
        quoted = connection.ops.quote_name(connection.settings_dict["NAME"])
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute(f"ALTER DATABASE {quoted} SET synchronous_commit TO off")
            cursor.execute("SET synchronous_commit TO off")
            kept = keep_tables()
        restore_instead_of_flush(partial(restore_tables, kept))
        yield
        return
    memory = connection.creation._get_test_db_name()
    migrated = migrated_file(tmp_path_factory)
    kept = kept_folder(request.config)
    with FileLock(f"{migrated}.lock"), closing(sqlite3.connect(memory, uri=True)) as filled:
        if kept is not None and not migrated.exists():
            fetch_kept(kept, migrated)
        if migrated.exists():
            with closing(sqlite3.connect(migrated)) as source:
                source.backup(filled)
        request.getfixturevalue("django_db_setup")
        # Where no chosen test asks for a database, none was made.
        if not migrated.exists() and connection.settings_dict["NAME"] == memory:
            building = migrated.with_suffix(".building")
            with django_db_blocker.unblock(), connection.cursor() as cursor:
                cursor.execute("VACUUM INTO %s", [str(building)])
            building.rename(migrated)
            if kept is not None:
                keep(kept, migrated, sources=hash_sources())
    restore_instead_of_flush(partial(restore_file, migrated))
    yield


@pytest.fixture(scope="session")
def make_database(
    django_db_setup: None, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Path], None]:
    """Return a maker of SQLite files that are as `manage.py migrate` leaves them."""
    migrated = migrated_file(tmp_path_factory)
    with FileLock(f"{migrated}.lock"):
        if not migrated.exists():
            building = migrated.with_suffix(".building")
            subprocess.run(
                [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
                cwd=ROOT,
                env={**os.environ, "DATABASE_URL": f"sqlite:///{building}"},
                check=True,
            )
            _set_journal(building, "DELETE")  # one file, which a database in memory can read
            building.rename(migrated)

    def make(file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(migrated, file)
        _set_journal(file, "WAL")

    return make


def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where the database lies that the first process of the suite has migrated."""
    return shared_folder(tmp_path_factory) / "migrated.sqlite3"


def kept_folder(config: pytest.Config) -> Path | None:
    """Return where migrated databases are kept from run to run; None where nothing is."""
    cache = find_cache(config)
    return cache.mkdir("migrated") if cache else None


def _set_journal(file: Path, mode: str) -> None:
    with closing(sqlite3.connect(file)) as database:
        database.execute(f"PRAGMA journal_mode={mode}")
