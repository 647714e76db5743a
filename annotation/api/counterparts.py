"""Counterparts and writing tasks over HTTP, with the columns of the exports."""

from django.db.models import Q
from django_filters import rest_framework as filters

from annotation.api.rows import RowSerializer, StudyRows
from annotation.exports.counterparts import (
    COUNTERPART_FIELDS,
    TASK_FIELDS,
    select_counterparts,
    select_tasks,
)
from annotation.models import Overlap, StudyKind, TaskState, WritingTask


class CounterpartRowSerializer(RowSerializer):
    columns = tuple(COUNTERPART_FIELDS.values())


class WritingTaskRowSerializer(RowSerializer):
    columns = tuple(TASK_FIELDS.values())


class WritingTaskFilter(filters.FilterSet):
    annotator = filters.NumberFilter(field_name="annotator__number")
    text = filters.CharFilter(field_name="text__slug")
    source = filters.CharFilter(field_name="text__source")
    overlap = filters.ChoiceFilter(choices=Overlap.choices)
    state = filters.ChoiceFilter(choices=TaskState.choices)

    class Meta:
        model = WritingTask
        fields = ("annotator", "text", "source", "overlap", "state")


class _WritingRows(StudyRows):
    queryset = WritingTask.objects.none()
    filterset_class = WritingTaskFilter
    studies = Q(kind=StudyKind.COUNTERPART_WRITING)
    called = "writing study"


class StudyCounterpartViewSet(_WritingRows):
    """The submitted counterparts of a writing study; annotators are numbers alone."""

    serializer_class = CounterpartRowSerializer
    select = staticmethod(select_counterparts)
    paths = COUNTERPART_FIELDS


class StudyWritingTaskViewSet(_WritingRows):
    """Who has which text of a writing study, and how far it is."""

    serializer_class = WritingTaskRowSerializer
    select = staticmethod(select_tasks)
    paths = TASK_FIELDS
