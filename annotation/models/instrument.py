"""An instrument: the content of a study that participants see, frozen at launch."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from annotation.models.library import Dimension, SocialGroup, TraitPair
from annotation.models.study import Study


class ScaleOrder(models.TextChoices):
    RANDOMISED = "randomised", _("Randomised per submission")
    FIXED = "fixed", _("Fixed")


class PoleSides(models.TextChoices):
    COUNTERBALANCED = "counterbalanced", _("Counterbalanced between submissions")
    FIXED = "fixed", _("Fixed, pole 0 on the left")


class Instrument(models.Model):
    """One version of a study's content; ``flow`` lists step kinds of annotation.survey.flow."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="instruments")
    version = models.PositiveIntegerField(default=1, editable=False)
    frozen_at = models.DateTimeField(null=True, editable=False)
    content_hash = models.CharField(max_length=64, blank=True, editable=False)
    language = models.CharField(max_length=12, default="en")
    flow = models.JSONField(default=list, help_text=_("The steps in their order."))
    scale_order = models.CharField(max_length=12, choices=ScaleOrder, default=ScaleOrder.RANDOMISED)
    pole_sides = models.CharField(
        max_length=16, choices=PoleSides, default=PoleSides.COUNTERBALANCED
    )
    show_ticks = models.BooleanField(
        default=False, help_text=_("Tick labels 0 to 100 under the lines, as in the paper's form.")
    )
    high_from = models.PositiveSmallIntegerField(
        default=60,
        validators=[MinValueValidator(51), MaxValueValidator(100)],
        help_text=_("A rating from here on counts as marked high in the trait check."),
    )
    low_to = models.PositiveSmallIntegerField(
        default=40,
        validators=[MaxValueValidator(49)],
        help_text=_("A rating up to here counts as marked low in the trait check."),
    )
    agreement_within = models.PositiveSmallIntegerField(
        default=10,
        validators=[MaxValueValidator(100)],
        help_text=_(
            "Ratings of the repeated group match on the same side of 50 or within this distance."
        ),
    )
    agreement_at_least = models.FloatField(
        default=0.8,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text=_("Share of matching scales that the repeated group must reach."),
    )
    created_at = models.DateTimeField(auto_now_add=True)
    history = HistoricalRecords()

    class Meta:
        ordering = ["study", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["study", "version"], name="one_instrument_per_version"),
            models.CheckConstraint(
                condition=models.Q(frozen_at__isnull=True) | ~models.Q(content_hash=""),
                name="frozen_instrument_has_a_hash",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.study}, version {self.version}"

    @property
    def is_frozen(self) -> bool:
        return self.frozen_at is not None


class StudyGroup(models.Model):
    """A group of the instrument: a copy of a library entry, joined by its slug."""

    instrument = models.ForeignKey(Instrument, on_delete=models.CASCADE, related_name="groups")
    group = models.ForeignKey(SocialGroup, on_delete=models.PROTECT, related_name="study_groups")
    slug = models.SlugField(max_length=80)
    singular = models.CharField(max_length=120)
    plural = models.CharField(max_length=120)
    plural_capitalised = models.CharField(max_length=120)
    domains = models.JSONField(default=list, blank=True)
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["instrument", "position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["instrument", "slug"], name="one_study_group_per_slug")
        ]

    def __str__(self) -> str:
        return self.plural


class TraitScale(models.Model):
    """A trait scale of the instrument: a copy of a library entry, joined by its slug."""

    instrument = models.ForeignKey(Instrument, on_delete=models.CASCADE, related_name="scales")
    trait_pair = models.ForeignKey(TraitPair, on_delete=models.PROTECT, related_name="trait_scales")
    slug = models.SlugField(max_length=80)
    low = models.CharField(max_length=60)
    high = models.CharField(max_length=60)
    dimension = models.CharField(max_length=20, choices=Dimension)
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["instrument", "position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["instrument", "slug"], name="one_trait_scale_per_slug")
        ]

    def __str__(self) -> str:
        return f"{self.low} – {self.high}"


class QuestionKind(models.TextChoices):
    CHOICE = "choice", _("One of several")
    CHOICES = "choices", _("Any of several")
    NUMBER = "number", _("A number")
    TEXT = "text", _("A short text")


class DemographicQuestion(models.Model):
    """A question about the participant; always optional, always with “prefer not to say”."""

    instrument = models.ForeignKey(Instrument, on_delete=models.CASCADE, related_name="questions")
    slug = models.SlugField(max_length=40)
    kind = models.CharField(max_length=8, choices=QuestionKind)
    label = models.CharField(max_length=200)
    help_text = models.CharField(max_length=300, blank=True)
    options = models.JSONField(default=list, blank=True, help_text=_("For choices: their texts."))
    minimum = models.IntegerField(null=True, blank=True)
    maximum = models.IntegerField(null=True, blank=True)
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["instrument", "position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["instrument", "slug"], name="one_question_per_slug")
        ]

    def __str__(self) -> str:
        return self.label


class Wording(models.Model):
    """One text of the instrument in one language. Keys are listed in annotation.survey.wording."""

    instrument = models.ForeignKey(Instrument, on_delete=models.CASCADE, related_name="wordings")
    language = models.CharField(max_length=12, default="en")
    key = models.SlugField(max_length=60)
    text = models.TextField()

    class Meta:
        ordering = ["instrument", "language", "key"]
        constraints = [
            models.UniqueConstraint(
                fields=["instrument", "language", "key"], name="one_wording_per_key"
            )
        ]

    def __str__(self) -> str:
        return f"{self.key} ({self.language})"
