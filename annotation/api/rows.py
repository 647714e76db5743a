"""Rows of a study over HTTP, with the columns of its exports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from django.db.models import Q, QuerySet
from rest_framework import mixins, serializers, viewsets
from rest_framework.exceptions import NotFound

from annotation.api.permissions import Staff
from annotation.common.tables import Column, ColumnType
from annotation.exports.fields import coarsen
from annotation.models import Study

CELL_FIELDS: dict[ColumnType, type[serializers.Field[Any, Any, Any, Any]]] = {
    ColumnType.TEXT: serializers.CharField,
    ColumnType.NUMBER: serializers.FloatField,
    ColumnType.INTEGER: serializers.IntegerField,
    ColumnType.BOOLEAN: serializers.BooleanField,
    ColumnType.TIME: serializers.DateTimeField,
}


class RowSerializer(serializers.Serializer[Any]):
    """One row; takes its cells in the order of the columns."""

    columns: ClassVar[Sequence[Column]]

    def to_representation(self, instance: Sequence[Any]) -> dict[str, Any]:
        names = (column.name for column in self.columns)
        return dict(zip(names, map(coarsen, instance), strict=True))

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {
            column.name: CELL_FIELDS[column.type](
                help_text=f"{column.meaning} ({column.values})", allow_null=True
            )
            for column in self.columns
        }


class StudyRows(mixins.ListModelMixin, viewsets.GenericViewSet[Any]):
    """The rows of the study in the address, for those who may see it in the admin."""

    permission_classes = (Staff,)
    #: Returns the rows of a study, and the fields that make their cells.
    select: ClassVar[Callable[..., QuerySet[Any]]]
    paths: ClassVar[Iterable[str]]
    #: Which studies have such rows, and what one of them is called.
    studies: ClassVar[Q] = Q()
    called: ClassVar[str] = "study"

    def get_queryset(self) -> QuerySet[Any]:
        if getattr(self, "swagger_fake_view", False):  # the schema asks without a study
            return super().get_queryset()
        return self.select(find_study(self, self.studies, called=self.called))

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return super().filter_queryset(queryset).values_list(*self.paths)


def find_study(
    view: viewsets.GenericViewSet[Any], among: Q | None = None, *, called: str = "study"
) -> Study:
    """Return the study of an address. Raises `NotFound` unless its reader may see it."""
    public_id = view.kwargs["public_id"]
    seen = Study.objects.visible_to(view.request.user).filter(among or Q())
    if (found := seen.filter(public_id=public_id).first()) is None:
        raise NotFound(f"There is no {called} “{public_id}” that you may see.")
    return found
