"""What the API says about studies. No completion code, no token and no identity passes here."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.annotators.queue import WORK
from annotation.api.rows import RowSerializer
from annotation.exports.ratings import RATING_FIELDS
from annotation.instruments.presets import PresetName
from annotation.instruments.versions import current_instrument
from annotation.models import GroupSet, Instrument, Study, StudyGroup, TraitScale
from annotation.studies.creation import gather_groups


class StudyGroupSerializer(serializers.ModelSerializer[StudyGroup]):
    domains = serializers.ListField(child=serializers.CharField(), read_only=True)
    item = serializers.CharField(
        read_only=True, help_text="Of a text: the pair that it is a guise of; empty for a group."
    )

    class Meta:
        model = StudyGroup
        fields = (
            "slug",
            "singular",
            "plural",
            "plural_capitalised",
            "domains",
            "item",
            "variety",
            "body",
        )
        read_only_fields = fields


class TraitScaleSerializer(serializers.ModelSerializer[TraitScale]):
    class Meta:
        model = TraitScale
        fields = ("slug", "low", "high", "dimension")
        read_only_fields = fields


class InstrumentSerializer(serializers.ModelSerializer[Instrument]):
    groups = StudyGroupSerializer(many=True, read_only=True)
    scales = TraitScaleSerializer(many=True, read_only=True)
    flow = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = Instrument
        fields = (
            "version",
            "frozen_at",
            "content_hash",
            "language",
            "flow",
            "scale_order",
            "pole_sides",
            "show_ticks",
            "one_per_domain",
            "skipping",
            "groups",
            "scales",
        )
        read_only_fields = fields


class StudySerializer(serializers.ModelSerializer[Study]):
    participant_link = serializers.SerializerMethodField(
        help_text="Where participants of a survey come in; null for studies of annotators."
    )
    annotator_link = serializers.SerializerMethodField(
        help_text="Where those who were invited to write or judge find their work, once they have "
        "logged in; null for surveys."
    )

    class Meta:
        model = Study
        fields: tuple[str, ...] = (
            "public_id",
            "title",
            "kind",
            "status",
            "origin",
            "source",
            "participant_link",
            "annotator_link",
            "panel",
            "quota_per_group",
            "quota_rule",
            "decide_by_checks",
            "pay_lost_places",
            "reward_cents",
            "currency",
            "estimated_minutes",
            "created_at",
            "launched_at",
            "closed_at",
        )
        read_only_fields = fields

    def get_participant_link(self, study: Study) -> str | None:
        if study.kind in WORK:
            return None
        return settings.SITE_URL + reverse("survey:landing", args=[study.public_id])

    def get_annotator_link(self, study: Study) -> str | None:
        if study.kind not in WORK:
            return None
        return settings.SITE_URL + reverse(WORK[study.kind].url_name, args=[study.public_id])


class StudyDetailSerializer(StudySerializer):
    instrument = serializers.SerializerMethodField(help_text="Its newest version.")

    class Meta(StudySerializer.Meta):
        fields = (*StudySerializer.Meta.fields, "instrument")
        read_only_fields = fields

    @extend_schema_field(InstrumentSerializer(allow_null=True))
    def get_instrument(self, study: Study) -> dict[str, Any] | None:
        instrument = current_instrument(study)
        return None if instrument is None else dict(InstrumentSerializer(instrument).data)


class GroupQuotaSerializer(serializers.Serializer[Any]):
    """How far one group is from its quota; the numbers count submissions."""

    group = serializers.CharField(source="group.slug")
    plural = serializers.CharField(source="group.plural")
    wanted = serializers.IntegerField()
    accepted = serializers.IntegerField()
    in_review = serializers.IntegerField()
    in_progress = serializers.IntegerField()
    open = serializers.IntegerField()


class ExportFileSerializer(serializers.Serializer[Any]):
    """One file that a study is exported as."""

    name = serializers.CharField(help_text="Table and format, such as ratings.sav.")
    address = serializers.URLField()


class NewStudySerializer(serializers.Serializer[Any]):
    """A study of group ratings; what is left out is as on the study's form."""

    title = serializers.CharField(max_length=160)
    contact_email = serializers.EmailField(help_text="Shown to participants.")
    preset = serializers.ChoiceField(
        PresetName.choices, required=False, default="", help_text="Question, sides and checks."
    )
    group_sets = serializers.SlugRelatedField(
        slug_field="slug",
        queryset=GroupSet.objects.all(),
        many=True,
        required=False,
        help_text="Without any the 25 groups of Cao et al. (2022).",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        sets = attrs.pop("group_sets", [])
        return attrs | ({"groups": gather_groups(sets)} if sets else {})


class RatingRowSerializer(RowSerializer):
    """One rating, with the columns of the export.

    Where texts are rated, ``group`` is the slug of the text, whose pair and variety stand among the
    ``groups`` of its study.
    """

    columns = tuple(RATING_FIELDS.values())
