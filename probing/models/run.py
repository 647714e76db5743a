"""Runs, shards and scores. The database is the truth about work; the broker only wakes workers."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models import Corpus
from annotation.models.tokens import new_public_id
from probing.models.language_model import LanguageModel


class RunStatus(models.TextChoices):
    WAITING = "waiting", _("Waiting")
    RUNNING = "running", _("Running")
    FINISHED = "finished", _("Finished")
    FAILED = "failed", _("Failed")
    CANCELED = "cancelled", _("Canceled")


class RunOrigin(models.TextChoices):
    """Where the results of a run come from; shown wherever they are."""

    COMPUTED = "computed", _("Computed here")
    IMPORTED = "imported", _("Imported")


class NumberFormat(models.TextChoices):
    """What a run's model computes in, unless as its workers are set."""

    FLOAT32 = "float32", "float32"
    BFLOAT16 = "bfloat16", "bfloat16"


class Run(models.Model):
    """One execution of one measure with one model on stated stimuli, parameters and seed."""

    public_id = models.CharField(max_length=12, unique=True, default=new_public_id, editable=False)
    measure = models.CharField(max_length=40)
    model = models.ForeignKey(LanguageModel, on_delete=models.PROTECT, related_name="runs")
    parameters = models.JSONField(help_text=_("Validated by the measure's schema."))
    corpus = models.ForeignKey(
        Corpus,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="runs",
        help_text=_("Where its texts come from; none for measures of groups."),
    )
    stimuli = models.JSONField(help_text=_("Groups, traits and templates, or texts, as they were."))
    stimuli_hash = models.CharField(max_length=64)
    origin = models.CharField(
        max_length=8, choices=RunOrigin, default=RunOrigin.COMPUTED, editable=False
    )
    obtained = models.TextField(
        blank=True, help_text=_("How imported results were obtained, in words.")
    )
    rows_digest = models.CharField(
        max_length=64,
        blank=True,
        editable=False,
        help_text=_("Of imported results: the hash of the rows, however the file wrote them."),
    )
    seed = models.PositiveIntegerField(default=0)
    dtype = models.CharField(
        max_length=8,
        choices=NumberFormat,
        blank=True,
        default="",
        help_text=_("Number format of the model; empty for that of the workers, usually float32."),
    )
    status = models.CharField(max_length=10, choices=RunStatus, default=RunStatus.WAITING)
    shard_count = models.PositiveIntegerField(default=0)
    notices = models.JSONField(
        default=list, help_text=_("What the dry run or the measure had to remark.")
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="runs"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    code_version = models.CharField(max_length=60)
    library_versions = models.JSONField(default=dict)
    model_revision = models.CharField(
        max_length=80, blank=True, help_text=_("Commit or hash of the weights that were used.")
    )
    device = models.CharField(max_length=60, blank=True)
    tokens_spent = models.PositiveBigIntegerField(
        default=0, help_text=_("With a server of chat models; prompts and answers together.")
    )
    tokens_written = models.PositiveBigIntegerField(
        default=0, help_text=_("Those of them that the model wrote.")
    )
    answers_reused = models.PositiveBigIntegerField(
        default=0, help_text=_("Answers of its server that were kept from before, at no cost.")
    )
    batches = models.JSONField(
        default=dict, help_text=_("Batches with its server: id, requests, and tokens when read.")
    )
    error = models.TextField(blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status__in=RunStatus.values), name="run_status_is_known"
            ),
            models.CheckConstraint(
                condition=~models.Q(origin="imported") | ~models.Q(obtained=""),
                name="imported_run_says_how_it_was_obtained",
            ),
            models.UniqueConstraint(
                fields=["rows_digest"],
                condition=~models.Q(rows_digest=""),
                name="rows_are_imported_as_one_run",
            ),
        ]

    def __str__(self) -> str:
        return f"Run {self.pk}"

    @property
    def is_imported(self) -> bool:
        return self.origin == RunOrigin.IMPORTED


class ShardStatus(models.TextChoices):
    PENDING = "pending", _("Waiting")
    LEASED = "leased", _("Running")
    STORED = "stored", _("Stored")
    FAILED = "failed", _("Failed")


