"""Texts of a study as participants read them."""

from __future__ import annotations

from django import template
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def markdown(text: str, below: int = 1) -> SafeString:
    """Return a text with its emphasis, lists, links and headings, these below heading ``below``."""
    from annotation.common.safe_markdown import render_markdown  # 60 modules

    return render_markdown(str(text), int(below))
