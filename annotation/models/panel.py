"""What a study has to do with its panel: settings, statuses, and the ledger of payments.

Tokens and secrets are never stored, only the names of the environment variables that hold them.
"""

from __future__ import annotations

import re

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from annotation.common.encryption import LONGEST_STORED, EncryptedCharField
from annotation.models.study import Study, panel_choices
from annotation.models.submission import Submission
from annotation.models.tokens import new_public_id

#: Only variables that are meant for panels: a form must not send away any other secret of a server.
VARIABLE = re.compile(r"(PROLIFIC|PANEL)_[A-Z0-9_]{1,70}")
PARAMETER = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")


def _variable(help_text: object) -> models.CharField[str, str]:
    return models.CharField(
        max_length=80,
        blank=True,
        # Not repeated in the message: it may be the secret itself.
        validators=[
            RegexValidator(
                re.compile(rf"^{VARIABLE.pattern}\Z"),
                _(
                    "Expected the name of an environment variable that begins with PROLIFIC_ or "
                    "PANEL_, such as PROLIFIC_TOKEN, and never the secret itself."
                ),
            )
        ],
        help_text=help_text,  # type: ignore[arg-type]
    )


def _parameter(help_text: object) -> models.CharField[str, str]:
    return models.CharField(
        max_length=40,
        blank=True,
        validators=[
            RegexValidator(
                re.compile(rf"^{PARAMETER.pattern}\Z"),
                _("“%(value)s” is no parameter of a link, expected a name such as PROLIFIC_PID."),
            )
        ],
        help_text=help_text,  # type: ignore[arg-type]
    )


class ScreenOutPay(models.TextChoices):
    """What somebody gets who is screened out: panels pay a fixed amount, or a share."""

    NOTHING = "nothing", _("Nothing: they are asked to return their place")
    FIXED = "fixed", _("A fixed amount, paid by the panel with the code")
    SHARE = "share", _("A share of the reward")


class PanelSettings(models.Model):
    """How one study works with its panel. Empty names of parameters mean the panel's usual ones."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="panel_settings")
    panel_study_id = models.CharField(
        _("study at the panel"),
        max_length=60,
        blank=True,
        validators=[
            RegexValidator(r"^[A-Za-z0-9_-]+\Z", _("“%(value)s” is no id of a study at a panel."))
        ],
        help_text=_("The id that the panel gave the study, for its API."),
    )
    person_parameter = _parameter(_("Parameter of the link that says who comes."))
    session_parameter = _parameter(_("Parameter that names their submission at the panel."))
    signed_links = models.BooleanField(
        default=False, help_text=_("Let in only people whose link the panel has signed.")
    )
    link_token_parameter = _parameter(_("Parameter that carries the signature."))
    link_audience = models.CharField(
        _("audience of signed links"),
        max_length=200,
        blank=True,
        help_text=_("Whom the panel signs for; empty is the host of this site."),
    )
    api_token_variable = _variable(
        _("Environment variable of the workers that holds the panel’s API token.")
    )
    webhook_secret_variable = _variable(
        _("Environment variable of the web server that holds the secret of the panel’s webhooks.")
    )
    return_urls = models.JSONField(
        default=dict,
        blank=True,
        help_text=_("Address by outcome, with {code} and {id} for what the panel wants to know."),
    )
    fee_percent = models.DecimalField(
        _("the panel’s fee in percent"),
        max_digits=5,
        decimal_places=2,
        default=0,
        validators=[MinValueValidator(0), MaxValueValidator(200)],
        help_text=_("Of rewards and bonuses, for the cost on the money page."),
    )
    minimum_hourly_minor = models.PositiveIntegerField(
        _("lowest pay an hour"),
        default=0,
        help_text=_("In cents; the money page warns below it. 0 for none."),
    )
    screen_out_pay = models.CharField(
        _("pay for people screened out"),
        max_length=8,
        choices=ScreenOutPay,
        default=ScreenOutPay.NOTHING,
    )
    screen_out_minor = models.PositiveIntegerField(
        _("fixed amount in cents"), default=0, help_text=_("As the study at the panel states it.")
    )
    screen_out_percent = models.PositiveSmallIntegerField(
        _("share in percent"),
        default=10,
        validators=[MinValueValidator(8), MaxValueValidator(99)],
        help_text=_("8 to 99."),
    )
    history = HistoricalRecords()

    class Meta:
        verbose_name_plural = _("panel settings")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(fee_percent__gte=0, fee_percent__lte=200),
                name="panel_fee_is_a_percentage",
            ),
            models.CheckConstraint(
                condition=models.Q(screen_out_percent__gte=8, screen_out_percent__lte=99),
                name="screen_out_share_is_8_to_99",
            ),
        ]

    def __str__(self) -> str:
        return f"panel settings of {self.study_id}"


class PanelStatus(models.TextChoices):
    """Where a submission stands at its panel, in Prolific's words."""

    RESERVED = "RESERVED", _("Reserved")
    ACTIVE = "ACTIVE", _("Active")
    AWAITING_REVIEW = "AWAITING REVIEW", _("Awaiting review")
    APPROVED = "APPROVED", _("Approved")
    REJECTED = "REJECTED", _("Rejected")
    RETURNED = "RETURNED", _("Returned")
    TIMED_OUT = "TIMED-OUT", _("Timed out")
    SCREENED_OUT = "SCREENED OUT", _("Screened out")
    PARTIALLY_APPROVED = "PARTIALLY APPROVED", _("Partially approved")


