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
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.models import PAYMENT_PERMISSION, Origin, Study
from annotation.panels.action_plan import PROPOSERS, Plan, PlanChangedError, store_plan
from annotation.panels.base import PanelKind
from annotation.panels.batch_file import LARGEST_FILE, fill_decisions, read_batch, store_batch
from annotation.panels.bonuses import BonusCondition, propose_bonus, read_amount, read_list
from annotation.panels.dispatch import wake_payer
from annotation.panels.errors import PanelError
from annotation.panels.payment_service import plan_refused_again, refresh_study, send_again
from annotation.panels.places import change_panel_status, increase_places, read_panel_study
from annotation.panels.registry import get_panel
from annotation.panels.study_settings import load_panel_settings
from annotation.researcher.money.overview import describe_money, describe_plan
from annotation.researcher.money.panel_form import PanelSettingsForm
from annotation.researcher.pages.fields import UploadField
from annotation.researcher.pages.links import participant_link
from annotation.researcher.pages.page import refusals_shown
from annotation.researcher.pages.study_page import StudyFormPage, StudyPage
from annotation.studies.ledger import Books

MOST_PLACES = 100_000


class BatchFileForm(forms.Form):
    """The panel's file of results, and the column of its codes where that is not clear."""

    file = UploadField(
        LARGEST_FILE / 1024**2,
        label=gettext_lazy("File (CSV)"),
        accept=".csv",
        error_messages={"required": gettext_lazy("Choose the panel’s file of results.")},
    )
    code_column = forms.CharField(
        label=gettext_lazy("Column of the code, if it is not clear"),
        required=False,
        max_length=120,
        widget=forms.TextInput(attrs={"placeholder": "Answer.surveycode"}),
    )


class MoneyPage(StudyPage):
    """A page about what a study pays; an imported one was paid elsewhere."""

    tab = "money"
    folder = "money"

    def visible_studies(self) -> QuerySet[Study]:
        return super().visible_studies().exclude(origin=Origin.IMPORTED)

    @property
    def panel(self) -> PanelKind:
        return get_panel(self.study.panel)

    @property
    def may_pay(self) -> bool:
        return self.may_change and self.user.has_perm(PAYMENT_PERMISSION)

    def get_context_data(self) -> dict[str, Any]:
        return {**super().get_context_data(), "panel": self.panel}


class MoneyOverview(MoneyPage):
    route = "<int:pk>/money/"
    name = "money"

    def get_context_data(self) -> dict[str, Any]:
        return {
            **super().get_context_data(),
            **describe_money(self.study, may_pay=self.may_pay),
            "may_pay": self.may_pay,
            "file_form": BatchFileForm() if self.panel.has_own_codes else None,
        }


class PanelPage(MoneyPage, StudyFormPage):
    """The panel's settings; codes and settings show to those who may change them."""

    route = "<int:pk>/panel/"
    name = tab = "panel"
    stored = gettext_lazy("The panel’s settings are stored.")

    def build_form(self, data: Any) -> PanelSettingsForm:
        return PanelSettingsForm(data, instance=load_panel_settings(self.study), panel=self.panel)

    def store(self, form: PanelSettingsForm) -> None:
        form.save()

    def get_context_data(self) -> dict[str, Any]:
        codes = []
        if self.may_change:
            codes = self.panel.describe_codes(self.study, load_panel_settings(self.study))
        return {
            **super().get_context_data(),
            "codes": codes,
            "link": participant_link(self.study),
            "events_address": f"{site.SITE_URL}{reverse('panels:events', args=[self.study.panel])}",
        }


class PaymentPage(MoneyPage):
    """What a button of the money page does, for those who may pay."""

    http_method_names = ["post"]

    def prepare(self) -> None:
        super().prepare()
        if not self.may_pay:
            raise PermissionDenied


