"""Drafts of writing studies over HTTP."""

from rest_framework import serializers

from annotation.api.drafts import CreatesDrafts, OfCorpusSerializer
from annotation.counterparts.creation import create_writing_study
from annotation.models import WritingStudy


class NewWritingStudySerializer(OfCorpusSerializer):
    """What the study's form asks for, in the same words."""

    title = serializers.CharField(max_length=200)
    contact_email = serializers.EmailField(help_text="Shown to annotators.")
    corpus = serializers.CharField(max_length=12, help_text="Public id; you must see it.")
    n_texts = serializers.IntegerField(
        required=False, default=None, allow_null=True, min_value=1, help_text="Null takes all."
    )
    common_texts = serializers.IntegerField(
        required=False, default=0, min_value=0, help_text="How many everybody rewrites."
    )
    per_source = serializers.BooleanField(
        required=False, default=False, help_text="Both numbers are of every source."
    )
    weighted_by_features = serializers.BooleanField(required=False, default=False)
    shared_percent = serializers.FloatField(required=False, default=10, min_value=0, max_value=100)
    seed = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=0, max_value=2**31 - 1
    )


class WritingStudyViewSet(CreatesDrafts):
    """Creates drafts; annotators are invited and the study launched on its pages."""

    queryset = WritingStudy.objects.none()
    serializer_class = NewWritingStudySerializer
    service = staticmethod(create_writing_study)