class PanelRecord(models.Model):
    """What the panel said last about one submission."""

    submission = models.OneToOneField(
        Submission, on_delete=models.CASCADE, related_name="panel_record"
    )
    status = models.CharField(max_length=20, choices=PanelStatus)
    status_at = models.DateTimeField(help_text=_("When it became so, by the panel’s clock."))
    seen_at = models.DateTimeField(help_text=_("When the platform heard of it last."))

    def __str__(self) -> str:
        return f"{self.submission_id}: {self.status}"


class PanelEvent(models.Model):
    """One message of a panel, by its id, so that none counts twice. Its body is not kept."""

    panel = models.CharField(max_length=12, choices=panel_choices)
    event_id = models.CharField(max_length=120)
    kind = models.CharField(max_length=60)
    submission = models.ForeignKey(
        Submission, on_delete=models.CASCADE, null=True, related_name="panel_events"
    )
    status = models.CharField(max_length=20, blank=True)
    happened_at = models.DateTimeField()
    received_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["panel", "event_id"], name="one_event_per_id")
        ]

    def __str__(self) -> str:
        return f"{self.panel}: {self.kind}"


class ActionKind(models.TextChoices):
    APPROVE = "approve", _("Reward")
    SCREEN_OUT = "screen_out", _("Pay for a screening")
    BONUS = "bonus", _("Bonus")
    REJECT = "reject", _("Rejection")
    RETURN = "return", _("Request to return")


#: The panel ends a submission with one of these, so that each submission has one at most.
VERDICTS = (ActionKind.APPROVE, ActionKind.SCREEN_OUT, ActionKind.REJECT)


class ActionState(models.TextChoices):
    """planned → sent → confirmed. What may have happened or not is unclear until the panel says."""

    PLANNED = "planned", _("Planned")
    SENT = "sent", _("Sent")
    CONFIRMED = "confirmed", _("Confirmed")
    UNCLEAR = "unclear", _("Unclear")
    FAILED = "failed", _("Refused")


class PanelAction(models.Model):
    """One thing that the panel is asked to do about one submission.

    The row is written and committed before the panel is called: whatever becomes of the call, the
    platform knows that it may have been made. ``reference`` is the panel's id of the submission.
    """

    public_id = models.CharField(max_length=12, unique=True, default=new_public_id, editable=False)
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="panel_actions")
    submission = models.ForeignKey(
        Submission, on_delete=models.PROTECT, related_name="panel_actions"
    )
    kind = models.CharField(max_length=10, choices=ActionKind)
    key = models.CharField(max_length=40, blank=True, help_text=_("Name of a bonus."))
    amount_minor = models.PositiveIntegerField(help_text=_("Cents, or the currency’s own."))
    currency = models.CharField(max_length=3)
    reference = EncryptedCharField(max_length=LONGEST_STORED, blank=True)
    category = models.CharField(max_length=24, blank=True)
    message = models.TextField(blank=True, help_text=_("What the person is told."))
    state = models.CharField(max_length=10, choices=ActionState, default=ActionState.PLANNED)
    problem = models.TextField(blank=True)
    by_panel = models.BooleanField(
        default=False, help_text=_("Done at the panel without this platform.")
    )
    planned_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="panel_actions",
    )
    planned_at = models.DateTimeField(auto_now_add=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    try_at = models.DateTimeField(help_text=_("When it is looked at again."))
    claim = models.CharField(max_length=32, blank=True, help_text=_("The attempt in hand."))
    claimed_at = models.DateTimeField(null=True)
    called_at = models.DateTimeField(
        null=True, help_text=_("Right before the call that cannot be taken back.")
    )
    accepted_at = models.DateTimeField(null=True, help_text=_("The panel said that it would."))
    settled_at = models.DateTimeField(null=True, help_text=_("Confirmed or refused."))
    batch_reference = models.CharField(
        max_length=60, blank=True, help_text=_("The panel’s id of a batch of bonuses.")
    )
    bonuses_before = models.PositiveSmallIntegerField(
        null=True, help_text=_("Bonuses of this amount that the panel listed before.")
    )

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["state", "try_at"], name="action_by_state")]
        constraints = [
            models.UniqueConstraint(
                fields=["submission", "kind", "key"], name="one_action_of_a_kind"
            ),
            models.UniqueConstraint(
                fields=["submission"],
                condition=models.Q(kind__in=VERDICTS) & ~models.Q(state=ActionState.FAILED),
                name="one_verdict_per_submission",
            ),
            models.CheckConstraint(
                condition=models.Q(kind=ActionKind.BONUS) ^ models.Q(key=""),
                name="bonuses_have_a_name",
            ),
            models.CheckConstraint(
                condition=~models.Q(state=ActionState.CONFIRMED)
                | models.Q(settled_at__isnull=False),
                name="confirmed_actions_have_a_time",
            ),
        ]

    def __str__(self) -> str:
        # No reference here: string forms end up in logs and histories.
        return f"{self.kind} for {self.submission_id}: {self.state}"
