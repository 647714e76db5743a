"""Language codes. Directions are those of Unicode CLDR, names those that speakers use."""

from __future__ import annotations

import pytest

from annotation.common.language_codes import (
    choose_language,
    direction_of,
    normalize_code,
    own_name,
    platform_language,
)


@pytest.mark.parametrize(
    ("text", "code"),
    [("ES", "es"), ("pt_br", "pt-BR"), ("zh-hant-tw", "zh-Hant-TW"), ("es-419", "es-419"),
     ("CA-es-VALENCIA", "ca-ES-valencia")],
)  # fmt: skip
def test_code_is_written_as_bcp_47_recommends(text: str, code: str) -> None:
    assert normalize_code(text) == code


@pytest.mark.parametrize("text", ["", "e", "english", "es-", "es/mx", "1a", "<b>"])
def test_what_is_no_code_is_refused_with_its_name(text: str) -> None:
    with pytest.raises(ValueError, match="no language code") as refusal:
        normalize_code(text)
    assert text in str(refusal.value)


@pytest.mark.parametrize("code", ["ar", "ar-EG", "he", "fa", "ur", "ps", "ckb", "uz-Arab", "yi"])
def test_language_runs_from_right_to_left(code: str) -> None:
    assert direction_of(code) == "rtl"


@pytest.mark.parametrize("code", ["en", "es", "tr", "ar-Latn", "ur-Latn", "ku", "zh-Hant", "hi"])
def test_language_runs_from_left_to_right(code: str) -> None:
    assert direction_of(code) == "ltr"


def test_language_is_called_what_its_speakers_call_it() -> None:
    assert [own_name(code) for code in ("en", "es", "de", "ar")] == [
        "English",
        "Español",
        "Deutsch",
        "العربيّة",
    ]
    assert own_name("xx") == "xx"  # nobody has told us
    assert own_name("fr-CM") == "Français (CM)"


@pytest.mark.parametrize(
    ("accepted", "offered", "chosen"),
    [
        ("es", ["en", "es"], "es"),
        ("es-MX,es;q=0.9,en;q=0.8", ["en", "es"], "es"),
        ("es", ["en", "es-MX"], "es-MX"),
        ("fr;q=0.9,es;q=0.3", ["en", "es"], "es"),
        ("en;q=0.5,es;q=0.9", ["en", "es"], "es"),
        ("es;q=0", ["en", "es"], "en"),
        ("fr", ["es", "en"], "es"),
        ("", ["es", "en"], "es"),
        ("*", ["es", "en"], "es"),
        ("pt-PT,pt;q=0.9", ["en", "pt", "pt-PT"], "pt-PT"),
    ],
)  # fmt: skip
def test_browser_chooses_among_the_languages_that_there_are(
    accepted: str, offered: list[str], chosen: str
) -> None:
    assert choose_language(accepted, offered) == chosen


def test_platform_speaks_regions_of_its_languages() -> None:
    assert platform_language("es-MX") == "es"
    assert platform_language("en-GB") == "en"
    assert platform_language("ar") == ""
