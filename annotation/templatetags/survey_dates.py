"""Days as participants read them."""

from __future__ import annotations

from datetime import date

from django import template
from django.utils.dateformat import format as format_date
from django.utils.translation import pgettext

register = template.Library()


@register.filter
def day(value: date) -> str:
    """Return a day in the order and words of the language: 30 June 2099, 30 de junio de 2099."""
    return format_date(value, pgettext("how a day is written", "j F Y"))
