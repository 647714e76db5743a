"""What enters the audit log by itself: changes that keep a history, decisions, access, sign-ins."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Group, User
from django.contrib.auth.signals import user_logged_in
from django.db.models.signals import m2m_changed, post_delete, post_save
from simple_history.signals import post_create_historical_record

from annotation.audit.record import record
from annotation.models import (
    Annotator,
    AuditAction,
    Instrument,
    JudgmentDesign,
    PanelSettings,
    Review,
    Study,
    StudyMembership,
    TeamMember,
    TeamRole,
    WritingDesign,
)

#: Rows of a study whose history is part of the log: their field that names the study.
LOGGED = {
    Instrument: "study_id",
    JudgmentDesign: "study_id",
    PanelSettings: "study_id",
    Study: "pk",
    WritingDesign: "study_id",
}
VERBS = {"+": "created", "~": "changed", "-": "deleted"}
RIGHTS = ("is_active", "is_staff", "is_superuser")


def connect() -> None:
    """Begin to listen; called once, when the apps are ready."""
    post_create_historical_record.connect(log_change, dispatch_uid="audit")
    post_save.connect(log_decision, sender=Review, dispatch_uid="audit")
    for sender in (StudyMembership, TeamRole, Annotator):
        post_save.connect(log_place, sender=sender, dispatch_uid="audit")
        post_delete.connect(log_place_gone, sender=sender, dispatch_uid="audit")
    post_save.connect(log_joined, sender=TeamMember, dispatch_uid="audit")
    post_delete.connect(log_left, sender=TeamMember, dispatch_uid="audit")
    post_save.connect(log_account, sender=User, dispatch_uid="audit")
    for through in (User.user_permissions.through, User.groups.through, Group.permissions.through):
        m2m_changed.connect(log_rights, sender=through, dispatch_uid="audit")
    user_logged_in.connect(log_sign_in, dispatch_uid="audit")


def log_change(
    sender: Any, instance: Any, history_instance: Any, history_user: Any, **_: Any
) -> None:
    """Log what a person changed of a study; what the platform does to it has its own entries."""
    model = next((model for model in LOGGED if isinstance(instance, model)), None)
    if model is None or history_user is None:
        return
    fields = _changed_fields(history_instance)
    record(
        AuditAction.ACCESS if "owner" in fields else AuditAction.CHANGED,
        model._meta.verbose_name,
        actor=history_user,
        study=getattr(instance, LOGGED[model]),
        detail=", ".join([VERBS[history_instance.history_type], *fields]),
    )


def _changed_fields(history_instance: Any) -> list[str]:
    """Return the names of changed fields, never their values. One query."""
    before = history_instance.prev_record if history_instance.history_type == "~" else None
    if before is None:
        return []
    return [
        field.name
        for field in history_instance.tracked_fields
        if getattr(before, field.attname) != getattr(history_instance, field.attname)
    ]


def log_decision(sender: Any, instance: Review, created: bool, **_: Any) -> None:
    if created and instance.reviewer is not None:
        record(
            AuditAction.DECIDED,
            instance.submission,
            actor=instance.reviewer,
            study=instance.submission.study_id,
            detail=f"data {instance.data_decision}, pay {instance.pay_decision}",
        )


def log_place(sender: Any, instance: Any, created: bool, **_: Any) -> None:
    _log_place(instance, "given" if created else "changed")


def log_place_gone(sender: Any, instance: Any, **_: Any) -> None:
    _log_place(instance, "taken away")


def _log_place(instance: Any, verb: str) -> None:
    if isinstance(instance, Annotator):
        target, role = str(instance), "annotator"
    elif isinstance(instance, TeamRole):
        target, role = f"team {instance.team}", instance.role
    else:
        target, role = f"account {instance.user}", instance.role
    record(AuditAction.ACCESS, target, study=instance.study_id, detail=f"{role}, {verb}")


def log_joined(sender: Any, instance: TeamMember, created: bool, **_: Any) -> None:
    if created:
        _log_team(instance, "given")


def log_left(sender: Any, instance: TeamMember, **_: Any) -> None:
    _log_team(instance, "taken away")


def _log_team(member: TeamMember, verb: str) -> None:
    """Log with every study of the team whose access has changed; without one it is logged once."""
    target, by = f"account {member.user}", f"by team {member.team}"
    places: list[tuple[int | None, str]] = [
        (role.study_id, f"{role.role} {by}") for role in member.team.roles.all()
    ]
    for study, role in places or [(None, f"a place {by}")]:
        record(AuditAction.ACCESS, target, study=study, detail=f"{role}, {verb}")


def log_account(
    sender: Any, instance: User, created: bool, update_fields: Any = None, **_: Any
) -> None:
    if update_fields is not None and set(update_fields) <= {"last_login"}:
        return
    rights = [name.removeprefix("is_") for name in RIGHTS if getattr(instance, name)]
    verb = "created" if created else "changed"
    record(AuditAction.ACCESS, f"account {instance}", detail=", ".join([verb, *rights]))


def log_rights(sender: Any, instance: Any, action: str, **_: Any) -> None:
    if action in {"post_add", "post_remove", "post_clear"}:
        kind = "account" if isinstance(instance, User) else "group of accounts"
        record(AuditAction.ACCESS, f"{kind} {instance}", detail=f"rights, {action[5:]}")


def log_sign_in(sender: Any, request: Any, user: User, **_: Any) -> None:
    record(AuditAction.SIGNED_IN, f"account {user}", actor=user)
