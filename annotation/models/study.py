"""A study: one data collection with a kind, a life cycle, quotas and payment."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from annotation.models.tokens import new_completion_code, new_public_id


class StudyKind(models.TextChoices):
    ABC_SURVEY = "abc_survey", _("Group ratings on trait scales")
    COUNTERPART_WRITING = "counterpart_writing", _("Writing counterparts")
    COUNTERPART_JUDGMENT = "counterpart_judgment", _("Judging counterparts")


class StudyStatus(models.TextChoices):
    DRAFT = "draft", _("Draft")
    PILOTING = "piloting", _("Piloting")
    LIVE = "live", _("Live")
    PAUSED = "paused", _("Paused")
    CLOSED = "closed", _("Closed")
    ARCHIVED = "archived", _("Archived")


class Origin(models.TextChoices):
    """Where the submissions of a study come from; shown wherever its numbers are."""

    COLLECTED = "collected", _("Collected here")
    IMPORTED = "imported", _("Imported")
    SIMULATED = "simulated", _("Simulated, not a finding")


class QuotaRule(models.TextChoices):
    HARD = "hard", _("Offer only groups that still need ratings")
    SOFT = "soft", _("Always offer the full number of groups")


class Panel(models.TextChoices):
    LINK = "link", _("Any link")
    PROLIFIC = "prolific", _("Prolific")


class Outcome(models.TextChoices):
    """Completion path: how a submission ended, as panels tell the ends apart."""

    COMPLETED = "completed", _("Completed")
    FAILED_CHECK = "failed_check", _("Failed a check")
    SCREENED_OUT = "screened_out", _("Screened out")
    NO_CONSENT = "no_consent", _("No consent")
    TIMED_OUT = "timed_out", _("Timed out")
    QUOTA_FULL = "quota_full", _("Quota full")


def new_completion_codes() -> dict[str, str]:
    """Return one fresh code per outcome."""
    return {outcome: new_completion_code() for outcome in Outcome.values}


class Study(models.Model):
    public_id = models.CharField(max_length=12, unique=True, default=new_public_id, editable=False)
    title = models.CharField(max_length=160, help_text=_("Participants read it."))
    kind = models.CharField(
        max_length=30, choices=StudyKind, default=StudyKind.ABC_SURVEY, editable=False
    )
    status = models.CharField(
        max_length=12, choices=StudyStatus, default=StudyStatus.DRAFT, editable=False
    )
    origin = models.CharField(
        max_length=12, choices=Origin, default=Origin.COLLECTED, editable=False
    )
    source = models.TextField(
        blank=True, editable=False, help_text=_("For imported data: citation, file and its hash.")
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="owned_studies",
    )

    quota_per_group = models.PositiveIntegerField(
        _("quota per group"),
        default=20,
        validators=[MinValueValidator(1), MaxValueValidator(100_000)],
        help_text=_("Accepted ratings wanted for each group."),
    )
    quota_rule = models.CharField(max_length=8, choices=QuotaRule, default=QuotaRule.HARD)
    decide_by_checks = models.BooleanField(
        _("decide by the checks"),
        default=False,
        help_text=_(
            "Accept data that pass every check and exclude the rest as soon as a submission is "
            "finished. Everyone who finishes is paid either way."
        ),
    )
    reservation_minutes = models.PositiveIntegerField(
        default=40,
        validators=[MinValueValidator(1)],
        help_text=_("How long the groups of an idle submission are held."),
    )

    panel = models.CharField(max_length=12, choices=Panel, default=Panel.LINK)
    completion_codes = models.JSONField(default=new_completion_codes)
    reward_cents = models.PositiveIntegerField(_("reward in cents"), default=200)
    currency = models.CharField(max_length=3, default="USD")
    estimated_minutes = models.PositiveIntegerField(default=10, validators=[MinValueValidator(1)])
    contact_email = models.EmailField(help_text=_("Shown to participants on every page."))
    ethics_reference = models.CharField(max_length=80, blank=True)
    withdraw_until = models.DateField(
        null=True, blank=True, help_text=_("Last day on which participants can erase answers.")
    )

    created_at = models.DateTimeField(auto_now_add=True)
    launched_at = models.DateTimeField(null=True, editable=False)
    closed_at = models.DateTimeField(null=True, editable=False)
    history = HistoricalRecords()

    class Meta:
        ordering = ["-created_at", "-pk"]
        verbose_name_plural = _("studies")
        permissions = [("export_payments", _("Can export panel ids for payment"))]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status__in=StudyStatus.values), name="study_status_is_known"
            ),
            models.CheckConstraint(
                condition=models.Q(quota_per_group__gte=1), name="quota_is_positive"
            ),
        ]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        """Return the participants' link; annotators come in by their list of studies."""
        if self.kind != StudyKind.ABC_SURVEY:
            return reverse("annotators:home")
        return reverse("survey:landing", args=[self.public_id])

    @property
    def is_open(self) -> bool:
        """Whether new participants may start."""
        return self.status in {StudyStatus.PILOTING, StudyStatus.LIVE}


class MembershipRole(models.TextChoices):
    EDITOR = "editor", _("Editor")
    VIEWER = "viewer", _("Viewer")


class StudyMembership(models.Model):
    """A colleague's right to see (viewer) or manage (editor) a study; the owner needs no row."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="study_memberships"
    )
    role = models.CharField(max_length=8, choices=MembershipRole, default=MembershipRole.VIEWER)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "user"], name="one_membership_per_study")
        ]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.study_id}: {self.role}"
