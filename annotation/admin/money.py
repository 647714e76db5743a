"""The pages “Money” and “Panel” of a study, and what their buttons do.

Whatever costs money or tells people something is shown first, with how many people and how much,
and done only if it is still the same when it is confirmed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.conf import settings as site
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from unfold.widgets import UnfoldAdminFileFieldWidget

from annotation.admin.access import staff_user
from annotation.admin.money_page import describe_plan, money_context
from annotation.admin.panel_form import PanelSettingsForm
from annotation.admin.study_page import participant_link
from annotation.models import Origin, Study
from annotation.panels.batch_file import LARGEST_FILE, fill_decisions, read_batch, store_batch
from annotation.panels.bonuses import BonusCondition, propose_bonus, read_amount, read_list
from annotation.panels.books import Books
from annotation.panels.errors import PanelError
from annotation.panels.paying import plan_refused_again, refresh_study, send_again
from annotation.panels.places import change_panel_status, increase_places, read_panel_study
from annotation.panels.planning import (
    PROPOSERS,
    Plan,
    PlanChangedError,
    store_plan,
)
from annotation.panels.registry import get_panel
from annotation.panels.study_settings import load_panel_settings
from annotation.panels.waking import wake_payer
from annotation.studies.access import PAYMENT_PERMISSION, can_change_study, visible_surveys

MOST_PLACES = 100_000


class MoneyPages:
    """For the admin of studies: two more tabs, each with its views."""

    admin_site: Any

    def study_tabs(self, study: Study) -> list[tuple[str, str, str]]:
        """Return the tabs of a study's pages."""
        raise NotImplementedError

    def money_pages(self) -> tuple[tuple[str, str, Callable[..., HttpResponse]], ...]:
        """Return (address, name, view)."""
        return (
            ("money", "money", self.money_view),
            ("money/plan", "money_plan", self.plan_view),
            ("money/do/<slug:action>", "money_action", self.money_action_view),
            ("money/file", "money_file", self.file_view),
            ("panel", "panel", self.panel_view),
        )

    # --- looking ----------------------------------------------------------------------------

    def money_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        study = self._find(request, pk)
        context = money_context(study, staff_user(request))
        if get_panel(study.panel).has_own_codes:
            context["file_form"] = BatchFileForm()
        return self._show(request, study, "money", context)

    def panel_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Show and change the panel's settings; codes and settings show to who may change them."""
        study = self._find(request, pk)
        may_change = can_change_study(request.user, study)
        if request.method == "POST" and not may_change:
            raise PermissionDenied
        panel, stored = get_panel(study.panel), load_panel_settings(study)
        form = PanelSettingsForm(request.POST or None, instance=stored, panel=panel)
        if request.method == "POST" and form.is_valid():
            form.save()
            messages.success(request, _("The panel’s settings are stored."))
            return redirect("admin:annotation_study_panel", study.pk)
        context = {
            "form": form if may_change else None,
            "panel": panel,
            "panel_title": panel.title,
            "codes": panel.describe_codes(study, stored) if may_change else [],
            "link": participant_link(study),
            "events_address": f"{site.SITE_URL}{reverse('panels:events', args=[study.panel])}",
        }
        status = 422 if form.errors else 200
        return self._show(request, study, "panel", context, status=status)

    # --- planning: shown first, stored when confirmed ----------------------------------------

    def plan_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Show what a button would do, and do it when it comes back confirmed."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        study = self._find_to_pay(request, pk)
        do = request.POST.get("do", "")
        try:
            propose = _read_proposer(do, request, study)
        except ValidationError as problem:
            for message in problem.messages:
                messages.error(request, message)
            return redirect("admin:annotation_study_money", study.pk)
        confirmed = request.POST.get("confirmed", "")
        plan = propose(study)
        if not plan.people:
            messages.info(request, _("There is nobody for whom it could be done now."))
            return redirect("admin:annotation_study_money", study.pk)
        if confirmed:
            try:
                return self._store(request, study, propose, confirmed)
            except PlanChangedError:
                plan = propose(study)
        context = {
            "plan": plan,
            "do": do,
            "summary": describe_plan(Books(study), plan),
            "left_out": sorted(plan.left_out.items()),
            "has_changed": bool(confirmed),
            "by_hand": not get_panel(study.panel).has_api,
            "panel_title": get_panel(study.panel).title,
            "sent": {
                name: request.POST.get(name, "")
                for name in ("name", "condition", "amount", "listed")
            },
        }
        return self._show(request, study, "confirm", context, status=409 if confirmed else 200)

    def _store(
        self, request: HttpRequest, study: Study, propose: Callable[[Study], Plan], confirmed: str
    ) -> HttpResponse:
        by_hand = not get_panel(study.panel).has_api
        people = store_plan(
            study=study,
            propose=propose,
            fingerprint=confirmed,
            planned_by=staff_user(request),
            is_done=by_hand,
        )
        said = (
            ngettext("Recorded for %(n)s person.", "Recorded for %(n)s people.", people)
            if by_hand
            else ngettext(
                "Planned for %(n)s person. A worker asks the panel now.",
                "Planned for %(n)s people. A worker asks the panel now.",
                people,
            )
        )
        messages.success(request, said % {"n": f"{people:,}"})
        if not by_hand:
            wake_payer(study)
        return redirect("admin:annotation_study_money", study.pk)

    # --- single buttons -----------------------------------------------------------------------

    def money_action_view(self, request: HttpRequest, pk: int, action: str) -> HttpResponse:
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        study = self._find_to_pay(request, pk)
        try:
            do = ACTIONS[action]
        except KeyError:
            raise Http404 from None
        try:
            messages.success(request, do(study, request))
        except PanelError as problem:
            messages.error(request, str(problem))
        except ValidationError as problem:
            for message in problem.messages:
                messages.error(request, message)
        return redirect("admin:annotation_study_money", study.pk)

    def file_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Match the panel's file of results, or give it back with the decisions filled in."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        study = self._find_to_pay(request, pk)
        if not get_panel(study.panel).has_own_codes:
            raise Http404
        form = BatchFileForm(request.POST, request.FILES)
        try:
            if not form.is_valid():
                raise ValidationError([text for texts in form.errors.values() for text in texts])
            batch = read_batch(
                study,
                form.cleaned_data["file"].read(),
                code_column=form.cleaned_data["code_column"].strip(),
            )
        except ValidationError as problem:
            for message in problem.messages:
                messages.error(request, message)
            return redirect("admin:annotation_study_money", study.pk)
        if "fill" in request.POST:
            content = fill_decisions(study=study, batch=batch)
            response = HttpResponse(content, content_type="text/csv; charset=utf-8")
            name = f"stereoscope-{study.public_id}-decisions.csv"
            response["Content-Disposition"] = f'attachment; filename="{name}"'
            response["Cache-Control"] = "no-store"
            return response
        store_batch(study=study, batch=batch)
        return self._show(request, study, "codes", {"batch": batch})

    # --- common -------------------------------------------------------------------------------

    def _find(self, request: HttpRequest, pk: int) -> Study:
        surveys = visible_surveys(request.user).exclude(origin=Origin.IMPORTED)
        return get_object_or_404(surveys, pk=pk)

    def _find_to_pay(self, request: HttpRequest, pk: int) -> Study:
        study = self._find(request, pk)
        allowed = can_change_study(request.user, study)
        if not (allowed and request.user.has_perm(PAYMENT_PERMISSION)):
            raise PermissionDenied
        return study

    def _show(
        self,
        request: HttpRequest,
        study: Study,
        page: str,
        context: dict[str, Any],
        *,
        status: int = 200,
    ) -> HttpResponse:
        return TemplateResponse(
            request,
            f"admin/annotation/money/{page}.html",
            {
                **self.admin_site.each_context(request),
                "study": study,
                "title": study.title,
                "tab": "panel" if page == "panel" else "money",
                "study_tabs": self.study_tabs(study),
                **context,
            },
            status=status,
        )


