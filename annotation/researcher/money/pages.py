"""The pages “Money” and “Panel” of a study, and what their buttons do.

Whatever costs money or tells people something is shown first, with how many people and how much,
and done only if it is still the same when it is confirmed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.conf import settings as site
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.models import (
    PAYMENT_PERMISSION,
    ActionState,
    Origin,
    Outcome,
    Panel,
    PanelSettings,
    PanelStatus,
    ScreenOutPay,
    Study,
)
from annotation.panels.action_plan import PROPOSERS, Plan, PlanChangedError, PlanTotals, store_plan
from annotation.panels.base import PanelKind, find_address_problem
from annotation.panels.batch_file import LARGEST_FILE, fill_decisions, read_batch, store_batch
from annotation.panels.bonuses import BonusCondition, propose_bonus, read_amount, read_list
from annotation.panels.dispatch import notify_payer
from annotation.panels.errors import PanelError
from annotation.panels.payment_service import plan_refused_again, refresh_study, send_again
from annotation.panels.places import change_panel_status, increase_places, read_panel_study
from annotation.panels.reconciliation import may_send_again
from annotation.panels.registry import get_panel
from annotation.panels.study_settings import load_panel_settings
from annotation.researcher.pages import formatting
from annotation.researcher.pages.fields import UploadField
from annotation.researcher.pages.formatting import Key, describe_low_pay, money_of
from annotation.researcher.pages.links import participant_link
from annotation.researcher.pages.page import Button, ButtonPage, button, refusals_shown
from annotation.researcher.pages.study_page import StudyFormPage, StudyPage
from annotation.studies.ledger import Ledger

# --- What the money page of a study shows, ready for its template ---------------------------------

TROUBLED_ROWS = 50
STATE_BADGES = {
    ActionState.PLANNED: "mark-ring",
    ActionState.SENT: "info mark-clock",
    ActionState.CONFIRMED: "good mark-tick",
    ActionState.UNCLEAR: "warn mark-triangle",
    ActionState.FAILED: "bad mark-cross",
}


@dataclass(frozen=True)
class PaymentStep:
    """What could be asked of the panel next; ``summary`` says for whom and how much."""

    do: str
    title: str
    button: str
    plan: PlanTotals
    summary: str

    @property
    def left_out(self) -> list[tuple[str, int]]:
        return sorted(self.plan.left_out.items())


def describe_money(study: Study, *, may_pay: bool) -> dict[str, Any]:
    """Return the context of the page. Some thirty queries, whatever the size of the study."""
    ledger = Ledger(study)
    unclear = list(ledger.unclear[:TROUBLED_ROWS])
    return {
        "ledger": ledger,
        "keys": build_keys(ledger),
        "hourly_warning": describe_low_pay(ledger),
        "state_rows": build_state_rows(ledger),
        "steps": build_steps(ledger) if may_pay else [],
        "unclear_rows": unclear,
        "refused_rows": list(ledger.refused[:TROUBLED_ROWS]),
        "n_again": sum(may_send_again(action) for action in unclear),
        "panel_counts": [(PanelStatus(name).label, n) for name, n in ledger.panel_counts],
        "conditions": BonusCondition.choices,
    }


def build_keys(ledger: Ledger) -> list[Key]:
    return [_paid_key(ledger), _under_way_key(ledger), _to_go_key(ledger), _hourly_key(ledger)]


def _paid_key(ledger: Ledger) -> Key:
    fee = ledger.fee_of(ledger.paid_minor)
    note = (
        _("With %(fee)s for the panel.") % {"fee": money_of(ledger, fee)}
        if fee
        else _("Confirmed payments, without a fee for the panel.")
    )
    paid = money_of(ledger, ledger.with_fee(ledger.paid_minor))
    return Key(_("Paid so far"), [(paid, "")], note)


def _under_way_key(ledger: Ledger) -> Key:
    parts = []
    if ledger.rewards.people:
        approved = _("%(money)s approved and not planned yet.")
        parts.append(approved % {"money": money_of(ledger, ledger.rewards.amount_minor)})
    if ledger.undecided:
        waiting = ngettext(
            "%(n)s person waits for a decision.",
            "%(n)s people wait for a decision.",
            ledger.undecided,
        )
        parts.append(waiting % {"n": f"{ledger.undecided:,}"})
    note = " ".join(parts) or _("Nobody waits for a decision.")
    under_way = money_of(ledger, ledger.with_fee(ledger.under_way_minor))
    return Key(_("Under way"), [(under_way, "")], note)


def _to_go_key(ledger: Ledger) -> Key:
    to_go = ledger.to_go
    if not to_go.people:
        note = _("Every group has its accepted ratings.")
        return Key(_("To go"), [(money_of(ledger, 0), "")], note)
    people = ngettext("%(n)s more person.", "%(n)s more people.", to_go.people) % {
        "n": f"{to_go.people:,}"
    }
    basis = (
        _("If everyone’s data are accepted.")
        if not to_go.accepted_share
        else _("If %(share)s are accepted, as so far.")
        % {"share": formatting.percent(to_go.accepted_share)}
    )
    amount = money_of(ledger, ledger.with_fee(to_go.amount_minor))
    return Key(_("To go, about"), [(amount, "")], f"{people} {basis}")


def _hourly_key(ledger: Ledger) -> Key:
    hourly = ledger.hourly
    rate = hourly.expected if hourly.median is None else hourly.median
    if rate is None:
        return Key(_("Hourly pay"), [(formatting.MISSING, "")], _("The study pays no reward."))
    note = (
        _("At the stated %(n)d minutes; nobody has finished yet.")
        % {"n": ledger.study.estimated_minutes}
        if hourly.median is None
        else _("From the median time of %(n)s who finished.") % {"n": f"{hourly.n:,}"}
    )
    return Key(_("Hourly pay"), [(money_of(ledger, rate), "")], note)


def build_state_rows(ledger: Ledger) -> list[tuple[Any, str, int, str]]:
    """Return the actions of each kind in each state: kind, badge, number, amount or ""."""
    return [
        (
            line.kind.label,
            formatting.badge(STATE_BADGES[state], state.label),
            line.counts[state.value],
            money_of(ledger, amount) if (amount := line.amounts[state.value]) else "",
        )
        for line in ledger.lines
        for state in ActionState
        if line.counts.get(state.value)
    ]


def build_steps(ledger: Ledger) -> list[PaymentStep]:
    """Return what could be asked next, rewards first; steps without anybody are left out."""
    by_hand = not get_panel(ledger.study.panel).has_api
    pay = _("Record as paid") if by_hand else _("Pay rewards")
    steps = [("rewards", _("Rewards"), pay, ledger.rewards)]
    if not by_hand:
        steps += [
            ("returns", _("Requests to return"), _("Ask to return"), ledger.returns),
            ("rejections", _("Rejections"), _("Send rejections"), ledger.rejections),
        ]
    return [
        PaymentStep(do, title, button, plan, describe_plan(ledger, plan))
        for do, title, button, plan in steps
        if plan.people or plan.left_out
    ]


def describe_plan(ledger: Ledger, plan: Plan | PlanTotals) -> str:
    """Return “12 people, $24.00 and $8.00 for the panel”."""
    people = ngettext("%(n)s person", "%(n)s people", plan.people) % {"n": f"{plan.people:,}"}
    if not plan.amount_minor:
        return people
    fee = ledger.fee_of(plan.amount_minor)
    said = {
        "people": people,
        "money": money_of(ledger, plan.amount_minor),
        "fee": money_of(ledger, fee),
    }
    if not fee:
        return _("%(people)s, %(money)s") % said
    return _("%(people)s, %(money)s and %(fee)s for the panel") % said


# --- The form of a study's panel: parameters, signed links, the API, ways back, fees and pay ------

MONEY = ("fee_percent", "minimum_hourly_minor")
SCREENING = ("screen_out_pay", "screen_out_minor", "screen_out_percent")
PARAMETERS = ("person_parameter", "session_parameter")
API = ("panel_study_id", "api_token_variable", "webhook_secret_variable")
SIGNED = ("signed_links", "link_token_parameter", "link_audience")
EXAMPLE = "https://panel.example/done?code={code}&id={id}"
RETURN_FIELDS = {outcome: f"return_{outcome.value}" for outcome in Outcome}


def choose_fields(panel: PanelKind) -> tuple[tuple[Any, tuple[str, ...]], ...]:
    """Return the headings and fields that a panel has a use for."""
    found: list[tuple[Any, tuple[str, ...]]] = [(gettext_lazy("Link for participants"), PARAMETERS)]
    if panel.link_token_parameter:
        found.append((gettext_lazy("Signed links"), SIGNED))
    if panel.has_api:
        found.append((gettext_lazy("API and webhooks"), API))
    if panel.name == Panel.LINK:
        found.append((gettext_lazy("Addresses to return to"), tuple(RETURN_FIELDS.values())))
    found.append((gettext_lazy("Money"), MONEY))
    if panel.has_api:
        found.append((gettext_lazy("People who are screened out"), SCREENING))
    return tuple(found)


class PanelSettingsForm(forms.ModelForm):
    """Only the fields that the study's panel has a use for; the others keep their values."""

    class Meta:
        model = PanelSettings
        fields = (*PARAMETERS, *SIGNED, *API, *MONEY, *SCREENING)
        labels = {
            "person_parameter": gettext_lazy("Parameter of the person"),
            "session_parameter": gettext_lazy("Parameter of their submission"),
            "signed_links": gettext_lazy("Accept signed links only"),
            "link_token_parameter": gettext_lazy("Parameter of the signature"),
            "api_token_variable": gettext_lazy("Variable of the API token"),
            "webhook_secret_variable": gettext_lazy("Variable of the webhooks’ secret"),
        }

    def __init__(self, *args: Any, panel: PanelKind, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sections = choose_fields(panel)
        wanted = {name for _heading, names in self.sections for name in names}
        for name in list(self.fields):
            if name not in wanted:
                del self.fields[name]
        for name, usual in (
            ("person_parameter", panel.person_parameter),
            ("session_parameter", panel.session_parameter),
            ("link_token_parameter", panel.link_token_parameter),
        ):
            if name in self.fields and usual:
                self.fields[name].widget.attrs["placeholder"] = usual
        for outcome, name in RETURN_FIELDS.items():
            if name in wanted:
                self.fields[name] = forms.CharField(
                    label=outcome.label,
                    required=False,
                    max_length=500,
                    help_text=_(
                        "The address to which people who end this way are sent, such as "
                        "%(example)s. The study’s code and the person’s id are filled in. Without "
                        "an address people stay on the last page."
                    )
                    % {"example": EXAMPLE}
                    if outcome == Outcome.COMPLETED
                    else "",
                    initial=self.instance.return_urls.get(outcome.value, ""),
                )

    def field_sections(self) -> list[tuple[Any, list[Any]]]:
        """Return headings with their bound fields, for the template."""
        return [(heading, [self[name] for name in names]) for heading, names in self.sections]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        addresses = dict(self.instance.return_urls)
        for outcome, name in RETURN_FIELDS.items():
            if name not in self.fields:
                continue
            address = (cleaned.get(name) or "").strip()
            if address and (problem := find_address_problem(address)):
                self.add_error(name, problem)
            addresses[outcome.value] = address
        self.instance.return_urls = {key: value for key, value in addresses.items() if value}
        person = cleaned.get("person_parameter")
        if person and person == cleaned.get("session_parameter"):
            self.add_error(
                "session_parameter",
                _("“%(name)s” already names the person. Choose another parameter.")
                % {"name": person},
            )
        fixed = cleaned.get("screen_out_pay") == ScreenOutPay.FIXED
        if fixed and not cleaned.get("screen_out_minor"):
            self.add_error(
                "screen_out_minor", _("Enter the amount that the study at the panel states.")
            )
        return cleaned


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
            summary=describe_plan(Ledger(self.study), plan),
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
            notify_payer(self.study)
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


class MoneyActions(ButtonPage, PaymentPage):
    """The single buttons, which need no plan."""

    route = "<int:pk>/money/do/<slug:action>/"
    name = "money_action"
    http_method_names = ["post"]

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        try:
            return super().post(request, **kwargs)
        except PanelError as problem:
            messages.error(request, str(problem))
            return self.go_to("money")

    def address_after(self, pressed: Button) -> str:
        return self.address(self.study, "money")

    @button("ask")
    def ask(self) -> str:
        refresh_study(study=self.study)
        return _("The panel’s list was read; payment records now match it.")

    @button("retry")
    def retry(self) -> str:
        number = plan_refused_again(study=self.study)
        text = ngettext("%(n)d is planned again.", "%(n)d are planned again.", number)
        return text % {"n": number}

    @button("send-again")
    def send_again(self) -> str:
        if self.request.POST.get("confirm") != "yes":
            raise ValidationError(_("Tick the box to confirm. Nothing was sent."))
        number = send_again(study=self.study)
        text = ngettext("%(n)d bonus is sent again.", "%(n)d bonuses are sent again.", number)
        return text % {"n": number}

    @button("places")
    def increase_places(self) -> str:
        text = self.request.POST.get("places", "").strip()
        if not text.isdecimal() or not 1 <= int(text) <= MOST_PLACES:
            raise ValidationError(_("Enter a whole number of places."))
        total = increase_places(study=self.study, total=int(text))
        return _("The panel’s study has %(n)s places now.") % {"n": f"{total:,}"}

    @button("pause")
    def pause(self) -> str:
        return self._change_status("PAUSE")

    @button("start")
    def start(self) -> str:
        return self._change_status("START")

    def _change_status(self, action: str) -> str:
        change_panel_status(study=self.study, action=action)
        seen = read_panel_study(study=self.study)
        return _("The panel’s study is “%(status)s” now.") % {"status": seen.status}


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
