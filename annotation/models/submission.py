"""A submission: one participant's pass through one study, with everything it left behind."""

from __future__ import annotations

from collections.abc import Collection
from typing import Self

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.common.encryption import LONGEST_STORED, EncryptedCharField
from annotation.models.instrument import DemographicQuestion, Instrument, StudyGroup, TraitScale
from annotation.models.participant import Participant
from annotation.models.study import Outcome, Study, StudyStatus
from annotation.models.tokens import new_public_id, new_seed, new_token


class SubmissionState(models.TextChoices):
    IN_PROGRESS = "in_progress", _("In progress")
    FINISHED = "finished", _("Finished")
    ENDED = "ended", _("Ended early")
    WITHDRAWN = "withdrawn", _("Withdrawn")


class SubmissionOrigin(models.TextChoices):
    """On which way a submission came; only live ones count unless a researcher decides so."""

    LIVE = "live", _("Live")
    PILOT = "pilot", _("Pilot")
    PREVIEW = "preview", _("Preview")


class DataDecision(models.TextChoices):
    """Whether the ratings count toward quotas and analyses. Exclusion is not rejection."""

    WAITING = "waiting", _("Waiting for review")
    ACCEPTED = "accepted", _("Accepted")
    EXCLUDED = "excluded", _("Excluded")


class PayDecision(models.TextChoices):
    WAITING = "waiting", _("Waiting")
    APPROVED = "approved", _("Approved")
    REJECTED = "rejected", _("Rejected")


class RejectionGround(models.TextChoices):
    """Why pay may be rejected: what panels allow of what this platform can see.

    Only checks that rest on reading alone are a ground; skipped questions cannot occur here.
    """

    TOO_FAST = "too_fast", _("Exceptionally fast: three standard deviations below the mean")
    LOW_EFFORT = "low_effort", _("Low effort throughout")
    FAILED_CHECK = "failed_check", _("Failed attention checks that ask for an answer")


# What an export may hold besides the submissions that count: origins, and a decision.
EXTRAS = (SubmissionOrigin.PILOT, SubmissionOrigin.PREVIEW, DataDecision.EXCLUDED)


def in_scope(study: Study, *, of: str = "") -> models.Q:
    """Return the condition that a submission is one of those that a study's numbers are about.

    of : path to the submission, such as “submission__”
    """
    return models.Q(**{f"{of}study": study}) & scope_of(study.status, of=of)


def scope_of(status: str, *, of: str = "") -> models.Q:
    """Return the condition under which a study of this status counts a submission of its own.

    While a study is piloting, its numbers are those of the pilot; from then on they are those of
    the submissions that count. Previews are never among them.
    """
    if status == StudyStatus.PILOTING:
        return models.Q(**{f"{of}origin": SubmissionOrigin.PILOT})
    return models.Q(**{f"{of}is_counted": True})


def in_review(*, of: str = "") -> models.Q:
    """Return the condition that a submission waits for a person to review it."""
    return models.Q(
        **{f"{of}state": SubmissionState.FINISHED, f"{of}data_decision": DataDecision.WAITING}
    )


def accepted(*, of: str = "") -> models.Q:
    """Return the condition that reports rest on a submission: it counts, its data are accepted."""
    return models.Q(**{f"{of}is_counted": True, f"{of}data_decision": DataDecision.ACCEPTED})


def exported(include: Collection[str], *, of: str = "") -> models.Q:
    """Return the condition on submissions of an export: those that count, and ``include``.

    Excluded data do not count. ``include`` holds some of `EXTRAS`. Raises `ValueError` for others.
    """
    if unknown := set(include) - set(EXTRAS):
        expected = ", ".join(EXTRAS)
        raise ValueError(f"“{sorted(unknown)[0]}” cannot be included, expected: {expected}.")
    found = models.Q(**{f"{of}is_counted": True}) | models.Q(**{f"{of}origin__in": list(include)})
    if DataDecision.EXCLUDED in include:
        return found
    return found & ~models.Q(**{f"{of}data_decision": DataDecision.EXCLUDED})


