"""Reports over HTTP, for those who may see what they rest on."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.permissions import StaffWithModelPermissions, signed_in
from evaluation.api.serializers import (
    ReportChangeSerializer,
    ReportDetailSerializer,
    ReportKindSerializer,
    ReportRequestSerializer,
    ReportSerializer,
)
from evaluation.models import Report
from evaluation.reports.registry import KINDS
from evaluation.reports.report_changes import delete_report, pin_report, rename_report
from evaluation.reports.requesting import request_report
from evaluation.reports.selectors import changeable_reports, visible_reports


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
