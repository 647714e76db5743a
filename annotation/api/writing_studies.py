"""Drafts of writing studies over HTTP."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.permissions import StaffWithModelPermissions, signed_in
from annotation.api.serializers import StudyDetailSerializer
from annotation.corpora.access import visible_corpora
from annotation.counterparts.creation import create_writing_study
from annotation.models import Corpus, WritingStudy


class NewWritingStudySerializer(serializers.Serializer[Any]):
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

    def validate_corpus(self, public_id: str) -> Corpus:
        corpus = visible_corpora(self.context["request"].user).filter(public_id=public_id).first()
        if corpus is None:
            raise serializers.ValidationError(f"There is no corpus “{public_id}” that you may see.")
        return corpus


class WritingStudyViewSet(viewsets.GenericViewSet[WritingStudy]):
    """Creates drafts; annotators are invited and the study launched on its pages."""

    queryset = WritingStudy.objects.none()
    permission_classes = (StaffWithModelPermissions,)
    serializer_class = NewWritingStudySerializer

    @extend_schema(responses={201: StudyDetailSerializer})
    def create(self, request: Request) -> Response:
        form = self.get_serializer(data=request.data)
        form.is_valid(raise_exception=True)
        study = create_writing_study(owner=signed_in(request), **form.validated_data)
        return Response(StudyDetailSerializer(study).data, status=status.HTTP_201_CREATED)
