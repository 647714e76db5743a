"""Reads the published ratings of Cao et al. (2022) as one row a rating."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd


def read_published_ratings(shared_dir: Path) -> pd.DataFrame:
    """Columns submission, group, scale, value; names as the file spells them."""
    data = json.loads((shared_dir / "data" / "us_stereotypes" / "data_full.json").read_text())
    return pd.DataFrame(
        [
            (annotator, group, scale, float(value))
            for annotator, groups in data.items()
            for group, scales in groups.items()
            for scale, value in scales.items()
        ],
        columns=["submission", "group", "scale", "value"],
    )
