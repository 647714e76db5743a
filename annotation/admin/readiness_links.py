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
    return [
        LinkedFinding(finding.text, _address(finding, study, instrument, settings), finding.blocks)
        for finding in findings
    ]


def _address(finding: Finding, study: Study, instrument: str, settings: str) -> str:
    if finding.place == Place.MARGINS:
        return reverse("admin:annotation_study_margins", args=[study.pk])
    if finding.place == Place.LANGUAGES:
        newest = study.instruments.order_by("-version").values_list("pk", flat=True)[:1]
        return reverse("admin:annotation_instrument_languages", args=list(newest))
    if finding.place == Place.SETTINGS:
        return f"{settings}#id_{finding.field}"
    if finding.place == Place.FLOW and finding.step is not None:
        return f"{instrument}#step-{finding.step + 1}"
    return f"{instrument}#{ANCHORS[finding.place]}"
