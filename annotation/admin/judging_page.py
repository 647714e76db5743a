"""What the pages of a judgment study show, in words and places, ready for their templates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from annotation.admin import wording
from annotation.admin.annotator_page import (
    OVER,
    REFRESHED,
    Tabs,
    build_tabs,
    describe_day,
    head_context,
    list_statement,
)
from annotation.admin.annotators import build_person_rows
from annotation.admin.report_links import find_report_form
from annotation.admin.study_keys import Key
from annotation.annotators.inviting import can_send_mail
from annotation.judgments.assigning import Preview, preview_assignment
from annotation.judgments.items import HUMAN, short_name
from annotation.judgments.lifecycle import find_launch_problems, find_launch_remarks
from annotation.judgments.progress import (
    JudgeProgress,
    ProducerProgress,
    Progress,
    load_progress,
)
from annotation.judgments.wording import parse_wording, show_aspects
from annotation.models import JudgmentDesign, Study, StudyStatus


@dataclass(frozen=True)
class JudgeRow:
    judge: JudgeProgress
    median: str
    last: str


@dataclass(frozen=True)
class ProducerRow:
    producer: ProducerProgress
    name: str


def build_judging_tabs(study: Study) -> Tabs:
    """Return the tabs of a judgment study's pages."""
    return build_tabs(study, "judgmentstudy", [("judges", _("Judges"))])


def judging_head(study: Study, user: User, tab: str) -> dict[str, Any]:
    """Return what every page of a judgment study needs."""
    return head_context(
        study,
        user,
        tab,
        model="judgmentstudy",
        plural=_("Judgment studies"),
        tabs=build_judging_tabs(study),
    )


def overview_context(study: Study, user: User) -> dict[str, Any]:
    """Return the context of the overview, the live part included."""
    design = JudgmentDesign.objects.select_related("corpus").filter(study=study).first()
    context = {
        **judging_head(study, user, "overview"),
        "design": design,
        "aspects": show_aspects(parse_wording(design.wording), design.corpus.target_variety)
        if design
        else [],
        "statement": list_statement(study),
        "report_form": find_report_form(user, "judgments", study=study.pk),
        "launch_problems": [],
        "launch_remarks": [],
    }
    if study.status != StudyStatus.DRAFT:
        return context | progress_context(study)
    preview = preview_assignment(study) if design else None
    context["launch_problems"] = find_launch_problems(study, preview)
    if preview is not None:
        context |= {
            "launch_remarks": find_launch_remarks(study, preview),
            "preview": preview,
            "loads": _list_loads(preview),
            "n_judgments": sum(len(queue) for queue in preview.plan.queues.values()),
        }
    return context


def _list_loads(preview: Preview) -> list[tuple[str, int | None]]:
    """Return what every judge would get, None for those who have not joined."""
    return [
        (str(judge), len(preview.plan.queues[judge.number]) if judge.user_id is not None else None)
        for judge in preview.judges
    ]


def progress_context(study: Study) -> dict[str, Any]:
    """Return what changes while people judge. Four queries, whatever the size of the study."""
    progress = load_progress(study)
    return {
        "study": study,
        "progress": progress,
        "is_refreshed": study.status in REFRESHED,
        "keys": _build_keys(progress, study.judging.overlap_percent),
        "rows": [
            JudgeRow(judge, wording.duration(judge.median_seconds), describe_day(judge.last_done))
            for judge in progress.judges
        ],
        "producers": [
            ProducerRow(one, _("Human") if one.producer == HUMAN else short_name(one.producer))
            for one in progress.producers
        ],
        "newcomers": find_newcomers(progress),
    }


def find_newcomers(progress: Progress) -> list[str]:
    """Return who has joined and was never given anything."""
    return [
        str(judge.annotator)
        for judge in progress.judges
        if judge.annotator.user_id is not None
        and judge.annotator.removed_at is None
        and not judge.assigned
    ]


def judges_context(study: Study, user: User) -> dict[str, Any]:
    """Return the context of the page on which judges are invited and work is given out again."""
    context = judging_head(study, user, "judges")
    progress = load_progress(study)
    open_by_place = {judge.annotator.pk: judge.open for judge in progress.judges}
    rows = build_person_rows(study, may_change=context["may_change"])
    return {
        **context,
        "people": [(row, open_by_place.get(row.annotator.pk, 0)) for row in rows],
        "can_send_mail": can_send_mail(),
        "is_over": study.status in OVER,
        "progress": progress,
        "newcomers": [] if context["is_draft"] else find_newcomers(progress),
    }


def _build_keys(progress: Progress, overlap_percent: float) -> list[Key]:
    def of(n: int) -> str:
        return _("of %(n)s") % {"n": f"{n:,}"}

    median = progress.median_seconds
    return [
        Key(
            _("Judgments"),
            [(f"{progress.done:,}", of(progress.wanted))],
            _("Four ratings each, from 1 to 5."),
        ),
        Key(
            _("Counterparts judged"),
            [(f"{progress.judged:,}", of(progress.items))],
            _("At least once."),
        ),
        Key(
            _("Judged twice"),
            [(f"{progress.twice:,}", of(progress.twice_wanted))]
            if progress.twice_wanted
            else [(wording.MISSING, "")],
            _("They tell how far judges agree.")
            if progress.twice_wanted
            else _("Nobody could give second judgments. Once two have joined, give out work again.")
            if overlap_percent
            else _("The design asks for no overlap."),
        ),
        Key(
            _("Time for a counterpart"),
            wording.duration_parts(median) if median is not None else [(wording.MISSING, "")],
            _("Median, with the page in front."),
        ),
    ]
