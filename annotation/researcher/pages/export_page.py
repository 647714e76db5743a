"""The downloads of a study and how its overview lists them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from annotation.common.table_formats import TABLE_FORMATS
from annotation.exports.downloads import build_download
from annotation.exports.study_tables import list_study_tables
from annotation.models import Study
from annotation.models.submission import EXTRAS
from annotation.researcher.pages.study_page import StudyPage

ExportRow = tuple[Any, Any, list[tuple[Any, str]]]


class ExportPage(StudyPage):
    """The downloads of a study, by the names of their files."""

    route = "<int:pk>/export/<str:name>/"
    name = "export"

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        include = [extra for extra in EXTRAS if extra in request.GET]
        bom = "bom" in request.GET
        try:
            return build_download(self.study, kwargs["name"], bom=bom, include=include)
        except KeyError:
            raise Http404 from None
        except ValueError as error:  # a table that the format cannot hold
            messages.error(request, str(error))
            address = f"admin:annotation_{self.model_name}_overview"
            return redirect(f"{reverse(address, args=[self.study.pk])}#export")


def describe_exports(study: Study, model_name: str) -> list[ExportRow]:
    """Return title, content and files of each table of a study. One query at the utmost."""
    return [
        (table.title, table.content, list_addresses(table.name, model_name, study.pk))
        for table in list_study_tables(study).values()
    ]


def list_addresses(
    table: str, model_name: str, pk: int, *, ends: Iterable[str] = TABLE_FORMATS
) -> list[tuple[Any, str]]:
    """Return label and address of a table's files."""
    name = f"admin:annotation_{model_name}_export"
    return [(TABLE_FORMATS[end].label, reverse(name, args=[pk, f"{table}{end}"])) for end in ends]
