"""What the API says about reports, and what it takes to ask for one."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.urls import reverse
from rest_framework import serializers

from annotation.models import Study
from annotation.studies.access import visible_studies
from evaluation.models import Report
from probing.models import Run


class ReportSerializer(serializers.ModelSerializer[Report]):
    study = serializers.CharField(source="study.public_id", read_only=True)
    run = serializers.CharField(source="run.public_id", read_only=True)
    model_name = serializers.CharField(source="run.model.name", read_only=True)
    is_demo = serializers.BooleanField(
        source="run.model.is_demo", read_only=True, help_text="If so, the numbers mean nothing."
    )
    origin = serializers.CharField(
        source="study.origin", read_only=True, help_text="Where people's data come from."
    )
    page = serializers.SerializerMethodField(help_text="Address of the report's page.")
    parameters = serializers.DictField(read_only=True)

    class Meta:
        model = Report
        fields: tuple[str, ...] = (
            "public_id",
            "kind",
            "title",
            "study",
            "run",
            "model_name",
            "is_demo",
            "origin",
            "parameters",
            "status",
            "error",
            "created_at",
            "built_at",
            "code_version",
            "page",
        )
        read_only_fields = fields

    def get_page(self, report: Report) -> str:
        return settings.SITE_URL + reverse("reports:page", args=[report.public_id])


class ReportDetailSerializer(ReportSerializer):
    files = serializers.SerializerMethodField()
    inputs = serializers.DictField(read_only=True)
    library_versions = serializers.DictField(child=serializers.CharField(), read_only=True)
    result = serializers.JSONField(read_only=True, help_text="The analysis; null until built.")

    class Meta(ReportSerializer.Meta):
        fields = (*ReportSerializer.Meta.fields, "inputs", "library_versions", "files", "result")
        read_only_fields = fields

    def get_files(self, report: Report) -> list[dict[str, str]]:
        names = report.files.values_list("name", "media_type")
        return [{"name": name, "media_type": kind} for name, kind in names]


class VisibleStudyField(serializers.SlugRelatedField[Study]):
    """A study by its public id; those of others do not exist."""

    def get_queryset(self) -> Any:
        request = self.context.get("request")
        return visible_studies(request.user) if request else Study.objects.none()


class ReportRequestSerializer(serializers.Serializer[Any]):
    study = VisibleStudyField(
        slug_field="public_id", queryset=Study.objects.none(), help_text="Public id of a study."
    )
    run = serializers.SlugRelatedField(
        slug_field="public_id",
        queryset=Run.objects.all(),
        help_text="Public id of a run; the report is built as soon as it is finished.",
    )
    title = serializers.CharField(max_length=240, required=False, default="", allow_blank=True)
    parameters = serializers.DictField(
        required=False, default=dict, help_text="Resamples, splits, seed, level."
    )
