"""The pure packages stay free of Django, and measures free of torch."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.conftest import ROOT

PURE = (
    "probing.lm",
    "probing.measures",
    "probing.training",
    "evaluation.metrics",
    "evaluation.analyses",
    "evaluation.charts",
)

#: Modules that hold models in memory; they are imported when the first model is loaded.
WITH_TORCH = tuple(
    f"probing.lm.{name}"
    for name in (
        "masked",
        "packed_layers",
        "numerics",
        "slot_model",
        "decoding",
        "generation",
        "best_spans",
        "text_model",
        "causal",
        "causal_slots",
        "decoder_slots",
        "seq2seq",
        "seq2seq_slots",
        "examination",
        "trials",
    )
)

_PROGRAM = """
import importlib, os, pkgutil, sys
with_torch = os.environ["WITH_TORCH"].split()
imported = []
for name in sys.argv[1:]:
    package = importlib.import_module(name)
    imported.append(name)
    for found in pkgutil.walk_packages(package.__path__, name + "."):
        if found.name not in with_torch:
            importlib.import_module(found.name)
            imported.append(found.name)
print(len(imported), "django" in sys.modules, "torch" in sys.modules)
if "probing.lm" in sys.argv:
    for name in with_torch:
        importlib.import_module(name)
    print("django" in sys.modules, "torch" in sys.modules)
"""


def import_all(*packages: str) -> list[str]:
    environment = {k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"}
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *packages],
        env={**environment, "PYTHONPATH": str(ROOT), "WITH_TORCH": " ".join(WITH_TORCH)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_pure_packages_import_without_django_and_without_torch() -> None:
    """Torch comes with the first model only, so that the web process never loads it."""
    everything, with_model = import_all(*PURE)
    count, django, torch = everything.split()
    assert int(count) > 20
    assert django == "False"
    assert torch == "False"
    assert with_model == "False True"
