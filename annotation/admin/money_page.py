"""What the money page of a study shows, in words and places, ready for its template."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.admin import wording
from annotation.admin.study_keys import Key
from annotation.models import ActionKind, ActionState, PanelAction, PanelStatus, Study
from annotation.panels.bonuses import BonusCondition
from annotation.panels.books import Books
from annotation.panels.planning import Plan
from annotation.panels.registry import get_panel
from annotation.panels.settling import may_send_again
from annotation.studies.access import PAYMENT_PERMISSION, can_change_study

TROUBLED_ROWS = 50
STATE_BADGES = {
    ActionState.PLANNED: "mark-ring",
    ActionState.SENT: "info mark-clock",
    ActionState.CONFIRMED: "good mark-tick",
    ActionState.UNCLEAR: "warn mark-triangle",
    ActionState.FAILED: "bad mark-cross",
}


@dataclass(frozen=True)
class StateRow:
    """Actions of one kind in one state; amounts in words, "" where nothing is paid."""

    kind: str
    badge: SafeString
    n: int
    amount: str


@dataclass(frozen=True)
class Step:
    """What could be asked of the panel next; ``summary`` says for whom and how much."""

    do: str
    title: str
    summary: str
    button: str
    left_out: list[tuple[str, int]]
    people: int


def money_context(study: Study, user: User) -> dict[str, Any]:
    """Return the context of the page. Some thirty queries, whatever the size of the study."""
    books, panel = Books(study), get_panel(study.panel)
    may_pay = can_change_study(user, study) and user.has_perm(PAYMENT_PERMISSION)
    unclear, refused = list(books.unclear[:TROUBLED_ROWS]), list(books.refused[:TROUBLED_ROWS])
    return {
        "study": study,
        "books": books,
        "panel": panel,
        "panel_title": panel.title,
        "may_pay": may_pay,
        "may_change": can_change_study(user, study),
        "keys": build_keys(books),
        "hourly_warning": describe_low_pay(books),
        "state_rows": build_state_rows(books),
        "steps": build_steps(books) if may_pay else [],
        "unclear_rows": [describe_trouble(action) for action in unclear],
        "refused_rows": [describe_trouble(action) for action in refused],
        "n_again": sum(may_send_again(action) for action in unclear),
        "panel_counts": [(PanelStatus(name).label, n) for name, n in books.panel_counts],
        "conditions": BonusCondition.choices,
    }


def build_keys(books: Books) -> list[Key]:
    return [_paid_key(books), _under_way_key(books), _to_go_key(books), _hourly_key(books)]


def _paid_key(books: Books) -> Key:
    fee = books.fee_of(books.paid_minor)
    note = (
        _("With %(fee)s for the panel.") % {"fee": say(books, fee)}
        if fee
        else _("Confirmed payments, without a fee of the panel.")
    )
    return Key(_("Paid so far"), [(say(books, books.with_fee(books.paid_minor)), "")], note)


def _under_way_key(books: Books) -> Key:
    parts = []
    if books.rewards.people:
        parts.append(
            _("%(money)s approved and not planned yet.")
            % {"money": say(books, books.rewards.amount_minor)}
        )
    if books.undecided:
        parts.append(
            ngettext(
                "%(n)s person waits for a decision.",
                "%(n)s people wait for a decision.",
                books.undecided,
            )
            % {"n": f"{books.undecided:,}"}
        )
    note = " ".join(parts) or _("Nobody waits for a decision.")
    return Key(_("Under way"), [(say(books, books.with_fee(books.under_way_minor)), "")], note)


def _to_go_key(books: Books) -> Key:
    to_go = books.to_go
    if not to_go.people:
        return Key(_("To go"), [(say(books, 0), "")], _("Every group has its accepted ratings."))
    people = ngettext("%(n)s more person.", "%(n)s more people.", to_go.people) % {
        "n": f"{to_go.people:,}"
    }
    basis = (
        _("If everyone’s data are accepted.")
        if to_go.accepted_share is None
        else _("If %(share)s are accepted, as so far.")
        % {"share": wording.percent(to_go.accepted_share)}
    )
    return Key(
        _("To go, about"),
        [(say(books, books.with_fee(to_go.amount_minor)), "")],
        f"{people} {basis}",
    )


def _hourly_key(books: Books) -> Key:
    hourly = books.hourly
    if hourly.median is not None:
        note = _("From the median time of %(n)s who finished.") % {"n": f"{hourly.n:,}"}
        return Key(_("An hour pays"), [(say(books, hourly.median), "")], note)
    if hourly.expected is None:
        return Key(_("An hour pays"), [(wording.MISSING, "")], _("The study pays no reward."))
    note = _("By the stated %(n)d minutes; nobody has finished yet.") % {
        "n": books.study.estimated_minutes
    }
    return Key(_("An hour pays"), [(say(books, hourly.expected), "")], note)


def describe_low_pay(books: Books) -> str:
    """Return the warning below the study's lowest hourly pay, "" if there is none."""
    hourly = books.hourly
    if not hourly.is_too_low:
        return ""
    rate = hourly.expected if hourly.median is None else hourly.median
    assert rate is not None
    return _("An hour pays %(rate)s, less than the %(minimum)s that the study sets.") % {
        "rate": say(books, rate),
        "minimum": say(books, hourly.minimum),
    }


