"""What the API says about reports, and what it takes to ask for one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.urls import reverse
from rest_framework import serializers

from annotation.api.fields import PublicIdField
from annotation.corpora.access import visible_corpora
from annotation.models import Corpus, Study
from evaluation.models import Report
from evaluation.reports.registry import KINDS
from probing.models import Run
from probing.runs.access import visible_runs


class ReportSerializer(serializers.ModelSerializer[Report]):
    kind = serializers.CharField(read_only=True, help_text="What it asks; see the list of kinds.")
    study = serializers.CharField(
        source="study.public_id", read_only=True, default=None, allow_null=True
    )
    second_study = serializers.CharField(
        source="second_study.public_id", read_only=True, default=None, allow_null=True
    )
    corpus = serializers.CharField(
        source="corpus.public_id", read_only=True, default=None, allow_null=True
    )
    runs = serializers.SerializerMethodField(help_text="Public ids of its runs.")
    models = serializers.SerializerMethodField(help_text="Names of the models of its runs.")
    is_demo = serializers.SerializerMethodField(
        help_text="Whether a model is a demo; if so, the numbers mean nothing."
    )
    origin = serializers.CharField(
        source="study.origin",
        read_only=True,
        default=None,
        allow_null=True,
        help_text="Where people's data come from.",
    )
    n_withdrawn = serializers.IntegerField(
        read_only=True,
        default=0,
        help_text="People who have withdrawn answers since that the numbers may rest on.",
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
            "second_study",
            "corpus",
            "runs",
            "models",
            "is_demo",
            "origin",
            "parameters",
            "status",
            "error",
            "is_pinned",
            "created_at",
            "built_at",
            "n_withdrawn",
            "code_version",
            "page",
        )
        read_only_fields = fields

    def get_page(self, report: Report) -> str:
        return settings.SITE_URL + reverse("reports:page", args=[report.public_id])

    def get_runs(self, report: Report) -> list[str]:
        return [run.public_id for run in report.runs.all()]

    def get_models(self, report: Report) -> list[str]:
        return list(dict.fromkeys(run.model.name for run in report.runs.all()))

    def get_is_demo(self, report: Report) -> bool:
        return any(run.model.is_demo for run in report.runs.all())


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


class ReportChangeSerializer(serializers.Serializer[Any]):
    """What can be changed of a report; its numbers cannot."""

    title = serializers.CharField(max_length=240, required=False)
    is_pinned = serializers.BooleanField(required=False)


class ReportKindSerializer(serializers.Serializer[Any]):
    """A kind of report: what it asks, what it rests on, which options it has."""

    name = serializers.CharField()
    title = serializers.CharField()
    question = serializers.CharField()
    study = serializers.SerializerMethodField(help_text="Kind of study that it needs, or null.")
    second_study = serializers.SerializerMethodField(
        help_text="Kind of the study that it sets beside the first, or null."
    )
    corpus = serializers.SerializerMethodField(help_text="Whether it needs a corpus.")
    measures = serializers.SerializerMethodField(
        help_text="Measures of its runs; null for measures of groups, empty for none."
    )
    least_runs = serializers.SerializerMethodField()
    most_runs = serializers.SerializerMethodField(help_text="Null for any number.")
    parameters = serializers.SerializerMethodField(help_text="JSON Schema of its options.")

    def get_study(self, kind: Any) -> str | None:
        return str(kind.study.kind) if kind.study else None

    def get_second_study(self, kind: Any) -> str | None:
        return str(kind.second_study.kind) if kind.second_study else None

    def get_corpus(self, kind: Any) -> bool:
        return kind.corpus is not None

    def get_measures(self, kind: Any) -> list[str] | None:
        if kind.runs is None:
            return []
        return None if kind.runs.measures is None else list(kind.runs.measures)

    def get_least_runs(self, kind: Any) -> int:
        return kind.runs.least if kind.runs else 0

    def get_most_runs(self, kind: Any) -> int | None:
        return kind.runs.most if kind.runs else 0

    def get_parameters(self, kind: Any) -> dict[str, Any]:
        schema: dict[str, Any] = kind.Parameters.model_json_schema()
        return schema


class VisibleField(PublicIdField):
    """Something by its public id; what ``visible`` hides from the account does not exist."""

    def __init__(self, *, visible: Callable[[Any], QuerySet[Any]], **how: Any) -> None:
        super().__init__(slug_field="public_id", **how)
        self.visible = visible

    def get_queryset(self) -> Any:
        request = self.context.get("request")
        return self.visible(request.user) if request else super().get_queryset()


class ReportRequestSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=sorted(KINDS), default="alignment")
    study = VisibleField(
        visible=Study.objects.visible_to,
        queryset=Study.objects.none(),
        required=False,
        help_text="Public id of a study, for kinds that need one.",
    )
    second_study = VisibleField(
        visible=Study.objects.visible_to,
        queryset=Study.objects.none(),
        required=False,
        help_text="Public id of a study to set beside the first, for kinds that compare two.",
    )
    corpus = VisibleField(
        visible=visible_corpora,
        queryset=Corpus.objects.none(),
        required=False,
        help_text="Public id of a corpus, for kinds that need one.",
    )
    runs = VisibleField(
        visible=lambda user: visible_runs(user).select_related("model", "corpus"),
        queryset=Run.objects.none(),
        many=True,
        required=False,
        help_text="Public ids of runs; the report is built as soon as all are finished.",
    )
    title = serializers.CharField(max_length=240, required=False, default="", allow_blank=True)
    parameters = serializers.DictField(
        required=False, default=dict, help_text="Options of the kind."
    )
