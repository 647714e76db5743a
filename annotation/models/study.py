"""A study: one data collection with a kind, a life cycle, quotas and payment."""

from __future__ import annotations

from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from annotation.common.quality_thresholds import Thresholds, validate_thresholds
from annotation.common.target_margins import Margin, load_margins, validate_margins
from annotation.models.tokens import new_completion_code, new_public_id

# Needed besides access to the study, because a payment export names people's panel ids.
PAYMENT_PERMISSION = "annotation.export_payments"


class StudyKind(models.TextChoices):
    ABC_SURVEY = "abc_survey", _("Group ratings on trait scales")
    GUISE_RATING = "guise_rating", _("Ratings of the speakers of texts")
    COUNTERPART_WRITING = "counterpart_writing", _("Writing counterparts")
    COUNTERPART_JUDGMENT = "counterpart_judgment", _("Judging counterparts")


# Participants come by a link and rate on lines; the other kinds have annotators.
SURVEY_KINDS = (StudyKind.ABC_SURVEY, StudyKind.GUISE_RATING)


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


class AcceptRule(models.TextChoices):
    """Which finished submissions the study accepts by itself; all others wait for a person."""

    PROPOSE = "propose", _("A person decides; the platform proposes")
    CHECKS = "checks", _("Accept when every check is passed")
    NO_FLAG = "no_flag", _("Accept when every check is passed and no flag is raised")


class ExcludeRule(models.TextChoices):
    """Whose data the study excludes by itself, paid all the same; all others wait."""

    PROPOSE = "propose", _("A person decides; the platform proposes")
    CHECKS = "checks", _("Exclude when a check is failed")
    CHECK_AND_FLAG = "check_and_flag", _("Exclude when a check is failed and a flag is raised")


class Panel(models.TextChoices):
    """Where participants come from; what each can do is in `annotation.panels.registry`."""

    LINK = "link", _("Any link")
    PROLIFIC = "prolific", "Prolific"
    MTURK = "mturk", _("Survey code (Mechanical Turk)")


def panel_choices() -> list[tuple[str, Any]]:
    """Return the panels with their titles; a function, so that adding one needs no migration."""
    return Panel.choices


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


