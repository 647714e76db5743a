"""Benchmarks run, print and keep their numbers; how fast they are is not tested."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tools.bench import BENCHMARKS
from tools.bench.levenshtein_alpha import edit_distance

pytestmark = pytest.mark.slow


def _bench(pytestconfig, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "tools.bench", *map(str, arguments)],
        cwd=pytestconfig.rootpath,
        capture_output=True,
        text=True,
        check=False,
    )


def test_one_benchmark_prints_a_table_and_keeps_its_numbers(pytestconfig, tmp_path):
    done = _bench(pytestconfig, "rouge", "--output", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "rouge-score text by text" in done.stdout
    record = json.loads((tmp_path / "rouge.json").read_text())
    assert record["machine"]["cores"] >= 1
    for row in record["rows"]:
        assert row["seconds"] > 0
        assert row["peak_mb"] > 0
        assert 0 < row["measured"] <= row["of"]


def test_an_unknown_benchmark_is_named_with_those_that_exist(pytestconfig, tmp_path):
    done = _bench(pytestconfig, "rogue", "--output", tmp_path)
    assert done.returncode == 2
    assert "no benchmark 'rogue'" in done.stderr
    for name in BENCHMARKS:
        assert name in done.stderr


def test_the_plain_distance_is_the_textbook_s():
    # Wagner and Fischer's own kind of example, counted by hand: k→s, e→i, +g.
    assert edit_distance("kitten", "sitting") == 3
    assert edit_distance("", "ab") == 2
    assert edit_distance("same", "same") == 0
