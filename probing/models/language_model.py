"""A language model: where it comes from and what is known about it."""

from __future__ import annotations

from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from annotation.models.tokens import new_public_id


class ModelKind(models.TextChoices):
    MASKED = "masked", _("Masked")
    CAUSAL = "causal", _("Causal")
    SEQ2SEQ = "seq2seq", _("Sequence to sequence")
    CLASSIFIER = "classifier", _("Classifier")
    ENCODER = "encoder", _("Encoder without a head")
    CHAT = "chat", _("Chat, behind a server")
    UNKNOWN = "unknown", _("Not known: only its results are here")


class ModelSource(models.TextChoices):
    HUB = "hub", _("Model hub")
    PATH = "path", _("Local path")
    SERVER = "server", _("OpenAI-compatible server")
    IMPORTED = "imported", _("Imported: only its results are here")


class LanguageModel(models.Model):
    public_id = models.CharField(max_length=12, unique=True, default=new_public_id, editable=False)
    name = models.CharField(max_length=160, unique=True, help_text=_("As reports print it."))
    kind = models.CharField(max_length=12, choices=ModelKind, default=ModelKind.MASKED)
    family = models.CharField(max_length=40, blank=True, help_text=_("For example bert, roberta."))
    source = models.CharField(max_length=8, choices=ModelSource)
    location = models.CharField(
        max_length=500,
        help_text=_(
            "A hub id such as roberta-large, a folder on the workers, or a server’s base URL."
        ),
    )
    served_name = models.CharField(
        max_length=160, blank=True, help_text=_("The model’s name on its server, such as gpt-4.")
    )
    key_variable = models.CharField(
        max_length=80,
        blank=True,
        help_text=_("Environment variable of the workers that holds the server’s key."),
    )
    trained_from = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="trained_models",
        help_text=_("The model that was trained further to make this one."),
    )
    training_run = models.CharField(
        max_length=12, blank=True, help_text=_("Public id of the run that trained it.")
    )
    revision = models.CharField(
        max_length=80, blank=True, help_text=_("A commit of the hub; runs store the one they used.")
    )
    parameter_count = models.BigIntegerField(null=True, blank=True)
    input_price = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text=_("What a million tokens that it reads cost; empty: not known."),
    )
    output_price = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text=_("What a million tokens that it writes cost; empty: not known."),
    )
    price_currency = models.CharField(
        max_length=3,
        blank=True,
        validators=[RegexValidator(r"^[A-Z]{3}$", _("Enter three capitals, such as USD."))],
        help_text=_("Currency of both prices, such as USD."),
    )
    server_abilities = models.JSONField(
        null=True,
        blank=True,
        editable=False,
        help_text=_("What its server was seen to do when it was tried; empty for local models."),
    )
    fingerprint = models.JSONField(
        null=True,
        blank=True,
        editable=False,
        help_text=_("Its answers to fixed prompts, which tell when a server changes the model."),
    )
    certificate = models.JSONField(
        null=True,
        blank=True,
        editable=False,
        help_text=_("What its trials found; renewed when its files or the libraries change."),
    )
    is_demo = models.BooleanField(
        default=False,
        editable=False,
        help_text=_("A fixture without knowledge of the world: its scores mean nothing."),
    )
    created_at = models.DateTimeField(auto_now_add=True)
    history = HistoricalRecords(excluded_fields=["certificate"])

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["source", "location", "revision", "served_name"],
                name="one_model_per_source",
            ),
            models.CheckConstraint(
                condition=models.Q(source="server", kind="chat")
                | (~models.Q(source="server") & ~models.Q(kind="chat")),
                name="chat_models_are_behind_servers",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    input_price__isnull=True, output_price__isnull=True, price_currency=""
                )
                | (
                    models.Q(input_price__isnull=False, output_price__isnull=False)
                    & ~models.Q(price_currency="")
                ),
                name="prices_come_with_their_currency",
                violation_error_message=_(
                    "Give both prices, for reading and writing, and their currency; or none."
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.name
