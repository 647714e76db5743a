"""What stands on the page of an instrument besides its form: head, checks, previews, versions."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.admin.flow_editor import MOST_JSON_CHARACTERS, build_config, show_findings
from annotation.admin.readiness_links import link_findings
from annotation.admin.study import build_tabs
from annotation.admin.version_words import describe_changes
from annotation.models import Instrument, Origin, StudyStatus
from annotation.studies.access import can_change_study, visible_surveys
from annotation.studies.comparing import compare_versions
from annotation.studies.readiness import examine_flow, examine_study
from annotation.survey.previewing import clear_previews, list_previews, start_preview


class InstrumentPages:
    """Addresses below an instrument's own; for its model admin."""

    admin_site: Any

    def get_urls(self) -> list[URLPattern]:
        def guarded(view: Any) -> Any:
            return self.admin_site.admin_view(view)

        return [
            path(f"<int:pk>/{address}/", guarded(view), name=f"annotation_instrument_{name}")
            for address, name, view in (
                ("check-flow", "check_flow", self.check_flow_view),
                ("preview", "preview", self.preview_view),
                ("clear-previews", "clear_previews", self.clear_previews_view),
                ("compare/<int:older>", "compare", self.compare_view),
            )
        ] + super().get_urls()  # type: ignore[misc]

    def check_flow_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Say what is wrong with a flow that is being edited; nothing is stored."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        instrument = self._find(request, pk)
        try:
            flow = json.loads(request.body[:MOST_JSON_CHARACTERS])
        except (ValueError, RecursionError):
            problem = {"step": None, "field": "", "text": _("The steps are no valid JSON.")}
            return JsonResponse({"problems": [problem]})
        return JsonResponse({"problems": show_findings(examine_flow(instrument, flow))})

    def preview_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Open the survey of this version as a participant would see it."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        instrument = self._find(request, pk)
        try:
            submission = start_preview(instrument=instrument)
        except ValidationError as error:
            for message in error.messages:
                messages.error(request, message)
            return redirect("admin:annotation_instrument_change", instrument.pk)
        return redirect("survey:page", token=submission.token)

    def clear_previews_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        instrument = self._find(request, pk)
        if not can_change_study(request.user, instrument.study):
            raise PermissionDenied
        n = clear_previews(study=instrument.study)
        messages.success(
            request, ngettext("%(n)d preview erased.", "%(n)d previews erased.", n) % {"n": n}
        )
        return redirect("admin:annotation_instrument_change", instrument.pk)

    def compare_view(self, request: HttpRequest, pk: int, older: int) -> HttpResponse:
        instrument = self._find(request, pk)
        other = get_object_or_404(Instrument, pk=older, study=instrument.study)
        first, second = sorted((other, instrument), key=lambda version: version.version)
        context = {
            **self.admin_site.each_context(request),
            "title": _("Compare versions"),
            "study": instrument.study,
            "older": first,
            "newer": second,
            "versions": instrument.study.instruments.order_by("-version"),
            "parts": describe_changes(compare_versions(first, second)),
            "tab": "instrument",
            "study_tabs": build_tabs(instrument.study),
        }
        return TemplateResponse(request, "admin/annotation/instrument/compare.html", context)

    def _find(self, request: HttpRequest, pk: int) -> Instrument:
        """Return an instrument of a study that who asks may see."""
        return get_object_or_404(
            Instrument.objects.filter(study__in=visible_surveys(request.user)).select_related(
                "study"
            ),
            pk=pk,
        )


def may_edit(request: HttpRequest, instrument: Instrument) -> bool:
    """Return whether an instrument is a draft and who asks may change its study."""
    return not instrument.is_frozen and can_change_study(request.user, instrument.study)


def build_head(request: HttpRequest, instrument: Instrument) -> dict[str, Any]:
    """Return what the head of an instrument's page shows. Some twenty queries."""
    study = instrument.study
    versions = list(study.instruments.order_by("-version"))
    newest = versions[0]
    in_force = next((version for version in versions if version.is_frozen), None)
    may_change = can_change_study(request.user, study)
    is_draft = instrument == newest and not newest.is_frozen
    running = study.status in {StudyStatus.PILOTING, StudyStatus.LIVE, StudyStatus.PAUSED}
    findings = (
        link_findings(examine_study(study, instrument), study, on_instrument=True)
        if is_draft
        else []
    )
    return {
        "study": study,
        "instrument": instrument,
        "versions": versions,
        "in_force": in_force,
        "tab": "instrument",
        "study_tabs": build_tabs(study),
        "may_copy": may_change
        and newest.is_frozen
        and study.origin != Origin.IMPORTED
        and study.status != StudyStatus.ARCHIVED,
        "may_publish": may_change and is_draft and running,
        "may_discard": may_change and is_draft and len(versions) > 1,
        "may_preview": study.origin != Origin.IMPORTED,
        "n_previews": list_previews(study).count() if may_change else 0,
        "before": next((old for old in versions if old.version < instrument.version), None),
        "problems": [finding for finding in findings if finding.blocks],
        "thoughts": [finding for finding in findings if not finding.blocks],
        "flow_config": build_config(instrument) if may_edit(request, instrument) else None,
    }
