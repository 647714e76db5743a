"""Shard results as Parquet files in memory."""

from __future__ import annotations

from io import BytesIO

import pandas as pd


def to_parquet(frame: pd.DataFrame) -> bytes:
    """Return ``frame`` as one Parquet file; floats keep every bit."""
    buffer = BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


def from_parquet(blob: bytes | memoryview) -> pd.DataFrame:
    """Return the frame that :func:`to_parquet` wrote."""
    return pd.read_parquet(BytesIO(bytes(blob)))
