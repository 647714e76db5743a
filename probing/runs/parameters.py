"""Parameters and stored inputs of a run; errors name field, value, and what is expected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from typing import Any

import pydantic

from annotation.common.lazy import pd
from probing.measures.base import AnyMeasure, Problem, ResultKind, StimuliValue
from probing.measures.imported_stimuli import ImportedStimuli
from probing.measures.registry import MEASURES, get_measure
from probing.models import Run
from probing.runs.errors import RunError

# --- Stored data of a run: its measure's inputs, and the rows of its shards as Parquet files


@dataclass(frozen=True)
class RunInputs:
    """A run's measure with validated parameters and stimuli."""

    measure: AnyMeasure
    parameters: pydantic.BaseModel
    stimuli: Any


def load_inputs(run: Run) -> RunInputs:
    """Return the inputs of ``run``. At most one query, none where they were read before."""
    measure = get_measure(run.measure)
    kind: type[StimuliValue] = measure.stimuli_type
    if run.is_imported and measure.result is ResultKind.SCORES:
        kind = ImportedStimuli
    return RunInputs(
        measure=measure,
        parameters=measure.Parameters.model_validate({**measure.before, **run.parameters}),
        stimuli=_stimuli(run.pk, run.stimuli_hash, kind),
    )


@lru_cache(maxsize=8)
def _stimuli(run_id: int, stimuli_hash: str, kind: type[StimuliValue]) -> StimuliValue:
    # A run's stimuli never change, and their hash makes the key safe in every database.
    stored: Any = Run.objects.values_list("stimuli", flat=True).get(pk=run_id)
    return kind.from_json(stored)


def load_shard_frames(run: Run) -> list[pd.DataFrame]:
    """Return the rows of the stored shards, in their order. One query."""
    blobs = run.shards.order_by("index").values_list("result", flat=True)
    return [from_parquet(blob) for blob in blobs.iterator(chunk_size=200) if blob is not None]


def to_parquet(frame: pd.DataFrame) -> bytes:
    """Return ``frame`` as one Parquet file; floats keep every bit."""
    buffer = BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


def from_parquet(blob: bytes | memoryview) -> pd.DataFrame:
    """Return the frame that :func:`to_parquet` wrote."""
    return pd.read_parquet(BytesIO(bytes(blob)))


# --- Parameters

# How people write “no value” where a parameter allows that, in a form or on the command line.
NO_VALUE = ("", "none")


def find_measure(name: str) -> AnyMeasure:
    """Return the measure of that name, or raise :class:`RunError`."""
    if name not in MEASURES:
        raise RunError.at(
            "measure", f"There is no measure “{name}”, expected one of: {', '.join(MEASURES)}."
        )
    return MEASURES[name]


def validate_parameters(measure: AnyMeasure, values: Mapping[str, Any]) -> pydantic.BaseModel:
    """Return ``values`` as the measure's parameters; :class:`RunError` with every fault at once.

    Texts are read as the numbers or words that the schema expects.
    """
    schema = measure.Parameters
    read = {name: _read(schema, name, value) for name, value in values.items()}
    try:
        return schema.model_validate(read)
    except pydantic.ValidationError as error:
        raise RunError([_problem(measure, fault) for fault in error.errors()]) from error


def allows_none(schema: type[pydantic.BaseModel], name: str) -> bool:
    """Return whether parameter ``name`` may be left without a value."""
    described = schema.model_json_schema()["properties"].get(name, {})
    return {"type": "null"} in described.get("anyOf", [])


def _read(schema: type[pydantic.BaseModel], name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if value.strip().lower() in NO_VALUE and allows_none(schema, name):
        return None
    if is_list(schema, name):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


def is_list(schema: type[pydantic.BaseModel], name: str) -> bool:
    """Return whether parameter ``name`` takes several values, which texts part by commas."""
    described = schema.model_json_schema()["properties"].get(name, {})
    return any(part.get("type") == "array" for part in described.get("anyOf", [described]))


def _problem(measure: AnyMeasure, fault: Any) -> Problem:
    name = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "extra_forbidden":
        known = ", ".join(measure.Parameters.model_fields)
        message = f"There is no parameter “{name}”. {measure.title} has: {known}."
    elif not name:  # a rule about several parameters together
        message = fault["msg"].removeprefix("Value error, ")
    else:
        expected = fault["msg"].replace("Input should be", "expected").replace("Value error, ", "")
        message = f"{name} is “{fault['input']}”, {expected}."
    # A fault in one value of a list belongs to the whole parameter.
    where = f"parameter {fault['loc'][0]}" if name else "parameters"
    return Problem(where=where, message=message, fatal=True)