class PlanPage(PaymentPage):
    """Shows what a button would do, and does it when it comes back confirmed."""

    route = "<int:pk>/money/plan/"
    name = "money_plan"
    template_name = "admin/annotation/money/confirm.html"

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        propose: Callable[[Study], Plan] | None = None
        with refusals_shown(request):
            propose = self.read_proposer()
        if propose is None:
            return self.go_to("money")
        confirmed = request.POST.get("confirmed", "")
        plan = propose(self.study)
        if not plan.people:
            messages.info(request, _("There is nobody for whom this can be done now."))
            return self.go_to("money")
        if confirmed:
            try:
                return self.store(propose, confirmed)
            except PlanChangedError:
                plan = propose(self.study)
        return self.show(
            plan=plan,
            do=request.POST.get("do", ""),
            summary=describe_plan(Books(self.study), plan),
            left_out=sorted(plan.left_out.items()),
            has_changed=bool(confirmed),
            by_hand=not self.panel.has_api,
            sent={
                name: request.POST.get(name, "")
                for name in ("name", "condition", "amount", "listed")
            },
            status=409 if confirmed else 200,
        )

    def store(self, propose: Callable[[Study], Plan], confirmed: str) -> HttpResponse:
        by_hand = not self.panel.has_api
        people = store_plan(
            study=self.study,
            propose=propose,
            fingerprint=confirmed,
            planned_by=self.user,
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
        messages.success(self.request, said % {"n": f"{people:,}"})
        if not by_hand:
            wake_payer(self.study)
        return self.go_to("money")

    def read_proposer(self) -> Callable[[Study], Plan]:
        """Return what a button proposes. Raises `ValidationError` for a bonus that cannot be."""
        sent, currency = self.request.POST, self.study.currency
        do = sent.get("do", "")
        if do != "bonus":
            if do not in PROPOSERS:
                raise Http404
            return PROPOSERS[do]
        condition = sent.get("condition", "")
        if condition not in BonusCondition.values:
            raise ValidationError(_("Choose for whom the bonus is."))
        chosen = BonusCondition(condition)
        is_listed = chosen == BonusCondition.LISTED
        return propose_bonus(
            name=sent.get("name", "").strip(),
            condition=chosen,
            amount_minor=0 if is_listed else read_amount(sent.get("amount", ""), currency),
            amounts=read_list(sent.get("listed", ""), currency) if is_listed else None,
        )


class MoneyActions(PaymentPage):
    """The single buttons, which need no plan."""

    route = "<int:pk>/money/do/<slug:action>/"
    name = "money_action"

    def post(self, request: HttpRequest, action: str, **kwargs: Any) -> HttpResponse:
        if action not in ACTIONS:
            raise Http404
        with refusals_shown(request):
            try:
                messages.success(request, ACTIONS[action](self.study, request))
            except PanelError as problem:
                messages.error(request, str(problem))
        return self.go_to("money")


class BatchFilePage(PaymentPage):
    """Matches the panel's file of results, or gives it back with the decisions filled in."""

    route = "<int:pk>/money/file/"
    name = "money_file"
    template_name = "admin/annotation/money/codes.html"

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        if not self.panel.has_own_codes:
            raise Http404
        form = BatchFileForm(request.POST, request.FILES)
        batch = None
        with refusals_shown(request):
            if not form.is_valid():
                raise ValidationError([text for texts in form.errors.values() for text in texts])
            batch = read_batch(
                self.study,
                form.cleaned_data["file"].read(),
                code_column=form.cleaned_data["code_column"].strip(),
            )
        if batch is None:
            return self.go_to("money")
        if "fill" in request.POST:
            name = f"stereoscope-{self.study.public_id}-decisions.csv"
            headers = {
                "Content-Disposition": f'attachment; filename="{name}"',
                "Cache-Control": "no-store",
            }
            content = fill_decisions(study=self.study, batch=batch)
            return HttpResponse(content, content_type="text/csv; charset=utf-8", headers=headers)
        store_batch(study=self.study, batch=batch)
        return self.show(batch=batch)


def _ask(study: Study, request: HttpRequest) -> str:
    refresh_study(study=study)
    return _("The panel’s list was read; payment records now match it.")


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
        raise ValidationError(_("Enter a whole number of places."))
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
