"""Labeled templates, lexicons and labeled texts over HTTP: the list; `imports` brings new ones."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.permissions import Staff
from probing.models import GroupLexicon, LabeledTemplateSet, LabeledTextSet
from probing.models.labeled_templates import LibraryFile

NAMES: dict[str, type[LibraryFile]] = {
    "templates": LabeledTemplateSet,
    "lexicon": GroupLexicon,
    "texts": LabeledTextSet,
}


class StimuliEntrySerializer(serializers.Serializer[Any]):
    """One entry of the library of stimuli for classifiers."""

    kind = serializers.ChoiceField(choices=list(NAMES))
    slug = serializers.SlugField()
    title = serializers.CharField()
    license = serializers.CharField()
    citation = serializers.CharField()


class StimuliViewSet(viewsets.ViewSet):
    """What classifiers are asked about and trained on; see `docs/fpr-gaps.md`."""

    permission_classes = (Staff,)

    @extend_schema(responses=StimuliEntrySerializer(many=True))
    def list(self, request: Request) -> Response:
        """List the sets of templates, lexicons and sets of texts that runs can name."""
        fields = ("slug", "title", "license", "citation")
        rows = [
            {"kind": kind, **row}
            for kind, model in NAMES.items()
            for row in model._default_manager.values(*fields)
        ]
        return Response(StimuliEntrySerializer(rows, many=True).data)
