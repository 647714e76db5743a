"""An instrument: the content of a study that participants see, frozen at launch."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from annotation.models.corpus import VARIETY_LENGTH, Text
from annotation.models.library import Dimension, SocialGroup, TraitPair
from annotation.models.study import Study
from annotation.models.study_file import StudyFile


class ScaleOrder(models.TextChoices):
    RANDOMIZED = "randomised", _("Randomized per submission")
    FIXED = "fixed", _("Fixed")


class PoleSides(models.TextChoices):
    PER_SCALE = "per_scale", _("Counterbalanced for each scale by itself")
    COUNTERBALANCED = "counterbalanced", _("Counterbalanced, all scales together")
    FIXED = "fixed", _("Fixed, pole 0 on the left")


class Skipping(models.TextChoices):
    """Where participants are offered “I'd rather not answer” and “I don't know this group”."""

    NEVER = "never", _("Nowhere: every line asks for an answer")
    GROUP = "group", _("Once for each group")
    LINE = "line", _("For each group, and for each line")


class AgreementRule(models.TextChoices):
    """How two ratings of the repeated group are compared: annotation.instruments.checks."""

    SAME_SIDE = "same_side", _("Lines match on the same side of 50 or within a distance")
    WITHIN = "within", _("Lines match within a distance")
    KENDALL = "kendall", _("Order of the lines, Kendall's tau-b")


class Instrument(models.Model):
    """One version of a study's content; ``flow`` is read by annotation.instruments.flow."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="instruments")
    version = models.PositiveIntegerField(default=1, editable=False)
    frozen_at = models.DateTimeField(null=True, editable=False)
    content_hash = models.CharField(max_length=64, blank=True, editable=False)
    language = models.CharField(max_length=35, default="en")
    flow = models.JSONField(default=list, help_text=_("The steps in their order."))
    scale_order = models.CharField(max_length=12, choices=ScaleOrder, default=ScaleOrder.RANDOMIZED)
    pole_sides = models.CharField(max_length=16, choices=PoleSides, default=PoleSides.PER_SCALE)
    one_per_domain = models.BooleanField(
        _("one group per domain"),
        default=False,
        help_text=_("Nobody rates two groups of the same domain, such as two religions."),
    )
    show_ticks = models.BooleanField(
        default=False, help_text=_("Tick labels 0 to 100 under the lines, as in the paper's form.")
    )
    skipping = models.CharField(
        _("“I’d rather not answer”"),
        max_length=8,
        choices=Skipping,
        default=Skipping.NEVER,
        help_text=_(
            "Offers “I’d rather not answer” and “I don’t know this group”. Both are stored as "
            "missing values of their own kind and cost no pay."
        ),
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
    agreement_rule = models.CharField(
        _("self-agreement"),
        max_length=12,
        choices=AgreementRule,
        default=AgreementRule.SAME_SIDE,
        help_text=_(
            "How the repeated group is compared with its first rating. The order of lines asks "
            "less of people who use the ends of the lines differently the second time."
        ),
    )
    agreement_within = models.PositiveSmallIntegerField(
        default=10,
        validators=[MaxValueValidator(100)],
        help_text=_(
            "Ratings of the repeated group match within this distance, and by the first rule also "
            "on the same side of 50. Not used by Kendall's tau."
        ),
    )
    agreement_at_least = models.FloatField(
        default=0.8,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text=_(
            "Share of matching scales that the repeated group must reach. Not used by Kendall's "
            "tau."
        ),
    )
    agreement_tau = models.FloatField(
        default=0.5,
        validators=[MinValueValidator(-1), MaxValueValidator(1)],
        help_text=_(
            "Kendall's tau-b that the repeated group must reach, from -1 to 1. Undefined where all "
            "lines of a page lie at one place: nobody fails then, a person looks."
        ),
    )
    logo = models.ForeignKey(
        StudyFile, on_delete=models.PROTECT, null=True, blank=True, editable=False, related_name="+"
    )
    logo_alt = models.CharField(
        max_length=200, blank=True, editable=False, help_text=_("What the logo shows, in words.")
    )
    arms = models.JSONField(
        default=list,
        blank=True,
        editable=False,
        help_text=_("Variants of texts and groups: annotation.instruments.arms."),
    )
    # Which source each translation was made for: annotation.instruments.languages.
    translated_from = models.JSONField(default=dict, blank=True, editable=False)
    # The designer's own name for what it stored last, and the hash of the document since.
    last_save = models.CharField(max_length=110, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    history = HistoricalRecords(excluded_fields=["last_save"])

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
    """What participants rate: a group, or the speaker of a text where the study rates guises.

    A copy of a library entry or of a corpus's text, joined by its slug. The surface forms of a text
    are its beginning, for researchers; participants read its `body`. Texts of one `item` are guises
    of one another, of which nobody rates two.
    """

    instrument = models.ForeignKey(Instrument, on_delete=models.CASCADE, related_name="groups")
    group = models.ForeignKey(
        SocialGroup, on_delete=models.PROTECT, null=True, related_name="study_groups"
    )
    text = models.ForeignKey(Text, on_delete=models.PROTECT, null=True, related_name="study_texts")
    slug = models.SlugField(max_length=100)
    item = models.SlugField(
        max_length=100, blank=True, help_text=_("Slug of the pair that a text is a guise of.")
    )
    variety = models.CharField(max_length=VARIETY_LENGTH, blank=True)
    body = models.TextField(blank=True)
    singular = models.CharField(max_length=120)
    plural = models.CharField(max_length=120)
    plural_capitalised = models.CharField(max_length=120)
    domains = models.JSONField(default=list, blank=True)
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["instrument", "position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["instrument", "slug"], name="one_study_group_per_slug"),
            models.CheckConstraint(
                condition=models.Q(group__isnull=False, text__isnull=True, item="", body="")
                | (
                    models.Q(group__isnull=True, text__isnull=False)
                    & ~models.Q(item="")
                    & ~models.Q(variety="")
                    & ~models.Q(body="")
                ),
                name="rated_is_a_group_or_a_text",
            ),
        ]

    def __str__(self) -> str:
        return self.plural

    @property
    def is_text(self) -> bool:
        return self.text_id is not None


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
    """One text of the instrument in one language.

    Keys of texts that the author writes are listed in annotation.instruments.default_wording;
    further languages also hold groups, words of scales and questions, under the names of
    annotation.instruments.text_keys.
    """

    instrument = models.ForeignKey(Instrument, on_delete=models.CASCADE, related_name="wordings")
    language = models.CharField(max_length=35, default="en")
    key = models.CharField(max_length=180)
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
