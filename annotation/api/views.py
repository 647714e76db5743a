"""Studies over HTTP, for those who may see them in the admin."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.permissions import Staff, StaffWithModelPermissions, signed_in
from annotation.api.serializers import (
    ExportFileSerializer,
    GroupQuotaSerializer,
    NewStudySerializer,
    RatingRowSerializer,
    StudyDetailSerializer,
    StudySerializer,
)
from annotation.common.tables import stream_csv
from annotation.exports.downloads import build_download, list_files
from annotation.exports.ratings import RATING_FIELDS, build_rating_table, select_ratings
from annotation.exports.submissions import build_submission_table
from annotation.instruments.versions import current_instrument, published_instrument
from annotation.models import DataDecision, Rating, Study
from annotation.models.submission import EXTRA_ORIGINS
from annotation.studies.creation import create_study
from annotation.studies.quotas import count_quotas

PUBLIC_ID = "[0-9a-z]{12}"


class CsvRenderer(BaseRenderer):
    """Lets a client ask for ``text/csv``; the view streams the file itself."""

    media_type = "text/csv"
    format = "csv"
    charset = "utf-8"

    def render(self, data: Any, *args: Any, **kwargs: Any) -> bytes:
        # Only errors come here: they stay problem documents.
        return JSONRenderer().render(data)


@extend_schema_view(retrieve=extend_schema(responses=StudyDetailSerializer))
class StudyViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Study]
):
    """Studies that this account owns or is a member of; new ones are drafts of group ratings."""

    queryset = Study.objects.none()
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

    @extend_schema(responses={201: StudyDetailSerializer})
    def create(self, request: Request) -> Response:
        form = self.get_serializer(data=request.data)
        form.is_valid(raise_exception=True)
        study = create_study(owner=signed_in(request), **form.validated_data)
        return Response(StudyDetailSerializer(study).data, status=status.HTTP_201_CREATED)

    @extend_schema(responses=GroupQuotaSerializer(many=True))
    @action(detail=True, methods=["get"], pagination_class=None, filter_backends=[])
    def quotas(self, request: Request, public_id: str) -> Response:
        """Say how far every group is from its quota of accepted submissions."""
        study = self.get_object()
        instrument = published_instrument(study) or current_instrument(study)
        quotas = count_quotas(study, instrument=instrument) if instrument else []
        return Response(GroupQuotaSerializer(quotas, many=True).data)

    @extend_schema(responses={(200, "text/csv"): OpenApiTypes.STR})
    @action(detail=True, methods=["get"], url_path="ratings.csv", renderer_classes=[CsvRenderer])
    def ratings_csv(self, request: Request, public_id: str) -> StreamingHttpResponse:
        """Return all ratings as the tidy CSV that the admin exports, streamed."""
        study = self.get_object()
        response = StreamingHttpResponse(
            stream_csv(build_rating_table(study)), content_type="text/csv; charset=utf-8"
        )
        response["Content-Disposition"] = f'attachment; filename="ratings-{public_id}.csv"'
        return response

    @extend_schema(responses={(200, "text/csv"): OpenApiTypes.STR})
    @action(
        detail=True, methods=["get"], url_path="submissions.csv", renderer_classes=[CsvRenderer]
    )
    def submissions_csv(self, request: Request, public_id: str) -> StreamingHttpResponse:
        """Return all submissions with checks, quality flags and decisions, as the admin exports
        them, streamed."""
        study = self.get_object()
        response = StreamingHttpResponse(
            stream_csv(build_submission_table(study)), content_type="text/csv; charset=utf-8"
        )
        response["Content-Disposition"] = f'attachment; filename="submissions-{public_id}.csv"'
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
            *(
                OpenApiParameter(origin, bool, description="Submissions of this origin as well.")
                for origin in EXTRA_ORIGINS
            ),
        ],
    )
    @action(detail=True, methods=["get"], url_path=r"exports/(?P<name>[\w.-]{1,80})")
    def export_file(self, request: Request, public_id: str, name: str) -> StreamingHttpResponse:
        """Return one file of a study, such as `ratings.sav` or `participants.parquet`, streamed."""
        include = [origin for origin in EXTRA_ORIGINS if origin in request.query_params]
        try:
            return build_download(self.get_object(), name, include=include)
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


class StudyRatingViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[Rating]):
    """The ratings of a study, one row each. Analyses use accepted, unrepeated ones only."""

    queryset = Rating.objects.none()
    serializer_class = RatingRowSerializer
    permission_classes = (Staff,)
    filterset_class = RatingFilter

    def get_queryset(self) -> QuerySet[Rating]:
        if getattr(self, "swagger_fake_view", False):  # the schema asks without a study
            return super().get_queryset()
        study = Study.objects.visible_to(self.request.user).filter(
            public_id=self.kwargs["public_id"]
        )
        if (found := study.first()) is None:
            raise NotFound(f"There is no study “{self.kwargs['public_id']}” that you may see.")
        return select_ratings(found)

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return super().filter_queryset(queryset).values_list(*(field for _, field in RATING_FIELDS))
