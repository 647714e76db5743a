"""Corpora: named, licensed sets of texts and text pairs in two language varieties."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from annotation.models.tokens import new_public_id

VARIETY_LENGTH = 40
SOURCE_LENGTH = 120


class Split(models.TextChoices):
    EVALUATION = "evaluation", _("Evaluation")
    TRAINING = "training", _("Training, never evaluated")


class Corpus(models.Model):
    """A set of texts. `source_variety` is what annotators rewrite into `target_variety`."""

    public_id = models.CharField(max_length=12, unique=True, default=new_public_id, editable=False)
    name = models.CharField(max_length=160, unique=True, help_text=_("As reports print it."))
    description = models.TextField(blank=True)
    source_variety = models.CharField(
        max_length=VARIETY_LENGTH, default="AAL", help_text=_("The variety that is rewritten.")
    )
    target_variety = models.CharField(
        max_length=VARIETY_LENGTH, default="WME", help_text=_("The variety it is rewritten in.")
    )
    license = models.CharField(
        max_length=160, help_text=_("For example CC BY 4.0, or the terms that were agreed.")
    )
    access_note = models.TextField(
        blank=True, help_text=_("Who may read the texts, and what may be published of them.")
    )
    citation = models.TextField(blank=True)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="owned_corpora",
    )
    is_shared = models.BooleanField(
        _("shared"), default=False, help_text=_("Every researcher may see and use it.")
    )

    # The sections of a data statement (Bender and Friedman 2018) that no record can answer.
    curation_rationale = models.TextField(blank=True, help_text=_("Why these texts."))
    language_variety = models.TextField(
        blank=True, help_text=_("The varieties in words, with a language tag such as en-US.")
    )
    speaker_demographics = models.TextField(blank=True, help_text=_("Who wrote or spoke them."))
    annotator_demographics = models.TextField(
        blank=True, help_text=_("Who rewrites and judges, as a group, never as single people.")
    )
    speech_situation = models.TextField(
        blank=True, help_text=_("Time, place, spoken or written, for whom.")
    )
    text_characteristics = models.TextField(blank=True, help_text=_("Genre and topics."))

    created_at = models.DateTimeField(auto_now_add=True)
    history = HistoricalRecords()

    class Meta:
        ordering = ["name"]
        verbose_name_plural = _("corpora")
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(source_variety=models.F("target_variety")),
                name="corpus_has_two_varieties",
            )
        ]

    def __str__(self) -> str:
        return self.name


class Text(models.Model):
    """A stimulus in a variety. Slugs join it with scores; nothing is joined by its body."""

    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="texts")
    slug = models.SlugField(max_length=100, help_text=_("Its name within the corpus."))
    variety = models.CharField(max_length=VARIETY_LENGTH)
    body = models.TextField()
    body_hash = models.CharField(
        max_length=64, editable=False, help_text=_("SHA-256 of the body, white space normalized.")
    )
    source = models.CharField(
        max_length=SOURCE_LENGTH, blank=True, help_text=_("Where it was drawn from, as CORAAL.")
    )
    context = models.TextField(
        blank=True, help_text=_("What surrounds it; shown to annotators, never to models.")
    )
    split = models.CharField(max_length=10, choices=Split, default=Split.EVALUATION)
    spans = models.JSONField(
        default=list,
        blank=True,
        help_text=_("Marked spans, such as noun phrases: start, end (in characters) and kind."),
    )
    history = HistoricalRecords()

    class Meta:
        ordering = ["corpus", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["corpus", "slug"], name="one_text_per_slug"),
            models.UniqueConstraint(
                fields=["corpus", "variety", "body_hash"], name="one_text_per_body"
            ),
        ]
        indexes = [models.Index(fields=["corpus", "variety", "source"], name="text_by_source")]

    def __str__(self) -> str:
        return self.slug


class TextPair(models.Model):
    """A text in the corpus's source variety with a gold counterpart in the target variety."""

    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="pairs")
    slug = models.SlugField(max_length=100, help_text=_("Its name within the corpus."))
    source_text = models.ForeignKey(
        Text,
        on_delete=models.CASCADE,
        related_name="pairs_as_source",
        help_text=_("A text may have several counterparts."),
    )
    target_text = models.ForeignKey(
        Text,
        on_delete=models.CASCADE,
        related_name="pairs_as_target",
        help_text=_("Several texts may have the same counterpart."),
    )
    study = models.ForeignKey(
        "annotation.Study",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="gold_pairs",
        help_text=_("The study whose annotators wrote the counterpart; none where imported."),
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["corpus", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["corpus", "slug"], name="one_pair_per_slug"),
            models.UniqueConstraint(
                fields=["source_text", "target_text"], name="one_pair_of_two_texts"
            ),
            models.CheckConstraint(
                condition=~models.Q(source_text=models.F("target_text")),
                name="pair_has_two_texts",
            ),
        ]

    def __str__(self) -> str:
        return self.slug
