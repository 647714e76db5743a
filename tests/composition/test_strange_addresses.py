"""No address of the platform answers with a fault, whatever stands in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

pytestmark = [pytest.mark.services, pytest.mark.django_db]

STRANGE = {"null": "a\0b", "long": "x" * 3_000, "letters": "é\u202e𝒳", "number": "9" * 40}
HOLE = re.compile(r"<(?:\w+:)?\w+>|\(\?P<\w+>[^)]*\)|\(\[\^/\]\+\)")
QUERY = ("q", "o", "p", "page", "show", "flag", "sort", "run", "study", "corpus", "kind", "next")


def list_routes(resolver: URLResolver, before: str = "") -> Iterator[str]:
    for entry in resolver.url_patterns:
        route = before + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from list_routes(entry, route)
        elif isinstance(entry, URLPattern):
            yield re.sub(r"\^|\$|\\Z|\?$", "", route)


@pytest.mark.parametrize("kind", STRANGE)
def test_no_address_is_a_fault(admin_client: Client, kind: str) -> None:
    admin_client.raise_request_exception = False
    strange = quote(STRANGE[kind])
    query = "&".join(f"{name}={strange}" for name in QUERY)
    routes = sorted(set(list_routes(get_resolver())))
    assert len(routes) > 150
    addresses = [f"/{HOLE.sub(strange, route)}?{query}" for route in routes]
    found = {address: admin_client.get(address).status_code for address in addresses}
    assert [address[:150] for address, status in found.items() if status >= 500] == []


@pytest.mark.parametrize("address", ["/api/v1/runs/?status=%00", "/api/v1/runs/a%00b/"])
def test_the_api_refuses_a_null_character_with_a_problem_document(
    admin_client: Client, address: str
) -> None:
    answer = admin_client.get(address)
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    assert answer.json()["detail"] == "The address holds a null character."
