"""The API keeps to its own schema: whatever the schema allows is answered, nothing ends in 500."""

from __future__ import annotations

import json

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from stereoscope.wsgi import application
from tests.tokens import header_for
from tools.attack.contract import read_schema, with_cases

EXAMPLES = 24
# Databases differ in what they refuse, so every request is also tried on PostgreSQL.
pytestmark = [pytest.mark.slow, pytest.mark.services]
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


DOCUMENT = read_schema()
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)
SCHEMA.app = application
OPERATIONS = {found.ok().label: found.ok() for found in SCHEMA.get_all_operations()}


@pytest.fixture(autouse=True)
def one_connection():
    """Requests keep the test's own connection and transaction, as with Django's test client."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture
def token(alice) -> str:
    return header_for(alice)


@pytest.fixture
def real_names(study, finished_run, report) -> dict[str, str]:
    """Public ids of what exists, by the first part of the address."""
    return {
        "studies": study.public_id,
        "models": finished_run.model.public_id,
        "runs": finished_run.public_id,
        "reports": report.public_id,
    }


@pytest.mark.smoke
def test_the_served_schema_is_the_one_that_is_tested(api, alice):
    served = api(alice).get("/api/schema/?format=json")
    assert served.status_code == 200
    assert set(json.loads(served.content)["paths"]) == set(DOCUMENT["paths"])


def test_every_problem_is_documented():
    for path, operations in DOCUMENT["paths"].items():
        for method, operation in operations.items():
            assert {"401", "403"} <= set(operation["responses"]), f"{method} {path}"


@pytest.mark.parametrize("label", OPERATIONS)
def test_every_address_keeps_to_the_schema(label, token, real_names):
    """Valid and invalid requests, to what exists and to what was made up."""
    operation = OPERATIONS[label]
    room = operation.path.split("/")[3]
    known = {"public_id": real_names[room]} if room in real_names else None

    @with_cases(operation, known, examples=EXAMPLES)
    def check(case: schemathesis.Case) -> None:
        response = case.call(headers={"Authorization": token})
        case.validate_response(response, checks=CHECKS)

    check()
