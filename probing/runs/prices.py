"""What the tokens of served models cost, in money."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

from django.conf import settings
from django.utils.translation import gettext as _

from probing.models import LanguageModel, Run

MILLION = Decimal(1_000_000)
CENT = Decimal("0.01")
#: What tokens of a batch cost, as a share of those of a request by itself.
BATCH_SHARE = Decimal("0.5")


def price_tokens(model: LanguageModel, tokens: int, written: int) -> Decimal | None:
    """Return what ``tokens`` cost, ``written`` of them as answers; None without a known price."""
    if model.input_price is None or model.output_price is None:
        return None
    read = tokens - written
    return (read * model.input_price + written * model.output_price) / MILLION


def price_run(run: Run) -> Decimal | None:
    """Return what a run has spent so far, batches at their price; None without a known one."""
    whole = price_tokens(run.model, run.tokens_spent, run.tokens_written)
    batched = price_tokens(run.model, *batched_tokens(run))
    if whole is None or batched is None:
        return None
    return whole - batched * (1 - BATCH_SHARE)


def batched_tokens(run: Run) -> tuple[int, int]:
    """Return the tokens that batches have cost, and those of them that were written."""
    read = [one for one in run.batches.values() if "tokens" in one]
    return sum(one["tokens"] for one in read), sum(one["written"] for one in read)


def show_price(amount: Decimal | None, currency: str) -> str:
    """Return “12.34 USD”, smaller ones with two digits that count; says where none is known."""
    if amount is None:
        return _("not known: the model has no price")
    digits = min(CENT, Decimal(1).scaleb(amount.adjusted() - 1)) if amount else CENT
    return f"{amount.quantize(digits, ROUND_HALF_UP):,f} {currency}"


def read_cap() -> tuple[Decimal, str] | None:
    """Return amount and currency of the cap on a run's money; None without one."""
    if not settings.CHAT_MONEY_PER_RUN:
        return None
    amount, currency = settings.CHAT_MONEY_PER_RUN.split()
    return Decimal(amount), currency


def find_cap(model: LanguageModel) -> Decimal | None:
    """Return the most money that a run with ``model`` may spend; None: none holds for it."""
    cap = read_cap()
    if cap is None or model.input_price is None or model.price_currency != cap[1]:
        return None
    return cap[0]
