"""Addresses of the API, version 1, of its schema and of its documentation page."""

from __future__ import annotations

from django.contrib.admin.views.decorators import staff_member_required
from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.routers import SimpleRouter

from annotation.api.colleagues import StudyInvitationViewSet, StudyMemberViewSet
from annotation.api.corpora import CorpusPairViewSet, CorpusViewSet
from annotation.api.counterparts import StudyCounterpartViewSet, StudyWritingTaskViewSet
from annotation.api.guise_studies import GuiseStudyViewSet
from annotation.api.judgments import StudyCodedErrorViewSet, StudyJudgmentViewSet
from annotation.api.library import GroupSetViewSet
from annotation.api.payments import StudyPaymentViewSet
from annotation.api.views import StudyRatingViewSet, StudyViewSet
from annotation.api.writing_studies import WritingStudyViewSet
from evaluation.api.views import ReportViewSet
from probing.api.imports import ImportViewSet
from probing.api.run_results import (
    RunAnswerViewSet,
    RunCounterpartViewSet,
    RunScoreViewSet,
    RunTextScoreViewSet,
    RunTrainingViewSet,
)
from probing.api.stimuli import StimuliViewSet
from probing.api.views import LanguageModelViewSet, MeasureViewSet, RunViewSet
from stereoscope.api.errors import answer_unknown_address

router = SimpleRouter()
router.register("studies", StudyViewSet, basename="study")
router.register(
    "studies/(?P<public_id>[0-9a-z]{12})/ratings", StudyRatingViewSet, basename="study-rating"
)
router.register(
    "studies/(?P<public_id>[0-9a-z]{12})/judgments", StudyJudgmentViewSet, basename="study-judgment"
)
router.register(
    "studies/(?P<public_id>[0-9a-z]{12})/errors", StudyCodedErrorViewSet, basename="study-error"
)
router.register(
    "studies/(?P<public_id>[0-9a-z]{12})/counterparts",
    StudyCounterpartViewSet,
    basename="study-counterpart",
)
router.register(
    "studies/(?P<public_id>[0-9a-z]{12})/writing-tasks",
    StudyWritingTaskViewSet,
    basename="study-writing-task",
)
router.register(
    "studies/(?P<public_id>[0-9a-z]{12})/payments", StudyPaymentViewSet, basename="study-payment"
)
router.register(
    "studies/(?P<public_id>[0-9a-z]{12})/members", StudyMemberViewSet, basename="study-member"
)
router.register(
    "studies/(?P<public_id>[0-9a-z]{12})/invitations",
    StudyInvitationViewSet,
    basename="study-invitation",
)
router.register("guise-studies", GuiseStudyViewSet, basename="guise-study")
router.register("writing-studies", WritingStudyViewSet, basename="writing-study")
router.register("group-sets", GroupSetViewSet, basename="group-set")
router.register("corpora", CorpusViewSet, basename="corpus")
router.register(
    "corpora/(?P<public_id>[0-9a-z]{12})/pairs", CorpusPairViewSet, basename="corpus-pair"
)
router.register("models", LanguageModelViewSet, basename="model")
router.register("measures", MeasureViewSet, basename="measure")
router.register("runs", RunViewSet, basename="run")
router.register("runs/(?P<public_id>[0-9a-z]{12})/scores", RunScoreViewSet, basename="run-score")
router.register(
    "runs/(?P<public_id>[0-9a-z]{12})/training", RunTrainingViewSet, basename="run-training"
)
router.register(
    "runs/(?P<public_id>[0-9a-z]{12})/text-scores", RunTextScoreViewSet, basename="run-text-score"
)
router.register(
    "runs/(?P<public_id>[0-9a-z]{12})/counterparts",
    RunCounterpartViewSet,
    basename="run-counterpart",
)
router.register("runs/(?P<public_id>[0-9a-z]{12})/answers", RunAnswerViewSet, basename="run-answer")
router.register("imports", ImportViewSet, basename="import")
router.register("stimuli", StimuliViewSet, basename="stimuli")
router.register("reports", ReportViewSet, basename="report")

documentation = SpectacularSwaggerSplitView.as_view(
    url_name="api-schema", template_name="stereoscope/api_docs.html", title="Stereoscope API"
)

urlpatterns = [
    path("v1/", include((router.urls, "api"))),
    path("schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("docs/", staff_member_required(documentation), name="api-docs"),
    re_path(r"^(?P<rest>(?s:.*))$", answer_unknown_address),
]
