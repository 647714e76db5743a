"""Language codes (BCP 47): how they are written, which way they run, what speakers call them.

And the abbreviations of varieties, as pages introduce them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from django.conf import settings
from django.conf.locale import LANG_INFO
from django.utils.translation.trans_real import parse_accept_lang_header

LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}")
LONGEST_CODE = 35
VARIETIES = {
    "AAL": "African American Language (AAL)",
    "WME": "White Mainstream English (WME)",
}
# Written from right to left: Unicode CLDR, “characterOrder” of the languages and scripts.
RIGHT_TO_LEFT = frozenset(
    {"ar", "arc", "arz", "azb", "bal", "bgn", "ckb", "dv", "fa", "glk", "he", "iw", "khw", "ks",
     "lrc", "mzn", "nqo", "pnb", "ps", "sd", "skr", "syr", "ug", "ur", "yi"}
)  # fmt: skip
SCRIPTS_RIGHT_TO_LEFT = frozenset(
    {"adlm", "arab", "aran", "hebr", "mand", "nkoo", "rohg", "samr", "syrc", "thaa"}
)


def normalize_code(text: str) -> str:
    """Return a code as it is written: “PT_br” is “pt-BR”, “zh-hant” is “zh-Hant”.

    Raises `ValueError` for what is no code.
    """
    first, *rest = text.strip().replace("_", "-").split("-")
    parts = [first.lower()]
    for part in rest:
        if len(part) == 4 and part.isalpha():
            parts.append(part.title())
        elif len(part) == 2 and part.isalpha():
            parts.append(part.upper())
        else:
            parts.append(part.lower())
    code = "-".join(parts)
    if not LANGUAGE.fullmatch(code) or len(code) > LONGEST_CODE:
        raise ValueError(
            f"“{text.strip()[:40]}” is no language code, expected one such as “es”, “pt-BR” or "
            "“zh-Hant”."
        )
    return code


def base_of(code: str) -> str:
    return code.partition("-")[0].lower()


def direction_of(code: str) -> str:
    """Return “rtl” for a language that runs from right to left, else “ltr”; a script decides."""
    script = next((part for part in code.split("-")[1:] if len(part) == 4 and part.isalpha()), "")
    if script:
        return "rtl" if script.lower() in SCRIPTS_RIGHT_TO_LEFT else "ltr"
    return "rtl" if base_of(code) in RIGHT_TO_LEFT else "ltr"


def own_name(code: str) -> str:
    """Return what speakers call their language, the code itself for one that nobody has told us."""
    known = LANG_INFO.get(code.lower(), {})
    name = known.get("name_local", "")
    if not name and base_of(code) in LANG_INFO:
        base = str(LANG_INFO[base_of(code)].get("name_local", ""))
        name = f"{base} ({code.partition('-')[2]})" if base else ""
    return str(name[:1].upper() + name[1:]) if name else code


def platform_language(code: str) -> str:
    """Return the language of the platform's own texts for a code, "" if it does not speak it."""
    spoken = {str(language) for language, _name in settings.LANGUAGES}
    for candidate in (code.lower(), base_of(code)):
        if candidate in spoken:
            return candidate
    return ""


def choose_language(accepted: str, offered: Sequence[str]) -> str:
    """Return the offered language that an Accept-Language header prefers, else the first.

    Another region of a language is better than another language.
    """
    for wanted, weight in parse_accept_lang_header(accepted.lower()):
        for fits in (str.lower, base_of):
            for code in offered:
                if weight and fits(code) == fits(wanted):
                    return code
    return offered[0]


def describe_variety(variety: str) -> str:
    """Return a variety's full name with its abbreviation, or the variety itself if it has none."""
    return VARIETIES.get(variety, variety)
