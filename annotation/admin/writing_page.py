"""What the pages of a writing study show, in words and places, ready for their templates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.urls import NoReverseMatch, reverse
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
from annotation.counterparts.adjudication import (
    find_last_decision,
    find_queue,
    load_cases,
)
from annotation.counterparts.assigning import find_unassigned
from annotation.counterparts.gold import collect_gold
from annotation.counterparts.lifecycle import find_launch_problems, find_launch_remarks
from annotation.counterparts.progress import Progress, WriterProgress, load_progress
from annotation.models import Study, StudyStatus, TextPair, WritingDesign


@dataclass(frozen=True)
class WriterRow:
    writer: WriterProgress
    median: str
    last: str


def build_writing_tabs(study: Study) -> Tabs:
    """Return the tabs of a writing study's pages."""
    own = [("annotators", _("Annotators")), ("adjudication", _("Adjudication"))]
    return build_tabs(study, "writingstudy", own)


def writing_head(study: Study, user: User, tab: str) -> dict[str, Any]:
    """Return what every page of a writing study needs."""
    return head_context(
        study,
        user,
        tab,
        model="writingstudy",
        plural=_("Writing studies"),
        tabs=build_writing_tabs(study),
    )


def overview_context(study: Study, user: User) -> dict[str, Any]:
    """Return the context of the overview, the live part included."""
    draft = study.status == StudyStatus.DRAFT
    design = WritingDesign.objects.select_related("corpus").filter(study=study).first()
    return {
        **writing_head(study, user, "overview"),
        **progress_context(study),
        "design": design,
        "launch_problems": find_launch_problems(study) if draft else [],
        "launch_remarks": find_launch_remarks(study) if draft else [],
        "statement": list_statement(study),
        "report_form": find_report_form(user, "agreement", study=study.pk),
        "agreement_address": find_agreement_address(study),
    }


def progress_context(study: Study) -> dict[str, Any]:
    """Return what changes while people write. Five queries, whatever the size of the study."""
    progress = load_progress(study)
    cases = load_cases(study) if progress.done else []
    return {
        "study": study,
        "progress": progress,
        "is_refreshed": study.status in REFRESHED,
        "keys": _build_keys(study, progress, len(find_queue(cases))),
        "rows": [
            WriterRow(
                writer, wording.duration(writer.median_seconds), describe_day(writer.last_done)
            )
            for writer in progress.writers
        ],
        "unassigned": 0 if study.status == StudyStatus.DRAFT else len(find_unassigned(study)),
    }


def annotators_context(study: Study, user: User) -> dict[str, Any]:
    """Return the context of the page on which people are invited and texts are moved."""
    context = writing_head(study, user, "annotators")
    progress = load_progress(study)
    open_by_place = {writer.annotator.pk: writer.open for writer in progress.writers}
    rows = build_person_rows(study, may_change=context["may_change"])
    return {
        **context,
        "people": [(row, open_by_place.get(row.annotator.pk, 0)) for row in rows],
        "active": [row.annotator for row in rows if row.annotator.removed_at is None],
        "can_send_mail": can_send_mail(),
        "is_over": study.status in OVER,
        "unassigned": 0 if context["is_draft"] else len(find_unassigned(study)),
    }


def adjudication_context(study: Study, user: User) -> dict[str, Any]:
    """Return the context of the page that lists texts on their way to a gold counterpart."""
    cases = load_cases(study)
    return {
        **writing_head(study, user, "adjudication"),
        "last": find_last_decision(study),
        "cases": cases,
        "queue": find_queue(cases),
        "gold": collect_gold(cases),
        "published": TextPair.objects.filter(study=study).count(),
    }


def find_agreement_address(study: Study) -> str:
    """Return where the live agreement comes from, "" in an installation without it."""
    try:
        return reverse("reports:agreement-live", args=[study.public_id])
    except NoReverseMatch:
        return ""


def _build_keys(study: Study, progress: Progress, waiting: int) -> list[Key]:
    done, assigned = progress.done, progress.assigned
    people = sum(writer.annotator.removed_at is None for writer in progress.writers)
    return [
        Key(
            _("Counterparts"),
            [(f"{done:,}", _("of %(n)s") % {"n": f"{assigned:,}"})],
            _("Written by %(n)d annotators.") % {"n": people}
            if people != 1
            else _("Written by one annotator."),
        ),
        Key(
            _("Texts complete"),
            [(f"{progress.complete:,}", _("of %(n)s") % {"n": f"{progress.texts:,}"})],
            _("Everybody who has the text has written it."),
        ),
        Key(
            _("Not interpretable"),
            [(f"{progress.not_interpretable:,}", "")],
            _("Of %(n)s that are done.") % {"n": f"{done:,}"},
        ),
        Key(
            _("Time for a text"),
            wording.duration_parts(progress.median_seconds)
            if progress.median_seconds is not None
            else [(wording.MISSING, "")],
            _("Median, with the page in front. %(n)d texts wait for a decision.") % {"n": waiting}
            if waiting
            else _("Median, with the page in front."),
        ),
    ]
