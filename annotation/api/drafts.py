"""What all requests for a new study share: a corpus that the reader may see, a draft as answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.permissions import StaffWithModelPermissions, signed_in
from annotation.api.serializers import StudyDetailSerializer
from annotation.corpora.access import visible_corpora
from annotation.models import Corpus, Study


class OfCorpusSerializer(serializers.Serializer[Any]):
    """For studies of a corpus, which ``corpus`` names by its public id."""

    def validate_corpus(self, public_id: str) -> Corpus:
        corpus = visible_corpora(self.context["request"].user).filter(public_id=public_id).first()
        if corpus is None:
            raise serializers.ValidationError(f"There is no corpus “{public_id}” that you may see.")
        return corpus


class CreatesDrafts(viewsets.GenericViewSet[Any]):
    """Creates a draft by a service that takes what the serializer has read, and the owner."""

    permission_classes: Any = (StaffWithModelPermissions,)
    service: ClassVar[Callable[..., Study]]

    @extend_schema(responses={201: StudyDetailSerializer})
    def create(self, request: Request) -> Response:
        form = self.get_serializer(data=request.data)
        form.is_valid(raise_exception=True)
        study = self.service(owner=signed_in(request), **form.validated_data)
        return Response(StudyDetailSerializer(study).data, status=status.HTTP_201_CREATED)
