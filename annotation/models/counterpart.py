"""Counterparts: rewritings of texts in another variety, by annotators and by models."""

from __future__ import annotations

from typing import Self, TypeVar

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from annotation.models.annotator import Annotator
from annotation.models.corpus import VARIETY_LENGTH, Corpus, Text
from annotation.models.study import Study
from annotation.models.tokens import new_seed


class Counterpart(models.Model):
    """A rewriting of `text` in `variety`; its producer is an annotator or a model, never both.

    Without a body it says why: not interpretable (a person's decision, with the reason), or why
    the model gave none.
    """

    text = models.ForeignKey(Text, on_delete=models.PROTECT, related_name="counterparts")
    variety = models.CharField(max_length=VARIETY_LENGTH)
    body = models.TextField(blank=True)
    not_interpretable = models.BooleanField(default=False)
    reason = models.CharField(max_length=500, blank=True, help_text=_("Why there is no body."))
    annotator = models.ForeignKey(
        Annotator,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="counterparts",
    )
    model = models.CharField(
        max_length=260, blank=True, help_text=_("Name and revision of the model: name@revision.")
    )
    run = models.CharField(
        max_length=12, blank=True, help_text=_("Public id of the run that produced it.")
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    history = HistoricalRecords()

    class Meta:
        ordering = ["text", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(annotator__isnull=False, model="", run="")
                | (models.Q(annotator__isnull=True) & ~models.Q(model="") & ~models.Q(run="")),
                name="counterpart_has_one_producer",
            ),
            models.CheckConstraint(
                condition=(models.Q(not_interpretable=False) & ~models.Q(body=""))
                | (models.Q(body="") & ~models.Q(reason="")),
                name="missing_counterpart_has_a_reason",
            ),
            models.UniqueConstraint(
                fields=["text", "variety", "annotator"],
                condition=models.Q(annotator__isnull=False),
                name="one_counterpart_per_annotator",
            ),
            models.UniqueConstraint(
                fields=["text", "variety", "run"],
                condition=~models.Q(run=""),
                name="one_counterpart_per_run",
            ),
        ]
        indexes = [models.Index(fields=["run"], name="counterpart_by_run")]

    def __str__(self) -> str:
        return f"counterpart {self.pk} of {self.text_id} in {self.variety}"


class WritingStudy(Study):
    """A study of the kind `counterpart_writing`, with pages of its own in the admin."""

    class Meta:
        proxy = True
        verbose_name = _("writing study")
        verbose_name_plural = _("writing studies")


class WritingDesign(models.Model):
    """What a study of the kind `counterpart_writing` asks of whom; frozen by its launch."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="writing")
    corpus = models.ForeignKey(Corpus, on_delete=models.PROTECT, related_name="writing_studies")
    n_texts = models.PositiveIntegerField(
        _("number of texts"),
        null=True,
        blank=True,
        help_text=_("How many texts are drawn from the corpus; empty takes all of them."),
    )
    weighted_by_features = models.BooleanField(
        default=False,
        help_text=_("Texts with more features of the variety are drawn more often."),
    )
    common_texts = models.PositiveIntegerField(
        default=0, help_text=_("How many texts every annotator rewrites.")
    )
    per_source = models.BooleanField(
        default=False, help_text=_("Both numbers of texts are of every source, not of all texts.")
    )
    shared_percent = models.FloatField(
        _("shared percentage"),
        default=10,
        validators=[MinValueValidator(0), MaxValueValidator(100)],
        help_text=_("Of the other texts, what each pair of annotators has in common."),
    )
    seed = models.PositiveIntegerField(default=new_seed)
    guidelines = models.JSONField(
        default=list, help_text=_("One guideline per line, as annotators read them.")
    )
    history = HistoricalRecords()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(shared_percent__gte=0, shared_percent__lte=100),
                name="shared_percent_is_a_percentage",
            )
        ]

    def __str__(self) -> str:
        return f"design of {self.study_id}"


class Overlap(models.TextChoices):
    COMMON = "common", _("Everyone")
    SHARED = "shared", _("A pair of annotators")
    SINGLE = "single", _("One annotator")


class TaskState(models.TextChoices):
    OPEN = "open", _("Open")
    DONE = "done", _("Done")
    WITHDRAWN = "withdrawn", _("Given to somebody else")


Task = TypeVar("Task", bound="AnnotatorTask")


class TaskQuerySet(models.QuerySet[Task]):
    """Tasks of annotators. One that was given to somebody else is kept, and nobody's work."""

    def held(self) -> Self:
        """Return the tasks that are with their annotators, open or done."""
        return self.exclude(state=TaskState.WITHDRAWN)

    def open(self) -> Self:
        return self.filter(state=TaskState.OPEN)

    def done(self) -> Self:
        return self.filter(state=TaskState.DONE)

    def withdraw(self) -> int:
        """Take the open tasks among these from their annotators; return how many there were."""
        return self.open().update(state=TaskState.WITHDRAWN)


