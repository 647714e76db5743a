"""Labelled templates, lexicons and labelled texts over HTTP: the list, and files of one’s own."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Model
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status, viewsets
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.permissions import Staff, signed_in
from probing.api.imports import LONGEST_CONTENT, PROBLEMS_TOLD
from probing.imports.stimuli import KINDS, Imported, import_stimuli
from probing.library.labelled_files import BadRowsError
from probing.models import GroupLexicon, LabelledTemplateSet, LabelledTextSet
from probing.models.labelled_templates import LibraryFile
from probing.runs.errors import RunError

NAMES: dict[str, type[LibraryFile]] = {
    "templates": LabelledTemplateSet,
    "lexicon": GroupLexicon,
    "texts": LabelledTextSet,
}


class StimuliEntrySerializer(serializers.Serializer[Any]):
    """One entry of the library of stimuli for classifiers."""

    kind = serializers.ChoiceField(choices=list(NAMES))
    slug = serializers.SlugField()
    title = serializers.CharField()
    licence = serializers.CharField()
    citation = serializers.CharField()


class StimuliFileSerializer(serializers.Serializer[Any]):
    """A file as text, and what it is called in the library."""

    kind = serializers.ChoiceField(
        choices=list(KINDS),
        help_text="templates, lexicon or texts; pairs become templates and a lexicon of one name.",
    )
    file_name = serializers.CharField(max_length=200, help_text="Ends in .csv, .tsv or .tab.")
    content = serializers.CharField(
        max_length=LONGEST_CONTENT, trim_whitespace=False, help_text="The file’s text."
    )
    slug = serializers.SlugField(max_length=80)
    title = serializers.CharField(max_length=160, required=False, default="")
    licence = serializers.CharField(max_length=160)
    citation = serializers.CharField(required=False, default="", allow_blank=True)
    labels = serializers.CharField(
        required=False,
        default="ternary",
        help_text="ternary, sst5, semeval, or a map such as “bad=negative, good=positive”.",
    )
    words = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        help_text="For filled sentences: slug of the lexicon whose words are taken out of them.",
    )
    skip_bad_rows = serializers.BooleanField(required=False, default=False)
    dry_run = serializers.BooleanField(
        required=False, default=False, help_text="Say what would be stored, and store nothing."
    )


class StimuliImportedSerializer(serializers.Serializer[Any]):
    """What was stored, or would be."""

    stored = serializers.BooleanField()
    slug = serializers.SlugField()
    n_entries = serializers.IntegerField()
    n_groups = serializers.IntegerField(help_text="Groups of the lexicon that came with pairs.")
    left_out = serializers.ListField(child=serializers.CharField(), help_text="Bad rows, by line.")


class StimuliViewSet(viewsets.ViewSet):
    """What classifiers are asked about and trained on; see `docs/fpr-gaps.md`."""

    permission_classes = (Staff,)

    @extend_schema(responses=StimuliEntrySerializer(many=True))
    def list(self, request: Request) -> Response:
        """List the sets of templates, lexicons and sets of texts that runs can name."""
        fields = ("slug", "title", "licence", "citation")
        rows = [
            {"kind": kind, **row}
            for kind, model in NAMES.items()
            for row in model._default_manager.values(*fields)
        ]
        return Response(StimuliEntrySerializer(rows, many=True).data)

    @extend_schema(
        request=StimuliFileSerializer,
        responses={200: StimuliImportedSerializer, 201: StimuliImportedSerializer},
    )
    def create(self, request: Request) -> Response:
        """Import a file, all of it or nothing; every bad row is named with its line."""
        form = StimuliFileSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        values = {**form.validated_data}
        values["title"] = values["title"] or values["slug"]
        user = signed_in(request)
        models: set[type[Model]] = {KINDS[values["kind"]]}
        if values["kind"] == "pairs":
            models.add(GroupLexicon)
        if not all(user.has_perm(f"probing.add_{model._meta.model_name}") for model in models):
            raise PermissionDenied
        content = values.pop("content").encode("utf-8", "surrogatepass")
        try:
            done = import_stimuli(content=content, user=user, **values)
        except BadRowsError as error:
            told = [str(problem) for problem in error.problems[:PROBLEMS_TOLD]]
            raise serializers.ValidationError({"content": [str(error), *told]}) from error
        except RunError as error:
            raise serializers.ValidationError({"words": error.messages}) from error
        except ValidationError as error:
            raise serializers.ValidationError(error.message_dict) from error
        is_dry = values["dry_run"]
        return Response(
            _describe(done, stored=not is_dry),
            status=status.HTTP_200_OK if is_dry else status.HTTP_201_CREATED,
        )


def _describe(done: Imported, *, stored: bool) -> dict[str, Any]:
    return {
        "stored": stored,
        "slug": done.entry.slug,
        "n_entries": len(done.parsed.entries),
        "n_groups": len(done.lexicon.groups) if done.lexicon else 0,
        "left_out": [str(problem) for problem in done.parsed.left_out[:PROBLEMS_TOLD]],
    }
