"""Validates a measure's name and parameters; errors name field, value and what is expected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pydantic

from probing.measures.base import AnyMeasure, Problem
from probing.measures.registry import MEASURES
from probing.runs.errors import RunError

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
