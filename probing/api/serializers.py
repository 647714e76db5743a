"""Serializers of models, measures, runs and scores."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.api.fields import PublicIdField
from annotation.models import Counterpart
from annotation.models.corpus import VARIETY_LENGTH
from probing.measures.guise_library import DEFAULT_ATTRIBUTES
from probing.measures.lexicon_library import DEFAULT_LEXICONS
from probing.models import (
    LanguageModel,
    NumberFormat,
    Run,
    RunEvent,
    Score,
    TextScore,
    TrainingPoint,
)
from probing.runs.certificates import measure_fits, why_outdated
from probing.runs.creation import LARGEST_SEED
from probing.runs.result_tables import reference_of
from probing.runs.sentence_files import LONGEST_SENTENCE
from probing.runs.stimuli import DEFAULT_GROUPS
from probing.runs.text_stimuli import DEFAULT_EXAMPLES

SLUG_LENGTH = 100
SOURCE_LENGTH = 120
LARGEST_CHOICE = 2000
# What one request may carry; more comes as a corpus, or from a file on the command line.
MOST_SENTENCES = 100_000


def _optional_text(max_length: int, help_text: str) -> serializers.CharField:
    """Return a field for a text that may be left out or empty."""
    return serializers.CharField(
        max_length=max_length, required=False, default="", allow_blank=True, help_text=help_text
    )


def _names(default: Any, help_text: str, **options: Any) -> serializers.ListField:
    """Return a field for a list of slugs or other names, which may be left out."""
    return serializers.ListField(
        child=options.pop("child", None) or serializers.CharField(max_length=SLUG_LENGTH),
        required=False,
        default=default,
        max_length=options.pop("max_length", LARGEST_CHOICE),
        help_text=help_text,
        **options,
    )


def _number_format() -> serializers.ChoiceField:
    return serializers.ChoiceField(
        choices=NumberFormat.choices,
        required=False,
        default="",
        allow_blank=True,
        help_text="Number format of the model, where processor or GPU has it; without one, that "
        "of the workers.",
    )


class MeasureFitSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.CharField()
    can = serializers.BooleanField()
    reason = serializers.CharField(help_text="Why it can't; empty if it can.")
    how = serializers.CharField(help_text="What the measure takes from the model by itself.")


class LanguageModelSerializer(serializers.ModelSerializer[LanguageModel]):
    trained_from = serializers.CharField(
        source="trained_from.public_id",
        read_only=True,
        allow_null=True,
        default=None,
        help_text="The model that was trained further to make this one.",
    )

    class Meta:
        model = LanguageModel
        fields: tuple[str, ...] = (
            "public_id",
            "name",
            "kind",
            "family",
            "source",
            "location",
            "served_name",
            "key_variable",
            "revision",
            "parameter_count",
            "input_price",
            "output_price",
            "price_currency",
            "server_abilities",
            "trained_from",
            "training_run",
            "is_demo",
            "created_at",
        )
        read_only_fields = fields


class LanguageModelDetailSerializer(LanguageModelSerializer):
    certificate = serializers.DictField(
        read_only=True,
        allow_null=True,
        help_text="What its trials found, with files and libraries; null before there were any.",
    )
    outdated = serializers.SerializerMethodField(
        help_text="Why the certificate no longer holds; empty if it does. The next run renews it."
    )
    measures = serializers.SerializerMethodField(
        help_text="Every measure, whether the model can serve it, and why not."
    )

    class Meta(LanguageModelSerializer.Meta):
        fields = (*LanguageModelSerializer.Meta.fields, "certificate", "outdated", "measures")
        read_only_fields = fields

    def get_outdated(self, model: LanguageModel) -> str:
        return why_outdated(model)

    @extend_schema_field(MeasureFitSerializer(many=True))
    def get_measures(self, model: LanguageModel) -> Any:
        return MeasureFitSerializer(measure_fits(model), many=True).data


class ModelRegistrationSerializer(serializers.Serializer[Any]):
    location = serializers.CharField(
        max_length=500,
        help_text="A hub id such as roberta-large, a folder or a GGUF file on the workers, or "
        "the base URL of a server with OpenAI's protocol.",
    )
    name = _optional_text(160, "As reports print.")
    revision = _optional_text(80, "A hub commit.")
    served_name = _optional_text(160, "The model's name on its server, for a base URL.")
    key_variable = _optional_text(
        80,
        "The environment variable of the workers that holds the server's key; never "
        "the key itself.",
    )
    input_price = serializers.DecimalField(
        max_digits=12,
        decimal_places=6,
        min_value=0,
        required=False,
        help_text="Of a served model: what a million tokens that it reads cost.",
    )
    output_price = serializers.DecimalField(
        max_digits=12,
        decimal_places=6,
        min_value=0,
        required=False,
        help_text="… and a million that it writes.",
    )
    price_currency = _optional_text(3, "The currency of both, such as USD.")


class MeasureSerializer(serializers.Serializer[Any]):
    """A measure of the registry."""

    name = serializers.CharField()
    title = serializers.CharField()
    citation = serializers.CharField()
    abilities = serializers.ListField(
        child=serializers.CharField(), help_text="What a language model must be able to do."
    )
    parameters = serializers.DictField(help_text="JSON Schema of the parameters.")
    stimuli = serializers.CharField(
        help_text="What it works on: `Stimuli` (groups, traits, templates), `SentenceStimuli` "
        "(groups, traits, and a corpus or sentences), `TextStimuli` (a corpus and prompts), "
        "`GuiseStimuli` (a corpus or names, prompts and attributes), `ProbeStimuli` "
        "(templates: sets of labeled templates; groups: lexicons), `PromptedStimuli` (the same, "
        "with prompts and examples), `RatingStimuli` (a study) or `LabeledTexts` (texts)."
    )
    result = serializers.CharField(
        help_text="What its runs leave behind: `scores`, `associations`, `text_scores`, "
        "`counterparts`, `predictions`, `surprisals`, `trained_model` or `trained_classifiers`."
    )


class ProblemSerializer(serializers.Serializer[Any]):
    where = serializers.CharField()
    message = serializers.CharField()
    fatal = serializers.BooleanField()


class CostSerializer(serializers.Serializer[Any]):
    shards = serializers.IntegerField()
    forward_passes = serializers.IntegerField()
    tokens = serializers.IntegerField()
    written = serializers.IntegerField(help_text="Of the tokens, those written by the model.")


class DryRunSerializer(serializers.Serializer[Any]):
    cost = CostSerializer(allow_null=True)
    seconds = serializers.FloatField(
        allow_null=True, help_text="By the model's latest run; null before there is one."
    )
    money = serializers.DecimalField(
        max_digits=20,
        decimal_places=6,
        allow_null=True,
        help_text="At most, with a served model; null where its price is not known.",
    )
    currency = serializers.CharField(help_text="Of the money; empty without a price.")
    problems = ProblemSerializer(many=True)


class RunRequestSerializer(serializers.Serializer[Any]):
    """A run to create, or to try out dry. Names are those of the library and of `/measures/`."""

    measure = serializers.CharField(max_length=40)
    model = PublicIdField(
        slug_field="public_id",
        queryset=LanguageModel.objects.all(),
        help_text="The public id of a registered model.",
    )
    groups = _names([DEFAULT_GROUPS], "Slugs of groups or of sets of groups.")
    templates = _names(
        None,
        "Slugs of templates or of sets; without any, those that the measure's paper "
        "found best for the family of the model.",
        allow_null=True,
    )
    traits = _names(
        None, "Slugs of trait pairs; without any, the 16 of Cao et al. (2022).", allow_null=True
    )
    study = _optional_text(
        12,
        "The public id of a study that you may see, for direct ratings; `groups` and `traits` may "
        "name some of its own.",
    )
    corpus = _optional_text(
        12,
        "The public id of a corpus that you may see; for measures on texts, and for "
        "those that read groups in sentences.",
    )
    sentences = _names(
        None,
        "Instead of a corpus, for measures that read groups in sentences. Those that are "
        "drawn are kept with the run, and everyone who may see runs can read them.",
        child=serializers.CharField(max_length=LONGEST_SENTENCE, allow_blank=True),
        max_length=MOST_SENTENCES,
        allow_null=True,
    )
    variety = _optional_text(
        VARIETY_LENGTH,
        "Takes only the corpus's texts in this variety; for measures that read groups "
        "in sentences.",
    )
    prompts = _names(
        list,
        "Slugs of prompts, or for guises purposes such as `traits`; without any, the usual ones "
        "for the kind of the model or for the attributes.",
    )
    sources = _names(
        list,
        "Takes only pairs, or texts, drawn from these; without any, all.",
        child=serializers.CharField(max_length=SOURCE_LENGTH, allow_blank=True),
    )
    attributes = serializers.CharField(
        max_length=SLUG_LENGTH,
        required=False,
        default=DEFAULT_ATTRIBUTES,
        help_text="For matched guise probing: the slug of the word list whose words end the "
        "prompts.",
    )
    varieties = _names(
        list,
        "For matched guise probing: two varieties of a corpus that has more, the first guise "
        "first.",
    )
    terms = _names(
        list,
        "For matched guise probing, instead of a corpus: names of two groups, such as "
        "`Black/White`.",
    )
    limit = serializers.IntegerField(
        required=False,
        default=None,
        allow_null=True,
        min_value=1,
        help_text="The most pairs, drawn with the seed.",
    )
    per_source = serializers.IntegerField(
        required=False,
        default=None,
        allow_null=True,
        min_value=1,
        help_text="The most pairs of each source, drawn with the seed; instead of a limit.",
    )
    examples = serializers.IntegerField(
        required=False,
        default=0,
        min_value=0,
        max_value=100,
        help_text="Number of training pairs, or of labeled texts, shown before each text.",
    )
    examples_from = serializers.CharField(
        max_length=SLUG_LENGTH,
        required=False,
        default=DEFAULT_EXAMPLES,
        help_text="For prompted classification: the slug of the labeled texts that examples are "
        "drawn from, as many of each class.",
    )
    texts = _optional_text(
        SLUG_LENGTH, "For fine-tuning a classifier: the slug of a set of labeled texts."
    )
    parameters = serializers.DictField(
        required=False, default=dict, help_text="As the measure's schema describes them."
    )
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=LARGEST_SEED)
    dtype = _number_format()


class ClassifyRequestSerializer(serializers.Serializer[Any]):
    """Sentences to classify with the models that a fine-tuning has kept."""

    templates = _names([], "Slugs of sets of labeled templates.")
    groups = _names(list(DEFAULT_LEXICONS), "Slugs of lexicons.")
    parameters = serializers.DictField(
        required=False, default=dict, help_text="As the schema of classification describes them."
    )
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=LARGEST_SEED)
    dtype = _number_format()


class RunSerializer(serializers.ModelSerializer[Run]):
    model = serializers.CharField(source="model.public_id", read_only=True)
    model_name = serializers.CharField(source="model.name", read_only=True)
    is_demo = serializers.BooleanField(
        source="model.is_demo", read_only=True, help_text="If so, the scores mean nothing."
    )
    corpus = serializers.CharField(
        source="corpus.public_id",
        read_only=True,
        allow_null=True,
        default=None,
        help_text="Where its texts come from; null for measures of groups.",
    )
    number = serializers.IntegerField(source="pk", read_only=True)
    dtype = serializers.CharField(
        read_only=True,
        help_text="Number format of the model; empty for that of the workers, usually float32.",
    )
    parameters = serializers.DictField(read_only=True)
    notices = serializers.ListField(child=serializers.CharField(), read_only=True)
    library_versions = serializers.DictField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = Run
        fields: tuple[str, ...] = (
            "public_id",
            "number",
            "measure",
            "model",
            "model_name",
            "is_demo",
            "corpus",
            "parameters",
            "seed",
            "dtype",
            "origin",
            "obtained",
            "status",
            "shard_count",
            "stimuli_hash",
            "notices",
            "error",
            "created_at",
            "started_at",
            "finished_at",
            "code_version",
            "library_versions",
            "model_revision",
            "device",
        )
        read_only_fields = fields


class RunDetailSerializer(RunSerializer):
    stimuli = serializers.DictField(
        read_only=True,
        help_text="Groups, traits and templates or sentences, or texts and prompts, as they were.",
    )

    class Meta(RunSerializer.Meta):
        fields = (*RunSerializer.Meta.fields, "stimuli")
        read_only_fields = fields


class ScoreSerializer(serializers.ModelSerializer[Score]):
    class Meta:
        model = Score
        fields = ("name", "group", "trait", "template", "value", "reason", "n", "access")
        read_only_fields = fields


class TextScoreSerializer(serializers.ModelSerializer[TextScore]):
    class Meta:
        model = TextScore
        fields = ("name", "pair", "variety", "condition", "trial", "value", "reason", "n")
        read_only_fields = fields


class TrainingPointSerializer(serializers.ModelSerializer[TrainingPoint]):
    class Meta:
        model = TrainingPoint
        fields = (
            "training",
            "step",
            "epoch",
            "loss",
            "held_out_loss",
            "accuracy",
            "held_out_accuracy",
            "learning_rate",
            "at",
        )
        read_only_fields = fields


class RunCounterpartSerializer(serializers.ModelSerializer[Counterpart]):
    """What a run wrote; `reason` says why there is no body, or that it was cut."""

    pair = serializers.SerializerMethodField()
    text = serializers.CharField(source="text.slug", read_only=True)

    class Meta:
        model = Counterpart
        fields = ("pair", "text", "variety", "body", "reason", "model")
        read_only_fields = fields

    def get_pair(self, counterpart: Counterpart) -> str:
        return reference_of(counterpart)[0]


class RunAnswerSerializer(serializers.Serializer[Any]):
    group = serializers.CharField()
    item = serializers.CharField()
    prompt = serializers.CharField()
    repeat = serializers.CharField()
    outcome = serializers.CharField()
    why = serializers.CharField(help_text="Why nothing was read; empty if something was.")
    answer = serializers.CharField()
    reasoning_tokens = serializers.IntegerField()
    reasoning = serializers.CharField(help_text="What the model wrote to itself before.")


class WorkerRowSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    device = serializers.CharField()
    stored = serializers.IntegerField()
    rate = serializers.FloatField(help_text="Shards a minute.")
    working = serializers.BooleanField()


class RunEventSerializer(serializers.ModelSerializer[RunEvent]):
    class Meta:
        model = RunEvent
        fields = ("at", "kind", "shard_index", "message")
        read_only_fields = fields


class ProgressSerializer(serializers.Serializer[Any]):
    """Progress of a run; the numbers count shards."""

    status = serializers.CharField()
    total = serializers.IntegerField()
    stored = serializers.IntegerField()
    leased = serializers.IntegerField()
    pending = serializers.IntegerField()
    failed = serializers.IntegerField()
    percent = serializers.IntegerField()
    rate = serializers.FloatField(help_text="Shards a minute.")
    seconds_left = serializers.FloatField(allow_null=True)
    workers = WorkerRowSerializer(many=True)
    events = RunEventSerializer(many=True, help_text="The newest lines of the log.")
