"""The consent page: agree and go on, or decline and end."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from annotation.steps.instructions import InstrumentText
from annotation.steps.kind import Menu, step


@step(
    "consent",
    _("Consent"),
    about=_("What the study is about, and a box to agree. Comes first."),
    menu=Menu.FRAME,
    rank=1,
    template="survey/consent.html",
)
class Consent(InstrumentText):
    """Its page is `annotation.survey.pages.consent`."""

    is_first: ClassVar[bool] = True
    once: ClassVar[bool] = True
    is_conditional: ClassVar[bool] = False
    comes_before: ClassVar[frozenset[str]] = frozenset({"*"})
