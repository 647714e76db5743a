"""A table as Apache Parquet that is streamed in row groups and carries its codebook."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from annotation.common.tables import Column, ColumnType, Sink, Table, type_cell

CELLS_PER_GROUP = 200_000
FEWEST_ROWS = 100


def stream_parquet(table: Table) -> Iterator[bytes]:
    """Yield a table as Parquet; memory grows with its columns, not with its rows.

    Every field has its meaning, values and labels as metadata. A cell that does not fit its
    column's type, such as “[declined]” among numbers, is null.
    """
    import pyarrow as pa
    from pyarrow import parquet

    kinds: dict[ColumnType, Any] = {
        ColumnType.TEXT: pa.string(),
        ColumnType.NUMBER: pa.float64(),
        ColumnType.INTEGER: pa.int64(),
        ColumnType.BOOLEAN: pa.bool_(),
        ColumnType.TIME: pa.timestamp("ms", tz="UTC"),
    }
    columns = table.columns
    schema = pa.schema(
        [
            pa.field(column.name, kinds[column.type], metadata=_describe(column))
            for column in columns
        ],
        metadata={"title": table.name},
    )
    per_group = max(FEWEST_ROWS, CELLS_PER_GROUP // max(1, len(columns)))
    rows, sink = iter(table.load()), Sink()
    with parquet.ParquetWriter(pa.PythonFile(sink, mode="w"), schema) as writer:
        while group := list(islice(rows, per_group)):
            arrays = [
                pa.array([type_cell(column, cell) for cell in cells], type=field.type)
                for column, field, cells in zip(
                    columns, schema, zip(*group, strict=True), strict=True
                )
            ]
            writer.write_batch(pa.record_batch(arrays, schema=schema))
            yield sink.take()
    yield sink.take()


def _describe(column: Column) -> dict[str, str]:
    found = {"label": column.meaning, "values": column.values, "key": column.key}
    if column.labels:
        found["labels"] = json.dumps({str(value): label for value, label in column.labels})
    return {name: text for name, text in found.items() if text}
