"""The pages of an instrument besides its designer: previews and versions side by side."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.instruments.comparison import Difference, Part, compare_versions
from annotation.instruments.previews import clear_previews
from annotation.models import Instrument, Study
from annotation.researcher.pages.formatting import MISSING
from annotation.researcher.pages.page import refusals_shown
from annotation.researcher.pages.study_page import StudyPage
from annotation.researcher.pages.word_diff import Change, word_diff
from annotation.survey.preview import start_preview

HEADINGS = {
    Part.STEPS: gettext_lazy("Steps"),
    Part.TEXTS: gettext_lazy("Texts"),
    Part.GROUPS: gettext_lazy("Groups"),
    Part.SCALES: gettext_lazy("Trait scales"),
    Part.QUESTIONS: gettext_lazy("Demographic questions"),
    Part.SETTINGS: gettext_lazy("Settings"),
}
ORDER = gettext_lazy("Order")


class InstrumentPage(StudyPage):
    """A page of one version of a study's instrument."""

    tab = "instrument"
    folder = "instrument"
    #: Whether what is sent changes the version itself, which has to be a draft for it.
    edits: ClassVar[bool] = False
    instrument: Instrument

    def prepare(self) -> None:
        super().prepare()
        if self.edits and self.request.method == "POST" and not self.may_edit:
            raise PermissionDenied

    def find_study(self) -> Study:
        found = Instrument.objects.filter(study__in=self.visible_studies()).select_related("study")
        self.instrument = get_object_or_404(found, pk=self.kwargs["pk"])
        return self.instrument.study

    @property
    def may_edit(self) -> bool:
        return not self.instrument.is_frozen and self.may_change

    def get_context_data(self) -> dict[str, Any]:
        return {**super().get_context_data(), "instrument": self.instrument}

    def go_to_instrument(self) -> HttpResponse:
        return redirect("admin:annotation_instrument_change", self.instrument.pk)


class PreviewPage(InstrumentPage):
    """Opens the survey of this version as a participant would see it."""

    route = "<int:pk>/preview/"
    name = "preview"
    http_method_names = ["post"]
    viewers_may_post = True

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        with refusals_shown(request):
            submission = start_preview(instrument=self.instrument)
            return redirect("survey:page", token=submission.token)
        return self.go_to_instrument()


class ClearPreviews(InstrumentPage):
    route = "<int:pk>/clear-previews/"
    name = "clear_previews"
    http_method_names = ["post"]

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        n = clear_previews(study=self.study)
        text = ngettext("%(n)d preview erased.", "%(n)d previews erased.", n)
        messages.success(request, text % {"n": n})
        return self.go_to_instrument()


class ComparePage(InstrumentPage):
    """Two versions side by side."""

    route = "<int:pk>/compare/<int:older>/"
    name = "compare"

    def get_context_data(self) -> dict[str, Any]:
        other = get_object_or_404(Instrument, pk=self.kwargs["older"], study=self.study)
        older, newer = sorted((other, self.instrument), key=lambda version: version.version)
        return {
            **super().get_context_data(),
            "title": _("Compare versions"),
            "older": older,
            "newer": newer,
            "versions": self.study.instruments.order_by("-version"),
            "parts": describe_changes(compare_versions(older, newer)),
        }


def describe_changes(differences: Iterable[Difference]) -> list[tuple[str, list[Any]]]:
    """Return the parts that differ, each with its rows of label and changes."""
    found: dict[Part, list[tuple[str, list[Change]]]] = {part: [] for part in HEADINGS}
    for one in differences:
        label = one.label or (MISSING if one.part == Part.STEPS else str(ORDER))
        found[one.part].append((label, word_diff(one.before, one.after)))
    return [(str(HEADINGS[part]), rows) for part, rows in found.items() if rows]
