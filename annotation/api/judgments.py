"""The judgments and coded errors of a study over HTTP, for those who may see it in the admin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django_filters import rest_framework as filters

from annotation.api.rows import RowSerializer, StudyRows
from annotation.exports.judgments import (
    CODED_COLUMNS,
    ERROR_PATHS,
    JUDGMENT_FIELDS,
    cut_passage,
    select_errors,
    select_judgments,
)
from annotation.models import CodedError, Judgment


class JudgmentRowSerializer(RowSerializer):
    """One judgment, with the columns of the export."""

    columns = tuple(JUDGMENT_FIELDS.values())


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


class StudyJudgmentViewSet(StudyRows):
    """The judgments of a study, one row for each counterpart and judge. Judges are numbers."""

    queryset = Judgment.objects.none()
    serializer_class = JudgmentRowSerializer
    filterset_class = JudgmentFilter
    select = staticmethod(select_judgments)
    paths = JUDGMENT_FIELDS


class StudyCodedErrorViewSet(StudyRows):
    """The errors that judges marked, one row for each passage. Judges are numbers."""

    queryset = CodedError.objects.none()
    serializer_class = CodedErrorRowSerializer
    filterset_class = CodedErrorFilter
    select = staticmethod(select_errors)
    paths = ERROR_PATHS
