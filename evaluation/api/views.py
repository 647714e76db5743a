"""Reports over HTTP, for those who may see what they rest on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.fields import PublicIdField
from annotation.api.permissions import StaffWithModelPermissions, signed_in
from annotation.corpora.access import visible_corpora
from annotation.models import Corpus, Study
from evaluation.models import Report
from evaluation.reports.registry import KINDS
from evaluation.reports.requesting import request_report
from evaluation.reports.selectors import changeable_reports, visible_reports
from evaluation.reports.views import delete_report, pin_report, rename_report
from probing.models import Run
from probing.runs.access import visible_runs

# --- What the API says about reports, and what it takes to ask for one ----------------------------


class ReportSerializer(serializers.ModelSerializer[Report]):
    kind = serializers.CharField(read_only=True, help_text="What it asks; see the list of kinds.")
    study = serializers.CharField(
        source="study.public_id", read_only=True, default=None, allow_null=True
    )
    second_study = serializers.CharField(
        source="second_study.public_id", read_only=True, default=None, allow_null=True
    )
    corpus = serializers.CharField(
        source="corpus.public_id", read_only=True, default=None, allow_null=True
    )
    runs = serializers.SerializerMethodField(help_text="Public ids of its runs.")
    models = serializers.SerializerMethodField(help_text="Names of the models of its runs.")
    is_demo = serializers.SerializerMethodField(
        help_text="Whether a model is a demo; if so, the numbers mean nothing."
    )
    origin = serializers.CharField(
        source="study.origin",
        read_only=True,
        default=None,
        allow_null=True,
        help_text="Where people's data come from.",
    )
    n_withdrawn = serializers.IntegerField(
        read_only=True,
        default=0,
        help_text="People who have withdrawn answers since that the numbers may rest on.",
    )
    page = serializers.SerializerMethodField(help_text="Address of the report's page.")
    parameters = serializers.DictField(read_only=True)

    class Meta:
        model = Report
        fields: tuple[str, ...] = (
            "public_id",
            "kind",
            "title",
            "study",
            "second_study",
            "corpus",
            "runs",
            "models",
            "is_demo",
            "origin",
            "parameters",
            "status",
            "error",
            "is_pinned",
            "created_at",
            "built_at",
            "n_withdrawn",
            "code_version",
            "page",
        )
        read_only_fields = fields

    def get_page(self, report: Report) -> str:
        return settings.SITE_URL + reverse("reports:page", args=[report.public_id])

    def get_runs(self, report: Report) -> list[str]:
        return [run.public_id for run in report.runs.all()]

    def get_models(self, report: Report) -> list[str]:
        return list(dict.fromkeys(run.model.name for run in report.runs.all()))

    def get_is_demo(self, report: Report) -> bool:
        return any(run.model.is_demo for run in report.runs.all())


class ReportDetailSerializer(ReportSerializer):
    files = serializers.SerializerMethodField()
    inputs = serializers.DictField(read_only=True)
    library_versions = serializers.DictField(child=serializers.CharField(), read_only=True)
    result = serializers.JSONField(read_only=True, help_text="The analysis; null until built.")

    class Meta(ReportSerializer.Meta):
        fields = (*ReportSerializer.Meta.fields, "inputs", "library_versions", "files", "result")
        read_only_fields = fields

    def get_files(self, report: Report) -> list[dict[str, str]]:
        names = report.files.values_list("name", "media_type")
        return [{"name": name, "media_type": kind} for name, kind in names]


class ReportChangeSerializer(serializers.Serializer[Any]):
    """What can be changed of a report; its numbers cannot."""

    title = serializers.CharField(max_length=240, required=False)
    is_pinned = serializers.BooleanField(required=False)


class ReportKindSerializer(serializers.Serializer[Any]):
    """A kind of report: what it asks, what it rests on, which options it has."""

    name = serializers.CharField()
    title = serializers.CharField()
    question = serializers.CharField()
    study = serializers.SerializerMethodField(help_text="Kind of study that it needs, or null.")
    second_study = serializers.SerializerMethodField(
        help_text="Kind of the study that it sets beside the first, or null."
    )
    corpus = serializers.SerializerMethodField(help_text="Whether it needs a corpus.")
    measures = serializers.SerializerMethodField(
        help_text="Measures of its runs; null for measures of groups, empty for none."
    )
    least_runs = serializers.SerializerMethodField()
    most_runs = serializers.SerializerMethodField(help_text="Null for any number.")
    parameters = serializers.SerializerMethodField(help_text="JSON Schema of its options.")

    def get_study(self, kind: Any) -> str | None:
        return str(kind.study.kind) if kind.study else None

    def get_second_study(self, kind: Any) -> str | None:
        return str(kind.second_study.kind) if kind.second_study else None

    def get_corpus(self, kind: Any) -> bool:
        return kind.corpus is not None

    def get_measures(self, kind: Any) -> list[str] | None:
        if kind.runs is None:
            return []
        return None if kind.runs.measures is None else list(kind.runs.measures)

    def get_least_runs(self, kind: Any) -> int:
        return kind.runs.least if kind.runs else 0

    def get_most_runs(self, kind: Any) -> int | None:
        return kind.runs.most if kind.runs else 0

    def get_parameters(self, kind: Any) -> dict[str, Any]:
        schema: dict[str, Any] = kind.Parameters.model_json_schema()
        return schema


class VisibleField(PublicIdField):
    """Something by its public id; what ``visible`` hides from the account does not exist."""

    def __init__(self, *, visible: Callable[[Any], QuerySet[Any]], **how: Any) -> None:
        super().__init__(slug_field="public_id", **how)
        self.visible = visible

    def get_queryset(self) -> Any:
        request = self.context.get("request")
        return self.visible(request.user) if request else super().get_queryset()


class ReportRequestSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=sorted(KINDS), default="alignment")
    study = VisibleField(
        visible=Study.objects.visible_to,
        queryset=Study.objects.none(),
        required=False,
        help_text="Public id of a study, for kinds that need one.",
    )
    second_study = VisibleField(
        visible=Study.objects.visible_to,
        queryset=Study.objects.none(),
        required=False,
        help_text="Public id of a study to set beside the first, for kinds that compare two.",
    )
    corpus = VisibleField(
        visible=visible_corpora,
        queryset=Corpus.objects.none(),
        required=False,
        help_text="Public id of a corpus, for kinds that need one.",
    )
    runs = VisibleField(
        visible=lambda user: visible_runs(user).select_related("model", "corpus"),
        queryset=Run.objects.none(),
        many=True,
        required=False,
        help_text="Public ids of runs; the report is built as soon as all are finished.",
    )
    title = serializers.CharField(max_length=240, required=False, default="", allow_blank=True)
    parameters = serializers.DictField(
        required=False, default=dict, help_text="Options of the kind."
    )


@extend_schema_view(retrieve=extend_schema(responses=ReportDetailSerializer))
class ReportViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Report]
):
    """Reports on studies and corpora that this account may see."""

    queryset = Report.objects.none()
    permission_classes = (StaffWithModelPermissions,)
    filterset_fields = (
        "status",
        "kind",
        "study__public_id",
        "corpus__public_id",
        "runs__public_id",
    )
    lookup_field = "public_id"
    lookup_value_regex = "[0-9a-z]{12}"

    def get_queryset(self) -> QuerySet[Report]:
        reports = visible_reports(self.request.user).order_by("-pk")
        return reports.defer("result", "inputs") if self.action == "list" else reports

    def get_serializer_class(self) -> type[ReportSerializer]:
        return ReportSerializer if self.action == "list" else ReportDetailSerializer

    @extend_schema(request=ReportRequestSerializer, responses={201: ReportDetailSerializer})
    def create(self, request: Request) -> Response:
        """Ask for a report; a worker builds it as soon as all its runs are finished."""
        form = ReportRequestSerializer(data=request.data, context={"request": request})
        form.is_valid(raise_exception=True)
        report = request_report(**form.validated_data, created_by=signed_in(request))
        return Response(ReportDetailSerializer(report).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=ReportChangeSerializer, responses=ReportDetailSerializer)
    def partial_update(self, request: Request, public_id: str) -> Response:
        """Rename or pin a report."""
        report = self._get_changeable()
        form = ReportChangeSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        if "title" in form.validated_data:
            rename_report(report=report, title=form.validated_data["title"])
        if "is_pinned" in form.validated_data:
            pin_report(report=report, is_pinned=form.validated_data["is_pinned"])
        return Response(ReportDetailSerializer(report).data)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, public_id: str) -> Response:
        """Delete a report with its files and links; what it rests on stays."""
        delete_report(report=self._get_changeable(), deleted_by=signed_in(request))
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _get_changeable(self) -> Report:
        report = self.get_object()
        if not changeable_reports(self.request.user).filter(pk=report.pk).exists():
            raise PermissionDenied
        return report

    @extend_schema(responses=ReportKindSerializer(many=True), filters=False)
    @action(detail=False, methods=["get"], pagination_class=None, filter_backends=[])
    def kinds(self, request: Request) -> Response:
        """Return every kind of report: what it asks, what it rests on, its options."""
        return Response(ReportKindSerializer(KINDS.values(), many=True).data)

    @extend_schema(
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
        parameters=[OpenApiParameter("name", str, OpenApiParameter.PATH)],
    )
    @action(detail=True, methods=["get"], url_path=r"files/(?P<name>[\w.-]{1,80})")
    def files(self, request: Request, public_id: str, name: str) -> HttpResponse:
        """Return one file of a report, such as `report.html` or `groups.csv`."""
        found = get_object_or_404(self.get_object().files, name=name)
        response = HttpResponse(bytes(found.content), content_type=found.media_type)
        response["Content-Disposition"] = f'attachment; filename="{public_id}-{name}"'
        return response
