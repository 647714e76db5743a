"""The ratings of a study as a tidy table: one row per rating."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from django.db.models import QuerySet

from annotation.common.tables import Cell, Column, ColumnType, Table
from annotation.models import (
    DataDecision,
    Dimension,
    Origin,
    Rating,
    Study,
    SubmissionOrigin,
    SubmissionState,
)
from annotation.models.submission import exported

TEXT, NUMBER, BOOLEAN = ColumnType.TEXT, ColumnType.NUMBER, ColumnType.BOOLEAN

# Each column with the field that it comes from.
RATING_FIELDS: Sequence[tuple[Column, str]] = (
    (
        Column("study", TEXT, "12 letters and digits", "public id of the study"),
        "assignment__submission__study__public_id",
    ),
    (
        Column("origin", TEXT, ", ".join(Origin.values), "where the study's data come from"),
        "assignment__submission__study__origin",
    ),
    (
        Column("submission", TEXT, "12 letters and digits", "one participant's pass, no identity"),
        "assignment__submission__public_id",
    ),
    (
        Column(
            "submission_state",
            TEXT,
            ", ".join(SubmissionState.values),
            "where the submission stood at the time of this export",
        ),
        "assignment__submission__state",
    ),
    (
        Column(
            "submission_origin",
            TEXT,
            ", ".join(SubmissionOrigin.values),
            "live, or from a pilot or preview of the study",
        ),
        "assignment__submission__origin",
    ),
    (
        Column(
            "data_decision",
            TEXT,
            ", ".join(DataDecision.values),
            "whether the data count: analyses use accepted ones only",
        ),
        "assignment__submission__data_decision",
    ),
    (
        Column("checks_passed", BOOLEAN, "empty: not known", "every attention check passed"),
        "assignment__submission__checks_passed",
    ),
    (
        Column("group", TEXT, "slug", "the rated group, the key to models and norms"),
        "assignment__group__slug",
    ),
    (
        Column("group_text", TEXT, "text", "the group as people read it"),
        "assignment__group__plural",
    ),
    (
        Column("group_position", NUMBER, "1 or more", "the group's place in the submission"),
        "assignment__position",
    ),
    (
        Column(
            "is_repeat",
            BOOLEAN,
            "true, false",
            "a repeated group: serves self-agreement, left out of means",
        ),
        "assignment__is_repeat",
    ),
    (
        Column("scale", TEXT, "slug", "the trait scale, the key to models and norms"),
        "scale__slug",
    ),
    (Column("low", TEXT, "text", "adjective at 0"), "scale__low"),
    (Column("high", TEXT, "text", "adjective at 100"), "scale__high"),
    (
        Column("dimension", TEXT, ", ".join(Dimension.values), "dimension of the ABC model"),
        "scale__dimension",
    ),
    (
        Column(
            "value",
            NUMBER,
            "0 to 100",
            "the rating in the scale's own direction, whatever side its poles stood on",
        ),
        "value",
    ),
    (
        Column("scale_position", NUMBER, "1 or more; empty: not known", "the line's place"),
        "position",
    ),
    (
        Column("flipped", BOOLEAN, "empty: not known", "the high pole stood on the left"),
        "flipped",
    ),
    (
        Column("first_touch_ms", NUMBER, "milliseconds; empty: not known", "page to first touch"),
        "first_touch_ms",
    ),
    (
        Column("changes", NUMBER, "0 or more; empty: not known", "how often the value changed"),
        "changes",
    ),
    (
        Column("instrument_version", NUMBER, "1 or more", "version that the participant saw"),
        "assignment__submission__instrument__version",
    ),
    (
        Column("instrument_hash", TEXT, "SHA-256", "content of that version"),
        "assignment__submission__instrument__content_hash",
    ),
)


def select_ratings(study: Study, *, include: Collection[str] = ()) -> QuerySet[Rating]:
    """Return the ratings of a study in the order of its exports.

    Only submissions that count, and those of the origins in ``include``: pilot, preview.
    """
    return Rating.objects.filter(
        exported(include, of="assignment__submission__"), assignment__submission__study=study
    ).order_by("assignment__submission__pk", "assignment__position", "scale__position", "pk")


def build_rating_table(study: Study, *, include: Collection[str] = ()) -> Table:
    """Return the table of a study's ratings. One query each time that it is read."""

    def load() -> Iterator[Sequence[Cell]]:
        fields = [field for _, field in RATING_FIELDS]
        return select_ratings(study, include=include).values_list(*fields).iterator(chunk_size=500)

    return Table("ratings", tuple(column for column, _ in RATING_FIELDS), load)
