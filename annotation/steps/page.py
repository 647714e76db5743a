"""A title and a text of the study’s author, to read and go on from."""

from __future__ import annotations

from typing import Annotated, Any

from django.utils.translation import gettext_lazy as _

from annotation.steps.forms import FilledForm
from annotation.steps.kind import Asked, Edit, Extent, Menu, StepKind, step
from annotation.steps.question import OptionalMedia
from annotation.steps.texts import Texts

MARKDOWN_HELP = _(
    "Markdown: # Heading, *emphasis*, **strong**, - list, [words of a link](https://example.org)."
)


@step(
    "page",
    _("Page to read"),
    about=_("A title and a text of yours, on a page of its own."),
    menu=Menu.FRAME,
    rank=4,
    template="survey/page.html",
    new={
        "title": {"en": "Before you go on"},
        "body": {"en": "Please read this page, then continue."},
    },
)
class PageToRead(StepKind):
    """``body`` is Markdown (`annotation.common.safe_markdown`)."""

    title: Annotated[Texts, Edit(_("Title"))]
    body: Annotated[Texts, Edit(_("Text"), "paragraph", {"help": MARKDOWN_HELP})]
    media: OptionalMedia = None

    def show(self, asked: Asked, filled: FilledForm) -> dict[str, Any]:
        return {
            "title": asked.read(self.title),
            "body": asked.read(self.body),
            "media": asked.find_media(self.media),
        }

    def seconds(self, of: Extent) -> float:
        return of.reading(self.body)