class SubmissionQuerySet(models.QuerySet["Submission"]):
    def visible_to(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """Return the submissions of the studies that ``user`` may see."""
        return self.filter(study__in=Study.objects.visible_to(user))

    def in_scope(self, study: Study) -> Self:
        """Return those that a study's numbers are about: of its pilot, or those that count."""
        return self.filter(in_scope(study))

    def counted(self) -> Self:
        """Return those that count in quotas, numbers, exports and reports."""
        return self.filter(is_counted=True)

    def accepted(self) -> Self:
        """Return those whose ratings reports rest on: counted, and their data accepted."""
        return self.filter(accepted())

    def lock(self, submission: Submission) -> Submission:
        """Return a submission as it is stored, with its study, locked for this transaction."""
        rows = self.select_for_update(of=("self",)).select_related("study")
        return rows.get(pk=submission.pk)


class Submission(models.Model):
    public_id = models.CharField(max_length=12, unique=True, default=new_public_id, editable=False)
    token = EncryptedCharField(
        max_length=LONGEST_STORED, unique=True, default=new_token, editable=False
    )
    holder_key = EncryptedCharField(
        max_length=LONGEST_STORED,
        blank=True,
        editable=False,
        help_text=_("Kept by the browser that started."),
    )
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="submissions")
    instrument = models.ForeignKey(Instrument, on_delete=models.PROTECT, related_name="submissions")
    participant = models.ForeignKey(
        Participant, on_delete=models.PROTECT, related_name="submissions"
    )
    state = models.CharField(
        max_length=12, choices=SubmissionState, default=SubmissionState.IN_PROGRESS
    )
    outcome = models.CharField(max_length=14, choices=Outcome, blank=True)
    origin = models.CharField(
        max_length=8, choices=SubmissionOrigin, default=SubmissionOrigin.LIVE, editable=False
    )
    is_counted = models.BooleanField(
        default=True,
        editable=False,
        help_text=_("Whether it counts in quotas, numbers, exports and reports."),
    )
    language = models.CharField(max_length=35, default="en")
    arm = models.SlugField(
        max_length=40, blank=True, editable=False, help_text=_("Of the instrument, empty for none.")
    )
    seed = models.PositiveIntegerField(
        default=new_seed, help_text=_("Order of groups and scales, sides of poles.")
    )
    step_index = models.PositiveSmallIntegerField(
        default=0, help_text=_("Position in the instrument's flow.")
    )
    step_opened_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(auto_now_add=True)
    consented_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    reserved_until = models.DateTimeField(
        null=True, help_text=_("Until when unfinished groups count as being rated.")
    )

    checks_passed = models.BooleanField(
        null=True, help_text=_("Every attention check passed; empty while unfinished.")
    )
    self_agreement = models.FloatField(
        null=True,
        help_text=_("Of the repeated group: share of matching scales, or Kendall's tau-b."),
    )
    data_decision = models.CharField(
        max_length=10, choices=DataDecision, default=DataDecision.WAITING
    )
    pay_decision = models.CharField(max_length=10, choices=PayDecision, default=PayDecision.WAITING)

    objects = SubmissionQuerySet.as_manager()

    class Meta:
        ordering = ["-started_at", "-pk"]
        indexes = [
            models.Index(fields=["study", "state", "data_decision"], name="submission_by_state"),
            models.Index(fields=["study", "state", "reserved_until"], name="submission_by_place"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "participant"], name="one_submission_per_participant"
            ),
            models.CheckConstraint(
                condition=models.Q(self_agreement__isnull=True)
                | models.Q(self_agreement__gte=-1, self_agreement__lte=1),
                name="self_agreement_is_from_minus_1_to_1",
            ),
            models.CheckConstraint(
                condition=~models.Q(data_decision=DataDecision.ACCEPTED)
                | models.Q(state=SubmissionState.FINISHED),
                name="only_finished_data_are_accepted",
            ),
            models.CheckConstraint(
                condition=~models.Q(origin=SubmissionOrigin.PREVIEW) | models.Q(is_counted=False),
                name="previews_never_count",
            ),
        ]

    def __str__(self) -> str:
        return f"S-{self.public_id}"


