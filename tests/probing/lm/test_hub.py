"""Models from the hub: fetched once, then read from the cache; plain messages otherwise."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.ports import free_port
from tests.probing.lm.hub import COMMIT, HUB_ID, serve_hub

pytestmark = pytest.mark.slow

# The hub's address is read when its client is imported, hence an interpreter of its own.
_PROGRAM = """
import json, sys
from probing.lm import LanguageModelError, inspect_model, load_masked
try:
    facts = inspect_model(sys.argv[1], sys.argv[2] or None)
    answer = {"kind": facts.kind, "count": facts.parameter_count, "revision": facts.revision}
    answer["torch"] = "torch" in sys.modules
    if "load" in sys.argv:
        lm = load_masked(sys.argv[1], threads=1)
        answer["loaded"] = lm.revision
        answer["tokens"] = lm.split("poor").tokens
except LanguageModelError as error:
    answer = {"error": type(error).__name__, "message": str(error)}
print(json.dumps(answer))
"""


def ask(hub: str, cache: Path, source: str, revision: str = "", *more: str) -> dict[str, Any]:
    environment = {**os.environ, "HF_ENDPOINT": hub, "HF_HOME": str(cache), "PYTHONPATH": str(ROOT)}
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HTTP_PROXY", "http_proxy"):
        environment.pop(name, None)
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, source, revision, *more],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture
def closed_port() -> str:
    return f"http://127.0.0.1:{free_port()}"


def test_a_hub_model_is_loaded_and_afterwards_found_without_the_hub(
    checkpoints: Path, tmp_path: Path, closed_port: str
) -> None:
    expected = {"kind": "masked", "count": 77932, "revision": COMMIT, "torch": False}
    with serve_hub(checkpoints / "tiny-bert") as hub:
        found = ask(hub, tmp_path, HUB_ID, "", "load")
    assert found == {**expected, "loaded": COMMIT, "tokens": ["poor"]}
    again = ask(closed_port, tmp_path, HUB_ID, "", "load")
    assert again == {**expected, "count": None, "loaded": COMMIT, "tokens": ["poor"]}


def test_an_id_that_the_hub_does_not_know_is_not_found(checkpoints: Path, tmp_path: Path) -> None:
    with serve_hub(checkpoints / "tiny-bert") as hub:
        unknown = ask(hub, tmp_path, "nobody/nothing")
        revision = ask(hub, tmp_path, HUB_ID, "no-such-branch")
    assert unknown["error"] == "ModelNotFoundError"
    assert "'nobody/nothing'" in unknown["message"]
    assert "Check the spelling" in unknown["message"]
    assert revision["error"] == "ModelNotFoundError"
    assert "no-such-branch" in revision["message"]


def test_a_hub_that_cannot_be_reached_is_named(tmp_path: Path, closed_port: str) -> None:
    found = ask(closed_port, tmp_path, "bert-base-cased")
    assert found["error"] == "ModelNotFoundError"
    assert "'bert-base-cased'" in found["message"]
    assert "cannot be reached" in found["message"]
