"""Who may do what on the pages of studies: annotation.studies.access, as the admin asks."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from annotation.models import Instrument, Study, Submission
from annotation.studies.access import can_change_study, can_see_study


def find_study(obj: Any) -> Study | None:
    """Return the study that a row belongs to."""
    if isinstance(obj, Study):
        return obj
    return obj.study if isinstance(obj, Instrument | Submission) else None


def staff_user(request: HttpRequest) -> User:
    """Return who asks, on pages that only staff reach."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


class StudyScoped:
    """For model admins whose rows belong to a study: members see, owner and editors change."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return request.user.is_active and request.user.is_staff

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if not self.has_module_permission(request):
            return False
        study = find_study(obj)
        return study is None or can_see_study(request.user, study)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if not self.has_module_permission(request):
            return False
        study = find_study(obj)
        return study is None or can_change_study(request.user, study)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_module_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
