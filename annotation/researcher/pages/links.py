"""Addresses that several pages need: of findings, of reports, for participants."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.models import User
from django.urls import NoReverseMatch, reverse

from annotation.models import Study
from annotation.panels.registry import get_panel
from annotation.panels.study_settings import load_panel_settings
from annotation.studies.readiness import Finding, Place

ANCHORS = {
    Place.FLOW: "flow",
    Place.TEXTS: "texts",
    Place.GROUPS: "groups",
    Place.SCALES: "scales",
    Place.QUESTIONS: "questions",
}


@dataclass(frozen=True)
class LinkedFinding:
    """What is missing before a launch, with the address where it can be corrected."""

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
    return [
        LinkedFinding(finding.text, _address(finding, study, instrument), finding.blocks)
        for finding in findings
    ]


def _address(finding: Finding, study: Study, instrument: str) -> str:
    if finding.place == Place.MARGINS:
        return reverse("admin:annotation_study_margins", args=[study.pk])
    if finding.place == Place.LANGUAGES:
        newest = study.instruments.order_by("-version").values_list("pk", flat=True)[:1]
        return reverse("admin:annotation_instrument_languages", args=list(newest))
    if finding.place == Place.SETTINGS:
        settings_page = reverse("admin:annotation_study_change", args=[study.pk])
        return f"{settings_page}#id_{finding.field}"
    if finding.place == Place.FLOW and finding.step is not None:
        return f"{instrument}#step-{finding.step + 1}"
    if finding.place == Place.TEXTS and finding.field:
        return f"{instrument}#text-{finding.field}"
    return f"{instrument}#{ANCHORS[finding.place]}"


def find_report_form(user: User, kind: str, **inputs: int) -> str:
    """Return the address of the form that asks for a kind of report, its inputs chosen.

    "" in an installation without reports, and for those who may not ask for any.
    """
    address = find_report_gallery(user, **inputs)
    return f"{address}&{urlencode({'kind': kind})}" if address else ""


def find_report_gallery(user: User, **inputs: int) -> str:
    """Return the address of the kinds of reports that can rest on these inputs; "" likewise."""
    if not user.has_perm("evaluation.add_report"):
        return ""
    try:
        return f"{reverse('admin:evaluation_report_add')}?{urlencode(inputs)}"
    except NoReverseMatch:
        return ""


def find_import_page(user: User, kind: str, permission: str) -> str:
    """Return the address where a kind of file is imported; "" for those who may not import it."""
    if not user.has_perm(permission):
        return ""
    try:
        return f"{reverse('admin:probing_run_import')}?{urlencode({'kind': kind})}"
    except NoReverseMatch:
        return ""


def participant_link(study: Study) -> str:
    """Return the full link for participants, with the parameters that the panel fills in."""
    link = f"{settings.SITE_URL}{reverse('survey:landing', args=[study.public_id])}"
    return link + get_panel(study.panel).link_query(load_panel_settings(study))
