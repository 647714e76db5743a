"""Who works on a study, over HTTP: everybody in it sees who, its owners invite and decide."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.permissions import Staff, signed_in
from annotation.api.rows import find_study
from annotation.models import MembershipRole, Study, StudyInvitation, StudyMembership
from annotation.studies.colleagues import (
    change_role,
    invite_colleague,
    list_members,
    revoke_invitation,
    take_access,
)
from annotation.studies.invitation_links import open_links

KEY = "[0-9]{1,18}"


class MemberSerializer(serializers.Serializer[Any]):
    """One way in which somebody works on a study: by a place of their own, or by a team's.

    ``id`` is what the role is changed and taken away by; null for who made the study, and for roles
    by a team, which are the team's.
    """

    id = serializers.IntegerField(allow_null=True)
    username = serializers.CharField()
    role = serializers.ChoiceField(choices=MembershipRole.choices)
    team = serializers.CharField(help_text="Empty for a role of one's own.")


class RoleSerializer(serializers.Serializer[Any]):
    role = serializers.ChoiceField(choices=MembershipRole.choices)


class InvitationSerializer(serializers.ModelSerializer[StudyInvitation]):
    """An open link; the link itself is told once, to whoever made it."""

    role = serializers.ChoiceField(choices=MembershipRole.choices)

    class Meta:
        model = StudyInvitation
        fields = ("id", "role", "created_at", "expires_at")
        read_only_fields = ("id", "created_at", "expires_at")


class NewInvitationSerializer(InvitationSerializer):
    link = serializers.CharField(read_only=True, help_text="Works once; not told again.")

    class Meta(InvitationSerializer.Meta):
        fields = (*InvitationSerializer.Meta.fields, "link")  # type: ignore[assignment]


def find_owned(view: viewsets.GenericViewSet[Any]) -> Study:
    """Return the study of an address, for its owners alone."""
    study = find_study(view)
    if not study.is_owned_by(signed_in(view.request)):
        raise PermissionDenied
    return study


class StudyMemberViewSet(viewsets.GenericViewSet[StudyMembership]):
    """Who works on a study, with which role. Owners change roles and take access away."""

    queryset = StudyMembership.objects.none()
    serializer_class = MemberSerializer
    permission_classes = (Staff,)
    pagination_class = None
    lookup_value_regex = KEY

    @extend_schema(responses=MemberSerializer(many=True))
    def list(self, request: Request, public_id: str) -> Response:
        members = list_members(find_study(self))
        return Response(MemberSerializer(members, many=True).data)

    @extend_schema(request=RoleSerializer, responses=MemberSerializer)
    def partial_update(self, request: Request, public_id: str, pk: str) -> Response:
        """Give a colleague another role."""
        member = self._find(pk)
        asked = RoleSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        change_role(place=member, role=asked.validated_data["role"])
        told = {"id": member.pk, "username": member.user.get_username(), "role": member.role}
        return Response({**told, "team": ""})

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, public_id: str, pk: str) -> Response:
        """Take a colleague's access away, and all open links. What they did stays."""
        take_access(place=self._find(pk))
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _find(self, pk: str) -> StudyMembership:
        study = find_owned(self)
        found = study.memberships.filter(pk=pk).first()
        if found is None:
            raise NotFound(f"The study has no member {pk}.")
        return found


class StudyInvitationViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[StudyInvitation]):
    """Links that give a role in a study to whoever opens them first. For its owners."""

    queryset = StudyInvitation.objects.none()
    serializer_class = InvitationSerializer
    permission_classes = (Staff,)
    lookup_value_regex = KEY

    def get_queryset(self) -> QuerySet[StudyInvitation]:
        if getattr(self, "swagger_fake_view", False):  # the schema asks without a study
            return super().get_queryset()
        study = find_owned(self)
        return open_links(StudyInvitation).filter(study=study)

    @extend_schema(request=RoleSerializer, responses={201: NewInvitationSerializer})
    def create(self, request: Request, public_id: str) -> Response:
        """Make a link with a role. It is in the answer and nowhere else."""
        study = find_owned(self)
        asked = RoleSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        invitation, token = invite_colleague(
            study=study, role=asked.validated_data["role"], invited_by=signed_in(request)
        )
        address = reverse("admin:annotation_study_join", args=[token])
        told = InvitationSerializer(invitation).data
        return Response(
            {**told, "link": f"{settings.SITE_URL}{address}"}, status=status.HTTP_201_CREATED
        )

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, public_id: str, pk: str) -> Response:
        """Take a link back that nobody has used."""
        invitation = self.get_queryset().filter(pk=pk).first()
        if invitation is None:
            raise NotFound(f"The study has no open invitation {pk}.")
        revoke_invitation(invitation=invitation, revoked_by=signed_in(request))
        return Response(status=status.HTTP_204_NO_CONTENT)
