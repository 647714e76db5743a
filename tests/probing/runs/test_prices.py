"""What served models cost: prices, dry runs, what a run spent, and a cap in money."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from probing.lm.errors import SpendCapError
from probing.lm.text_protocols import GenerationSettings
from probing.models import LanguageModel, Run
from probing.runs.errors import RunError
from probing.runs.language_models import register_model
from probing.runs.loaded_models import load_model
from probing.runs.prices import find_cap, price_run, price_tokens, show_price
from tests.openai_server import serve_openai
from tests.served_model import register_served

pytestmark = pytest.mark.django_db

SERVER = "http://localhost:1/v1"
PRICES = {
    "input_price": Decimal("2.50"),
    "output_price": Decimal("10"),
    "price_currency": "USD",
}


def test_tokens_cost_by_whether_they_are_read_or_written() -> None:
    model = register_model(location=SERVER, served_name="m", **PRICES)
    # By hand: 800,000 read for 2.50 and 200,000 written for 10 a million: 2.00 + 2.00.
    assert price_tokens(model, 1_000_000, 200_000) == Decimal(4)
    assert show_price(Decimal(4), "USD") == "4.00 USD"
    assert show_price(Decimal("0.00123"), "USD") == "0.0012 USD"
    unpriced = register_model(location=SERVER, served_name="n")
    assert price_tokens(unpriced, 1_000, 10) is None
    assert show_price(None, "") == "not known: the model has no price"


@pytest.mark.parametrize(
    "given",
    [
        {"input_price": Decimal(1), "price_currency": "USD"},
        {"input_price": Decimal(1), "output_price": Decimal(1)},
        {"price_currency": "USD"},
        {"input_price": Decimal(-1), "output_price": Decimal(1), "price_currency": "USD"},
        {"input_price": Decimal(1), "output_price": Decimal(1), "price_currency": "dollars"},
    ],
)
def test_a_price_without_its_currency_or_the_other_way_round_is_refused(given: Any) -> None:
    with pytest.raises(RunError):
        register_model(location=SERVER, served_name="m", **given)
    assert not LanguageModel.objects.filter(served_name="m").exists()


def test_the_database_holds_prices_to_their_currency() -> None:
    model = register_model(location=SERVER, served_name="m")
    with pytest.raises(IntegrityError), transaction.atomic():
        LanguageModel.objects.filter(pk=model.pk).update(input_price=1, price_currency="USD")


def test_the_command_takes_prices() -> None:
    arguments = ("register_model", SERVER, "--served-name", "m", "--input-price", "2.5")
    with pytest.raises(CommandError, match="Give both prices"):
        call_command(*arguments)
    call_command(*arguments, "--output-price", "10", "--currency", "usd")
    model = LanguageModel.objects.get(served_name="m")
    assert (model.input_price, model.output_price, model.price_currency) == tuple(PRICES.values())


@pytest.mark.shared
def test_a_run_counts_what_is_written_and_stops_at_the_cap_in_money(
    checkpoints: Path, make_run: Any, settings: Any
) -> None:
    settings.CHAT_REQUESTS_PER_MINUTE = 0
    run = make_run()
    with serve_openai(checkpoints / "tiny-gpt2") as server:
        model = register_served(server, **PRICES)
        Run.objects.filter(pk=run.pk).update(model=model)
        asked = GenerationSettings(max_new_tokens=5)
        lm = load_model(model, frozenset({"generate"}), run=run).lm
        lm.generate(["he be", "they"], asked, seeds=[0, 0])
        run = Run.objects.get(pk=run.pk)
        assert 0 < run.tokens_written <= 10
        assert run.tokens_written < run.tokens_spent
        read = run.tokens_spent - run.tokens_written
        expected = (read * Decimal("2.5") + run.tokens_written * 10) / 1_000_000
        assert price_run(run) == expected
        settings.CHAT_MONEY_PER_RUN = "0.00001 USD"
        with pytest.raises(SpendCapError, match=r"CHAT_MONEY_PER_RUN allows 0.000010 USD"):
            lm.generate(["she"], asked, seeds=[0])
        settings.CHAT_MONEY_PER_RUN = "0.00001 EUR"  # says nothing of a price in dollars
        assert find_cap(model) is None
        assert lm.generate(["she"], asked, seeds=[0])
