"""The history of a row: who changed what, and when. It is there to be read."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, ClassVar

from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.core.paginator import Page
from django.db.models import ForeignKey
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import formats, timezone
from django.utils.translation import gettext as _
from simple_history.admin import SimpleHistoryAdmin
from simple_history.models import ModelChange, ModelDelta
from simple_history.template_utils import HistoricalRecordContextHelper

LONGEST_VALUE = 200


class HistoryAdmin(SimpleHistoryAdmin):
    """A model admin with a page that lists every change.

    The package's page of one version would save that version over the row, past whatever services
    check, and for everybody who may see it; it has no address here.
    """

    object_history_template = "admin/annotation/history.html"
    history_list_per_page = 50
    #: Fields that only those learn of who may change the row.
    guarded_fields: ClassVar[frozenset[str]] = frozenset()

    def get_urls(self) -> list[Any]:
        return super(SimpleHistoryAdmin, self).get_urls()

    def history_context(self, obj: Any) -> dict[str, Any]:
        """Return what the head of the row's pages needs; nothing where they have none."""
        return {}

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        try:
            self.model._meta.pk.to_python(object_id)
        except ValidationError:
            raise Http404 from None
        return super().history_view(request, object_id, extra_context)

    def set_history_delta_changes(
        self, request: HttpRequest, historical_records: Page, foreign_keys_are_objs: bool = True
    ) -> None:
        """Give each record what it changed; also fields that no form shows, such as a status."""
        records = list(historical_records)
        if not records:
            return
        hidden = self.guarded_fields
        if self.has_change_permission(request, records[0].instance):
            hidden = frozenset()
        for newer, older in zip(records, [*records[1:], records[-1].prev_record], strict=True):
            if older is not None:
                words = self.get_historical_record_context_helper(request, newer)
                delta = ModelDelta(*_compare(older, newer, hidden), older, newer)
                newer.history_delta_changes = words.context_for_delta_changes(delta)

    def get_historical_record_context_helper(
        self, request: HttpRequest, historical_record: Any
    ) -> HistoricalRecordContextHelper:
        return ChangeWords(
            self.model, historical_record, max_displayed_delta_change_chars=LONGEST_VALUE
        )

    def render_history_view(
        self, request: HttpRequest, template: str, context: dict[str, Any], **kwargs: Any
    ) -> HttpResponse:
        own = self.history_context(context["object"])
        head = getattr(self, "change_form_outer_before_template", "") if own else ""
        return super().render_history_view(
            request, template, {**context, "head_template": head, **own}, **kwargs
        )


class HeadedAdmin(HistoryAdmin):
    """A model admin whose forms and history stand among the pages of a row, under their head."""

    #: The pages, which know the head; and the tabs of the form and of the history.
    page: ClassVar[Any]
    form_tab: ClassVar[str] = "settings"

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        extra = dict(extra_context or {}, show_save_and_add_another=False, show_history=False)
        row = self.get_object(request, object_id) if object_id else None
        if row is not None:
            extra |= self.page.head(row, self.form_tab)
        return super().changeform_view(request, object_id, form_url, extra)

    def history_context(self, obj: Any) -> dict[str, Any]:
        return self.page.head(obj, "history")


def _compare(older: Any, newer: Any, hidden: frozenset[str]) -> tuple[list[ModelChange], list[str]]:
    """Return what changed, and the names of the fields.

    The package's own comparison passes over fields that no form may edit.
    """
    fields = [field for field in newer.tracked_fields if field.name not in hidden]
    changed = [
        field.name
        for field in fields
        if getattr(older, field.attname) != getattr(newer, field.attname)
    ]
    changes = [ModelChange(name, _value(older, name), _value(newer, name)) for name in changed]
    return changes, changed


def _value(record: Any, name: str) -> Any:
    try:
        return getattr(record, name)
    except ObjectDoesNotExist:  # what a key pointed to has been deleted since
        return _("deleted")


class ChangeWords(HistoricalRecordContextHelper):
    """Values as people read them."""

    def prepare_delta_change_value(self, change: ModelChange, value: Any) -> Any:
        field = self.model._meta.get_field(change.field)
        if not field.is_relation and not field.many_to_many:
            if value is None or value == "":
                return "–"
            if isinstance(value, bool):
                return _("yes") if value else _("no")
            if isinstance(value, datetime):
                return formats.date_format(timezone.localtime(value), "j M Y H:i")
            if isinstance(value, dict | list):
                return json.dumps(value, ensure_ascii=False, sort_keys=True)
            return dict(field.flatchoices).get(value, value)
        if isinstance(field, ForeignKey) and value is None:
            return "–"
        return super().prepare_delta_change_value(change, value)
