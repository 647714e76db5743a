"""Drafts of studies of the speakers of texts over HTTP."""

from rest_framework import serializers

from annotation.api.drafts import CreatesDrafts, OfCorpusSerializer
from annotation.models import Study, TraitPair
from annotation.studies.creation import create_guise_study


class NewGuiseStudySerializer(OfCorpusSerializer):
    """What the study's form asks for, in the same words."""

    title = serializers.CharField(max_length=160, help_text="Participants read it.")
    contact_email = serializers.EmailField(help_text="Shown to participants on every page.")
    corpus = serializers.CharField(max_length=12, help_text="Public id; you must see it.")
    n_pairs = serializers.IntegerField(
        required=False, default=None, allow_null=True, min_value=1, help_text="Null takes all."
    )
    trait_pairs = serializers.SlugRelatedField(
        slug_field="slug",
        queryset=TraitPair.objects.all(),
        many=True,
        required=False,
        default=None,
        allow_null=True,
        allow_empty=False,
        help_text="Slugs of the scales; null takes the 16 of the ABC model.",
    )
    quota_per_group = serializers.IntegerField(
        required=False,
        default=20,
        min_value=1,
        max_value=100_000,
        help_text="Accepted ratings wanted for each text.",
    )


class GuiseStudyViewSet(CreatesDrafts):
    """Creates drafts; they are launched on their pages."""

    queryset = Study.objects.none()
    serializer_class = NewGuiseStudySerializer
    service = staticmethod(create_guise_study)
