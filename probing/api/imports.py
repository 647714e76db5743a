"""Imports of what was made elsewhere over HTTP."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status, viewsets
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.permissions import Staff, signed_in
from annotation.common.table_file import TableFileError
from annotation.imports.import_kind import (
    BadImportError,
    ImportPlan,
    ImportRequest,
    import_file,
    import_kinds,
    plan_import,
)

LONGEST_CONTENT = 50_000_000
PROBLEMS_TOLD = 500


class ImportRequestSerializer(serializers.Serializer[Any]):
    """A file as text, with the options of its kind."""

    kind = serializers.ChoiceField(choices=[])
    file_name = serializers.CharField(max_length=200, help_text="Its ending says how it is read.")
    content = serializers.CharField(
        max_length=LONGEST_CONTENT, trim_whitespace=False, help_text="The file’s text."
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
    bad_cells = BadCellSerializer(many=True, help_text="Of problems, those that are one cell.")


class ImportKindSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    purpose = serializers.CharField()
    endings = serializers.ListField(child=serializers.CharField(), source="suffixes")
    columns = serializers.SerializerMethodField()
    options = serializers.SerializerMethodField()

    def get_columns(self, kind: Any) -> dict[str, str]:
        return {column.name: column.meaning for column in kind.columns}

    def get_options(self, kind: Any) -> dict[str, str]:
        return {option.name: str(option.help) for option in kind.options}


class ImportViewSet(viewsets.ViewSet):
    """Results that were made elsewhere; they are marked as imported wherever they are shown."""

    permission_classes = (Staff,)

    @extend_schema(responses=ImportKindSerializer(many=True))
    def list(self, request: Request) -> Response:
        """List the kinds of files, with their columns and options."""
        return Response(ImportKindSerializer(list(import_kinds().values()), many=True).data)

    @extend_schema(
        request=ImportRequestSerializer,
        responses={200: ImportedSerializer, 201: ImportedSerializer},
    )
    def create(self, request: Request) -> Response:
        """Import a file, all of it or nothing; a dry run shows warnings and bad rows first."""
        form = ImportRequestSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        values = form.validated_data
        kind, user = import_kinds()[values["kind"]], signed_in(request)
        if not kind.is_open_to(user):
            raise PermissionDenied
        asked = ImportRequest(
            values["content"].encode("utf-8", "surrogatepass"),
            values["file_name"],
            values["options"],
            user,
            values["columns"],
        )
        try:
            if values["dry_run"]:
                return Response(_describe(plan_import(kind, asked)))
            done, plan = import_file(kind, asked, skip_bad_rows=values["skip_bad_rows"])
        except TableFileError as error:
            raise serializers.ValidationError({"content": [str(error)]}) from error
        except BadImportError as error:
            told = list(map(str, error.plan.problems[:PROBLEMS_TOLD]))
            raise serializers.ValidationError({"content": [str(error), *told]}) from error
        return Response(_describe(plan, done.public_id), status=status.HTTP_201_CREATED)


def _describe(plan: ImportPlan, public_id: str | None = None) -> dict[str, Any]:
    return {
        "stored": public_id is not None,
        "public_id": public_id,
        "counts": dict(plan.counts),
        "warnings": list(plan.warnings),
        "problems": list(map(str, plan.problems[:PROBLEMS_TOLD])),
        "bad_cells": BadCellSerializer(
            [one for one in plan.problems[:PROBLEMS_TOLD] if one.column], many=True
        ).data,
    }