class AnnotatorTask(models.Model):
    """What tasks of annotators have in common, whatever they are asked to do."""

    state = models.CharField(max_length=10, choices=TaskState, default=TaskState.OPEN)
    opened_at = models.DateTimeField(null=True, blank=True)
    done_at = models.DateTimeField(null=True, blank=True)

    objects = TaskQuerySet.as_manager()

    class Meta:
        abstract = True

    def note_opening(self) -> None:
        """Note that the annotator has seen the task. Seeing it again changes nothing."""
        if self.opened_at is None:
            rows = type(self)._default_manager.filter(pk=self.pk, opened_at__isnull=True)
            rows.update(opened_at=timezone.now())


class WritingTask(AnnotatorTask):
    """One text in one annotator's queue, with the draft as it was last saved."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="writing_tasks")
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="writing_tasks")
    text = models.ForeignKey(Text, on_delete=models.PROTECT, related_name="writing_tasks")
    position = models.PositiveIntegerField(help_text=_("Order in the annotator's queue."))
    overlap = models.CharField(max_length=8, choices=Overlap)
    draft = models.TextField(blank=True)
    draft_not_interpretable = models.BooleanField(default=False)
    draft_reason = models.CharField(max_length=30, blank=True)
    draft_detail = models.CharField(max_length=400, blank=True)
    has_draft = models.BooleanField(
        default=False, help_text=_("Whether the draft differs from what was submitted.")
    )
    draft_number = models.PositiveIntegerField(
        default=0, help_text=_("Counts saved drafts, so that an older one never wins.")
    )
    counterpart = models.OneToOneField(
        Counterpart, on_delete=models.SET_NULL, null=True, blank=True, related_name="task"
    )
    active_seconds = models.FloatField(
        default=0, help_text=_("Time with the page in front, as the browser counted it.")
    )

    class Meta(AnnotatorTask.Meta):
        abstract = False
        ordering = ["annotator", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "annotator", "text"], name="one_writing_task_per_text"
            ),
            models.CheckConstraint(
                condition=~models.Q(state=TaskState.DONE) | models.Q(counterpart__isnull=False),
                name="done_writing_task_has_a_counterpart",
            ),
        ]

    def __str__(self) -> str:
        return f"writing task {self.pk}"


class Adjudication(models.Model):
    """The one gold counterpart of a text of a study, chosen or written by a researcher."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="adjudications")
    text = models.ForeignKey(Text, on_delete=models.PROTECT, related_name="adjudications")
    chosen = models.ForeignKey(
        Counterpart,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="adjudications",
        help_text=_("None where the researcher wrote another."),
    )
    body = models.TextField(blank=True)
    not_interpretable = models.BooleanField(default=False)
    note = models.CharField(max_length=500, blank=True)
    is_automatic = models.BooleanField(
        default=False,
        help_text=_("All annotators wrote the same, so that nobody had to decide."),
    )
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    decided_at = models.DateTimeField(auto_now=True)
    history = HistoricalRecords()

    class Meta:
        ordering = ["study", "text"]
        constraints = [
            models.UniqueConstraint(fields=["study", "text"], name="one_adjudication_per_text"),
            models.CheckConstraint(
                condition=(models.Q(not_interpretable=False) & ~models.Q(body=""))
                | models.Q(not_interpretable=True, body=""),
                name="adjudication_has_a_body",
            ),
        ]

    def __str__(self) -> str:
        return f"gold counterpart of {self.text_id} in {self.study_id}"
