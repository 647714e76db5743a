"""What the pages of a judgment study show, in words and places, ready for their templates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.admin import wording
from annotation.admin.annotators import build_person_rows
from annotation.admin.study_page import Key
from annotation.annotators.inviting import can_send_mail
from annotation.judgments.assigning import Preview, preview_assignment
from annotation.judgments.items import HUMAN
from annotation.judgments.lifecycle import find_launch_problems, find_launch_remarks
from annotation.judgments.progress import (
    JudgeProgress,
    ProducerProgress,
    Progress,
    load_progress,
)
from annotation.judgments.wording import parse_wording, show_aspects
from annotation.models import JudgmentDesign, Study, StudyStatus
from annotation.studies.access import can_change_study

REFRESHED = {StudyStatus.LIVE, StudyStatus.PAUSED}
OVER = {StudyStatus.CLOSED, StudyStatus.ARCHIVED}


@dataclass(frozen=True)
class JudgeRow:
    judge: JudgeProgress
    median: str
    last: str


@dataclass(frozen=True)
class ProducerRow:
    producer: ProducerProgress
    name: str


def build_judging_tabs(study: Study) -> list[tuple[str, str, str]]:
    """Return the tabs of a judgment study's pages: name, label, address."""
    names = (
        ("overview", _("Overview"), "overview"),
        ("judges", _("Judges"), "judges"),
        ("settings", _("Settings and members"), "change"),
        ("history", _("History"), "history"),
    )
    return [
        (name, label, reverse(f"admin:annotation_judgmentstudy_{view}", args=[study.pk]))
        for name, label, view in names
    ]


def head_context(study: Study, user: User, tab: str) -> dict[str, Any]:
    """Return what every page of a judgment study needs."""
    return {
        "study": study,
        "title": study.title,
        "tab": tab,
        "study_tabs": build_judging_tabs(study),
        "status_badge": wording.study_badge(study),
        "may_change": can_change_study(user, study),
        "is_draft": study.status == StudyStatus.DRAFT,
    }


def overview_context(study: Study, user: User) -> dict[str, Any]:
    """Return the context of the overview, the live part included."""
    design = JudgmentDesign.objects.select_related("corpus").filter(study=study).first()
    context = {
        **head_context(study, user, "overview"),
        "design": design,
        "aspects": show_aspects(parse_wording(design.wording), design.corpus.target_variety)
        if design
        else [],
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
    """Return what changes while people judge. Three queries, whatever the size of the study."""
    progress = load_progress(study)
    return {
        "study": study,
        "progress": progress,
        "is_refreshed": study.status in REFRESHED,
        "keys": _build_keys(progress),
        "rows": [
            JudgeRow(judge, wording.duration(judge.median_seconds), describe_day(judge))
            for judge in progress.judges
        ],
        "producers": [
            ProducerRow(one, _("Human") if one.producer == HUMAN else one.producer)
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
    context = head_context(study, user, "judges")
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


def describe_day(judge: JudgeProgress) -> str:
    """Return the last judgment coarsely: enough to see who has stopped, too little to watch."""
    if judge.last_done is None:
        return wording.MISSING
    days = (timezone.localdate() - timezone.localtime(judge.last_done).date()).days
    if days <= 0:
        return _("today")
    if days == 1:
        return _("yesterday")
    return _("%(n)d days ago") % {"n": days} if days < 8 else _("over a week ago")


def _build_keys(progress: Progress) -> list[Key]:
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
            else _("The design asks for no overlap."),
        ),
        Key(
            _("Time for a counterpart"),
            wording.duration_parts(median) if median is not None else [(wording.MISSING, "")],
            _("Median, with the page in front."),
        ),
    ]
