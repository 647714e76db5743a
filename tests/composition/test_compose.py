"""What containers may do: write to memory and their volumes alone, and nothing that root may."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT

COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
# What the entry points of others need to become an account of their own.
RIGHTS_OF_OTHERS = {
    "database": {"CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"},
    "broker": {"SETGID", "SETUID"},
}


def fill_in(text: str, variables: dict[str, str]) -> str:
    """Put variables into a text as compose does: ``${NAME:-what it is without one}``."""
    return re.sub(r"\$\{(\w+):-([^}]*)\}", lambda at: variables.get(at[1]) or at[2], text)


@pytest.mark.parametrize("name", SERVICES)
def test_a_container_writes_nowhere_and_has_no_right_of_root(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert set(service.get("cap_add", ())) == RIGHTS_OF_OTHERS.get(name, set())
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not service.get("privileged")
    writable = {volume.partition(":")[0] for volume in service.get("volumes", ())}
    assert writable <= set(COMPOSE["volumes"]), "named volumes, no folders of the machine"


def test_only_the_web_server_is_reached_and_from_this_machine_alone() -> None:
    reached = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert list(reached) == ["web"]
    assert all(port.startswith("127.0.0.1:") for port in reached["web"])


@pytest.mark.parametrize(
    ("image", "variable", "release"),
    [
        (SERVICES["database"]["image"], "DATABASE_IMAGE", "postgres:17"),
        (SERVICES["broker"]["image"], "BROKER_IMAGE", "redis:8"),
        (SERVICES["web"]["build"]["args"]["PYTHON_IMAGE"], "PYTHON_IMAGE", "python:3.11"),
    ],
)
def test_an_image_of_others_is_pinned_by_its_digest_and_can_be_changed(
    image: str, variable: str, release: str
) -> None:
    assert re.fullmatch(
        rf"{re.escape(release)}[.\d]*(-slim)?@sha256:[0-9a-f]{{64}}", fill_in(image, {})
    )
    assert fill_in(image, {variable: release}) == release


def test_every_image_is_our_own_or_pinned() -> None:
    for service in SERVICES.values():
        assert service["image"] == "stereoscope" or "@sha256:" in fill_in(service["image"], {})


def test_the_image_is_built_on_the_same_python_without_compose_and_runs_without_root() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    argument = SERVICES["web"]["build"]["args"]["PYTHON_IMAGE"]
    assert f"ARG PYTHON_IMAGE={fill_in(argument, {})}" in lines
    assert [line for line in lines if line.startswith("FROM ")] == ["FROM ${PYTHON_IMAGE}"]
    accounts = [line.removeprefix("USER ") for line in lines if line.startswith("USER ")]
    assert accounts[-1:] == ["stereoscope"]
