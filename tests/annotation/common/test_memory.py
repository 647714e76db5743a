"""Memory that was freed goes back to the system; long work is seldom searched for dead circles."""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from annotation.common.memory import seldom_collected

# The last block lies above all others: while it is there, the C library shrinks nothing by itself.
BLOCKS = """
blocks = [bytearray(2000) for _ in range(50_000)]
last = blocks.pop()
del blocks
"""
# Thirty megabytes that are read stay in the cache of the connection.
TABLE = """
with connection.cursor() as cursor:
    cursor.execute("CREATE TABLE large AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
                   "SELECT i + 1 FROM n WHERE i < 10000) SELECT randomblob(3000) AS part FROM n")
    cursor.execute("SELECT sum(length(hex(part))) FROM large").fetchall()
"""
PROGRAM = """
import sys
from pathlib import Path
sys.path.append("platform")
import django
django.setup()
from django.db import connection
from annotation.common.memory import give_back_memory

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

{work}
before = resident()
give_back_memory()
print(before - resident())
"""


@pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="the C library keeps what was freed"
)
@pytest.mark.parametrize(("work", "freed"), [(BLOCKS, 50_000_000), (TABLE, 20_000_000)])
def test_freed_memory_is_given_back(work: str, freed: int, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(work=work)],
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "stereoscope.settings",
            "SECRET_KEY": "of no importance",
            "VAR_DIR": str(tmp_path),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) > freed


def test_searches_are_as_often_as_before_once_the_work_has_failed() -> None:
    usual = gc.get_threshold()

    @seldom_collected()
    def work() -> None:
        assert gc.get_threshold()[0] > usual[0]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        work()
    assert gc.get_threshold() == usual
