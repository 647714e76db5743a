"""Rights of API users: staff, with the same model permissions that the admin asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from rest_framework.exceptions import NotAuthenticated
from rest_framework.permissions import DjangoModelPermissions

if TYPE_CHECKING:  # views import the permissions of the settings
    from rest_framework.request import Request
    from rest_framework.views import APIView


class StaffWithModelPermissions(DjangoModelPermissions):
    """Lets staff read with the view permission, create with add, and act on an object with change.

    A view may say otherwise for an action in ``action_permissions``, for example
    ``{"dry_run": "view"}``.

    Who is refused here is counted by the throttles first: they come after permissions, and would
    never see anybody without an account.
    """

    VERBS = {"GET": "view", "HEAD": "view", "OPTIONS": "view", "POST": "add"}

    def has_permission(self, request: Request, view: APIView) -> bool:
        if self.lets_in(request, view):
            return True
        view.check_throttles(request)
        return False

    def lets_in(self, request: Request, view: APIView) -> bool:
        user = request.user
        if not (user and user.is_active and user.is_staff):
            return False
        model = view.queryset.model  # type: ignore[attr-defined]
        action = getattr(view, "action", None)
        usual = self.VERBS.get(request.method or "")
        verb = getattr(view, "action_permissions", {}).get(action, usual)
        if verb is None:  # a method that the view does not have: let it say so
            return True
        names = {verb, "change"} if verb == "view" else {verb}  # as the admin: change implies view
        label = model._meta.app_label
        return any(user.has_perm(f"{label}.{name}_{model._meta.model_name}") for name in names)


class Staff(StaffWithModelPermissions):
    """Lets staff read; what they see is the view's own choice."""

    def lets_in(self, request: Request, view: APIView) -> bool:
        return bool(request.user and request.user.is_active and request.user.is_staff)


def signed_in(request: Request) -> User:
    """Return the account behind a request that a permission has let through."""
    if not isinstance(request.user, User):
        raise NotAuthenticated
    return request.user
