"""The instrument of a study: open to edits while it is a draft, shown as it is once frozen."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db import models
from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin, StackedInline, TabularInline
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextareaWidget

from annotation.admin.base import StudyScoped
from annotation.instruments.flow_description import describe_flow
from annotation.instruments.previews import clear_previews
from annotation.models import (
    DemographicQuestion,
    Instrument,
    Study,
    StudyGroup,
    TraitScale,
    Wording,
)
from annotation.researcher.instruments.arms import ArmsPage
from annotation.researcher.instruments.files import FileList, FilesPage
from annotation.researcher.instruments.instrument_form import (
    InstrumentForm,
    QuestionForm,
    StudyGroupForm,
    TraitScaleForm,
    UniqueEntries,
    WordingForm,
)
from annotation.researcher.instruments.languages import (
    AddLanguage,
    ConfirmLanguage,
    LanguageFile,
    LanguagesPage,
    RemoveLanguage,
)
from annotation.researcher.instruments.pages import (
    ClearPreviews,
    ComparePage,
    FlowCheck,
    PreviewPage,
    build_head,
    may_edit,
)


class ContentRights:
    """Content of an instrument: a draft's is edited by those who may change the study."""

    extra = 0
    hide_title = True
    show_change_link = False

    def has_view_permission(self, request: HttpRequest, obj: Instrument | None = None) -> bool:
        return True

    def has_change_permission(self, request: HttpRequest, obj: Instrument | None = None) -> bool:
        return obj is not None and may_edit(request, obj)

    has_add_permission = has_change_permission
    has_delete_permission = has_change_permission


class ContentInline(ContentRights, TabularInline):
    pass


class StudyGroupInline(ContentInline):
    model = StudyGroup
    form = StudyGroupForm
    formset = UniqueEntries
    fields = ("group", "singular", "plural", "position")
    readonly_fields = ("singular", "plural")
    verbose_name_plural = _("Groups")


class StudyTextInline(ContentInline):
    """The texts of a study of guises: drawn from their corpus at the start, taken out at will."""

    model = StudyGroup
    fields = ("variety", "body", "item", "position")
    readonly_fields = ("variety", "body", "item")
    verbose_name_plural = _("Texts to rate")

    def has_add_permission(self, request: HttpRequest, obj: Instrument | None = None) -> bool:
        return False


class TraitScaleInline(ContentInline):
    model = TraitScale
    form = TraitScaleForm
    formset = UniqueEntries
    fields = ("trait_pair", "low", "high", "dimension", "position")
    readonly_fields = ("low", "high", "dimension")
    verbose_name_plural = _("Trait scales")


class WordingInline(ContentInline):
    model = Wording
    form = WordingForm
    formfield_overrides = {
        models.TextField: {"widget": UnfoldAdminTextareaWidget(attrs={"rows": 2})}
    }
    fields = ("key", "text")
    readonly_fields = ("key",)
    verbose_name_plural = _("Texts")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Wording]:
        """Other languages have a page of their own."""
        return super().get_queryset(request).filter(language=F("instrument__language"))

    # The texts that a page needs are given; only what they say is open.
    def has_add_permission(self, request: HttpRequest, obj: Instrument | None = None) -> bool:
        return False

    has_delete_permission = has_add_permission


class QuestionInline(ContentRights, StackedInline):
    model = DemographicQuestion
    form = QuestionForm

    def get_fields(self, request: HttpRequest, obj: Instrument | None = None) -> Any:
        options = "options" if obj is not None and may_edit(request, obj) else "option_texts"
        return (
            "label",
            "help_text",
            ("slug", "kind"),
            options,
            ("minimum", "maximum"),
            "position",
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Instrument | None = None) -> Any:
        return () if obj is not None and may_edit(request, obj) else ("option_texts",)

    @display(description=_("options"))
    def option_texts(self, question: DemographicQuestion) -> str:
        return "; ".join(str(option) for option in question.options) or "–"

    verbose_name_plural = _("Demographic questions")


@admin.register(Instrument)
class InstrumentAdmin(StudyScoped, ModelAdmin):
    pages = (
        LanguagesPage,
        LanguageFile,
        AddLanguage,
        RemoveLanguage,
        ConfirmLanguage,
        FlowCheck,
        PreviewPage,
        ClearPreviews,
        ComparePage,
        ArmsPage,
        FilesPage,
        FileList,
    )
    form = InstrumentForm
    inlines = (WordingInline, StudyGroupInline, TraitScaleInline, QuestionInline)
    change_form_outer_before_template = "admin/annotation/instrument/head.html"
    fieldsets = (
        (None, {"fields": ("flow", "opened_as")}),
        (
            _("Rating page"),
            {"fields": ("scale_order", "pole_sides", "show_ticks", "one_per_domain")},
        ),
        (
            _("Attention checks"),
            {
                "fields": (
                    "high_from",
                    "low_to",
                    "agreement_rule",
                    "agreement_within",
                    "agreement_at_least",
                    "agreement_tau",
                )
            },
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Instrument]:
        studies = Study.objects.visible_to(request.user)
        return Instrument.objects.filter(study__in=studies).select_related("study")

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Instrument | None:
        instrument = super().get_object(request, object_id, from_field)
        if instrument is not None and request.method == "POST":
            # A launch in the same moment waits for this edit, or this edit finds it frozen.
            return (
                Instrument.objects.select_for_update(of=("self",))
                .select_related("study")
                .get(pk=instrument.pk)
            )
        return instrument

    def get_model_perms(self, request: HttpRequest) -> dict[str, bool]:
        return {}  # an instrument is reached through its study

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Instrument | None = None) -> bool:
        return obj is not None and may_edit(request, obj)

    def get_inlines(self, request: HttpRequest, obj: Instrument | None) -> Any:
        if obj is None or not obj.study.rates_texts:
            return self.inlines
        return [StudyTextInline if one is StudyGroupInline else one for one in self.inlines]

    def get_fieldsets(self, request: HttpRequest, obj: Instrument | None = None) -> Any:
        if obj is not None and may_edit(request, obj):
            return self.fieldsets
        return ((None, {"fields": ("steps",)}), *self.fieldsets[1:])

    def get_readonly_fields(self, request: HttpRequest, obj: Instrument | None = None) -> Any:
        return () if obj is not None and may_edit(request, obj) else ("steps",)

    @display(description=_("steps"))
    def steps(self, instrument: Instrument) -> SafeString:
        """Return the flow in words, numbered."""
        labels = [(words,) for words in describe_flow(instrument.flow)]
        return format_html('<ol class="steps">{}</ol>', format_html_join("", "<li>{}</li>", labels))

    def response_post_save_change(self, request: HttpRequest, obj: Instrument) -> HttpResponse:
        """Stay at the instrument: its list leads to all studies."""
        return redirect("admin:annotation_instrument_change", obj.pk)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return redirect("admin:annotation_study_changelist")

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        extra = dict(extra_context or {}, show_save_and_add_another=False, show_close=False)
        extra |= {"show_history": False, "show_save_and_continue": False}
        instrument = self.get_object(request, object_id) if object_id else None
        if instrument is not None:
            if request.method == "POST" and may_edit(request, instrument):
                # What a preview showed would be gone, and its rows would hold on to it.
                clear_previews(study=instrument.study, instrument=instrument)
            extra |= build_head(request, instrument)
        return super().changeform_view(request, object_id, form_url, extra)
