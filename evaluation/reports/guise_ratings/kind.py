"""Ratings of guises: what people say of the speakers of two varieties, beside what models do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.instruments.versions import published_instrument
from annotation.models import DataDecision, Study, StudyKind
from annotation.studies.guise_ratings import hash_guise_ratings, list_varieties, load_guise_ratings
from annotation.studies.study_arms import in_arm
from evaluation.analyses.guise_people import GuisePeople, GuisePeopleOptions, analyze_guise_people
from evaluation.analyses.guise_ratings import build_guise_ratings
from evaluation.models import Report
from evaluation.reports.guise_ratings import prose, tables
from evaluation.reports.parts.corpus_inputs import corpus_record
from evaluation.reports.parts.document import Document, Prose, Section
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import MISSING, count, listing, number, percent
from evaluation.reports.parts.guise_inputs import (
    MEASURE,
    LoadedGuise,
    common_attributes,
    load_guise_run,
    require_purposes,
)
from evaluation.reports.parts.kind import AnalysisKind, Chosen, Loaded, RunsInput, StudyInput
from evaluation.reports.parts.options import ArmParameters, IntervalParameters, split_halves
from evaluation.reports.parts.participants import NAME as PARTICIPANTS
from evaluation.reports.parts.participants import (
    ParticipantParameters,
    load_participants,
    participants_section,
    participants_table,
)
from evaluation.reports.parts.provenance import run_key
from evaluation.reports.parts.rating_inputs import check_arm, no_ratings, title_of_arm
from evaluation.reports.parts.run_settings import settings_section, settings_table
from probing.measures.guise_library import TRAITS
from probing.models import Run
from probing.runs.inputs import load_inputs


class GuiseRatingParameters(ParticipantParameters, IntervalParameters, ArmParameters):
    """The options of a report on ratings of guises."""

    texts: Literal["study", "all"] = Field(
        "study",
        description="Which pairs of the runs enter: those that people rated (study), or all.",
    )
    splits: int = split_halves("Random halves of the people; 0 for none.", least=0)


class GuiseRatings(AnalysisKind[GuisePeople]):
    name = "guise_ratings"
    title = _("People under the same guises")
    question = _("What do people say of speakers of two varieties, and does a model say the same?")
    meanings = prose.MEANINGS
    Parameters = GuiseRatingParameters
    Result = GuisePeople
    study = StudyInput(
        StudyKind.GUISE_RATING, _("Studies of the speakers of texts with accepted ratings.")
    )
    runs = RunsInput(
        _(
            "Runs of matched guise probing whose attributes are poles of the study's scales, such "
            "as the list abc-poles; none to see people alone."
        ),
        measures=(MEASURE,),
        least=0,
        most=None,
    )

    def fitting_studies(self, studies: QuerySet[Study]) -> QuerySet[Study]:
        accepted = {"data_decision": DataDecision.ACCEPTED, "is_counted": True}
        found = {f"submissions__{name}": value for name, value in accepted.items()}
        return super().fitting_studies(studies).filter(**found).distinct()

    def check(self, chosen: Chosen, parameters: GuiseRatingParameters) -> None:
        require_purposes(chosen.runs, (TRAITS,), "Choose runs with prompts on traits.")
        check_arm(chosen.the_study, parameters.arm)
        if not in_arm(chosen.the_study.submissions.accepted(), parameters.arm).exists():
            raise ReportError(no_ratings(chosen.the_study))
        varieties = list_varieties(chosen.the_study)
        if len(varieties) != 2:
            raise ReportError(
                f"“{chosen.the_study}” has texts in {listing(varieties)}, expected two varieties."
            )

    def default_title(self, chosen: Chosen) -> str:
        models = list(dict.fromkeys(run.model.name for run in chosen.runs))
        if not models:
            return f"What do people say of the speakers in {chosen.the_study}?"
        return f"Do people and {listing(models)} say the same of speakers?"

    def load(self, chosen: Chosen, parameters: GuiseRatingParameters) -> Loaded:
        """Some fifteen queries, and three for each run."""
        study = chosen.the_study
        arm = check_arm(study, parameters.arm)
        rows = load_guise_ratings(study, arm=parameters.arm)
        varieties = list_varieties(study)
        instrument = published_instrument(study)
        if not rows or instrument is None:
            raise ReportError(no_ratings(study))
        scales = list(instrument.scales.select_related("trait_pair"))
        text = instrument.groups.select_related("text__corpus").first()
        items = {row.item for row in rows}
        loaded = [load_guise_run(run, run.model.name) for run in chosen.runs]
        attributes = common_attributes(loaded) if loaded else ()
        poles = {
            scale.slug: (
                attributes.index(scale.trait_pair.low),
                attributes.index(scale.trait_pair.high),
            )
            for scale in scales
            if {scale.trait_pair.low, scale.trait_pair.high} <= set(attributes)
        }
        if loaded and not poles:
            raise ReportError(
                "The runs' attributes hold both poles of no scale of the study. Probe with the "
                "list “abc-poles”."
            )
        runs, others = [], []
        for run, one in zip(chosen.runs, loaded, strict=True):
            kept, other = _choose_pairs(run, one, items, varieties, parameters.texts)
            runs.append(kept)
            others += [f"run {run.pk}: {other}"] if other else []
        return Loaded(
            record={
                "study": {
                    "public_id": study.public_id,
                    "title": title_of_arm(study, arm),
                    **({"arm": parameters.arm} if arm else {}),
                    "origin": study.origin,
                    "source": study.source,
                    "instrument_version": instrument.version,
                    "instrument_hash": instrument.content_hash,
                    "ratings": len(rows),
                },
                **({"corpus": corpus_record(text.text.corpus)} if text and text.text else {}),
                "runs": [one.record for one in loaded],
                PARTICIPANTS: load_participants(
                    study, {row.submission for row in rows}, parameters
                ).record,
                "scales": [
                    {"slug": scale.slug, "low": scale.low, "high": scale.high} for scale in scales
                ],
                "varieties": varieties,
                "texts": parameters.texts,
                "without_poles": [s.slug for s in scales if loaded and s.slug not in poles],
                "other_pairs": others,
            },
            data=(rows, runs, poles),
            hashes={"study ratings": hash_guise_ratings(rows)}
            | {run_key(one.record): one.digest for one in loaded},
        )

    def analyze(self, loaded: Loaded, parameters: GuiseRatingParameters) -> GuisePeople:
        rows, runs, poles = loaded.data
        rated = build_guise_ratings(
            rows,
            guises=loaded.record["varieties"],
            scales=[scale["slug"] for scale in loaded.record["scales"]],
        )
        options = GuisePeopleOptions(n_splits=parameters.splits, **parameters.bootstrap)
        return analyze_guise_people(rated, runs, poles, options)

    def lay_out(self, report: Report, result: GuisePeople, view: Mapping[str, str]) -> Document:
        record: dict[str, Any] = report.inputs
        level = percent(result.options.level)
        names = {one["slug"]: f"{one['low']} – {one['high']}" for one in record["scales"]}
        scales = tables.scale_table(result, names, level)
        pairs = tables.item_table(result)
        models = tables.model_table(result, level)
        by_scale = tables.model_scale_table(result, names, level)
        settings = settings_table(record["runs"])
        beside: tuple[Section, ...] = ()
        if result.models:
            blocks = tables.model_blocks(models, by_scale, result)
            beside = (
                Section("Models under the same guises", blocks, prose.WHY_MODELS),
                settings_section(settings),
            )
        who = participants_section(record[PARTICIPANTS], origin=record["study"]["origin"])
        ceiling = (Prose((prose.ceiling_line(result),)),)
        return Document(
            question=prose.question(result),
            keys=tables.key_numbers(result, names, level),
            sections=(
                Section("Scale by scale", tables.scale_blocks(scales, result), prose.WHY),
                Section("How well people agree among themselves", ceiling),
                *beside,
                *([who] if who else []),
            ),
            tables=(
                scales,
                pairs,
                *((models, by_scale, settings) if result.models else ()),
                *([participants_table(record[PARTICIPANTS])] if who else []),
            ),
            method=prose.method(result, record),
            caveats=prose.caveats(result),
            left_out=prose.left_out(result, record, names),
        )

    def headline(self, result: dict[str, Any]) -> str:
        found = [row["other_texts"]["value"] for row in result["models"]]
        if found:
            return f"τ {number(found[0])}"
        values = [row["difference"]["value"] for row in result["scales"]]
        known = [value for value in values if value is not None]
        return f"up to {number(max(map(abs, known)), 1)} points" if known else MISSING


def _choose_pairs(
    run: Run, loaded: LoadedGuise, items: set[str], varieties: list[str], texts: str
) -> tuple[Any, str]:
    """Return a run's log probabilities on the pairs that enter, the first guise as in the study.

    The second is how many of its pairs stay out, "" for none. Raises `ReportError` for a run
    without pairs, of other varieties, or without a pair that people rated.
    """
    kept, named = loaded.run, list(loaded.record["varieties"])
    if not kept.paired or sorted(named) != sorted(varieties):
        raise ReportError(
            f"{run} compares {listing(named)}{'' if kept.paired else ' without pairs'}, expected "
            f"pairs in {listing(varieties)}, as people rated them."
        )
    if named != varieties:
        kept = replace(kept, first=kept.second, second=kept.first)
    slugs = [text.slug for text in load_inputs(run).stimuli.first]
    places = [place for place, slug in enumerate(slugs) if texts == "all" or slug in items]
    if not places:
        raise ReportError(f"{run} read none of the pairs that people rated.")
    some = replace(kept, first=kept.first[:, places], second=kept.second[:, places])
    n = len(slugs) - len(places)
    if not n:
        return some, ""
    return replace(some, texts=f"{kept.texts}/{len(places)}"), f"{count(n, 'pair')} nobody rated"
