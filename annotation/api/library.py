"""Sets of groups over HTTP, and the paired groups that are made of them."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Count
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.permissions import Staff, StaffWithModelPermissions
from annotation.library.paired_groups import create_paired_groups
from annotation.models import GroupSet, SocialGroup


class SocialGroupSerializer(serializers.ModelSerializer[SocialGroup]):
    class Meta:
        model = SocialGroup
        fields = ("slug", "singular", "plural", "domains")
        read_only_fields = fields


class GroupSetSerializer(serializers.ModelSerializer[GroupSet]):
    n_groups = serializers.IntegerField(read_only=True)

    class Meta:
        model = GroupSet
        fields: tuple[str, ...] = ("slug", "title", "n_groups")
        read_only_fields: tuple[str, ...] = fields


class GroupSetDetailSerializer(GroupSetSerializer):
    groups = SocialGroupSerializer(many=True, read_only=True)

    class Meta(GroupSetSerializer.Meta):
        fields = (*GroupSetSerializer.Meta.fields, "groups")
        read_only_fields = fields


class PairedSetSerializer(serializers.Serializer[Any]):
    """The set of pairs; name it in the groups of a run, beside the set that it was made of."""

    slug = serializers.SlugField(source="group_set.slug")
    title = serializers.CharField(source="group_set.title")
    n_groups = serializers.IntegerField()
    n_created = serializers.IntegerField(help_text="Paired groups that were not there before.")


class GroupSetViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[GroupSet]
):
    """Sets of groups in the library, for all staff; to pair them takes the right to add sets."""

    queryset = GroupSet.objects.annotate(n_groups=Count("groups")).order_by("slug")
    serializer_class = GroupSetSerializer
    permission_classes = (Staff,)
    lookup_field = "slug"

    def get_serializer_class(self) -> type[GroupSetSerializer]:
        return GroupSetDetailSerializer if self.action == "retrieve" else GroupSetSerializer

    def get_queryset(self) -> Any:
        found = super().get_queryset()
        return found.prefetch_related("groups") if self.action == "retrieve" else found

    @extend_schema(
        request=None,
        responses=PairedSetSerializer,
        description="Creates the paired groups that the set allows, such as “Asian teenagers”, and "
        "the set that holds them. A second time it follows the groups and exclusions as they are "
        "now; entries that are there keep their edits.",
    )
    @action(detail=True, methods=["post"], permission_classes=[StaffWithModelPermissions])
    def pairs(self, request: Request, slug: str) -> Response:
        try:
            paired = create_paired_groups(group_set=self.get_object())
        except ValidationError as error:
            raise serializers.ValidationError(error.messages) from error
        return Response(PairedSetSerializer(paired).data, status=status.HTTP_200_OK)
