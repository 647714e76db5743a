"""The page on which the target margins of a study are set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _

from annotation.admin.margins_form import MarginsForm
from annotation.models import Origin, Study
from annotation.studies.access import can_change_study, visible_surveys
from annotation.studies.lifecycle import current_instrument
from annotation.studies.setting_margins import set_margins


class MarginPages:
    """Addresses of targets below a study's own; for its model admin."""

    admin_site: Any
    study_tabs: Callable[[Study], list[tuple[str, str, str]]]

    def margin_pages(self) -> tuple[tuple[str, str, Callable[..., HttpResponse]], ...]:
        """Return (address, name, view)."""
        return (("margins", "margins", self.margins_view),)

    def margins_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Show the targets; who may change the study sets them."""
        study = get_object_or_404(visible_surveys(request.user), pk=pk)
        instrument = current_instrument(study)
        if study.origin == Origin.IMPORTED or instrument is None:
            raise Http404
        may_change = can_change_study(request.user, study)
        if request.method == "POST" and not may_change:
            raise PermissionDenied
        data = request.POST if request.method == "POST" else None
        form = MarginsForm(study, list(instrument.questions.all()), data)
        if data is not None and form.is_valid():
            set_margins(
                study=study,
                margins=form.cleaned_data["margins"],
                samples=form.cleaned_data["samples"],
                planned_people=form.cleaned_data["planned_people"],
            )
            messages.success(request, _("The targets are stored."))
            return redirect("admin:annotation_study_margins", study.pk)
        context = {
            **self.admin_site.each_context(request),
            "title": study.title,
            "study": study,
            "tab": "margins",
            "study_tabs": self.study_tabs(study),
            "form": form,
            "may_change": may_change,
        }
        status = 422 if form.errors else 200
        return TemplateResponse(
            request, "admin/annotation/study/margins.html", context, status=status
        )
