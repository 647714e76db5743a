"""What every kind of study has in common in the admin: its list, its settings."""

from __future__ import annotations

from datetime import date
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import display

from annotation.admin.base import HasImports, HasTabs, StudyScoped, do_to_each
from annotation.admin.history import HeadedAdmin
from annotation.models import Study, StudyStatus
from annotation.researcher.pages import formatting
from annotation.researcher.pages.page import refusals_shown
from annotation.researcher.pages.study_page import StudyPage
from annotation.studies.lifecycle import archive_study, pause_study

#: The lists of the kinds of studies, as their tabs name them.
STUDY_TABS = (
    ("study", _("Surveys")),
    ("writingstudy", _("Writing studies")),
    ("judgmentstudy", _("Judgment studies")),
)


class BaseStudyAdmin(HasTabs, HasImports, StudyScoped, HeadedAdmin, ModelAdmin):
    """A kind of study adds its pages, its columns and its form."""

    tab_names = STUDY_TABS

    #: The pages that stand beside the settings; they know the tabs.
    page: ClassVar[type[StudyPage]]

    list_display_links = None
    list_per_page = 50
    search_fields = ("title", "public_id")
    actions: Any = ("pause_selected", "archive_selected")
    view_on_site = False

    @admin.action(description=_("Pause"), permissions=["change"])
    def pause_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self._do_to_chosen(request, queryset, pause_study, gettext("Paused: %(n)d."))

    @admin.action(description=_("Archive"), permissions=["change"])
    def archive_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self._do_to_chosen(request, queryset, archive_study, gettext("Archived: %(n)d."))

    def _do_to_chosen(
        self, request: HttpRequest, chosen: QuerySet[Any], service: Any, said: str
    ) -> None:
        """Apply a service to those of the chosen studies that the user may change."""
        keys = chosen.order_by().values_list("pk", flat=True)
        changeable = list(Study.objects.changeable_by(request.user).filter(pk__in=list(keys)))
        do_to_each(request, changeable, lambda study: service(study=study), said)
        if left_out := len(keys) - len(changeable):
            text = ngettext(
                "%(n)d study is not yours to change.",
                "%(n)d studies are not yours to change.",
                left_out,
            )
            messages.error(request, text % {"n": left_out})

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        with refusals_shown(request):  # what changed between the form's check and the service
            return super().changeform_view(request, *args, **kwargs)
        return redirect(request.get_full_path())

    def go_to_draft(self, request: HttpRequest, study: Study, page: str, said: Any) -> HttpResponse:
        """Lead from a new study to the page that comes next."""
        messages.success(request, str(said) % {"study": study})
        return redirect(self.page.address(study, page))

    def has_work(self, study: Any) -> bool:
        """Return whether people have begun, so that the study cannot be deleted."""
        raise NotImplementedError

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_module_permission(request) and request.user.has_perm("annotation.add_study")

    def has_delete_permission(self, request: HttpRequest, obj: Study | None = None) -> bool:
        if obj is None or obj.status != StudyStatus.DRAFT or self.has_work(obj):
            return False
        return self.has_change_permission(request, obj)

    @display(description=_("study"), ordering="title")
    def title_link(self, study: Study) -> SafeString:
        address = self.page.address(study, "overview")
        return format_html('<a href="{}">{}</a>', address, study.title)

    @display(description=_("status"), ordering="status")
    def status_badge(self, study: Study) -> SafeString:
        return formatting.study_badge(study)

    @display(description=_("created"), ordering="created_at")
    def created(self, study: Study) -> date:
        return study.created_at.date()
