"""Bonuses: one for each who meets a condition, or amounts for single submissions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from django.core.exceptions import ValidationError
from django.db.models import Q, TextChoices
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.common.money import parse_amount
from annotation.models import ActionKind, DataDecision, PanelAction, PayDecision, Study, Submission
from annotation.panels.action_plan import (
    Plan,
    Proposal,
    collect_plan,
    find_obstacle,
    select_payable,
)
from annotation.panels.registry import get_panel

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
LARGEST = 100_000  # minor units; a slip of the finger must not pay a month's wages
LINE = re.compile(r"\s*(?:S-)?([0-9a-z]{12})\s*[,;\s]\s*(\S+)\s*", re.IGNORECASE)
MOST_LINES = 5_000


class BonusCondition(TextChoices):
    """For whom a bonus is; pay must be approved in every case."""

    APPROVED = "approved", gettext_lazy("Everyone whose pay is approved")
    ACCEPTED = "accepted", gettext_lazy("Those whose data are accepted")
    CHECKS_PASSED = "checks_passed", gettext_lazy("Those who passed every check")
    LISTED = "listed", gettext_lazy("Single submissions, listed below")


CONDITIONS = {
    BonusCondition.APPROVED: Q(),
    BonusCondition.ACCEPTED: Q(data_decision=DataDecision.ACCEPTED),
    BonusCondition.CHECKS_PASSED: Q(checks_passed=True),
}


def propose_bonus(
    *,
    name: str,
    condition: BonusCondition,
    amount_minor: int = 0,
    amounts: Mapping[str, int] | None,
) -> Callable[[Study], Plan]:
    """Return what proposes a bonus for a study.

    ``name`` tells bonuses of one study apart: nobody gets one of the same name twice. ``amounts``
    maps public ids of submissions to minor units and is used with `BonusCondition.LISTED`.
    Raises `ValidationError` for a name or amount that cannot be.
    """
    _validate_name(name)
    listed = dict(amounts or {}) if condition == BonusCondition.LISTED else None
    for minor in listed.values() if listed is not None else [amount_minor]:
        validate_amount(minor)

    def propose(study: Study) -> Plan:
        panel = get_panel(study.panel)
        paid = PanelAction.objects.filter(study=study, kind=ActionKind.BONUS, key=name)
        rows = select_payable(study).filter(pay_decision=PayDecision.APPROVED)
        if listed is None:
            rows = rows.filter(CONDITIONS[condition])
        else:
            rows = rows.filter(public_id__in=listed)
        has_one = set(paid.values_list("submission", flat=True))

        def propose_one(row: Submission) -> Proposal | str:
            if row.pk in has_one:
                return _("They have this bonus already.")
            if obstacle := find_obstacle(row, panel):
                return obstacle
            minor = amount_minor if listed is None else listed[row.public_id]
            reference: str = row.reference or ""  # type: ignore[attr-defined]
            return Proposal(row, ActionKind.BONUS, minor, reference, key=name)

        plan = collect_plan(study, rows, propose_one)
        missing = 0 if listed is None else len(listed) - plan.people - sum(plan.left_out.values())
        if missing:
            plan.left_out[_("No such submission, or its pay is not approved.")] = missing
        return plan

    return propose


def read_amount(text: str, currency: str) -> int:
    """Return “1.50” in minor units. Raises `ValidationError`."""
    try:
        minor = parse_amount(text, currency)
    except ValueError:
        raise ValidationError(
            _("“%(value)s” is no amount, expected one such as %(example)s.")
            % {"value": text[:40], "example": "1.50"}
        ) from None
    validate_amount(minor)
    return minor


def read_list(text: str, currency: str) -> dict[str, int]:
    """Return amounts by public id from lines such as “S-3f9k0c2d1a7b, 1.50”.

    Raises `ValidationError` that names every bad line; a submission may stand there once.
    """
    found: dict[str, int] = {}
    problems: list[str] = []
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > MOST_LINES:
        raise ValidationError(
            _("%(n)d lines, expected %(most)d at most.") % {"n": len(lines), "most": MOST_LINES}
        )
    for number, line in enumerate(lines, start=1):
        match = LINE.fullmatch(line)
        if match is None:
            problems.append(
                _("Line %(n)d: expected a submission and an amount, such as “S-3f9k…, 1.50”.")
                % {"n": number}
            )
            continue
        name = match.group(1).lower()
        if name in found:
            problems.append(_("Line %(n)d: the submission stands there twice.") % {"n": number})
            continue
        try:
            found[name] = read_amount(match.group(2), currency)
        except ValidationError as problem:
            problems.append(
                _("Line %(n)d: %(problem)s") % {"n": number, "problem": problem.messages[0]}
            )
    if not found and not problems:
        problems.append(_("No submission is listed."))
    if problems:
        raise ValidationError(problems)
    return found


def validate_amount(minor: int) -> None:
    if not 1 <= minor <= LARGEST:
        raise ValidationError(
            _("A bonus is %(minor)s in the smallest unit, expected 1 to %(most)s.")
            % {"minor": f"{minor:,}", "most": f"{LARGEST:,}"}
        )


def _validate_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise ValidationError(
            _("“%(name)s” is no name of a bonus, expected small letters, digits and -.")
            % {"name": name[:60]}
        )
