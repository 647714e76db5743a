"""Studies over HTTP, for those who may see them in the admin."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, serializers
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.drafts import CreatesDrafts
from annotation.api.permissions import Staff, StaffWithModelPermissions
from annotation.api.rows import StudyRows
from annotation.api.serializers import (
    ExportFileSerializer,
    GroupQuotaSerializer,
    NewStudySerializer,
    RatingRowSerializer,
    StudyDetailSerializer,
    StudySerializer,
)
from annotation.common.tables import Table, stream_csv
from annotation.exports.downloads import build_download, list_files
from annotation.exports.ratings import RATING_FIELDS, build_rating_table, select_ratings
from annotation.exports.submissions import build_submission_table
from annotation.instruments.versions import current_instrument, published_instrument
from annotation.models import DataDecision, Rating, Study
from annotation.models.submission import EXTRAS
from annotation.studies.creation import create_study
from annotation.studies.quotas import count_quotas

PUBLIC_ID = "[0-9a-z]{12}"


BOM = OpenApiParameter("bom", bool, description="A byte order mark, so that Excel reads UTF-8.")


def wants_mark(request: Request) -> bool:
    return request.query_params.get("bom", "").lower() in ("true", "1")


class CsvRenderer(BaseRenderer):
    """Lets a client ask for ``text/csv``; the view streams the file itself."""

    media_type = "text/csv"
    format = "csv"
    charset = "utf-8"

    def render(self, data: Any, *args: Any, **kwargs: Any) -> bytes:
        # Only errors come here: they stay problem documents.
        return JSONRenderer().render(data)


@extend_schema_view(retrieve=extend_schema(responses=StudyDetailSerializer))
class StudyViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, CreatesDrafts):
    """Studies that this account owns or is a member of; new ones are drafts of group ratings."""

    queryset = Study.objects.none()
    service = staticmethod(create_study)
    permission_classes = (Staff,)
    filterset_fields = ("status", "origin", "kind", "panel")
    lookup_field = "public_id"
    lookup_value_regex = PUBLIC_ID

    def get_queryset(self) -> QuerySet[Study]:
        return Study.objects.visible_to(self.request.user).order_by("-created_at", "-pk")

    def get_permissions(self) -> list[Any]:
        return [StaffWithModelPermissions()] if self.action == "create" else [Staff()]

    def get_serializer_class(self) -> type[serializers.BaseSerializer[Any]]:
        found: dict[str, type[serializers.BaseSerializer[Any]]] = {
            "list": StudySerializer,
            "create": NewStudySerializer,
        }
        return found.get(self.action, StudyDetailSerializer)

    @extend_schema(responses=GroupQuotaSerializer(many=True))
    @action(detail=True, methods=["get"], pagination_class=None, filter_backends=[])
    def quotas(self, request: Request, public_id: str) -> Response:
        """Say how far every group is from its quota of accepted submissions."""
        study = self.get_object()
        instrument = published_instrument(study) or current_instrument(study)
        quotas = count_quotas(study, instrument=instrument) if instrument else []
        return Response(GroupQuotaSerializer(quotas, many=True).data)

    @extend_schema(responses={(200, "text/csv"): OpenApiTypes.STR}, parameters=[BOM])
    @action(detail=True, methods=["get"], url_path="ratings.csv", renderer_classes=[CsvRenderer])
    def ratings_csv(self, request: Request, public_id: str) -> StreamingHttpResponse:
        """Return all ratings as the tidy CSV that the admin exports, streamed."""
        return self._stream(build_rating_table(self.get_object()))

    @extend_schema(responses={(200, "text/csv"): OpenApiTypes.STR}, parameters=[BOM])
    @action(
        detail=True, methods=["get"], url_path="submissions.csv", renderer_classes=[CsvRenderer]
    )
    def submissions_csv(self, request: Request, public_id: str) -> StreamingHttpResponse:
        """Return all submissions with checks, quality flags and decisions, as the admin exports
        them, streamed."""
        return self._stream(build_submission_table(self.get_object()))

    def _stream(self, table: Table) -> StreamingHttpResponse:
        csv = "text/csv; charset=utf-8"
        response = StreamingHttpResponse(
            stream_csv(table, bom=wants_mark(self.request)), content_type=csv
        )
        name = f"{table.name}-{self.kwargs['public_id']}.csv"
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        return response

    @extend_schema(responses=ExportFileSerializer(many=True))
    @action(detail=True, methods=["get"], pagination_class=None, filter_backends=[])
    def exports(self, request: Request, public_id: str) -> Response:
        """List the files that a study is exported as: each table in each format."""
        study, base = self.get_object(), request.build_absolute_uri()
        files = [{"name": name, "address": f"{base}{name}/"} for name in list_files(study)]
        return Response(ExportFileSerializer(files, many=True).data)

    @extend_schema(
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
        parameters=[
            OpenApiParameter("name", str, OpenApiParameter.PATH),
            BOM,
            *(
                OpenApiParameter(
                    extra, bool, description=f"Submissions that are “{extra}” as well."
                )
                for extra in EXTRAS
            ),
        ],
    )
    @action(detail=True, methods=["get"], url_path=r"exports/(?P<name>[\w.-]{1,80})")
    def export_file(self, request: Request, public_id: str, name: str) -> StreamingHttpResponse:
        """Return one file of a study, such as `ratings.sav` or `participants.parquet`, streamed."""
        include = [extra for extra in EXTRAS if extra in request.query_params]
        try:
            bom = wants_mark(request)
            return build_download(self.get_object(), name, bom=bom, include=include)
        except KeyError:
            raise NotFound(f"This study has no file “{name}”.") from None
        except ValueError as error:
            raise serializers.ValidationError({"name": [str(error)]}) from None


class RatingFilter(filters.FilterSet):
    data_decision = filters.ChoiceFilter(
        field_name="assignment__submission__data_decision", choices=DataDecision.choices
    )
    group = filters.CharFilter(field_name="assignment__group__slug")
    scale = filters.CharFilter(field_name="scale__slug")
    is_repeat = filters.BooleanFilter(field_name="assignment__is_repeat")

    class Meta:
        model = Rating
        fields = ("data_decision", "group", "scale", "is_repeat")


class StudyRatingViewSet(StudyRows):
    """The ratings of a study, one row each. Analyses use accepted, unrepeated ones only."""

    queryset = Rating.objects.none()
    serializer_class = RatingRowSerializer
    filterset_class = RatingFilter
    paths = RATING_FIELDS

    def select(self, study: Study) -> QuerySet[Rating]:
        """Excluded data come only where decisions are asked for by name."""
        asked = "data_decision" in self.request.query_params
        return select_ratings(study, include=[DataDecision.EXCLUDED] if asked else [])