class BatchFileForm(forms.Form):
    """The panel's file of results, and the column of its codes where that is not clear."""

    file = forms.FileField(
        label=gettext_lazy("File (CSV)"),
        error_messages={"required": gettext_lazy("Choose the panel’s file of results.")},
        # The theme's script writes a chosen file's name into the nearest text field: this widget
        # has one for it.
        widget=UnfoldAdminFileFieldWidget(attrs={"accept": ".csv"}),
    )
    code_column = forms.CharField(
        label=gettext_lazy("Column of the code, if it is not clear"),
        required=False,
        max_length=120,
        widget=forms.TextInput(attrs={"placeholder": "Answer.surveycode"}),
    )

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > LARGEST_FILE:
            raise forms.ValidationError(
                _("The file has %(size)s MB, expected 20 MB at most.")
                % {"size": f"{file.size / 1024 / 1024:.0f}"}
            )
        return file


def _read_proposer(do: str, request: HttpRequest, study: Study) -> Callable[[Study], Plan]:
    """Return what a button proposes. Raises `ValidationError` for a bonus that cannot be."""
    if do != "bonus":
        try:
            return PROPOSERS[do]
        except KeyError:
            raise Http404 from None
    condition = request.POST.get("condition", "")
    if condition not in BonusCondition.values:
        raise ValidationError(_("Choose for whom the bonus is."))
    chosen = BonusCondition(condition)
    is_listed = chosen == BonusCondition.LISTED
    return propose_bonus(
        name=request.POST.get("name", "").strip(),
        condition=chosen,
        amount_minor=0
        if is_listed
        else read_amount(request.POST.get("amount", ""), study.currency),
        amounts=read_list(request.POST.get("listed", ""), study.currency) if is_listed else None,
    )


def _ask(study: Study, request: HttpRequest) -> str:
    refresh_study(study=study)
    return _("The panel’s list is read; the books stand where it does.")


def _retry(study: Study, request: HttpRequest) -> str:
    number = plan_refused_again(study=study)
    return ngettext("%(n)d is planned again.", "%(n)d are planned again.", number) % {"n": number}


def _send_again(study: Study, request: HttpRequest) -> str:
    if request.POST.get("confirm") != "yes":
        raise ValidationError(_("Tick the box to confirm. Nothing was sent."))
    number = send_again(study=study)
    return ngettext("%(n)d bonus is sent again.", "%(n)d bonuses are sent again.", number) % {
        "n": number
    }


def _increase(study: Study, request: HttpRequest) -> str:
    text = request.POST.get("places", "").strip()
    if not text.isdecimal() or not 1 <= int(text) <= MOST_PLACES:
        raise ValidationError(
            _("“%(value)s” is no number of places, expected a whole number.") % {"value": text[:20]}
        )
    total = increase_places(study=study, total=int(text))
    return _("The panel’s study has %(n)s places now.") % {"n": f"{total:,}"}


def _change_status(action: str) -> Callable[[Study, HttpRequest], str]:
    def change(study: Study, request: HttpRequest) -> str:
        change_panel_status(study=study, action=action)
        seen = read_panel_study(study=study)
        return _("The panel’s study is “%(status)s” now.") % {"status": seen.status}

    return change


ACTIONS: dict[str, Callable[[Study, HttpRequest], str]] = {
    "ask": _ask,
    "retry": _retry,
    "send-again": _send_again,
    "places": _increase,
    "pause": _change_status("PAUSE"),
    "start": _change_status("START"),
}
