"""The library of questions in the admin: one's own, those shared with all, and the ready-made."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import display

from annotation.admin.base import ReadByStaff
from annotation.common.language_codes import own_name
from annotation.instruments.questions.library_content import find_languages, list_words
from annotation.models import LibraryQuestion
from annotation.researcher.instruments.question_library import name_kind

MOST_LETTERS = 90


class WhoseFilter(admin.SimpleListFilter):
    title = _("whose")
    parameter_name = "whose"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [
            ("own", _("Yours")),
            ("shared", _("Shared by others")),
            ("ready", _("Ready-made")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "own":
            return queryset.filter(owner=request.user.pk)
        if self.value() == "shared":
            return queryset.filter(slug="").exclude(owner=request.user.pk)
        if self.value() == "ready":
            return queryset.exclude(slug="")
        return queryset


class KindFilter(admin.SimpleListFilter):
    title = _("kind")
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        seen = LibraryQuestion.objects.visible_to(request.user).order_by()
        return [
            (kind, name_kind(kind)) for kind in sorted(set(seen.values_list("kind", flat=True)))
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(kind=self.value()) if self.value() else queryset


@admin.register(LibraryQuestion)
class LibraryQuestionAdmin(ReadByStaff, ModelAdmin):
    """They are made and used in the designer; here they are found, renamed, shared and deleted."""

    list_display = ("name", "kind_name", "asks_shortly", "languages", "seen_by")
    list_filter = (WhoseFilter, KindFilter)
    search_fields = ("name", "asks", "source")
    list_per_page = 50
    fields = ("name", "is_shared", "source", "whole")
    readonly_fields = ("whole",)
    actions = ("share", "stop_sharing")
    empty_template = "admin/annotation/library/no_questions.html"
    view_on_site = False

    class Media:
        css = {"all": ["annotation/library.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[LibraryQuestion]:
        found = LibraryQuestion.objects.visible_to(request.user)
        return found.defer("file").select_related("owner")

    # --- access -----------------------------------------------------------------------------

    def has_view_permission(self, request: HttpRequest, obj: LibraryQuestion | None = None) -> bool:
        if not self.has_module_permission(request):
            return False
        seen = LibraryQuestion.objects.visible_to(request.user)
        return obj is None or seen.filter(pk=obj.pk).exists()

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(
        self, request: HttpRequest, obj: LibraryQuestion | None = None
    ) -> bool:
        if not self.has_module_permission(request):
            return False
        own = LibraryQuestion.objects.changeable_by(request.user)
        return obj is None or own.filter(pk=obj.pk).exists()

    has_delete_permission = has_change_permission

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        # Studies hold copies: nothing hangs on a question of the library.
        to_delete, counts, _needed, _protected = super().get_deleted_objects(objs, request)
        kept = [
            gettext("“%(name)s” is not yours to delete.") % {"name": row.name}
            for row in objs
            if not self.has_delete_permission(request, row)
        ]
        return to_delete, counts, set(), kept

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[LibraryQuestion]) -> None:
        keys = list(queryset.values_list("pk", flat=True))
        LibraryQuestion.objects.changeable_by(request.user).filter(pk__in=keys).delete()

    # --- several at once --------------------------------------------------------------------

    @admin.action(description=_("Share with all researchers"), permissions=["change"])
    def share(self, request: HttpRequest, queryset: QuerySet[LibraryQuestion]) -> None:
        self._set_shared(request, queryset, is_shared=True)

    @admin.action(description=_("Keep for the owner alone"), permissions=["change"])
    def stop_sharing(self, request: HttpRequest, queryset: QuerySet[LibraryQuestion]) -> None:
        self._set_shared(request, queryset, is_shared=False)

    def _set_shared(
        self, request: HttpRequest, chosen: QuerySet[LibraryQuestion], *, is_shared: bool
    ) -> None:
        keys = list(chosen.values_list("pk", flat=True))
        own = LibraryQuestion.objects.changeable_by(request.user).filter(pk__in=keys)
        n = own.update(is_shared=is_shared)
        if n:
            text = ngettext("%(n)d question changed.", "%(n)d questions changed.", n)
            messages.success(request, text % {"n": n})
        if left_out := len(keys) - n:
            text = ngettext(
                "%(n)d question is not yours to change.",
                "%(n)d questions are not yours to change.",
                left_out,
            )
            messages.error(request, text % {"n": left_out})

    # --- columns ----------------------------------------------------------------------------

    @display(description=_("kind"), ordering="kind")
    def kind_name(self, question: LibraryQuestion) -> str:
        return name_kind(question.kind)

    @display(description=_("asks"))
    def asks_shortly(self, question: LibraryQuestion) -> str:
        text = question.asks
        return text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS].rstrip()} …"

    @display(description=_("languages"))
    def languages(self, question: LibraryQuestion) -> str:
        codes = find_languages(question.kind, question.content)
        return ", ".join(own_name(code) for code in codes)

    @display(description=_("seen by"), ordering="is_shared")
    def seen_by(self, question: LibraryQuestion) -> str:
        if question.is_ready_made:
            return gettext("Everybody, ready-made")
        owner = question.owner.get_username() if question.owner else "–"
        if question.is_shared:
            return gettext("Everybody, by %(name)s") % {"name": owner}
        return gettext("%(name)s alone") % {"name": owner}

    @display(description=_("What it asks"))
    def whole(self, question: LibraryQuestion) -> SafeString:
        context = {
            "question": question,
            "kind": name_kind(question.kind),
            "words": [
                (code, own_name(code), texts)
                for code, texts in list_words(question.content).items()
            ],
        }
        return render_to_string("admin/annotation/library/question.html", context)
