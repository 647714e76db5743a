"""What the API says about models, measures, runs and scores, and what it takes."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotation.api.fields import PublicIdField
from annotation.models import Counterpart
from annotation.models.corpus import VARIETY_LENGTH
from probing.models import LanguageModel, Run, RunEvent, Score, TextScore
from probing.runs.counterpart_table import reference_of
from probing.runs.creation import LARGEST_SEED
from probing.runs.sentence_files import LONGEST_SENTENCE
from probing.runs.stimuli import DEFAULT_GROUPS

SLUG_LENGTH = 100
SOURCE_LENGTH = 120
LARGEST_CHOICE = 2000
# What one request may carry; more comes as a corpus, or from a file on the command line.
MOST_SENTENCES = 100_000


class LanguageModelSerializer(serializers.ModelSerializer[LanguageModel]):
    class Meta:
        model = LanguageModel
        fields = (
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
            "is_demo",
            "created_at",
        )
        read_only_fields = fields


class ModelRegistrationSerializer(serializers.Serializer[Any]):
    location = serializers.CharField(
        max_length=500,
        help_text="A hub id such as roberta-large, a folder on the workers, or the base URL of a "
        "server with OpenAI's protocol.",
    )
    name = serializers.CharField(
        max_length=160, required=False, default="", allow_blank=True, help_text="As reports print."
    )
    revision = serializers.CharField(
        max_length=80, required=False, default="", allow_blank=True, help_text="A hub commit."
    )
    served_name = serializers.CharField(
        max_length=160,
        required=False,
        default="",
        allow_blank=True,
        help_text="The model's name on its server, for a base URL.",
    )
    key_variable = serializers.CharField(
        max_length=80,
        required=False,
        default="",
        allow_blank=True,
        help_text="The environment variable of the workers that holds the server's key; never "
        "the key itself.",
    )


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
        "(groups, traits, and a corpus or sentences) or `TextStimuli` (a corpus and prompts)."
    )
    result = serializers.CharField(
        help_text="What its runs leave behind: `scores`, `text_scores`, `counterparts` or "
        "`trained_model`."
    )


class ProblemSerializer(serializers.Serializer[Any]):
    where = serializers.CharField()
    message = serializers.CharField()
    fatal = serializers.BooleanField()


class CostSerializer(serializers.Serializer[Any]):
    shards = serializers.IntegerField()
    forward_passes = serializers.IntegerField()
    tokens = serializers.IntegerField()


class DryRunSerializer(serializers.Serializer[Any]):
    cost = CostSerializer(allow_null=True)
    seconds = serializers.FloatField(
        allow_null=True, help_text="By the model's latest run; null before there is one."
    )
    problems = ProblemSerializer(many=True)


class RunRequestSerializer(serializers.Serializer[Any]):
    """A run to create, or to try out dry. Names are those of the library and of `/measures/`."""

    measure = serializers.CharField(max_length=40)
    model = PublicIdField(
        slug_field="public_id",
        queryset=LanguageModel.objects.all(),
        help_text="The public id of a registered model.",
    )
    groups = serializers.ListField(
        child=serializers.CharField(max_length=SLUG_LENGTH),
        required=False,
        default=[DEFAULT_GROUPS],
        max_length=LARGEST_CHOICE,
        help_text="Slugs of groups or of sets of groups.",
    )
    templates = serializers.ListField(
        child=serializers.CharField(max_length=SLUG_LENGTH),
        required=False,
        default=None,
        allow_null=True,
        max_length=LARGEST_CHOICE,
        help_text="Slugs of templates or of sets; without any, those that the measure's paper "
        "found best for the family of the model.",
    )
    traits = serializers.ListField(
        child=serializers.CharField(max_length=SLUG_LENGTH),
        required=False,
        default=None,
        allow_null=True,
        max_length=LARGEST_CHOICE,
        help_text="Slugs of trait pairs; without any, all of them.",
    )
    corpus = serializers.CharField(
        max_length=12,
        required=False,
        default="",
        allow_blank=True,
        help_text="The public id of a corpus that you may see; for measures on texts, and for "
        "those that read groups in sentences.",
    )
    sentences = serializers.ListField(
        child=serializers.CharField(max_length=LONGEST_SENTENCE, allow_blank=True),
        required=False,
        default=None,
        allow_null=True,
        max_length=MOST_SENTENCES,
        help_text="Instead of a corpus, for measures that read groups in sentences. Those that are "
        "drawn are kept with the run, and whoever may see runs can read them.",
    )
    variety = serializers.CharField(
        max_length=VARIETY_LENGTH,
        required=False,
        default="",
        allow_blank=True,
        help_text="Takes only the corpus's texts in this variety; for measures that read groups "
        "in sentences.",
    )
    prompts = serializers.ListField(
        child=serializers.CharField(max_length=SLUG_LENGTH),
        required=False,
        default=list,
        max_length=LARGEST_CHOICE,
        help_text="Slugs of prompts; without any, the usual one for the kind of the model.",
    )
    sources = serializers.ListField(
        child=serializers.CharField(max_length=SOURCE_LENGTH, allow_blank=True),
        required=False,
        default=list,
        max_length=LARGEST_CHOICE,
        help_text="Takes only pairs, or texts, drawn from these; without any, all.",
    )
    limit = serializers.IntegerField(
        required=False,
        default=None,
        allow_null=True,
        min_value=1,
        help_text="At most so many pairs, drawn with the seed.",
    )
    examples = serializers.IntegerField(
        required=False,
        default=0,
        min_value=0,
        max_value=100,
        help_text="So many training pairs are shown before each text.",
    )
    parameters = serializers.DictField(
        required=False, default=dict, help_text="As the measure's schema describes them."
    )
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=LARGEST_SEED)


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
        fields = ("name", "group", "trait", "template", "value", "reason", "n")
        read_only_fields = fields


class TextScoreSerializer(serializers.ModelSerializer[TextScore]):
    class Meta:
        model = TextScore
        fields = ("name", "pair", "variety", "condition", "trial", "value", "reason", "n")
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
    """Where a run stands; the numbers count shards."""

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