class UsedLink(models.Model):
    """A link signed by a panel that has opened a submission: it serves one browser, once."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="used_links")
    digest = models.CharField(max_length=64, unique=True, help_text=_("SHA-256 of the signature."))
    holder_key = EncryptedCharField(max_length=LONGEST_STORED)

    def __str__(self) -> str:
        return f"link of {self.submission_id}"


class Missing(models.TextChoices):
    """Why a line has no rating, in the participant's words."""

    DECLINED = "declined", _("Would rather not answer")
    UNKNOWN = "unknown", _("Does not know the group")


class GroupAssignment(models.Model):
    """A group or text that a submission rates; the repeated one has a second row."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="assignments")
    group = models.ForeignKey(StudyGroup, on_delete=models.PROTECT, related_name="assignments")
    position = models.PositiveSmallIntegerField(help_text=_("1 for the group rated first."))
    is_repeat = models.BooleanField(default=False)
    item = models.SlugField(
        max_length=100, blank=True, help_text=_("Of a text: what it is a guise of.")
    )
    skipped = models.CharField(
        max_length=8,
        choices=Missing,
        blank=True,
        help_text=_("Why no line of it was rated; the place is open for others then."),
    )

    class Meta:
        ordering = ["submission", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["submission", "position"], name="one_group_per_position"
            ),
            models.UniqueConstraint(
                fields=["submission", "group", "is_repeat"], name="one_assignment_per_group"
            ),
            models.UniqueConstraint(
                fields=["submission", "item", "is_repeat"],
                condition=~models.Q(item=""),
                name="one_guise_per_item",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.submission_id}, {self.position}: {self.group_id}"


class Means(models.TextChoices):
    """What a line was answered by, as the browser told it; never how it was moved."""

    TOUCH = "touch", _("Finger")
    MOUSE = "mouse", _("Mouse")
    PEN = "pen", _("Pen")
    KEY = "key", _("Key")
    OTHER = "other", _("Assistive technology")


class Rating(models.Model):
    """One number by one participant for one group on one scale, in the scale's own direction."""

    assignment = models.ForeignKey(
        GroupAssignment, on_delete=models.CASCADE, related_name="ratings"
    )
    scale = models.ForeignKey(TraitScale, on_delete=models.PROTECT, related_name="ratings")
    value = models.FloatField(help_text=_("0 is the scale's low pole, 100 its high pole."))
    position = models.PositiveSmallIntegerField(
        null=True, help_text=_("Place on the page, 1 for the first line.")
    )
    flipped = models.BooleanField(
        null=True,
        help_text=_(
            "Whether the high pole stood where the line begins: on the left, and on the right in a "
            "language that runs from right to left."
        ),
    )
    first_touch_ms = models.PositiveIntegerField(null=True)
    changes = models.PositiveIntegerField(null=True)
    means = models.CharField(
        max_length=5, choices=Means, blank=True, help_text=_("What the last answer was given by.")
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "scale"], name="one_rating_per_scale"),
            models.CheckConstraint(
                condition=models.Q(value__gte=0, value__lte=100), name="rating_is_0_to_100"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.assignment_id}, {self.scale_id}: {self.value:g}"


class MissingRating(models.Model):
    """A line that a participant chose to leave out, on a page that they sent."""

    assignment = models.ForeignKey(
        GroupAssignment, on_delete=models.CASCADE, related_name="missing_ratings"
    )
    scale = models.ForeignKey(TraitScale, on_delete=models.PROTECT, related_name="missing_ratings")
    kind = models.CharField(max_length=8, choices=Missing)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["assignment", "scale"], name="one_missing_rating_per_scale"
            )
        ]

    def __str__(self) -> str:
        return f"{self.assignment_id}, {self.scale_id}: {self.kind}"


