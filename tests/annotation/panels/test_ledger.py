"""Amounts as they are written, and the numbers of a study's money by hand."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone, translation

from annotation.common.money import (
    format_money,
    parse_amount,
    round_minor,
    take_percent,
    write_decimal,
)
from annotation.models import Outcome, PanelSettings, PayDecision
from annotation.panels.action_plan import propose_rewards
from annotation.panels.bonuses import BonusCondition, propose_bonus
from annotation.panels.payment_service import pay_study
from annotation.studies.ledger import Ledger, estimate_people, per_hour
from tests.annotation.panels.test_planning import store
from tests.panels_server import Fault

NBSP = "\u00a0"


@pytest.mark.parametrize(
    ("minor", "currency", "language", "written"),
    [
        (123456, "USD", "en", "$1,234.56"),
        (5, "USD", "en", "$0.05"),
        (-5, "USD", "en", "−$0.05"),
        (123456, "USD", "es", "$1,234.56"),
        (123456, "EUR", "de", f"1.234,56{NBSP}€"),
        (123456, "EUR", "fr", f"1{NBSP}234,56{NBSP}€"),
        (1234, "JPY", "en", "¥1,234"),
        (1234567, "KWD", "en", f"1,234.567{NBSP}KWD"),
        (200, "CHF", "en", f"2.00{NBSP}CHF"),
    ],
)
def test_amounts_follow_language_and_currency(minor, currency, language, written) -> None:
    assert format_money(minor, currency, language=language) == written
    with translation.override(language):
        assert format_money(minor, currency) == written


def test_whole_units_all_the_way() -> None:
    assert write_decimal(150, 2) == "1.50"
    assert write_decimal(5, 2) == "0.05"
    assert write_decimal(7, 0) == "7"
    assert parse_amount("1,5", "USD") == 150
    assert parse_amount("12", "JPY") == 12
    with pytest.raises(ValueError):
        parse_amount("1.5", "JPY")
    assert round_minor(Decimal("0.5")) == 1
    # A third of 2.00 and a bit: 66.66 cents.
    assert take_percent(200, Decimal("33.33")) == 67


def test_pay_an_hour_by_hand() -> None:
    # $2.00 for 11 min 15 s: 200 · 3600 / 675 = 1066.67 cents.
    assert per_hour(200, 675.0) == 1067
    assert per_hour(0, 675.0) is None
    assert per_hour(200, None) is None


@pytest.mark.parametrize(
    ("missing", "groups", "share", "people"),
    [
        (0, 4, None, 0),
        (8, 4, None, 2),
        (9, 4, None, 3),
        # 8 ratings by 4 are 2 people, of whom 80 % are accepted: 2.5, so 3.
        (8, 4, 0.8, 3),
        (8, 4, 0.0, 2),
        (8, 0, 0.5, 0),
    ],
)
def test_how_many_people_are_still_needed(missing, groups, share, people) -> None:
    assert estimate_people(missing, groups, share) == people


@pytest.mark.django_db
def test_books_of_a_study_with_something_in_every_state(study, add, panel) -> None:
    PanelSettings.objects.update(fee_percent=Decimal("25"), minimum_hourly_minor=1200)
    study.panel_settings.refresh_from_db()
    started = timezone.now() - timedelta(hours=1)
    for name in "abc":
        row = add(name, finished_at=started + timedelta(minutes=15))
        type(row).objects.filter(pk=row.pk).update(started_at=started)
    add("d", pay_decision=PayDecision.WAITING, finished_at=started + timedelta(minutes=15))
    add("e", state="ended", outcome=Outcome.NO_CONSENT, pay_decision=PayDecision.WAITING)
    type(row).objects.update(started_at=started)
    store(study, propose_rewards)
    pay_study(study=study)
    store(
        study,
        propose_bonus(name="b", condition=BonusCondition.APPROVED, amount_minor=100, amounts=None),
    )
    panel.faults.append(Fault(drop=True, only="/pay/"))
    pay_study(study=study)
    ledger = Ledger(study)
    assert ledger.paid_minor == 3 * 200
    assert ledger.with_fee(ledger.paid_minor) == 750
    assert ledger.under_way_minor == 3 * 100
    assert ledger.undecided == 1
    assert (ledger.rewards.people, ledger.returns.people) == (0, 1)
    # $2.00 for 15 minutes is $8.00 an hour, under $12.00.
    assert (ledger.hourly.median, ledger.hourly.n, ledger.hourly.is_too_low) == (800, 4, True)
    assert [action.reference for action in ledger.unclear] == ["a", "b", "c"]
    assert dict(ledger.panel_counts) == {"APPROVED": 3, "AWAITING REVIEW": 2}
