"""Covert, overt, human: one model, three pictures on the same scales."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.models import Study, StudyKind
from annotation.studies.guise_ratings import hash_guise_ratings, list_varieties, load_guise_ratings
from evaluation.analyses.guise_cells import GuiseOptions, guise_cells
from evaluation.analyses.guise_ratings import build_guise_ratings
from evaluation.analyses.rating_cube import build_rating_cube
from evaluation.analyses.three_pictures import (
    MODEL_GROUPS,
    MODEL_SPEAKERS,
    PEOPLE_GROUPS,
    PEOPLE_SPEAKERS,
    PictureOptions,
    ThreePictures,
    compare_pictures,
    covert_picture,
    rated_groups_picture,
    rated_speakers_picture,
    score_picture,
)
from evaluation.models import Report
from evaluation.reports.covert_overt_human import prose
from evaluation.reports.covert_overt_human.tables import PictureTables
from evaluation.reports.parts.document import Document, Provenance, Section
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import count, listing
from evaluation.reports.parts.guise_inputs import MEASURE, load_guise_run, require_purposes
from evaluation.reports.parts.kind import AnalysisKind, Chosen, Loaded, RunsInput, StudyInput
from evaluation.reports.parts.options import ArmParameters, IntervalParameters, split_halves
from evaluation.reports.parts.provenance import banners, run_key, run_lines
from evaluation.reports.parts.rating_inputs import (
    RatingsKind,
    load_model_scores,
    load_people,
    no_ratings,
)
from evaluation.reports.parts.run_settings import settings_section, settings_table
from probing.measures.base import ResultKind
from probing.measures.guise_library import TRAITS
from probing.measures.registry import MEASURES
from probing.models import Run

#: Measures that score groups by name.
BY_NAME = tuple(name for name, one in MEASURES.items() if one.result == ResultKind.SCORES)
LEAST_SCALES = 3
POINTS, LOG_RATIO = "points of 100", "log₁₀, high pole − low pole"


class CovertOvertHumanParameters(IntervalParameters, ArmParameters):
    """The options of a report on three pictures."""

    first_group: str = Field(
        "black", max_length=80, description="Slug of the group that is asked about."
    )
    second_group: str = Field(
        "white", max_length=80, description="Slug of the group that it is compared with."
    )
    splits: int = split_halves("Random halves of the people for the ceilings.")


class CovertOvertHuman(RatingsKind, AnalysisKind[ThreePictures]):
    name = "covert_overt_human"
    title = _("One model, three pictures")
    question = _("Does a model say of speakers what it says of groups, and what do people say?")
    meanings = prose.MEANINGS
    Parameters = CovertOvertHumanParameters
    Result = ThreePictures
    study = StudyInput(
        StudyKind.ABC_SURVEY,
        _("People about groups by name: a study with accepted ratings of both groups."),
        _("Study of groups"),
    )
    second_study = StudyInput(
        StudyKind.GUISE_RATING,
        _("People about the speakers of texts, in the varieties of the matched guise run."),
        _("Study of speakers of texts"),
        required=False,
    )
    runs = RunsInput(
        _(
            "Two runs of one model: one that scores groups by name, and one of matched guise "
            "probing with the poles of the same scales as attributes."
        ),
        measures=(*BY_NAME, MEASURE),
        least=2,
        most=2,
    )

    def check(self, chosen: Chosen, parameters: CovertOvertHumanParameters) -> None:
        super().check(chosen, parameters)
        named, guised = _sort_runs(chosen)
        require_purposes([guised], [TRAITS], "Choose a run with prompts on traits.")
        if named.model_id != guised.model_id:
            raise ReportError(
                f"The runs are of {named.model.name} and {guised.model.name}, expected one model."
            )
        if parameters.first_group == parameters.second_group:
            raise ReportError(
                f"“{parameters.first_group}” is compared with itself, expected two groups."
            )

    def default_title(self, chosen: Chosen) -> str:
        return f"Does {chosen.runs[0].model.name} say of speakers what it says of groups?"

    def load(self, chosen: Chosen, parameters: CovertOvertHumanParameters) -> Loaded:
        named, guised = _sort_runs(chosen)
        people = load_people(chosen.the_study, arm=parameters.arm)
        scores = load_model_scores(named)
        guise = load_guise_run(guised, guised.model.name)
        groups = (parameters.first_group, parameters.second_group)
        known = {group.slug: group.plural for group in people.groups if group.slug in scores.groups}
        for slug in groups:
            if slug not in known:
                raise ReportError(
                    f"Study and run {named.pk} have no group “{slug}” in common. They share: "
                    f"{listing(sorted(known)) or 'none'}."
                )
        spoken = None
        if chosen.second_study is not None:
            spoken = _load_speakers(chosen.second_study, guise.record["varieties"])
        lacking = {
            scale.slug: why
            for scale in people.scales
            if (why := _why_left_out(scale, scores.scales, guise.attributes, spoken))
        }
        scales = [scale for scale in people.scales if scale.slug not in lacking]
        if len(scales) < LEAST_SCALES:
            raise ReportError(
                f"{count(len(scales), 'scale')} are in all pictures, expected at least "
                f"{LEAST_SCALES}. "
                + " ".join(f"{slug}: {why}." for slug, why in list(lacking.items())[:4])
            )
        runs = [scores.record | {"label": f"{named.model.name}, by name"}, guise.record]
        hashes = {
            "study ratings_hash": people.record["ratings_hash"],
            run_key(runs[0]): scores.record["scores_hash"],
            run_key(runs[1]): guise.digest,
        }
        record: dict[str, Any] = {
            "study": people.record,
            "runs": runs,
            "groups": list(groups),
            "group_names": [known[slug] for slug in groups],
            "guises": guise.record["varieties"],
            "scales": [asdict(scale) for scale in scales],
            "other_scales": lacking,
            "units": {
                MODEL_GROUPS: POINTS if named.measure == "direct_rating" else "score",
                MODEL_SPEAKERS: LOG_RATIO,
                PEOPLE_GROUPS: POINTS,
                PEOPLE_SPEAKERS: POINTS,
            },
        }
        if spoken is not None:
            record["second_study"] = spoken["record"]
            hashes["second study ratings_hash"] = spoken["record"]["ratings_hash"]
        return Loaded(
            record=record, data=(people, scores, guise, spoken, scales, groups), hashes=hashes
        )

    def analyze(self, loaded: Loaded, parameters: CovertOvertHumanParameters) -> ThreePictures:
        people, scores, guise, spoken, scales, groups = loaded.data
        slugs = [scale.slug for scale in scales]
        options = PictureOptions(n_splits=parameters.splits, **parameters.bootstrap)
        [cell] = guise_cells([guise.run], GuiseOptions(**parameters.bootstrap))
        covert = covert_picture(
            cell, guise.attributes, [(scale.low, scale.high) for scale in scales]
        )
        cube, _left_out = build_rating_cube(people.ratings, groups=groups, scales=slugs)
        others = [
            score_picture(scores.scores, groups, slugs, options),
            rated_groups_picture(cube, options),
        ]
        if spoken is not None:
            rated = build_guise_ratings(
                spoken["rows"], guises=loaded.record["guises"], scales=slugs
            )
            others.append(rated_speakers_picture(rated, options))
        return compare_pictures(covert, others, slugs, options)

    def lay_out(self, report: Report, result: ThreePictures, view: Mapping[str, str]) -> Document:
        record: dict[str, Any] = report.inputs
        shown = PictureTables.of(result, record)
        settings = settings_table(record["runs"])
        names = {slug: f"{scale.low} – {scale.high}" for slug, scale in shown.scales.items()}
        sections = (
            Section("The three pictures", shown.picture_blocks(), prose.pictures(record)),
            Section("Where the pictures part", shown.pair_blocks(), prose.PARTS),
            Section("Scales on opposite sides", shown.opposite_blocks(), prose.OPPOSITE),
            Section("The covert picture by both tests", shown.test_blocks(), prose.TESTS),
        )
        studies = [record[name] for name in ("study", "second_study") if name in record]
        told = [
            line
            for study in studies
            for line in banners(origin=study["origin"], obtained=study.get("obtained", ""))
        ]
        return Document(
            question=prose.question(record),
            keys=shown.keys(),
            sections=(
                *(section for section in sections if section.blocks),
                settings_section(settings),
            ),
            tables=(*shown.downloads, settings),
            method=prose.method(result, record),
            caveats=prose.CAVEATS,
            left_out=prose.left_out(record),
            banners=tuple(
                dict.fromkeys(
                    (*told, *banners(record["runs"]), *prose.disagreements(result, names))
                )
            ),
            facts=(
                *(f"Run {run['number']}: {run['label']}" for run in record["runs"]),
                *(f"Study: {study['title']}" for study in studies),
            ),
        )

    def sources(self, report: Report) -> list[Provenance]:
        record = report.inputs
        studies = [record[name] for name in ("study", "second_study") if name in record]
        return [
            *(
                (
                    "Ratings",
                    f"{study['title']}, {count(study['ratings'], 'rating')}",
                    f"sha256 {study['ratings_hash'][:16]}",
                )
                for study in studies
            ),
            *run_lines(record["runs"], record["hashes"]),
        ]

    def headline(self, result: dict[str, Any]) -> str:
        return prose.headline_tau(result)


def _sort_runs(chosen: Chosen) -> tuple[Run, Run]:
    """Return the run by name and the one of matched guise probing; `ReportError` otherwise."""
    named = [run for run in chosen.runs if run.measure != MEASURE]
    guised = [run for run in chosen.runs if run.measure == MEASURE]
    if len(named) != 1 or len(guised) != 1:
        raise ReportError(
            f"{count(len(named), 'run')} by name and {count(len(guised), 'run')} of matched guise "
            "probing were chosen, expected one of each."
        )
    return named[0], guised[0]


def _load_speakers(study: Study, varieties: list[str]) -> dict[str, Any]:
    """Return the ratings of speakers and what a report keeps of their study. Three queries."""
    rows = load_guise_ratings(study)
    if not rows:
        raise ReportError(no_ratings(study))
    asked = list_varieties(study)
    if not set(varieties) <= set(asked):
        raise ReportError(
            f"“{study}” has texts in {listing(asked)}, the run compares {listing(varieties)}."
        )
    return {
        "rows": rows,
        "scales": {row.scale for row in rows},
        "record": {
            "public_id": study.public_id,
            "title": study.title,
            "origin": study.origin,
            "ratings": len(rows),
            "ratings_hash": hash_guise_ratings(rows),
        },
    }


def _why_left_out(
    scale: Any, scored: set[str], attributes: tuple[str, ...], spoken: dict[str, Any] | None
) -> str:
    if scale.slug not in scored:
        return "the run by name has no score for it"
    if missing := [pole for pole in (scale.low, scale.high) if pole not in attributes]:
        return f"the matched guise run has no attribute {listing(missing)}"
    if spoken is not None and scale.slug not in spoken["scales"]:
        return "the study of speakers does not ask it"
    return ""