class Shard(models.Model):
    """The unit of work of a run: claimed with a lease, computed, stored in one transaction."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="shards")
    index = models.PositiveIntegerField()
    title = models.CharField(max_length=300)
    payload = models.JSONField()
    status = models.CharField(max_length=8, choices=ShardStatus, default=ShardStatus.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    worker = models.CharField(max_length=120, blank=True)
    device = models.CharField(max_length=60, blank=True)
    lease_until = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    stored_at = models.DateTimeField(null=True)
    seconds = models.FloatField(null=True)
    result = models.BinaryField(null=True, help_text=_("One Parquet file."))
    error = models.TextField(blank=True)

    class Meta:
        ordering = ["run", "index"]
        indexes = [
            # What is left to do, in the order of claims: most shards of a long run are stored.
            models.Index(
                fields=["run", "index"],
                condition=~models.Q(status=ShardStatus.STORED),
                name="shard_to_do",
            ),
            models.Index(
                fields=["lease_until"],
                condition=models.Q(status=ShardStatus.LEASED),
                name="shard_with_lease",
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["run", "index"], name="one_shard_per_index"),
            models.CheckConstraint(
                condition=~models.Q(status=ShardStatus.STORED) | models.Q(result__isnull=False),
                name="stored_shard_has_a_result",
            ),
            models.CheckConstraint(
                condition=~models.Q(status=ShardStatus.LEASED)
                | models.Q(lease_until__isnull=False),
                name="leased_shard_has_a_lease",
            ),
        ]

    def __str__(self) -> str:
        return f"shard {self.index:04d} of run {self.run_id}"


class Score(models.Model):
    """An aggregated result of a run. ``template`` is empty for the mean over templates."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="scores")
    name = models.CharField(max_length=40, help_text=_("For example pair_score."))
    group = models.CharField(max_length=80)
    trait = models.CharField(max_length=80)
    template = models.CharField(max_length=100, blank=True)
    value = models.FloatField(null=True)
    reason = models.CharField(max_length=200, blank=True, help_text=_("Why there is no value."))
    n = models.PositiveIntegerField(help_text=_("How many values went in."))
    access = models.CharField(
        max_length=8,
        blank=True,
        default="",
        help_text=_(
            "How it was obtained: full (whole vocabulary), top_k (likeliest tokens) or sampled "
            "(drawn answers); empty where it was not recorded."
        ),
    )

    class Meta:
        ordering = ["run", "name", "template", "group", "trait"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "name", "group", "trait", "template"], name="one_score_per_cell"
            ),
            models.CheckConstraint(
                condition=models.Q(value__isnull=False) | ~models.Q(reason=""),
                name="missing_score_has_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run_id}: {self.group} × {self.trait}"


class TextScore(models.Model):
    """A result of a run for one text: the statistics that intervals over texts are made from."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="text_scores")
    name = models.CharField(max_length=40, help_text=_("For example span_perplexity."))
    pair = models.CharField(max_length=100, help_text=_("Slug of the pair within its corpus."))
    variety = models.CharField(max_length=40)
    condition = models.CharField(
        max_length=40, blank=True, help_text=_("For example random, noun_phrase, verb_phrase.")
    )
    trial = models.PositiveSmallIntegerField(default=0)
    value = models.FloatField(null=True)
    reason = models.CharField(max_length=200, blank=True, help_text=_("Why there is no value."))
    n = models.PositiveIntegerField(help_text=_("How many values, such as tokens, went in."))

    class Meta:
        ordering = ["run", "name", "condition", "variety", "trial", "pair"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "name", "pair", "variety", "condition", "trial"],
                name="one_score_per_text",
            ),
            models.CheckConstraint(
                condition=models.Q(value__isnull=False) | ~models.Q(reason=""),
                name="missing_text_score_has_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run_id}: {self.name} of {self.pair} in {self.variety}"


class TrainingPoint(models.Model):
    """One point of the loss curve of a training, stored while it trains."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="training_points")
    training = models.PositiveIntegerField(
        default=0, help_text=_("Number of the training from 1 on, 0 where a run has one alone.")
    )
    step = models.PositiveIntegerField()
    epoch = models.FloatField()
    loss = models.FloatField(
        help_text=_("Mean negative log probability of a token or a class, in nats.")
    )
    held_out_loss = models.FloatField(
        null=True, help_text=_("On what is held out, where measured.")
    )
    accuracy = models.FloatField(
        null=True, help_text=_("Share of the texts trained on whose class was likeliest.")
    )
    held_out_accuracy = models.FloatField(null=True, help_text=_("Of validation texts."))
    learning_rate = models.FloatField()
    at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["run", "training", "step"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "training", "step"], name="one_training_point_per_step"
            )
        ]

    def __str__(self) -> str:
        return f"{self.run_id}: training {self.training}, step {self.step}"


class RunEventKind(models.TextChoices):
    PLANNED = "planned", _("Planned")
    CLAIMED = "claimed", _("Claimed")
    STORED = "stored", _("Stored")
    LAPSED = "lapsed", _("Lapsed")
    BATCHED = "batched", _("Waiting for a batch")
    ERROR = "error", _("Error")
    CANCELED = "cancelled", _("Canceled")
    RESUMED = "resumed", _("Resumed")
    FINISHED = "finished", _("Finished")
    FAILED = "failed", _("Failed")


class RunEvent(models.Model):
    """One line of a run's log."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events")
    shard_index = models.PositiveIntegerField(null=True)
    kind = models.CharField(max_length=10, choices=RunEventKind)
    message = models.CharField(max_length=300)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["run", "-at", "-pk"]

    def __str__(self) -> str:
        return f"{self.run_id}: {self.message}"
