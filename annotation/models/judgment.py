"""Judgments: how people rate counterparts without knowing who wrote them."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from annotation.models.annotator import Annotator
from annotation.models.corpus import VARIETY_LENGTH, Corpus, Text, TextPair
from annotation.models.counterpart import AnnotatorTask, Counterpart
from annotation.models.study import Study
from annotation.models.tokens import new_seed

LIKERT = (1, 2, 3, 4, 5)
ASPECTS = ("human_likeness", "linguistic_match", "meaning_preservation", "tone_preservation")


class JudgmentStudy(Study):
    """A study of the kind `counterpart_judgment`, with pages of its own in the admin."""

    class Meta:
        proxy = True
        verbose_name = _("judgment study")
        verbose_name_plural = _("judgment studies")


class JudgmentDesign(models.Model):
    """What a study of the kind `counterpart_judgment` puts before its judges."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="judging")
    corpus = models.ForeignKey(Corpus, on_delete=models.PROTECT, related_name="judgment_studies")
    n_texts = models.PositiveIntegerField(
        _("number of pairs"), default=100, validators=[MinValueValidator(1)]
    )
    runs = models.JSONField(
        default=list, help_text=_("Public ids of the runs whose counterparts are judged.")
    )
    include_human = models.BooleanField(
        default=True, help_text=_("Judge the gold counterparts too, as the baseline.")
    )
    complete = models.BooleanField(
        _("complete pairs only"),
        default=True,
        help_text=_("Draw only pairs that every producer rewrote in both directions."),
    )
    overlap_percent = models.FloatField(
        _("overlap"),
        default=10,
        validators=[MinValueValidator(0), MaxValueValidator(100)],
        help_text=_("Percentage of the counterparts that two judges rate, for agreement."),
    )
    seed = models.PositiveIntegerField(default=new_seed)
    wording = models.JSONField(
        default=dict, help_text=_("Question and five answers of each aspect, as judges read them.")
    )
    error_scheme = models.JSONField(
        default=list,
        blank=True,
        help_text=_("Categories of the errors that judges mark; empty: they mark none."),
    )
    left_out = models.JSONField(
        default=list,
        editable=False,
        help_text=_("Pairs that could not be drawn when judging began: reasons and numbers."),
    )
    history = HistoricalRecords()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(overlap_percent__gte=0, overlap_percent__lte=100),
                name="overlap_percent_is_a_percentage",
            )
        ]

    def __str__(self) -> str:
        return f"design of {self.study_id}"


class JudgmentItem(models.Model):
    """One counterpart as it was when judging began; judges never see its producer."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="judgment_items")
    pair = models.ForeignKey(TextPair, on_delete=models.PROTECT, related_name="judgment_items")
    text = models.ForeignKey(
        Text, on_delete=models.PROTECT, related_name="judgment_items", help_text=_("The original.")
    )
    variety = models.CharField(max_length=VARIETY_LENGTH, help_text=_("Of the counterpart."))
    body = models.TextField()
    producer = models.CharField(max_length=260, help_text=_("“human”, or name@revision."))
    run = models.CharField(max_length=12, blank=True)
    counterpart = models.ForeignKey(
        Counterpart,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="judgment_items",
        help_text=_("None for the gold text of a pair."),
    )
    judges_wanted = models.PositiveSmallIntegerField(
        default=1, help_text=_("Two for those that show how far judges agree.")
    )
    writers: models.ManyToManyField[models.Model, models.Model] = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        related_name="+",
        blank=True,
        help_text=_("Accounts that wrote or decided a counterpart of this pair: never its judges."),
    )

    class Meta:
        ordering = ["study", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "text", "variety", "producer", "run"], name="one_item_per_producer"
            )
        ]

    def __str__(self) -> str:
        return f"judgment item {self.pk}"


class JudgmentTask(AnnotatorTask):
    """One item in one judge's queue."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="judgment_tasks")
    annotator = models.ForeignKey(
        Annotator, on_delete=models.PROTECT, related_name="judgment_tasks"
    )
    item = models.ForeignKey(JudgmentItem, on_delete=models.CASCADE, related_name="tasks")
    position = models.PositiveIntegerField(help_text=_("Order in the judge's queue."))
    active_seconds = models.FloatField(default=0)

    class Meta(AnnotatorTask.Meta):
        abstract = False
        ordering = ["annotator", "position"]
        constraints = [
            models.UniqueConstraint(fields=["annotator", "item"], name="one_task_per_judge"),
            models.UniqueConstraint(
                fields=["annotator", "position"], name="one_judgment_task_per_position"
            ),
        ]

    def __str__(self) -> str:
        return f"judgment task {self.pk}"


def _likert(help_text: object) -> models.PositiveSmallIntegerField:
    return models.PositiveSmallIntegerField(
        validators=[MinValueValidator(LIKERT[0]), MaxValueValidator(LIKERT[-1])],
        help_text=help_text,  # type: ignore[arg-type]
    )


class Judgment(models.Model):
    """Four ratings of one counterpart by one judge, 1 to 5, higher is better."""

    task = models.OneToOneField(JudgmentTask, on_delete=models.CASCADE, related_name="judgment")
    human_likeness = _likert(_("1 very likely a model, 5 very likely a human"))
    linguistic_match = _likert(_("1 completely unlike the variety, 5 completely like it"))
    meaning_preservation = _likert(_("1 completely inaccurate, 5 completely accurate"))
    tone_preservation = _likert(_("1 completely inaccurate, 5 completely accurate"))
    comment = models.TextField(blank=True)
    judged_at = models.DateTimeField(auto_now_add=True)
    history = HistoricalRecords()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(**{f"{aspect}__gte": LIKERT[0], f"{aspect}__lte": LIKERT[-1]}),
                name=f"{aspect}_is_on_the_scale",
            )
            for aspect in ASPECTS
        ]

    def __str__(self) -> str:
        return f"judgment of task {self.task_id}"


class CodedError(models.Model):
    """A passage of a counterpart that a judge marked: characters ``start`` to ``end`` of its text.

    In a study with a scheme every judgment is coded: one without passages found no error.
    """

    judgment = models.ForeignKey(Judgment, on_delete=models.CASCADE, related_name="errors")
    category = models.CharField(max_length=40, help_text=_("Slug in the study's scheme."))
    start = models.PositiveIntegerField(help_text=_("First character, counted from 0."))
    end = models.PositiveIntegerField(help_text=_("The character after the last one."))
    history = HistoricalRecords()

    class Meta:
        ordering = ["judgment", "start", "category"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(end__gt=models.F("start")), name="coded_error_has_characters"
            ),
            models.UniqueConstraint(
                fields=["judgment", "category", "start"], name="one_coded_error_per_place"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.category} {self.start}–{self.end} of judgment {self.judgment_id}"