class CheckKind(models.TextChoices):
    """The three checks of Cao et al. 2022, section 4, and three that rest on reading alone.

    What a failure may lead to stands in `annotation.instruments.checks.CHECK_RULES`.
    """

    GROUP_NAME = "group_name", _("Name the group just rated")
    MARKED_TRAITS = "marked_traits", _("One trait high, one trait low")
    REPEATED_GROUP = "repeated_group", _("Repeated group")
    INSTRUCTED = "instructed", _("An answer that the text asks for")
    NONSENSICAL = "nonsensical", _("A statement that nobody can affirm")
    COMPREHENSION = "comprehension", _("A question about the instructions")


class CheckResponse(models.Model):
    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="checks")
    kind = models.CharField(max_length=20, choices=CheckKind)
    step_index = models.PositiveSmallIntegerField()
    answer = models.JSONField(default=dict)
    expected = models.JSONField(default=dict)
    passed = models.BooleanField(
        null=True, help_text=_("Empty where the check could not be asked.")
    )
    reason = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["submission", "step_index"]
        constraints = [
            models.UniqueConstraint(fields=["submission", "step_index"], name="one_check_per_step")
        ]

    def __str__(self) -> str:
        return f"{self.submission_id}, {self.kind}: {self.passed}"


class DemographicAnswer(models.Model):
    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="answers")
    question = models.ForeignKey(
        DemographicQuestion, on_delete=models.PROTECT, related_name="answers"
    )
    value = models.JSONField(null=True)
    declined = models.BooleanField(default=False, help_text=_("“Prefer not to say”."))
    own_words = models.CharField(
        max_length=200,
        blank=True,
        help_text=_("What was typed beside an answer that opens a text; never in reports."),
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["submission", "question"], name="one_answer_per_question"
            )
        ]

    def __str__(self) -> str:
        return f"{self.submission_id}, {self.question_id}"


class StepAnswer(models.Model):
    """The answer to a question that the flow brings along: a text, or names of chosen answers."""

    submission = models.ForeignKey(
        Submission, on_delete=models.CASCADE, related_name="step_answers"
    )
    step_index = models.PositiveSmallIntegerField()
    key = models.SlugField(max_length=40, help_text=_("The step's name in the data."))
    value = models.JSONField(help_text=_("A text; for several answers the list of their names."))

    class Meta:
        ordering = ["submission", "step_index"]
        constraints = [
            models.UniqueConstraint(fields=["submission", "key"], name="one_answer_per_step")
        ]

    def __str__(self) -> str:
        return f"{self.submission_id}, {self.key}"


class PageEvent(models.Model):
    """One page passed: when the server opened it, when it was sent, what the browser timed."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="pages")
    step_index = models.PositiveSmallIntegerField()
    step_kind = models.CharField(max_length=20)
    opened_at = models.DateTimeField(null=True)
    submitted_at = models.DateTimeField()
    language = models.CharField(
        max_length=35, blank=True, help_text=_("In which the page was read when it was sent.")
    )
    client = models.JSONField(default=dict, help_text=_("Device class and timings, no identity."))

    class Meta:
        ordering = ["submission", "step_index"]
        constraints = [
            models.UniqueConstraint(fields=["submission", "step_index"], name="one_event_per_page")
        ]

    def __str__(self) -> str:
        return f"{self.submission_id}, step {self.step_index}"


class Review(models.Model):
    """One decision about a submission, kept for good: the newest is the one in force."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="reviews")
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="reviews",
        help_text=_("Empty where a rule of the study decided."),
    )
    data_decision = models.CharField(max_length=10, choices=DataDecision)
    pay_decision = models.CharField(max_length=10, choices=PayDecision)
    pay_ground = models.CharField(
        max_length=12, choices=RejectionGround, blank=True, help_text=_("For a rejection of pay.")
    )
    reason = models.TextField(blank=True)
    flags = models.JSONField(
        default=list,
        blank=True,
        help_text=_("Quality flags at this moment, with their thresholds."),
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["submission", "-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(pay_decision=PayDecision.REJECTED)
                | (~models.Q(pay_ground="") & ~models.Q(reason="")),
                name="rejection_has_ground_and_reason",
            )
        ]

    def __str__(self) -> str:
        return f"{self.submission_id}: {self.data_decision}, {self.pay_decision}"
