"""Corpora over HTTP, for those who may see them in the admin."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from rest_framework import mixins, serializers, viewsets
from rest_framework.exceptions import NotFound

from annotation.api.permissions import Staff
from annotation.api.views import PUBLIC_ID
from annotation.corpora.access import visible_corpora
from annotation.corpora.summary import with_counts
from annotation.models import Corpus, Split, TextPair


class CorpusSerializer(serializers.ModelSerializer[Corpus]):
    n_texts = serializers.IntegerField(read_only=True, help_text="In both varieties.")
    n_pairs = serializers.IntegerField(read_only=True)

    class Meta:
        model = Corpus
        fields = (
            "public_id",
            "name",
            "description",
            "source_variety",
            "target_variety",
            "license",
            "access_note",
            "citation",
            "is_shared",
            "n_texts",
            "n_pairs",
            "curation_rationale",
            "language_variety",
            "speaker_demographics",
            "annotator_demographics",
            "speech_situation",
            "text_characteristics",
            "created_at",
        )
        read_only_fields = fields


class SpanSerializer(serializers.Serializer[Any]):
    start = serializers.IntegerField(help_text="First character, from 0.")
    end = serializers.IntegerField(help_text="The character behind the last one.")
    kind = serializers.CharField()


class TextPairSerializer(serializers.ModelSerializer[TextPair]):
    """A text and its counterpart, by the keys that scores and counterparts use."""

    source_slug = serializers.CharField(source="source_text.slug", read_only=True)
    source_text = serializers.CharField(source="source_text.body", read_only=True)
    source_spans = SpanSerializer(source="source_text.spans", many=True, read_only=True)
    target_slug = serializers.CharField(source="target_text.slug", read_only=True)
    target_text = serializers.CharField(source="target_text.body", read_only=True)
    target_spans = SpanSerializer(source="target_text.spans", many=True, read_only=True)
    # REST framework's own `source` and `context` of a field are something else, and stay.
    source = serializers.CharField(  # type: ignore[assignment]
        source="source_text.source", read_only=True
    )
    context = serializers.CharField(  # type: ignore[assignment]
        source="source_text.context", read_only=True
    )
    split = serializers.ChoiceField(
        source="source_text.split", choices=Split.choices, read_only=True
    )
    study = serializers.CharField(
        source="study.public_id",
        read_only=True,
        allow_null=True,
        default=None,
        help_text="The study whose annotators wrote the counterpart; null where imported.",
    )

    class Meta:
        model = TextPair
        fields = (
            "slug",
            "source_slug",
            "source_text",
            "source_spans",
            "target_slug",
            "target_text",
            "target_spans",
            "source",
            "context",
            "split",
            "study",
        )
        read_only_fields = fields


class CorpusViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Corpus]
):
    """Corpora that this account owns, that are shared, or that one of its studies works on."""

    queryset = Corpus.objects.none()
    serializer_class = CorpusSerializer
    permission_classes = (Staff,)
    filterset_fields = ("source_variety", "target_variety", "is_shared")
    lookup_field = "public_id"
    lookup_value_regex = PUBLIC_ID

    def get_queryset(self) -> QuerySet[Corpus]:
        return with_counts(visible_corpora(self.request.user)).order_by("name")


class PairFilter(filters.FilterSet):
    source = filters.CharFilter(field_name="source_text__source")
    split = filters.ChoiceFilter(field_name="source_text__split", choices=Split.choices)

    class Meta:
        model = TextPair
        fields = ("source", "split")


class CorpusPairViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[TextPair]):
    """The pairs of a corpus. Training pairs are never evaluated."""

    queryset = TextPair.objects.none()
    serializer_class = TextPairSerializer
    permission_classes = (Staff,)
    filterset_class = PairFilter

    def get_queryset(self) -> QuerySet[TextPair]:
        if getattr(self, "swagger_fake_view", False):  # the schema asks without a corpus
            return super().get_queryset()
        public_id = self.kwargs["public_id"]
        corpus = visible_corpora(self.request.user).filter(public_id=public_id).first()
        if corpus is None:
            raise NotFound(f"There is no corpus “{public_id}” that you may see.")
        return (
            TextPair.objects.filter(corpus=corpus)
            .select_related("source_text", "target_text", "study")
            .order_by("pk")
        )
