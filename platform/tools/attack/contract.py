"""Sends what the OpenAPI schema allows, and what it forbids, to the running API."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import schemathesis
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi import checks

from tools.attack.injection import Injected
from tools.attack.world import World

CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
    checks.unsupported_method,
]
EXAMPLES = 20


def read_schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        OpenApiJsonRenderer().render(SchemaGenerator().get_schema(public=True))
    )
    return found


def with_cases(
    operation: Any, known: Mapping[str, str] | None, *, examples: int
) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Return what gives a check requests, valid and not, to what is ``known`` and to what is not.

    The same ones each time.
    """
    strategies = [
        operation.as_strategy(generation_mode=mode, path_parameters=names)
        for mode in GenerationMode
        for names in (None, known)
    ]

    def decorate(check: Callable[..., None]) -> Callable[[], None]:
        repeated = settings(
            max_examples=examples,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        return repeated(given(case=st.one_of(strategies))(check))

    return decorate


def try_contract(base: str, header: str, world: World, *, examples: int = EXAMPLES) -> Injected:
    """Ask every operation, of what there is and of what was made up; note undocumented answers."""
    found = Injected()
    schema = schemathesis.openapi.from_dict(read_schema())
    for result in schema.get_all_operations():
        operation: Any = result.ok()  # type: ignore[union-attr]  # our own schema is valid
        known = _find_known(operation.path, world)
        failures: set[str] = set()
        sent: Counter[str] = Counter()

        @with_cases(operation, known, examples=examples)
        def check(case: schemathesis.Case) -> None:
            sent["requests"] += 1  # noqa: B023 - called before the loop goes on
            response = case.call(
                base_url=base, headers={"Authorization": header, "X-Forwarded-Proto": "https"}
            )
            try:
                case.validate_response(response, checks=CHECKS)
            except FailureGroup as group:
                for one in group.exceptions:
                    failures.add(f"{type(one).__name__}: {str(one)[:200]}")  # noqa: B023
            except Failure as one:
                failures.add(f"{type(one).__name__}: {str(one)[:200]}")  # noqa: B023

        check()
        found.counts["operations"] += 1
        found.counts["requests"] += sent["requests"]
        for failure in sorted(failures):
            found.note("mismatches", f"{operation.label}: {' '.join(failure.split())}")
    return found


def _find_known(path: str, world: World) -> dict[str, str] | None:
    """Return the names of what exists, for the holes of an address."""
    room = path.split("/")[3] if path.count("/") > 3 else ""
    name = {
        "studies": "api:study",
        "corpora": "api:corpus",
        "models": "api:model",
        "runs": "api:run",
        "reports": "api:report",
    }.get(room)
    return {"public_id": str(world.find(name, "public_id"))} if name and "{" in path else None
