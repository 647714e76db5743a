"""The overview of a writing study, its buttons and its downloads."""

from __future__ import annotations

from typing import Any

from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.counterparts.adjudication import find_queue, load_cases
from annotation.counterparts.assignment_service import find_unassigned
from annotation.counterparts.lifecycle import (
    find_launch_problems,
    find_launch_remarks,
    launch_writing_study,
)
from annotation.counterparts.progress import Progress, load_progress
from annotation.models import Study, StudyKind, StudyStatus, WritingDesign
from annotation.researcher.pages import formatting
from annotation.researcher.pages.annotators import (
    AnnotatorStudyActions,
    AnnotatorStudyPage,
    LivePart,
    OverviewPage,
)
from annotation.researcher.pages.export_page import describe_exports
from annotation.researcher.pages.formatting import Key
from annotation.researcher.pages.links import find_report_form


class WritingPage(AnnotatorStudyPage):
    """A page of a writing study."""

    model_name = "writingstudy"
    kind = StudyKind.COUNTERPART_WRITING
    plural = gettext_lazy("Writing studies")
    own_tabs = (
        ("annotators", gettext_lazy("Annotators")),
        ("adjudication", gettext_lazy("Adjudication")),
    )
    folder = "writing"


class WritingOverview(WritingPage, OverviewPage):
    def get_context_data(self) -> dict[str, Any]:
        study = self.study
        draft = study.status == StudyStatus.DRAFT
        return {
            **super().get_context_data(),
            **describe_progress(study),
            "design": WritingDesign.objects.select_related("corpus").filter(study=study).first(),
            "launch_problems": find_launch_problems(study) if draft else [],
            "launch_remarks": find_launch_remarks(study) if draft else [],
            "exports": describe_exports(study, self.model_name),
            "report_form": find_report_form(self.user, "agreement", study=study.pk),
        }


def describe_progress(study: Study) -> dict[str, Any]:
    """Return what changes while people write. Five queries, whatever the size of the study."""
    progress = load_progress(study)
    cases = load_cases(study) if progress.done else []
    return {
        "progress": progress,
        "keys": _build_keys(progress, len(find_queue(cases))),
        "unassigned": 0 if study.status == StudyStatus.DRAFT else len(find_unassigned(study)),
        "agreement_address": _find_agreement_address(study),
    }


class WritingLive(WritingPage, LivePart):
    describe_progress = staticmethod(describe_progress)


class WritingActions(WritingPage, AnnotatorStudyActions):
    start = staticmethod(launch_writing_study)
    launched = gettext_lazy("The study is live. Its texts are given out and its design is frozen.")
    freezes = gettext_lazy(
        "The texts are drawn and given to the annotators; corpus, overlap, seed and "
        "guidelines are frozen."
    )
    paused = gettext_lazy("The study is paused. Drafts are kept, nothing can be submitted.")
    ends = gettext_lazy("Nobody can write any more. It can be opened again.")


def _find_agreement_address(study: Study) -> str:
    """Return where the live agreement comes from, "" in an installation without it."""
    try:
        return reverse("reports:agreement-live", args=[study.public_id])
    except NoReverseMatch:
        return ""


def _build_keys(progress: Progress, waiting: int) -> list[Key]:
    people = sum(writer.annotator.removed_at is None for writer in progress.writers)
    time_note = _("Median, with the page in front.")
    if waiting:
        time_note = _("Median, with the page in front. %(n)d texts wait for a decision.") % {
            "n": waiting
        }
    return [
        Key(
            _("Counterparts"),
            [formatting.count_of(progress.done, progress.assigned)],
            _("Written by %(n)d annotators.") % {"n": people}
            if people != 1
            else _("Written by one annotator."),
        ),
        Key(
            _("Texts complete"),
            [formatting.count_of(progress.complete, progress.texts)],
            _("Everybody who has the text has written it."),
        ),
        Key(
            _("Not interpretable"),
            [(f"{progress.not_interpretable:,}", "")],
            _("Of %(n)s that are done.") % {"n": f"{progress.done:,}"},
        ),
        Key(_("Time for a text"), formatting.duration_parts(progress.median_seconds), time_note),
    ]
