"""Drafts of studies of the speakers of texts over HTTP."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.permissions import StaffWithModelPermissions, signed_in
from annotation.api.serializers import StudyDetailSerializer
from annotation.corpora.access import visible_corpora
from annotation.models import Corpus, Study, TraitPair
from annotation.studies.creation import create_guise_study


class NewGuiseStudySerializer(serializers.Serializer[Any]):
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

    def validate_corpus(self, public_id: str) -> Corpus:
        corpus = visible_corpora(self.context["request"].user).filter(public_id=public_id).first()
        if corpus is None:
            raise serializers.ValidationError(f"There is no corpus “{public_id}” that you may see.")
        return corpus


class GuiseStudyViewSet(viewsets.GenericViewSet[Study]):
    """Creates drafts; they are launched on their pages."""

    queryset = Study.objects.none()
    permission_classes = (StaffWithModelPermissions,)
    serializer_class = NewGuiseStudySerializer

    @extend_schema(responses={201: StudyDetailSerializer})
    def create(self, request: Request) -> Response:
        form = self.get_serializer(data=request.data)
        form.is_valid(raise_exception=True)
        study = create_guise_study(owner=signed_in(request), **form.validated_data)
        return Response(StudyDetailSerializer(study).data, status=status.HTTP_201_CREATED)
