"""Amounts of money as participants read them."""

from __future__ import annotations

SYMBOLS = {"USD": "$", "GBP": "£", "EUR": "€"}


def format_reward(cents: int, currency: str) -> str:
    """Return “$2.00”, or “2.00 CHF” for a currency without a sign of its own; "" for no reward."""
    if not cents:
        return ""
    amount = f"{cents // 100:,}.{cents % 100:02d}"
    symbol = SYMBOLS.get(currency)
    return f"{symbol}{amount}" if symbol else f"{amount} {currency}"