class StudyQuerySet(models.QuerySet["Study"]):
    """Who may see and who may change a study: the one home of this rule for all interfaces."""

    def visible_to(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """Return the studies that ``user`` may see.

        Superusers see all; other staff see what they own, are members of, or a team of theirs is;
        nobody else sees any.
        """
        return self._with_roles(user, *MembershipRole.values)

    def reviewable_by(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """Return the studies whose submissions and texts ``user`` may decide on."""
        return self._with_roles(
            user, MembershipRole.OWNER, MembershipRole.EDITOR, MembershipRole.REVIEWER
        )

    def changeable_by(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """Return the studies that ``user`` may manage: their own, or as an editor."""
        return self._with_roles(user, MembershipRole.OWNER, MembershipRole.EDITOR)

    def owned_by(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """Return the studies in which ``user`` gives access to others and reads the audit log."""
        return self._with_roles(user, MembershipRole.OWNER)

    def surveys(self) -> Self:
        """Return the studies with participants."""
        return self.filter(kind__in=SURVEY_KINDS)

    def _with_roles(self, user: AbstractBaseUser | AnonymousUser, *roles: str) -> Self:
        if not is_active_staff(user):
            return self.none()
        if getattr(user, "is_superuser", False):
            return self.all()
        joined = StudyMembership.objects.filter(user=user.pk, role__in=roles).values("study")
        by_team = Study.objects.filter(
            team_roles__role__in=roles, team_roles__team__members__user=user.pk
        ).values("pk")
        return self.filter(
            models.Q(owner=user.pk) | models.Q(pk__in=joined) | models.Q(pk__in=by_team)
        )


def is_active_staff(user: AbstractBaseUser | AnonymousUser) -> bool:
    return bool(user.is_active and getattr(user, "is_staff", False))


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
    rows_digest = models.CharField(
        max_length=64,
        blank=True,
        editable=False,
        help_text=_("For imported data: the hash of its rows, however the file wrote them."),
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
    accept_rule = models.CharField(
        _("who accepts"),
        max_length=16,
        choices=AcceptRule,
        default=AcceptRule.PROPOSE,
        help_text=_(
            "A rule decides as soon as a submission is finished. A person can change its decision. "
            "Flags that are only worth knowing keep nobody out."
        ),
    )
    exclude_rule = models.CharField(
        _("who excludes"),
        max_length=16,
        choices=ExcludeRule,
        default=ExcludeRule.PROPOSE,
        help_text=_("Everyone who finishes is paid either way; a rule never rejects pay."),
    )
    pilot_places = models.PositiveIntegerField(
        _("pilot places"),
        default=10,
        validators=[MinValueValidator(1), MaxValueValidator(10_000)],
        help_text=_("How many people can take part while the study is piloting."),
    )
    pilot_started_at = models.DateTimeField(null=True, editable=False)
    pilot_is_counted = models.BooleanField(
        null=True,
        editable=False,
        help_text=_("Decided when the study went live; empty: not decided, kept apart."),
    )
    target_margins = models.JSONField(
        default=dict,
        blank=True,
        editable=False,
        validators=[validate_margins],
        help_text=_("By demographic question: the wanted share of each answer."),
    )
    samples_by_margins = models.BooleanField(
        _("choose people by their answers"),
        default=False,
        editable=False,
        help_text=_("Whose cell of a target is full is thanked after the demographic questions."),
    )
    planned_people = models.PositiveIntegerField(
        _("planned participants"),
        null=True,
        blank=True,
        editable=False,
        validators=[MinValueValidator(1), MaxValueValidator(1_000_000)],
        help_text=_("Whose shares the places of the targets are."),
    )
    quality_thresholds = models.JSONField(
        default=dict,
        blank=True,
        validators=[validate_thresholds],
        help_text=_("Thresholds at which flags are raised; what is left out has its default."),
    )
    reservation_minutes = models.PositiveIntegerField(
        default=40,
        validators=[MinValueValidator(1)],
        help_text=_("How long the groups of an idle submission are held."),
    )
    pay_lost_places = models.BooleanField(
        _("pay for lost places"),
        default=True,
        help_text=_(
            "Pay people who come back after that time, have rated a group, and find its place "
            "given to somebody else. Otherwise a person decides."
        ),
    )

    panel = models.CharField(max_length=12, choices=panel_choices, default=Panel.LINK)
    completion_codes = models.JSONField(default=new_completion_codes)
    reward_cents = models.PositiveIntegerField(
        _("reward in cents"),
        default=0,
        help_text=_("What everyone who finishes is promised. 0: no pay, and no page speaks of it."),
    )
    currency = models.CharField(max_length=3, default="USD")
    estimated_minutes = models.PositiveIntegerField(default=10, validators=[MinValueValidator(1)])
    contact_email = models.EmailField(help_text=_("Shown to participants on every page."))
    ethics_reference = models.CharField(max_length=80, blank=True)
    ethics_contact = models.CharField(
        max_length=200,
        blank=True,
        help_text=_("Whom participants can ask about ethics, such as the review board’s address."),
    )
    data_access = models.CharField(
        _("who can read the answers"),
        max_length=300,
        blank=True,
        help_text=_("Part of the consent. Empty: the study’s researchers and the site’s staff."),
    )
    identity_days = models.PositiveIntegerField(
        _("days until panel ids are erased"),
        null=True,
        blank=True,
        default=90,
        validators=[MaxValueValidator(36_500)],
        help_text=_("After the study has closed; part of the consent. Empty: never by itself."),
    )
    answer_days = models.PositiveIntegerField(
        _("days until answers are erased"),
        null=True,
        blank=True,
        validators=[MaxValueValidator(36_500)],
        help_text=_("After the study has closed; part of the consent. Empty: answers are kept."),
    )
    withdraw_until = models.DateField(
        null=True, blank=True, help_text=_("Last day on which participants can erase answers.")
    )

    created_at = models.DateTimeField(auto_now_add=True)
    launched_at = models.DateTimeField(null=True, editable=False)
    closed_at = models.DateTimeField(null=True, editable=False)
    objects = StudyQuerySet.as_manager()
    history = HistoricalRecords(excluded_fields=["rows_digest"])

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
            models.CheckConstraint(
                condition=models.Q(samples_by_margins=False)
                | models.Q(planned_people__isnull=False),
                name="choosing_people_needs_a_plan",
            ),
            models.UniqueConstraint(
                fields=["rows_digest"],
                condition=~models.Q(rows_digest=""),
                name="rows_are_imported_as_one_study",
            ),
        ]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        """Return the participants' link; annotators come in by their list of studies."""
        if self.kind not in SURVEY_KINDS:
            return reverse("annotators:home")
        return reverse("survey:landing", args=[self.public_id])

    @property
    def rates_texts(self) -> bool:
        """Whether participants rate the speakers of texts rather than groups."""
        return self.kind == StudyKind.GUISE_RATING

    def is_visible_to(self, user: AbstractBaseUser | AnonymousUser) -> bool:
        """One query."""
        return Study.objects.visible_to(user).filter(pk=self.pk).exists()

    def is_reviewable_by(self, user: AbstractBaseUser | AnonymousUser) -> bool:
        """One query."""
        return Study.objects.reviewable_by(user).filter(pk=self.pk).exists()

    def is_owned_by(self, user: AbstractBaseUser | AnonymousUser) -> bool:
        """One query."""
        return Study.objects.owned_by(user).filter(pk=self.pk).exists()

    def is_changeable_by(self, user: AbstractBaseUser | AnonymousUser) -> bool:
        """One query."""
        return Study.objects.changeable_by(user).filter(pk=self.pk).exists()

    @property
    def decide_by_checks(self) -> bool:
        """Whether the checks alone decide about every submission."""
        return (self.accept_rule, self.exclude_rule) == (AcceptRule.CHECKS, ExcludeRule.CHECKS)

    @decide_by_checks.setter
    def decide_by_checks(self, value: bool) -> None:
        self.accept_rule = AcceptRule.CHECKS if value else AcceptRule.PROPOSE
        self.exclude_rule = ExcludeRule.CHECKS if value else ExcludeRule.PROPOSE

    @property
    def thresholds(self) -> Thresholds:
        """The thresholds of quality flags, the defaults for those that the study does not set."""
        return Thresholds.model_validate(self.quality_thresholds)

    @property
    def margins(self) -> dict[str, Margin]:
        """The target margins by question."""
        return load_margins(self.target_margins)

    @property
    def is_paid(self) -> bool:
        """Whether pages speak of payment."""
        return self.reward_cents > 0

    @property
    def is_open(self) -> bool:
        """Whether new participants may start."""
        return self.status in {StudyStatus.PILOTING, StudyStatus.LIVE}


class MembershipRole(models.TextChoices):
    """Each may do what those below may: see, decide, change, give access."""

    OWNER = "owner", _("Owner")
    EDITOR = "editor", _("Editor")
    REVIEWER = "reviewer", _("Reviewer")
    VIEWER = "viewer", _("Viewer")


class StudyMembership(models.Model):
    """A colleague's role in a study; who made the study is an owner without a row."""

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
