"""`make footprint` measures an idle platform: one with nothing left to build."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tools import footprint


def test_a_report_that_is_still_to_be_built_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(footprint, "PATIENCE_SECONDS", 0.1)
    file = tmp_path / "stereoscope.sqlite3"
    with closing(sqlite3.connect(file)) as db:
        db.execute("CREATE TABLE evaluation_report (built_at)")
        db.execute("INSERT INTO evaluation_report VALUES ('2026-11-25'), (NULL)")
        db.commit()
        with pytest.raises(RuntimeError, match="not built within"):
            footprint._wait_for_reports(file)
        db.execute("UPDATE evaluation_report SET built_at = '2026-11-25'")
        db.commit()
    footprint._wait_for_reports(file)
