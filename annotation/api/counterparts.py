"""Counterparts and writing tasks over HTTP, with the columns of the exports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from rest_framework import mixins, serializers, viewsets
from rest_framework.exceptions import NotFound

from annotation.api.permissions import Staff
from annotation.api.serializers import CELL_FIELDS
from annotation.common.tables import Column
from annotation.exports.counterparts import (
    COUNTERPART_FIELDS,
    TASK_FIELDS,
    coarsen,
    select_counterparts,
    select_tasks,
)
from annotation.models import Overlap, Study, StudyKind, TaskState, WritingTask


class _RowSerializer(serializers.Serializer[Any]):
    """One row with the columns of an export; takes its cells in their order."""

    row_fields: Sequence[tuple[Column, str]] = ()

    def to_representation(self, instance: Sequence[Any]) -> dict[str, Any]:
        names = [column.name for column, _field in self.row_fields]
        return dict(zip(names, map(coarsen, instance), strict=True))

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {
            column.name: CELL_FIELDS[column.type](
                help_text=f"{column.meaning} ({column.values})", allow_null=True
            )
            for column, _field in self.row_fields
        }


class CounterpartRowSerializer(_RowSerializer):
    row_fields = COUNTERPART_FIELDS


class WritingTaskRowSerializer(_RowSerializer):
    row_fields = TASK_FIELDS


class WritingTaskFilter(filters.FilterSet):
    annotator = filters.NumberFilter(field_name="annotator__number")
    text = filters.CharFilter(field_name="text__slug")
    source = filters.CharFilter(field_name="text__source")
    overlap = filters.ChoiceFilter(choices=Overlap.choices)
    state = filters.ChoiceFilter(choices=TaskState.choices)

    class Meta:
        model = WritingTask
        fields = ("annotator", "text", "source", "overlap", "state")


class _WritingRows(mixins.ListModelMixin, viewsets.GenericViewSet[WritingTask]):
    queryset = WritingTask.objects.none()
    permission_classes = (Staff,)
    filterset_class = WritingTaskFilter
    row_fields: Sequence[tuple[Column, str]] = ()

    def find_study(self) -> Study:
        public_id = self.kwargs["public_id"]
        studies = Study.objects.visible_to(self.request.user).filter(
            kind=StudyKind.COUNTERPART_WRITING
        )
        if (found := studies.filter(public_id=public_id).first()) is None:
            raise NotFound(f"There is no writing study “{public_id}” that you may see.")
        return found

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        names = [field for _column, field in self.row_fields]
        return super().filter_queryset(queryset).values_list(*names)


class StudyCounterpartViewSet(_WritingRows):
    """The submitted counterparts of a writing study; annotators are numbers alone."""

    serializer_class = CounterpartRowSerializer
    row_fields = COUNTERPART_FIELDS

    def get_queryset(self) -> QuerySet[WritingTask]:
        if getattr(self, "swagger_fake_view", False):  # the schema asks without a study
            return super().get_queryset()
        return select_counterparts(self.find_study())


class StudyWritingTaskViewSet(_WritingRows):
    """Who has which text of a writing study, and how far it is."""

    serializer_class = WritingTaskRowSerializer
    row_fields = TASK_FIELDS

    def get_queryset(self) -> QuerySet[WritingTask]:
        if getattr(self, "swagger_fake_view", False):
            return super().get_queryset()
        return select_tasks(self.find_study())
