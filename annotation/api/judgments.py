"""The judgments and coded errors of a study over HTTP, for those who may see it in the admin."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, ClassVar

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from rest_framework import mixins, serializers, viewsets
from rest_framework.exceptions import NotFound

from annotation.api.permissions import Staff
from annotation.api.serializers import CELL_FIELDS
from annotation.common.tables import Column
from annotation.exports.judgments import (
    CODED_COLUMNS,
    JUDGMENT_FIELDS,
    cut_passage,
    read_errors,
    select_errors,
    select_judgments,
)
from annotation.models import CodedError, Judgment, Study


class RowSerializer(serializers.Serializer[Any]):
    """A row of an export, with its columns; takes the cells in their order."""

    columns: ClassVar[tuple[Column, ...]]

    def to_representation(self, instance: Sequence[Any]) -> dict[str, Any]:
        cells = [f"{cell:%Y-%m-%d}" if isinstance(cell, datetime) else cell for cell in instance]
        return dict(zip((column.name for column in self.columns), cells, strict=True))

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {
            column.name: CELL_FIELDS[column.type](
                help_text=f"{column.meaning} ({column.values})", allow_null=True
            )
            for column in self.columns
        }


class JudgmentRowSerializer(RowSerializer):
    """One judgment, with the columns of the export."""

    columns = tuple(column for column, _ in JUDGMENT_FIELDS)


class CodedErrorRowSerializer(RowSerializer):
    """One passage that a judge marked as an error, with the columns of the export."""

    columns = CODED_COLUMNS

    def to_representation(self, instance: Sequence[Any]) -> dict[str, Any]:
        return super().to_representation(cut_passage(instance))


class JudgmentFilter(filters.FilterSet):
    producer = filters.CharFilter(field_name="task__item__producer")
    variety = filters.CharFilter(field_name="task__item__variety")
    annotator = filters.NumberFilter(field_name="task__annotator__number")

    class Meta:
        model = Judgment
        fields = ("producer", "variety", "annotator")


class CodedErrorFilter(filters.FilterSet):
    producer = filters.CharFilter(field_name="judgment__task__item__producer")
    variety = filters.CharFilter(field_name="judgment__task__item__variety")
    annotator = filters.NumberFilter(field_name="judgment__task__annotator__number")

    class Meta:
        model = CodedError
        fields = ("producer", "variety", "annotator", "category")


def find_study(view: viewsets.GenericViewSet[Any]) -> Study:
    """Return the study of the address. Raises `NotFound` unless its reader may see it."""
    public_id = view.kwargs["public_id"]
    found = Study.objects.visible_to(view.request.user).filter(public_id=public_id).first()
    if found is None:
        raise NotFound(f"There is no study “{public_id}” that you may see.")
    return found


class StudyJudgmentViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[Judgment]):
    """The judgments of a study, one row for each counterpart and judge. Judges are numbers."""

    queryset = Judgment.objects.none()
    serializer_class = JudgmentRowSerializer
    permission_classes = (Staff,)
    filterset_class = JudgmentFilter

    def get_queryset(self) -> QuerySet[Judgment]:
        if getattr(self, "swagger_fake_view", False):  # the schema asks without a study
            return super().get_queryset()
        return select_judgments(find_study(self))

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        fields = [field for _, field in JUDGMENT_FIELDS]
        return super().filter_queryset(queryset).values_list(*fields)


class StudyCodedErrorViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[CodedError]):
    """The errors that judges marked, one row for each passage. Judges are numbers."""

    queryset = CodedError.objects.none()
    serializer_class = CodedErrorRowSerializer
    permission_classes = (Staff,)
    filterset_class = CodedErrorFilter

    def get_queryset(self) -> QuerySet[CodedError]:
        if getattr(self, "swagger_fake_view", False):  # the schema asks without a study
            return super().get_queryset()
        return select_errors(find_study(self))

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return read_errors(super().filter_queryset(queryset))