def build_state_rows(books: Books) -> list[StateRow]:
    rows = []
    for line in books.lines:
        for state in ActionState:
            n = line.counts.get(state.value, 0)
            if n:
                amount = line.amounts[state.value]
                rows.append(
                    StateRow(
                        kind=str(line.kind.label),
                        badge=wording.badge(STATE_BADGES[state], state.label),
                        n=n,
                        amount=say(books, amount) if amount else "",
                    )
                )
    return rows


def build_steps(books: Books) -> list[Step]:
    """Return what could be asked next, rewards first; steps without anybody are left out."""
    by_hand = not books_panel(books).has_api
    steps = [
        Step(
            "rewards",
            _("Rewards"),
            describe_plan(books, books.rewards),
            _("Record as paid") if by_hand else _("Pay rewards"),
            sorted(books.rewards.left_out.items()),
            books.rewards.people,
        )
    ]
    if not by_hand:
        steps += [
            Step(
                "returns",
                _("Requests to return"),
                describe_plan(books, books.returns),
                _("Ask to return"),
                sorted(books.returns.left_out.items()),
                books.returns.people,
            ),
            Step(
                "rejections",
                _("Rejections"),
                describe_plan(books, books.rejections),
                _("Send rejections"),
                sorted(books.rejections.left_out.items()),
                books.rejections.people,
            ),
        ]
    return [step for step in steps if step.people or step.left_out]


def books_panel(books: Books) -> Any:
    return get_panel(books.study.panel)


def describe_plan(books: Books, plan: Plan) -> str:
    """Return “12 people, $24.00 and $8.00 for the panel”."""
    people = ngettext("%(n)s person", "%(n)s people", plan.people) % {"n": f"{plan.people:,}"}
    if not plan.amount_minor:
        return people
    fee = books.fee_of(plan.amount_minor)
    said = {"people": people, "money": say(books, plan.amount_minor), "fee": say(books, fee)}
    if not fee:
        return _("%(people)s, %(money)s") % said
    return _("%(people)s, %(money)s and %(fee)s for the panel") % said


def describe_trouble(action: PanelAction) -> dict[str, Any]:
    """Return the row of an action that needs somebody to look."""
    return {
        "submission": str(action.submission),
        "address": reverse("admin:annotation_submission_review", args=[action.submission_id]),
        "kind": ActionKind(action.kind).label,
        "name": action.key,
        "amount": wording.money(action.amount_minor, action.currency)
        if action.amount_minor
        else "",
        "problem": action.problem,
        "since": action.called_at or action.settled_at or action.planned_at,
    }


def say(books: Books, minor: int) -> str:
    return wording.money(minor, books.study.currency)
