"""What the money page of a study shows, ready for its template."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import ActionState, PanelStatus, Study
from annotation.panels.action_plan import Plan, PlanTotals
from annotation.panels.bonuses import BonusCondition
from annotation.panels.reconciliation import may_send_again
from annotation.panels.registry import get_panel
from annotation.researcher.pages import formatting
from annotation.researcher.pages.formatting import Key, describe_low_pay, money_of
from annotation.studies.ledger import Books

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
    books = Books(study)
    unclear = list(books.unclear[:TROUBLED_ROWS])
    return {
        "books": books,
        "keys": build_keys(books),
        "hourly_warning": describe_low_pay(books),
        "state_rows": build_state_rows(books),
        "steps": build_steps(books) if may_pay else [],
        "unclear_rows": unclear,
        "refused_rows": list(books.refused[:TROUBLED_ROWS]),
        "n_again": sum(may_send_again(action) for action in unclear),
        "panel_counts": [(PanelStatus(name).label, n) for name, n in books.panel_counts],
        "conditions": BonusCondition.choices,
    }


def build_keys(books: Books) -> list[Key]:
    return [_paid_key(books), _under_way_key(books), _to_go_key(books), _hourly_key(books)]


def _paid_key(books: Books) -> Key:
    fee = books.fee_of(books.paid_minor)
    note = (
        _("With %(fee)s for the panel.") % {"fee": money_of(books, fee)}
        if fee
        else _("Confirmed payments, without a fee for the panel.")
    )
    paid = money_of(books, books.with_fee(books.paid_minor))
    return Key(_("Paid so far"), [(paid, "")], note)


def _under_way_key(books: Books) -> Key:
    parts = []
    if books.rewards.people:
        approved = _("%(money)s approved and not planned yet.")
        parts.append(approved % {"money": money_of(books, books.rewards.amount_minor)})
    if books.undecided:
        waiting = ngettext(
            "%(n)s person waits for a decision.",
            "%(n)s people wait for a decision.",
            books.undecided,
        )
        parts.append(waiting % {"n": f"{books.undecided:,}"})
    note = " ".join(parts) or _("Nobody waits for a decision.")
    under_way = money_of(books, books.with_fee(books.under_way_minor))
    return Key(_("Under way"), [(under_way, "")], note)


def _to_go_key(books: Books) -> Key:
    to_go = books.to_go
    if not to_go.people:
        note = _("Every group has its accepted ratings.")
        return Key(_("To go"), [(money_of(books, 0), "")], note)
    people = ngettext("%(n)s more person.", "%(n)s more people.", to_go.people) % {
        "n": f"{to_go.people:,}"
    }
    basis = (
        _("If everyone’s data are accepted.")
        if not to_go.accepted_share
        else _("If %(share)s are accepted, as so far.")
        % {"share": formatting.percent(to_go.accepted_share)}
    )
    amount = money_of(books, books.with_fee(to_go.amount_minor))
    return Key(_("To go, about"), [(amount, "")], f"{people} {basis}")


def _hourly_key(books: Books) -> Key:
    hourly = books.hourly
    rate = hourly.expected if hourly.median is None else hourly.median
    if rate is None:
        return Key(_("Hourly pay"), [(formatting.MISSING, "")], _("The study pays no reward."))
    note = (
        _("At the stated %(n)d minutes; nobody has finished yet.")
        % {"n": books.study.estimated_minutes}
        if hourly.median is None
        else _("From the median time of %(n)s who finished.") % {"n": f"{hourly.n:,}"}
    )
    return Key(_("Hourly pay"), [(money_of(books, rate), "")], note)


def build_state_rows(books: Books) -> list[tuple[Any, str, int, str]]:
    """Return the actions of each kind in each state: kind, badge, number, amount or ""."""
    return [
        (
            line.kind.label,
            formatting.badge(STATE_BADGES[state], state.label),
            line.counts[state.value],
            money_of(books, amount) if (amount := line.amounts[state.value]) else "",
        )
        for line in books.lines
        for state in ActionState
        if line.counts.get(state.value)
    ]


def build_steps(books: Books) -> list[PaymentStep]:
    """Return what could be asked next, rewards first; steps without anybody are left out."""
    by_hand = not get_panel(books.study.panel).has_api
    pay = _("Record as paid") if by_hand else _("Pay rewards")
    steps = [("rewards", _("Rewards"), pay, books.rewards)]
    if not by_hand:
        steps += [
            ("returns", _("Requests to return"), _("Ask to return"), books.returns),
            ("rejections", _("Rejections"), _("Send rejections"), books.rejections),
        ]
    return [
        PaymentStep(do, title, button, plan, describe_plan(books, plan))
        for do, title, button, plan in steps
        if plan.people or plan.left_out
    ]


def describe_plan(books: Books, plan: Plan | PlanTotals) -> str:
    """Return “12 people, $24.00 and $8.00 for the panel”."""
    people = ngettext("%(n)s person", "%(n)s people", plan.people) % {"n": f"{plan.people:,}"}
    if not plan.amount_minor:
        return people
    fee = books.fee_of(plan.amount_minor)
    said = {
        "people": people,
        "money": money_of(books, plan.amount_minor),
        "fee": money_of(books, fee),
    }
    if not fee:
        return _("%(people)s, %(money)s") % said
    return _("%(people)s, %(money)s and %(fee)s for the panel") % said
