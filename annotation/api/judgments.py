"""The judgments of a study over HTTP, for those who may see it in the admin."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from rest_framework import mixins, serializers, viewsets
from rest_framework.exceptions import NotFound

from annotation.api.permissions import Staff
from annotation.api.serializers import CELL_FIELDS
from annotation.exports.judgments import JUDGMENT_FIELDS, select_judgments
from annotation.models import Judgment
from annotation.studies.access import visible_studies


class JudgmentRowSerializer(serializers.Serializer[Any]):
    """One judgment, with the columns of the export; takes its cells in their order."""

    def to_representation(self, instance: Sequence[Any]) -> dict[str, Any]:
        cells = [f"{cell:%Y-%m-%d}" if isinstance(cell, datetime) else cell for cell in instance]
        return dict(zip((column.name for column, _ in JUDGMENT_FIELDS), cells, strict=True))

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {
            column.name: CELL_FIELDS[column.type](
                help_text=f"{column.meaning} ({column.values})", allow_null=True
            )
            for column, _ in JUDGMENT_FIELDS
        }


class JudgmentFilter(filters.FilterSet):
    producer = filters.CharFilter(field_name="task__item__producer")
    variety = filters.CharFilter(field_name="task__item__variety")
    annotator = filters.NumberFilter(field_name="task__annotator__number")

    class Meta:
        model = Judgment
        fields = ("producer", "variety", "annotator")


class StudyJudgmentViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[Judgment]):
    """The judgments of a study, one row for each counterpart and judge. Judges are numbers."""

    queryset = Judgment.objects.none()
    serializer_class = JudgmentRowSerializer
    permission_classes = (Staff,)
    filterset_class = JudgmentFilter

    def get_queryset(self) -> QuerySet[Judgment]:
        if getattr(self, "swagger_fake_view", False):  # the schema asks without a study
            return super().get_queryset()
        study = visible_studies(self.request.user).filter(public_id=self.kwargs["public_id"])
        if (found := study.first()) is None:
            raise NotFound(f"There is no study “{self.kwargs['public_id']}” that you may see.")
        return select_judgments(found)

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        fields = [field for _, field in JUDGMENT_FIELDS]
        return super().filter_queryset(queryset).values_list(*fields)
