"""Commands, workers and web processes start without the libraries of numbers and models."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

# Each takes tens to hundreds of megabytes and up to seconds; pages and `--help` need none of them.
HEAVY = (
    *("torch", "transformers", "bert_score", "scipy", "statsmodels", "pandas", "pyarrow"),
    *("vl_convert", "altair", "openpyxl", "weasyprint", "krippendorff", "openai", "spacy"),
    *("httpx", "jwt"),
)
REMEDY = (
    "Take it from `annotation.common.lazy`, or import it in the function that uses it; for types, "
    "under `if TYPE_CHECKING`."
)


@pytest.fixture(scope="module")
def chains() -> dict[str, list[str]]:
    """Who asks first for a heavy library while everything is imported that starts."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.composition.import_chains", *HEAVY],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": ".:platform"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("library", HEAVY)
def test_nothing_that_starts_imports(library: str, chains: dict[str, list[str]]) -> None:
    chain = chains.get(library)
    assert chain is None, f"{' ← '.join([library, *(chain or [])])}. {REMEDY}"
