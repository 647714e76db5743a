"""In which language a page speaks, and what its switch offers.

The first choice is the browser's, among the languages that the instrument has; afterwards it is the
participant's, kept with their visit. No cookie is set for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext as _

from annotation.common.language_codes import choose_language, direction_of, own_name
from annotation.instruments.content import Content, load_content
from annotation.instruments.languages.texts import list_offered
from annotation.instruments.languages.ui_translation import speak
from annotation.instruments.text_keys import STUDY_TITLE
from annotation.instruments.versions import current_instrument
from annotation.models import Instrument, Study, Submission
from annotation.steps.forms import PageRefused

LANGUAGE_FIELD = "language"
# Sent by scripts that have kept the answers of the page on the device.
KEPT_FIELD = "kept"


@dataclass(frozen=True)
class LanguageOption:
    """A language to choose; ``address`` is a link, "" where a button changes the visit."""

    code: str
    name: str
    direction: str
    is_current: bool
    address: str = ""


def speak_at_landing(
    request: HttpRequest,
    study: Study,
    published: Instrument | None,
    *,
    visit_language: str = "",
) -> tuple[str, dict[str, Any]]:
    """Speak what was asked for, else the language of a visit that was begun, else the browser's.

    Returns the language and the page's context. No query for a published instrument that was met
    before.
    """
    instrument = published or current_instrument(study)
    if instrument is None:
        return "", {}
    content = load_content(instrument)
    code = _choose(request, list_offered(content), visit_language)
    title = content.wording_in(code).get(STUDY_TITLE, study.title)
    return code, {**speak_content(content, code, request=request), "study_title": title}


def speak_to(submission: Submission) -> dict[str, Any]:
    """Speak the language of a visit; return the page's context."""
    return speak_content(load_content(submission.instrument), submission.language)


def speak_content(
    content: Content, code: str, *, request: HttpRequest | None = None
) -> dict[str, Any]:
    """Speak ``code`` in the words of an instrument; return the context that all pages need."""
    speak(code, content.wording_in(code))
    return describe_languages(content, code, request=request)


def describe_languages(
    content: Content, code: str, *, request: HttpRequest | None = None
) -> dict[str, Any]:
    """Return what pages say of their language and of the others.

    With ``request`` the switch is made of links to the same address, without of buttons.
    """
    offered = list_offered(content)
    return {
        "language": code,
        "direction": direction_of(code),
        "languages": [_describe(one, code, request) for one in offered] if offered[1:] else [],
    }


def speak_platform(request: HttpRequest) -> dict[str, Any]:
    """Return the context of a page that belongs to no study: the middleware has chosen already."""
    offered = [str(code) for code, _name in settings.LANGUAGES]
    code = _choose(request, offered)
    speak(code, {})
    return {
        "language": code,
        "direction": direction_of(code),
        "languages": [_describe(one, code, request) for one in offered],
    }


def switch_language(*, submission: Submission, language: str) -> None:
    """Let a visit go on in another language of its instrument. Raises `PageRefused`."""
    if language not in list_offered(load_content(submission.instrument)):
        raise PageRefused(_("The study has no such language."))
    if submission.language != language:
        submission.language = language
        submission.save(update_fields=["language"])


def _choose(request: HttpRequest, offered: list[str], visit_language: str = "") -> str:
    sent = request.POST if request.method == "POST" else request.GET
    for code in (str(sent.get(LANGUAGE_FIELD, "")), visit_language):
        if code in offered:
            return code
    return choose_language(request.headers.get("Accept-Language", ""), offered)


def _describe(code: str, current: str, request: HttpRequest | None) -> LanguageOption:
    address = ""
    if request is not None:
        query = request.GET.copy()
        query[LANGUAGE_FIELD] = code
        address = f"{request.path}?{query.urlencode()}"
    return LanguageOption(code, own_name(code), direction_of(code), code == current, address)
