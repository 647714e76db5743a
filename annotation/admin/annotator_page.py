"""What the pages of writing and judgment studies have in common, ready for their templates."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.admin import wording
from annotation.annotators.statement import STATEMENT_PARTS, find_statement
from annotation.models import Study, StudyStatus
from annotation.studies.access import can_change_study

REFRESHED = {StudyStatus.LIVE, StudyStatus.PAUSED}
OVER = {StudyStatus.CLOSED, StudyStatus.ARCHIVED}
Tabs = list[tuple[str, str, str]]


def build_tabs(study: Study, model: str, own: list[tuple[str, str]]) -> Tabs:
    """Return the tabs of a study's pages: name, label, address; ``own`` are those of its kind."""
    names = (
        ("overview", _("Overview"), "overview"),
        *((name, label, name) for name, label in own),
        ("settings", _("Settings and members"), "change"),
        ("history", _("History"), "history"),
    )
    return [
        (name, label, reverse(f"admin:annotation_{model}_{view}", args=[study.pk]))
        for name, label, view in names
    ]


def head_context(
    study: Study, user: User, tab: str, *, model: str, plural: str, tabs: Tabs
) -> dict[str, Any]:
    """Return what every page of a study needs; ``model`` is the name of its pages' addresses."""
    return {
        "study": study,
        "title": study.title,
        "tab": tab,
        "study_tabs": tabs,
        "status_badge": wording.study_badge(study),
        "may_change": can_change_study(user, study),
        "is_draft": study.status == StudyStatus.DRAFT,
        "plural": plural,
        "changelist": f"admin:annotation_{model}_changelist",
        "action_page": f"admin:annotation_{model}_action",
        "settings_page": f"admin:annotation_{model}_change",
    }


def list_statement(study: Study) -> list[tuple[str, str]]:
    """Return what is recorded of the annotators: label, text. One query."""
    statement = find_statement(study)
    return [(str(label), getattr(statement, name)) for name, label in STATEMENT_PARTS.items()]


def describe_day(moment: datetime | None) -> str:
    """Return a last submit coarsely: enough to see who has stopped, too little to watch."""
    if moment is None:
        return wording.MISSING
    days = (timezone.localdate() - timezone.localtime(moment).date()).days
    if days <= 0:
        return _("today")
    if days == 1:
        return _("yesterday")
    return _("%(n)d days ago") % {"n": days} if days < 8 else _("over a week ago")
