"""What every kind of study has in common in the admin: its list, its settings, its members."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin, TabularInline
from unfold.decorators import display

from annotation.admin.base import HasImports, HasTabs, StudyScoped
from annotation.admin.history import HeadedAdmin
from annotation.models import Study, StudyMembership, StudyStatus
from annotation.researcher.pages import formatting
from annotation.researcher.pages.page import refusals_shown
from annotation.researcher.pages.study_page import StudyPage


class MembershipInline(TabularInline):
    model = StudyMembership
    fk_name = "study"
    extra = 0
    hide_title = True
    verbose_name = _("member")
    verbose_name_plural = _("Members")

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "user":
            kwargs["queryset"] = User.objects.filter(is_staff=True, is_active=True)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def has_view_permission(self, request: HttpRequest, obj: Study | None = None) -> bool:
        return True

    def has_change_permission(self, request: HttpRequest, obj: Study | None = None) -> bool:
        return obj is not None and obj.is_changeable_by(request.user)

    has_add_permission = has_change_permission
    has_delete_permission = has_change_permission


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
    actions = None
    view_on_site = False
    inlines = (MembershipInline,)

    def get_inlines(self, request: HttpRequest, obj: Study | None) -> Any:
        return self.inlines if obj else ()

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
    def created(self, study: Study) -> str:
        return f"{study.created_at:%Y-%m-%d}"
