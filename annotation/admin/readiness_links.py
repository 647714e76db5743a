"""What is missing before a launch, each with the address where it is mended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.urls import reverse

from annotation.models import Study
from annotation.studies.readiness import Finding, Place

ANCHORS = {
    Place.FLOW: "flow",
    Place.TEXTS: "wordings-group",
    Place.GROUPS: "groups-group",
    Place.SCALES: "scales-group",
    Place.QUESTIONS: "questions-group",
}


@dataclass(frozen=True)
class LinkedFinding:
    text: str
    address: str
    blocks: bool


def link_findings(
    findings: Iterable[Finding], study: Study, *, on_instrument: bool = False
) -> list[LinkedFinding]:
    """Return findings with their addresses; ``on_instrument``: the page is the instrument's own."""
    instrument = (
        "" if on_instrument else reverse("admin:annotation_study_instrument", args=[study.pk])
    )
    settings = reverse("admin:annotation_study_change", args=[study.pk])
    margins = reverse("admin:annotation_study_margins", args=[study.pk])
    return [
        LinkedFinding(
            finding.text, _address(finding, instrument, settings, margins), finding.blocks
        )
        for finding in findings
    ]


def _address(finding: Finding, instrument: str, settings: str, margins: str) -> str:
    if finding.place == Place.MARGINS:
        return margins
    if finding.place == Place.SETTINGS:
        return f"{settings}#id_{finding.field}"
    if finding.place == Place.FLOW and finding.step is not None:
        return f"{instrument}#step-{finding.step + 1}"
    return f"{instrument}#{ANCHORS[finding.place]}"
