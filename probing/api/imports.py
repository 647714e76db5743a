"""Imports of what was made elsewhere over HTTP."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status, viewsets
from rest_framework.exceptions import PermissionDenied
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.permissions import Staff, signed_in
from annotation.common.strict_json import JsonRefused, read_strict_json
from annotation.common.table_file import TableFileError
from annotation.imports.bad_rows import write_bad_rows
from annotation.imports.import_kind import (
    BadImportError,
    ImportKind,
    ImportPlan,
    ImportRequest,
    import_kinds,
    plan_import,
)
from annotation.imports.recipes import import_and_save, list_recipes, use_recipe

LONGEST_CONTENT = 50_000_000
PROBLEMS_TOLD = 500


@extend_schema_field(OpenApiTypes.BINARY)
class SentFileField(serializers.FileField):
    """A file of a form."""


class ImportRequestSerializer(serializers.Serializer[Any]):
    """A file, as text in JSON or as it is in multipart/form-data, with the options of its kind.

    In multipart/form-data, `options` and `columns` are JSON objects.
    """

    kind = serializers.ChoiceField(choices=[])
    file = SentFileField(
        required=False, max_length=200, help_text="In multipart/form-data: the file as it is."
    )
    file_name = serializers.CharField(
        max_length=200, required=False, help_text="Beside content: its ending says how it is read."
    )
    content = serializers.CharField(
        max_length=LONGEST_CONTENT,
        required=False,
        trim_whitespace=False,
        help_text="In JSON: the file’s text.",
    )
    options = serializers.DictField(
        child=serializers.CharField(allow_blank=True, max_length=10_000),
        required=False,
        default=dict,
        help_text="As the list of kinds describes them.",
    )
    columns = serializers.DictField(
        child=serializers.CharField(max_length=1000),
        required=False,
        default=dict,
        help_text="The file’s column by what it holds, where the names do not say so; columns of a "
        "file without a heading are 1, 2 …",
    )
    sheet = serializers.CharField(
        max_length=100,
        required=False,
        default="",
        allow_blank=True,
        help_text="Of a workbook, the one to read; without it the one whose columns fit best.",
    )
    recipe = serializers.CharField(
        max_length=60,
        required=False,
        default="",
        allow_blank=True,
        help_text="Columns as they were saved under a name.",
    )
    save_recipe = serializers.CharField(
        max_length=60,
        required=False,
        default="",
        allow_blank=True,
        help_text="Save the columns under this name.",
    )
    skip_bad_rows = serializers.BooleanField(required=False, default=False)
    dry_run = serializers.BooleanField(
        required=False, default=False, help_text="Say what would be stored, and store nothing."
    )

    def get_fields(self) -> dict[str, Any]:
        fields = super().get_fields()
        kind = fields["kind"]
        assert isinstance(kind, serializers.ChoiceField)
        kind.choices = sorted(import_kinds())
        return fields

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "file" not in attrs:
            needed = ("content", "file_name")
            if missing := [name for name in needed if name not in attrs]:
                raise serializers.ValidationError(dict.fromkeys(missing, "This field is required."))
        return attrs

    @property
    def content_and_name(self) -> tuple[bytes, str]:
        values = self.validated_data
        if file := values.get("file"):
            return file.read(), file.name
        return values["content"].encode("utf-8", "surrogatepass"), values["file_name"]


class BadCellSerializer(serializers.Serializer[Any]):
    """A cell that stops an import."""

    line = serializers.IntegerField()
    column = serializers.CharField()
    value = serializers.CharField(help_text="As far as it is printed.")
    expected = serializers.CharField()


class ImportedSerializer(serializers.Serializer[Any]):
    """What was stored, or would be."""

    stored = serializers.BooleanField()
    public_id = serializers.CharField(
        allow_null=True, help_text="Of the run or study; a slug of the library."
    )
    counts = serializers.DictField(child=serializers.IntegerField())
    warnings = serializers.ListField(child=serializers.CharField())
    problems = serializers.ListField(child=serializers.CharField())
    bad_rows = serializers.CharField(
        allow_blank=True, help_text="CSV of the rows with problems, with line and reason."
    )
    bad_cells = BadCellSerializer(many=True, help_text="Of problems, those that are one cell.")


class ImportKindSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    purpose = serializers.CharField()
    endings = serializers.ListField(child=serializers.CharField(), source="suffixes")
    columns = serializers.SerializerMethodField()
    options = serializers.SerializerMethodField()
    recipes = serializers.SerializerMethodField()

    def get_columns(self, kind: Any) -> dict[str, str]:
        return {column.name: column.meaning for column in kind.columns}

    def get_recipes(self, kind: Any) -> list[str]:
        return list_recipes(kind)

    def get_options(self, kind: Any) -> dict[str, str]:
        return {option.name: str(option.help) for option in kind.options}


class ImportViewSet(viewsets.ViewSet):
    """Results that were made elsewhere; they are marked as imported wherever they are shown."""

    permission_classes = (Staff,)
    parser_classes = (*APIView.parser_classes, MultiPartParser)

    @extend_schema(responses=ImportKindSerializer(many=True))
    def list(self, request: Request) -> Response:
        """List the kinds of files, with their columns and options."""
        return Response(ImportKindSerializer(list(import_kinds().values()), many=True).data)

    @extend_schema(
        request={
            "application/json": ImportRequestSerializer,
            "multipart/form-data": ImportRequestSerializer,
        },
        responses={200: ImportedSerializer, 201: ImportedSerializer},
    )
    def create(self, request: Request) -> Response:
        """Import a file, all of it or nothing; a dry run shows warnings and bad rows first."""
        form = ImportRequestSerializer(data=_read_body(request))
        form.is_valid(raise_exception=True)
        values = form.validated_data
        kind, user = import_kinds()[values["kind"]], signed_in(request)
        if not kind.is_open_to(user):
            raise PermissionDenied
        content, name = form.content_and_name
        asked = ImportRequest(
            content, name, values["options"], user, values["columns"], sheet=values["sheet"]
        )
        asked = use_recipe(kind, asked, values["recipe"])
        try:
            if values["dry_run"]:
                return Response(_describe(kind, asked, plan_import(kind, asked)))
            done, plan = import_and_save(
                kind, asked, values["save_recipe"], skip_bad_rows=values["skip_bad_rows"]
            )
        except TableFileError as error:
            raise serializers.ValidationError({"content": [str(error)]}) from error
        except BadImportError as error:
            told = list(map(str, error.plan.problems[:PROBLEMS_TOLD]))
            raise serializers.ValidationError({"content": [str(error), *told]}) from error
        stored = _describe(kind, asked, plan, done.public_id)
        return Response(stored, status=status.HTTP_201_CREATED)


def _read_body(request: Request) -> Any:
    """Return the fields of a request; those of a form are texts, of which two are JSON."""
    if not isinstance(request.data, QueryDict):
        return request.data
    fields: dict[str, Any] = request.data.dict()
    for name in ("options", "columns"):
        if name in fields:
            try:
                fields[name] = read_strict_json(fields[name])
            except JsonRefused as refusal:
                raise serializers.ValidationError({name: [str(refusal)]}) from refusal
    return fields


def _describe(
    kind: ImportKind, asked: ImportRequest, plan: ImportPlan, public_id: str | None = None
) -> dict[str, Any]:
    return {
        "stored": public_id is not None,
        "public_id": public_id,
        "counts": dict(plan.counts),
        "warnings": list(plan.warnings),
        "problems": list(map(str, plan.problems[:PROBLEMS_TOLD])),
        "bad_rows": write_bad_rows(kind, asked, plan).decode("utf-8-sig"),
        "bad_cells": BadCellSerializer(
            [one for one in plan.problems[:PROBLEMS_TOLD] if one.column], many=True
        ).data,
    }
