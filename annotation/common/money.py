"""Amounts of money: whole numbers of the smallest unit, written as readers of a language expect.

How many decimals a currency has: ISO 4217. Marks and their place: Unicode CLDR.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal

from django.utils.formats import get_format
from django.utils.translation import get_language

SYMBOLS = {"USD": "$", "GBP": "£", "EUR": "€", "JPY": "¥", "INR": "₹", "KRW": "₩"}
# fmt: off
NO_DECIMALS = frozenset({
    "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW",
    "PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF",
})
# fmt: on
THREE_DECIMALS = frozenset({"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"})

# The Spanish of the platform is that of the United States: $2.00, not 2,00 $.
LOCALES = {"es": "es_PR"}
# In these the mark stands before the number; elsewhere behind it, after a blank.
MARK_FIRST = frozenset({"en", "es", "ja", "ko", "zh", "hi", "tr", "ga", "cy", "th"})
NO_BREAK_SPACE = "\u00a0"
AMOUNT = re.compile(r"\d{1,9}(?:[.,](\d+))?")


def count_decimals(currency: str) -> int:
    """Return how many digits of a currency stand behind the point."""
    if currency in NO_DECIMALS:
        return 0
    return 3 if currency in THREE_DECIMALS else 2


def format_money(minor: int, currency: str, *, language: str | None = None) -> str:
    """Return “$684.63”, “684,63 €” or “684.63 CHF”: by the language, the reader's by default.

    ``minor`` is in the currency's smallest unit.
    """
    code = language or get_language() or "en"
    base = code.replace("_", "-").partition("-")[0]
    locale = LOCALES.get(base, code)
    places = count_decimals(currency)
    whole, rest = divmod(abs(minor), 10**places)
    # Three digits stand together in every currency, whatever else a language groups.
    grouped = f"{whole:,}".replace(
        ",", str(get_format("THOUSAND_SEPARATOR", locale, use_l10n=True))
    )
    number = grouped
    if places:
        number += f"{get_format('DECIMAL_SEPARATOR', locale, use_l10n=True)}{rest:0{places}d}"
    mark, sign = SYMBOLS.get(currency), "−" if minor < 0 else ""
    if mark is None:
        return f"{sign}{number}{NO_BREAK_SPACE}{currency}"
    if base in MARK_FIRST:
        return f"{sign}{mark}{number}"
    return f"{sign}{number}{NO_BREAK_SPACE}{mark}"


def format_reward(cents: int, currency: str) -> str:
    """Return a reward as participants read it; "" for no reward."""
    return format_money(cents, currency) if cents else ""


def write_decimal(minor: int, places: int) -> str:
    """Return an amount as programs read it: 150 with two places is “1.50”."""
    whole, rest = divmod(minor, 10**places)
    return f"{whole}.{rest:0{places}d}" if places else str(whole)


def parse_amount(text: str, currency: str) -> int:
    """Return “1.5” or “1,50” in the smallest unit. Raises `ValueError` for anything else."""
    match = AMOUNT.fullmatch(text.strip())
    if match is None or len(match.group(1) or "") > count_decimals(currency):
        raise ValueError(text)
    return int(Decimal(text.strip().replace(",", ".")).scaleb(count_decimals(currency)))


def round_minor(amount: Decimal) -> int:
    """Return an amount rounded to whole smallest units, halves up."""
    return int(amount.quantize(Decimal(1), rounding=ROUND_HALF_UP))


def take_percent(minor: int, percent: Decimal) -> int:
    """Return so many percent of an amount, rounded to the smallest unit."""
    return round_minor(Decimal(minor) * percent / 100)
