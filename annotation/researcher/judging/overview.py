"""The overview of a judgment study, its buttons and its downloads."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.judgments.assignment_service import Preview, preview_assignment
from annotation.judgments.error_coding import parse_scheme
from annotation.judgments.lifecycle import (
    find_launch_problems,
    find_launch_remarks,
    launch_judgment_study,
)
from annotation.judgments.progress import Progress, load_progress
from annotation.judgments.questions import HUMAN, parse_wording, short_name, show_aspects
from annotation.models import JudgmentDesign, Study, StudyKind, StudyStatus
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


class JudgingPage(AnnotatorStudyPage):
    """A page of a judgment study."""

    model_name = "judgmentstudy"
    kind = StudyKind.COUNTERPART_JUDGMENT
    plural = gettext_lazy("Judgment studies")
    own_tabs = (("judges", gettext_lazy("Judges")),)
    folder = "judging"


class JudgingOverview(JudgingPage, OverviewPage):
    def get_context_data(self) -> dict[str, Any]:
        study = self.study
        design = JudgmentDesign.objects.select_related("corpus").filter(study=study).first()
        context = {
            **super().get_context_data(),
            "design": design,
            "aspects": show_aspects(parse_wording(design.wording), design.corpus.target_variety)
            if design
            else [],
            "scheme": parse_scheme(design.error_scheme) if design else (),
            "exports": describe_exports(study, self.model_name),
            "report_form": find_report_form(self.user, "judgments", study=study.pk),
        }
        if study.status != StudyStatus.DRAFT:
            return context | describe_progress(study)
        preview = preview_assignment(study) if design else None
        context["launch_problems"] = find_launch_problems(study, preview)
        return context | (_describe_preview(study, preview) if preview else {})


def _describe_preview(study: Study, preview: Preview) -> dict[str, Any]:
    """Return what a launch would give to whom; None is the load of those who have not joined."""
    queues = preview.plan.queues
    return {
        "launch_remarks": find_launch_remarks(study, preview),
        "preview": preview,
        "loads": [
            (str(judge), None if judge.user_id is None else len(queues[judge.number]))
            for judge in preview.judges
        ],
        "n_judgments": sum(map(len, queues.values())),
    }


def describe_progress(study: Study) -> dict[str, Any]:
    """Return what changes while people judge. Four queries, whatever the size of the study."""
    progress = load_progress(study)
    return {
        "progress": progress,
        "keys": _build_keys(progress, study.judging.overlap_percent),
        "producers": [
            (_("Human") if one.producer == HUMAN else short_name(one.producer), one)
            for one in progress.producers
        ],
        "newcomers": find_newcomers(progress),
    }


class JudgingLive(JudgingPage, LivePart):
    describe_progress = staticmethod(describe_progress)


class JudgingActions(JudgingPage, AnnotatorStudyActions):
    start = staticmethod(launch_judgment_study)
    launched = gettext_lazy(
        "The study is live. Its counterparts are given out, its design is frozen."
    )
    freezes = gettext_lazy(
        "The counterparts are drawn and given to the judges; corpus, runs, overlap, "
        "questions and the scheme of errors are frozen."
    )
    paused = gettext_lazy("The study is paused. Nothing can be judged.")
    ends = gettext_lazy("Nothing can be judged any more. It can be opened again.")


def find_newcomers(progress: Progress) -> list[str]:
    """Return who has joined and was never given anything."""
    return [
        str(judge.annotator)
        for judge in progress.judges
        if judge.annotator.user_id is not None
        and judge.annotator.removed_at is None
        and not judge.assigned
    ]


def _build_keys(progress: Progress, overlap_percent: float) -> list[Key]:
    if progress.twice_wanted:
        twice = formatting.count_of(progress.twice, progress.twice_wanted)
        twice_note = _("They show how far judges agree.")
    else:
        twice = (formatting.MISSING, "")
        twice_note = (
            _("Nobody could give second judgments. Once two have joined, give out work again.")
            if overlap_percent
            else _("The design asks for no overlap.")
        )
    return [
        Key(
            _("Judgments"),
            [formatting.count_of(progress.done, progress.wanted)],
            _("Four ratings each, from 1 to 5."),
        ),
        Key(
            _("Counterparts judged"),
            [formatting.count_of(progress.judged, progress.items)],
            _("At least once."),
        ),
        Key(_("Judged twice"), [twice], twice_note),
        Key(
            _("Time for a counterpart"),
            formatting.duration_parts(progress.median_seconds),
            _("Median, with the page in front."),
        ),
    ]
