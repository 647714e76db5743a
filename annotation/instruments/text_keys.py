"""Names of texts in language files and in storage.

A text that may be reworded, or whose place in a list may change, is named by its own words: a
translation never stands beside a text that it does not translate.
"""

from __future__ import annotations

import hashlib

from django.utils.text import slugify

STUDY_TITLE = "study.title"
LOGO_ALT = "logo.alt"
WORDS_OF_NAME = 40


def name_text(text: str, context: str = "") -> str:
    """Return a short name that no other text has: its first words, and a piece of its digest."""
    digest = hashlib.sha256(f"{context}\x1f{text}".encode()).hexdigest()[:6]
    words = slugify(text)[:WORDS_OF_NAME].strip("-")
    return f"{words}-{digest}" if words else digest


def name_chrome(text: str, context: str = "") -> str:
    return f"chrome.{name_text(text, context)}"


def name_group(slug: str, form: str) -> str:
    """``form`` is plural or singular."""
    return f"group.{slug}.{form}"


def name_pole(slug: str, pole: str) -> str:
    """``pole`` is low or high."""
    return f"scale.{slug}.{pole}"


def name_question(slug: str, part: str) -> str:
    """``part`` is label or help."""
    return f"question.{slug}.{part}"


def name_option(slug: str, option: str) -> str:
    return f"question.{slug}.option.{name_text(option)}"
