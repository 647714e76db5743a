"""Writing and judgment studies in the admin: both are done by annotators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import display

from annotation.admin.base import count_column
from annotation.admin.study_base import BaseStudyAdmin
from annotation.annotators.statement import record_statement
from annotation.corpora.access import visible_corpora
from annotation.counterparts import creation as writing_creation
from annotation.judgments import creation as judging_creation
from annotation.models import (
    Corpus,
    JudgmentStudy,
    Study,
    StudyStatus,
    TaskState,
    WritingStudy,
)
from annotation.researcher.judging.judging_form import WORDING_FIELDS, JudgesPage, JudgingForm
from annotation.researcher.judging.overview import (
    JudgingActions,
    JudgingLive,
    JudgingOverview,
    JudgingPage,
)
from annotation.researcher.pages.annotators import (
    STATEMENT_FIELDSET,
    STUDY_FIELDS,
    AnnotatorStudyPage,
    shared_pages,
)
from annotation.researcher.pages.page import staff_user
from annotation.researcher.writing.adjudication import (
    AdjudicationList,
    CasePage,
    PublishPage,
    UndoPage,
    WritersPage,
    WritingForm,
)
from annotation.researcher.writing.overview import (
    WritingActions,
    WritingLive,
    WritingOverview,
    WritingPage,
)

# Proxies have the history of their study, which the library does not find by itself.
for proxy in (WritingStudy, JudgmentStudy):
    options: Any = proxy._meta
    options.simple_history_manager_attribute = "history"


class AnnotatorStudyAdmin(BaseStudyAdmin):
    """The list and the settings; a kind of study adds its form and its pages."""

    page: ClassVar[type[AnnotatorStudyPage]]
    #: Where its tasks and its design are, and the services of the design.
    tasks_name: ClassVar[str]
    design_name: ClassVar[str]
    create: ClassVar[Callable[..., Study]]
    change_design: ClassVar[Callable[..., Any]]
    #: Where a new study leads, and what is said of it.
    first_page: ClassVar[tuple[str, Any]]

    list_display = ("title_link", "status_badge", "corpus", "n_done", "n_people", "created")
    list_filter: tuple[str, ...] = ("status",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        live = ~Q(**{f"{self.tasks_name}__state": TaskState.WITHDRAWN})
        done = Q(**{f"{self.tasks_name}__state": TaskState.DONE})
        active = Q(annotators__removed_at__isnull=True)
        return (
            self.model.objects.filter(
                kind=self.page.kind, pk__in=Study.objects.visible_to(request.user)
            )
            .select_related(f"{self.design_name}__corpus")
            .annotate(
                tasks=Count(self.tasks_name, filter=live, distinct=True),
                done=Count(self.tasks_name, filter=done, distinct=True),
                people=Count("annotators", filter=active, distinct=True),
            )
        )

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        kwargs["fields"] = STUDY_FIELDS  # the others are no columns of a study
        form = super().get_form(request, obj, change, **kwargs)
        corpora = visible_corpora(request.user)
        if obj is not None:
            chosen = getattr(obj, self.design_name).corpus_id
            corpora = corpora | Corpus.objects.filter(pk=chosen)
        form.base_fields["corpus"].queryset = corpora.distinct()
        return form

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        fields = {name: form.cleaned_data[name] for name in STUDY_FIELDS}
        if not change:
            study = self.create(owner=staff_user(request), **fields, **form.design_options())
            obj.__dict__.update(study.__dict__)
        else:
            study = Study.objects.get(pk=obj.pk)
            for name, value in fields.items():
                setattr(study, name, value)
            study.save()
            if study.status == StudyStatus.DRAFT:
                self.change_design(design=getattr(study, self.design_name), **form.design_options())
        record_statement(study=study, **form.statement_parts())

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: Any = None) -> Any:
        return self.go_to_draft(request, obj, *self.first_page)

    def has_work(self, study: Any) -> bool:
        return getattr(study, self.tasks_name).exists()

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        # A draft goes with its design and its invitations, which have no pages of their own.
        to_delete, counts, _needed, protected = super().get_deleted_objects(objs, request)
        return to_delete, counts, set(), protected

    @display(description=gettext_lazy("corpus"))
    def corpus(self, study: Study) -> str:
        return str(getattr(study, self.design_name).corpus)

    @display(description=gettext_lazy("counterparts"))
    def n_done(self, study: Any) -> str:
        return _("%(n)s of %(wanted)s") % {"n": f"{study.done:,}", "wanted": f"{study.tasks:,}"}

    n_people = count_column("people", gettext_lazy("annotators"))


@admin.register(WritingStudy)
class WritingStudyAdmin(AnnotatorStudyAdmin):
    page = WritingPage
    pages = (
        WritingOverview,
        WritingLive,
        WritingActions,
        WritersPage,
        AdjudicationList,
        PublishPage,
        UndoPage,
        CasePage,
        *shared_pages(WritingPage),
    )
    tasks_name = "writing_tasks"
    design_name = "writing"
    create = staticmethod(writing_creation.create_writing_study)
    change_design = staticmethod(writing_creation.change_design)
    first_page = ("annotators", gettext_lazy("“%(study)s” is a draft. Invite its annotators."))
    form = WritingForm
    change_form_outer_before_template = "admin/annotation/writing/head.html"
    fieldsets = (
        (None, {"fields": STUDY_FIELDS}),
        (
            gettext_lazy("Texts"),
            {"fields": ("corpus", "n_texts", "weighted_by_features", "seed")},
        ),
        (gettext_lazy("Overlap"), {"fields": ("common_texts", "shared_percent", "per_source")}),
        (gettext_lazy("For annotators"), {"fields": ("guidelines",)}),
        STATEMENT_FIELDSET,
    )


@admin.register(JudgmentStudy)
class JudgmentStudyAdmin(AnnotatorStudyAdmin):
    page = JudgingPage
    imports = ("judgments", "annotation.add_judgmentstudy")
    list_filter = ("status", "origin")
    pages = (
        JudgingOverview,
        JudgingLive,
        JudgesPage,
        JudgingActions,
        *shared_pages(JudgingPage),
    )
    tasks_name = "judgment_tasks"
    design_name = "judging"
    create = staticmethod(judging_creation.create_judgment_study)
    change_design = staticmethod(judging_creation.change_design)
    first_page = ("judges", gettext_lazy("“%(study)s” is a draft. Invite its judges."))
    form = JudgingForm
    change_form_outer_before_template = "admin/annotation/judging/head.html"
    fieldsets = (
        (None, {"fields": STUDY_FIELDS}),
        (
            gettext_lazy("What is judged"),
            {"fields": ("corpus", "runs", "include_human", "n_texts", "complete")},
        ),
        (gettext_lazy("Assignment"), {"fields": ("overlap_percent", "seed")}),
        (
            gettext_lazy("Questions"),
            {
                "fields": WORDING_FIELDS,
                "description": gettext_lazy(
                    "As in Deas et al. (2023), appendix C.2. Answers go from 1 to 5, higher is "
                    "better."
                ),
            },
        ),
        (gettext_lazy("Errors"), {"fields": ("marks_errors", "error_scheme")}),
        STATEMENT_FIELDSET,
    )

    @display(description=gettext_lazy("judgments"))
    def n_done(self, study: Any) -> str:
        return super().n_done(study)

    n_people = count_column("people", gettext_lazy("judges"))
