"""The outcome of check 3 by the rule of the instrument."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.instruments.checks.self_agreement import (
    measure_rank_agreement,
    measure_self_agreement,
)
from annotation.models.instrument import AgreementRule, Instrument


@dataclass(frozen=True)
class RepeatOutcome:
    """``value`` and ``passed`` are None with a ``reason`` where the agreement is undefined.

    ``answer`` and ``expected`` are kept with the check, so that it can be read without the
    instrument.
    """

    value: float | None
    passed: bool | None
    answer: dict[str, Any]
    expected: dict[str, Any]
    reason: str = ""


def judge_repeat(
    first: Mapping[str, float], second: Mapping[str, float], *, instrument: Instrument
) -> RepeatOutcome:
    """Return how two ratings of one group agree and whether that is enough."""
    if instrument.agreement_rule == AgreementRule.KENDALL:
        return _judge_order(first, second, at_least=instrument.agreement_tau)
    rule, at_least = instrument.agreement_rule, instrument.agreement_at_least
    found = measure_self_agreement(first, second, within=instrument.agreement_within, rule=rule)
    is_defined = not math.isnan(found.share)
    return RepeatOutcome(
        value=found.share if is_defined else None,
        passed=found.reaches(at_least) if is_defined else None,
        answer={"matching": found.matching, "scales": found.n_scales},
        expected={"rule": rule, "at_least": at_least, "within": instrument.agreement_within},
        reason="" if is_defined else "No line was rated twice.",
    )


def _judge_order(
    first: Mapping[str, float], second: Mapping[str, float], *, at_least: float
) -> RepeatOutcome:
    found = measure_rank_agreement(first, second)
    is_defined = not math.isnan(found.tau)
    tau = found.tau if is_defined else None
    return RepeatOutcome(
        value=tau,
        passed=found.reaches(at_least) if is_defined else None,
        answer={"tau": tau, "scales": found.n_scales},
        expected={"rule": AgreementRule.KENDALL.value, "at_least": at_least},
        reason=found.reason,
    )
