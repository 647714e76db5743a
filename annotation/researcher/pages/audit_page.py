"""The audit log of a study: for its owner, to read and to take along."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from annotation.common.tables import Column, ColumnType, Table, stream_csv
from annotation.exports.downloads import build_attachment
from annotation.models import AuditAction, AuditEntry
from annotation.researcher.pages.study_page import StudyPage

PER_PAGE = 50
COLUMNS = [
    Column("happened_at", ColumnType.TIME, "ISO 8601", "when"),
    Column("actor", ColumnType.TEXT, "text", "the account; empty for the platform itself"),
    Column("action", ColumnType.TEXT, "text", "what was done"),
    Column("target", ColumnType.TEXT, "text", "to what"),
    Column("detail", ColumnType.TEXT, "text", "more about it"),
]


class AuditPage(StudyPage):
    """Entries of a study, newest first; ``?action=`` shows those of one kind, ``?csv`` a file."""

    route = "<int:pk>/audit/"
    name = "audit"
    tab = "history"
    template_name = "admin/annotation/study/audit.html"

    def prepare(self) -> None:
        super().prepare()
        if not self.study.is_owned_by(self.user):
            raise PermissionDenied

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        entries = AuditEntry.objects.readable_by(self.user).filter(study=self.study.pk)
        if (action := request.GET.get("action", "")) in AuditAction.values:
            entries = entries.filter(action=action)
        if "csv" in request.GET:
            rows = (
                (
                    entry.happened_at.isoformat(),
                    entry.actor,
                    entry.action,
                    entry.target,
                    entry.detail,
                )
                for entry in entries.iterator()
            )
            file_name = f"stereoscope-{self.study.public_id}-audit.csv"
            return build_attachment(stream_csv(Table("audit", COLUMNS, lambda: rows)), file_name)
        return self.show(
            shown=Paginator(entries, PER_PAGE).get_page(request.GET.get("page")),
            actions=AuditAction.choices,
            chosen=action,
            head_template=getattr(self.model_admin, "change_form_outer_before_template", ""),
        )
