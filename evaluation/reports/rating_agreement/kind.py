"""Agreement of raters: how alike people rate the same groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Literal

from django.utils.translation import gettext_lazy as _

from annotation.studies.quality.damage import PlacedRating, find_damage
from evaluation.analyses.rating_agreement import (
    RatingAgreement,
    RatingAgreementOptions,
    analyze_rating_agreement,
)
from evaluation.models import Report
from evaluation.reports.parts.document import Document, Provenance, Section
from evaluation.reports.parts.formatting import number, percent
from evaluation.reports.parts.kind import AnalysisKind, Chosen, Loaded
from evaluation.reports.parts.options import (
    ArmParameters,
    IntervalParameters,
    level_of_measurement,
    split_halves,
)
from evaluation.reports.parts.rating_inputs import People, RatingsKind, load_people
from evaluation.reports.rating_agreement import prose, tables


class RatingAgreementParameters(IntervalParameters, ArmParameters):
    """The options of a report on the agreement of raters."""

    measurement: Literal["nominal", "ordinal", "interval", "ratio"] = level_of_measurement(
        "interval", ""
    )
    splits: int = split_halves("Random halves of the raters; 0 for none.", least=0)


class AgreementOfRaters(RatingsKind, AnalysisKind[RatingAgreement]):
    name = "rating_agreement"
    title = _("Agreement of raters")
    question = _("How alike do people rate the same groups?")
    meanings = prose.MEANINGS
    Parameters = RatingAgreementParameters
    Result = RatingAgreement
    libraries = (*AnalysisKind.libraries, "krippendorff")

    def default_title(self, chosen: Chosen) -> str:
        return f"How far do the raters of {chosen.the_study} agree?"

    def load(self, chosen: Chosen, parameters: RatingAgreementParameters) -> Loaded:
        people = load_people(chosen.the_study, arm=parameters.arm)
        damage = find_damage(map(PlacedRating._make, people.ratings.itertuples(index=False)))
        return Loaded(
            record={
                "study": people.record,
                "groups": [asdict(group) for group in people.groups],
                "scales": [asdict(scale) for scale in people.scales],
                **({"damage": [found.record for found in damage]} if damage else {}),
            },
            data=people,
            hashes={"study ratings_hash": people.record["ratings_hash"]},
        )

    def analyze(self, loaded: Loaded, parameters: RatingAgreementParameters) -> RatingAgreement:
        people: People = loaded.data
        return analyze_rating_agreement(
            people.ratings,
            **people.order,
            dimensions={scale.slug: scale.dimension for scale in people.scales},
            options=RatingAgreementOptions(
                measurement=parameters.measurement,
                n_splits=parameters.splits,
                **parameters.bootstrap,
            ),
        )

    def lay_out(self, report: Report, result: RatingAgreement, view: Mapping[str, str]) -> Document:
        record: dict[str, Any] = report.inputs
        study, level = record["study"], percent(result.options.level)
        group_names = {group["slug"]: group["plural"] for group in record["groups"]}
        scale_names = {
            scale["slug"]: f"{scale['low']} – {scale['high']}" for scale in record["scales"]
        }
        overall = tables.overall_table(result, level)
        groups = tables.group_table(result, group_names, level)
        scales = tables.scale_table(result, scale_names, level)
        damage = tables.damage_table(record.get("damage", ()), group_names | scale_names)
        by_group = groups.printed(
            "Alpha within every group, and how the means of random halves of its raters go "
            "together."
        )
        measurement = result.options.measurement.capitalize()
        by_scale = scales.printed(f"{measurement} alpha on every scale; units are the groups.")
        return Document(
            question=prose.question(result, record),
            keys=tables.key_numbers(overall, result),
            sections=(
                *tables.damage_sections(damage),
                Section(
                    "All groups together", (tables.overall_printed(overall),), prose.WHY_OVERALL
                ),
                Section(
                    "Group by group",
                    (tables.group_figure(groups, result), by_group),
                    prose.WHY_GROUPS,
                ),
                Section("Scale by scale", (by_scale,), prose.WHY_SCALES),
            ),
            tables=(
                overall,
                groups,
                scales,
                tables.half_table(result),
                *((damage,) if damage.rows else ()),
            ),
            method=prose.method(result),
            caveats=prose.caveats(result),
            left_out=prose.left_out(study),
        )

    def sources(self, report: Report) -> list[Provenance]:
        study = report.inputs["study"]
        version = f"version {study['instrument_version']}"
        return [*super().sources(report), ("Instrument", version, study["instrument_hash"])]

    def headline(self, result: dict[str, Any]) -> str:
        return f"α {number(result['overall']['value'])}"
