"""The product's settings on a folder of their own, so that tests never touch the checkout's `var`.

Every pytest-xdist worker gets its own subfolder. A process that a test starts with a `VAR_DIR` of
its choice keeps that.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

# Before anything of the product is imported: it notes of which sources.
import tests.migrated_database  # noqa: F401

# No test depends on the network: asked for a model of the hub, its client says at once that there
# is none.
os.environ.setdefault("HF_HUB_OFFLINE", "1")

# The suite's processes keep every core busy: a second thread of one only waits for the first, which
# took a third of the computing of tests with models. Processes that tests start inherit it.
for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")

# Servers and workers that tests start read the ids that tests store, and the other way round.
os.environ.setdefault("IDENTITY_KEYS", "only-for-tests-and-long-enough-for-them")

_MARK = "STEREOSCOPE_TESTS_VAR_DIR"

if "VAR_DIR" not in os.environ:
    os.environ[_MARK] = os.environ["VAR_DIR"] = tempfile.mkdtemp(prefix="stereoscope-tests-")
    atexit.register(shutil.rmtree, os.environ[_MARK], ignore_errors=True)
elif os.environ["VAR_DIR"] == os.environ.get(_MARK) and "PYTEST_XDIST_WORKER" in os.environ:
    os.environ["VAR_DIR"] = str(Path(os.environ[_MARK]) / os.environ["PYTEST_XDIST_WORKER"])

from stereoscope.settings import *  # noqa: E402, F403
from stereoscope.settings import CELERY_BROKER_URL, DATABASES  # noqa: E402

if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # pytest-django knows that Django's own backend keeps tests in memory; ours is told.
    DATABASES["default"]["TEST"] = {"NAME": ":memory:"}

if CELERY_BROKER_URL.startswith("redis") and "PYTEST_XDIST_WORKER" in os.environ:
    # Each process of the suite has a database of its own, the next one each time: the worker that a
    # test starts takes no messages of a test in another process.
    _server, _, _number = CELERY_BROKER_URL.rpartition("/")
    _place = int(os.environ["PYTEST_XDIST_WORKER"].removeprefix("gw"))
    CELERY_BROKER_URL = f"{_server}/{(int(_number) + _place) % 16}"

# The real hashers are slow on purpose, half a second for each account that a test creates.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

# Every client of a test begins with middleware of its own, for which WhiteNoise would look through
# all static files. Like this it looks for a file once somebody asks for it.
WHITENOISE_AUTOREFRESH = True

# Keys of servers that tests register on this machine; nothing is asked with them.
MODEL_KEY_HOSTS = {"MODEL_KEY_TEST": "localhost"}
PANEL_KEY_HOSTS = {"PROLIFIC_TOKEN_OF_TESTS": "127.0.0.1"}
PLAIN_LOOPBACK_KEYS = True

# Tests share one address and the memory of one process; those of limits set their own.
ARRIVALS_PER_HOUR = LOGINS_PER_MINUTE = SHARED_REPORT_REQUESTS_PER_MINUTE = 0
WRONG_TOKENS_PER_MINUTE = 0
REST_FRAMEWORK = REST_FRAMEWORK | {"DEFAULT_THROTTLE_CLASSES": []}  # noqa: F405

# Each test sees what its server is asked; those of kept answers say so.
CHAT_KEEP_ANSWERS = False
