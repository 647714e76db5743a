"""Filters of lists that refuse what they do not understand; the library would leave it out."""

from __future__ import annotations

import re
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django_filters.rest_framework import (
    BooleanFilter,
    ChoiceFilter,
    DjangoFilterBackend,
    NumberFilter,
)
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.views import APIView

M = TypeVar("M", bound=Model)
WHOLE_NUMBER = re.compile(r"-?[0-9]+")
YES_OR_NO = {"true", "false", "True", "False", "1", "0"}


class StrictFilterBackend(DjangoFilterBackend):
    """Answers 400 to what is no choice or no number; else the list would be that of no filter."""

    def filter_queryset(
        self, request: Request, queryset: QuerySet[M], view: APIView
    ) -> QuerySet[M]:
        filterset: Any = self.get_filterset(request, queryset, view)
        for name, one in filterset.filters.items() if filterset is not None else ():
            sent = request.query_params.getlist(name)
            if isinstance(one, BooleanFilter) and not YES_OR_NO.issuperset(sent):
                raise ValidationError({name: "Expected true or false."})
            # All that are numbered here are counted: annotators, trials.
            if isinstance(one, NumberFilter) and not all(map(WHOLE_NUMBER.fullmatch, sent)):
                raise ValidationError({name: "Expected a whole number."})
            if isinstance(one, ChoiceFilter) and "" in sent:
                choices = ", ".join(str(value) for value, _label in one.field.choices if value)
                raise ValidationError({name: f"Expected one of: {choices}."})
        return super().filter_queryset(request, queryset, view)
