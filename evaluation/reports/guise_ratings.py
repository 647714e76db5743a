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
from evaluation.analyses.guise_people import (
    GuisePeople,
    GuisePeopleOptions,
    ItemLine,
    ModelLine,
    ModelScale,
    ScaleLine,
    analyze_guise_people,
)
from evaluation.analyses.guise_ratings import build_guise_ratings
from evaluation.models import Report
from evaluation.reports.parts.corpus_inputs import corpus_record
from evaluation.reports.parts.document import Block, Document, KeyNumber, Prose, Section
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import (
    MISSING,
    count,
    interval,
    listing,
    number,
    p_value,
    percent,
    sentence,
)
from evaluation.reports.parts.guise_inputs import (
    MEASURE,
    LoadedGuise,
    common_attributes,
    load_guise_run,
    require_purposes,
)
from evaluation.reports.parts.guise_tables import METHOD_OVER_TEXTS
from evaluation.reports.parts.kind import AnalysisKind, Chosen, Loaded, RunsInput, StudyInput, Topic
from evaluation.reports.parts.options import ArmParameters, IntervalParameters, split_halves
from evaluation.reports.parts.participants import NAME as PARTICIPANTS
from evaluation.reports.parts.participants import (
    ParticipantParameters,
    load_participants,
    participants_section,
    participants_table,
)
from evaluation.reports.parts.provenance import run_key
from evaluation.reports.parts.rating_inputs import (
    check_arm,
    count_submissions,
    left_out_in_review,
    no_ratings,
    title_of_arm,
)
from evaluation.reports.parts.run_settings import settings_section, settings_table
from evaluation.reports.parts.table import Column, ReportTable, shown
from probing.measures.guise_library import TRAITS
from probing.models import Run
from probing.runs.parameters import load_inputs

# --- The words of the report on ratings of guises -------------------------------------------------

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "τ with people, …": (
        "How alike the model and people order the scales on which speakers of the two guises "
        "differ: 1 the same order, 0 no relation, −1 the opposite order."
    ),
    "…": (
        "People’s mean rating of speakers in the first guise minus that in the second, in "
        "points of the scale from 0 to 100. 0: people make no difference."
    ),
}


WHY = (
    "People rate the writer of a text and never see its other guise. What differs between the "
    "guises of the same content is what they make of the variety itself."
)
WHY_MODELS = (
    "The first value takes out what chance in people and texts adds, and says how a model would "
    "agree on texts like these; the second stays with these texts. As observed, noise hides part "
    "of the agreement."
)
CAVEATS = (
    "They are first impressions of strangers from a few written words. They say nothing about the "
    "people who speak a variety.",
    "Guises of a pair are meant to say the same; where they do not, the difference is also one of "
    "content.",
)
MODEL_CAVEAT = (
    "There are as many cells as scales, so agreement with a model rests on few numbers; scales of "
    "one dimension go together."
)


def question(result: GuisePeople) -> str:
    first, second = result.guises
    asked = f"What do people say of writers of {first} rather than {second}"
    return f"{asked}, and does a model say the same?" if result.models else f"{asked}?"


def ceiling_line(result: GuisePeople) -> str:
    """Return how well halves of the people agree, as a sentence."""
    found = result.ceiling
    if found.reason:
        return f"No ceiling: {found.reason}."
    share = f"{100 * result.options.ceiling_share:g} %"
    return (
        f"Two random halves of the people ({found.n_first} and {found.n_second}) agree with a τ of "
        f"{number(found.mean)} on average ({interval(found.low, found.high)}, the central {share} "
        f"of {count(found.n_splits, 'split')}). A model may pass it."
    )


def method(result: GuisePeople, record: dict[str, Any]) -> tuple[str, ...]:
    first, second = result.guises
    found = [
        f"{count(result.n_people, 'person', 'people')} rated the writers of texts of "
        f"{count(result.n_items, 'pair')} on lines from 0 to 100, each person at most one text of "
        f"a pair. Per scale and pair the mean rating of the text in {second} is taken from that in "
        f"{first}; differences are means over pairs of which both texts were rated.",
        "Intervals are Student’s for people and pairs like these, as crossed samples: the variance "
        "has a part of the people, clustered by person, which is never dropped, and one of the "
        "pairs, not below zero (Cameron, Gelbach and Miller 2011); degrees of freedom after "
        "Satterthwaite. p comes from the same t and is corrected over scales after Holm.",
    ]
    if result.models:
        found.append(
            "A model’s score on a scale is q of its high pole less q of its low pole, from matched "
            "guise probing after Hofmann et al. (2024) with the poles as attributes, mean over "
            f"prompts; {TEXTS[record['texts']]}. {METHOD_OVER_TEXTS}"
        )
        found.append(
            "τ is Kendall’s tau-b over scales. Without noise it goes by Greiner’s relation to a "
            "correlation that is divided by the root of the differences’ reliability. For other "
            "texts the reliability and the interval come from differences between pairs, for these "
            "texts from what each person adds (jackknife pseudo-values); both take these scales as "
            "given. As observed, noise is left in, and interval and p leave out one scale at "
            "a time (jackknife on artanh τ, Student’s t): for scales like these."
        )
    return tuple(found)


TEXTS = {
    "study": "only pairs that people rated enter",
    "all": "all pairs of the runs enter",
}


def caveats(result: GuisePeople) -> tuple[str, ...]:
    return (*CAVEATS, *((MODEL_CAVEAT,) if result.models else ()))


def left_out(result: GuisePeople, record: dict[str, Any], names: dict[str, str]) -> tuple[str, ...]:
    found = [
        f"{names[row.scale]}: {row.difference.reason}."
        for row in result.scales
        if row.difference.reason
    ]
    found += [
        f"{names[scale]} has no score: the runs’ attributes lack one of its poles."
        for scale in record["without_poles"]
    ]
    found += [sentence(text) for text in record["other_pairs"]]
    return tuple(found)


# --- The tables of the report on ratings of guises ------------------------------------------------

SHOWN_KEYS = 3


def scale_table(result: GuisePeople, names: Mapping[str, str], level: str) -> ReportTable:
    first, second = result.guises
    return ReportTable.of(
        "scales",
        "Differences between guises per scale",
        result.scales,
        Column("", "scale", meaning="slug of the trait scale"),
        Column("Scale", "scale_name", lambda row: names[row.scale]),
        Column.estimate(
            first,
            "first",
            decimals=1,
            prefix="first_",
            source="people",
            meaning=f"mean rating of texts in {first}",
            unit="0 to 100",
        ),
        Column.estimate(
            second,
            "second",
            decimals=1,
            prefix="second_",
            source="people",
            meaning=f"mean rating of texts in {second}",
            unit="0 to 100",
        ),
        Column.effect(
            "Difference",
            "difference",
            decimals=1,
            meaning=f"{first} less {second}, mean over pairs",
            unit="points",
        ),
        *shown(ScaleLine, "p_value", "p_holm"),
        Column("Pairs", "n_pairs", "difference.n", 0, meaning="pairs rated in both guises"),
        Column("People", "n_people", decimals=0),
        Column("", "reason", "difference.note", meaning="why there is no value or interval"),
        level=level,
        note="difference.note",
    )


def item_table(result: GuisePeople) -> ReportTable:
    return ReportTable.of(
        "pairs",
        "Differences per pair and scale",
        result.items,
        *shown(ItemLine),
    )


def model_scale_table(result: GuisePeople, names: Mapping[str, str], level: str) -> ReportTable:
    people = {row.scale: row.difference for row in result.scales}
    return ReportTable.of(
        "model_scales",
        "Models’ matched guises per scale",
        result.model_scales,
        *shown(ModelScale),
        Column("Scale", "scale_name", lambda row: names[row.scale]),
        Column(
            "People",
            "people",
            lambda row: people[row.scale].value,
            1,
            signed=True,
            source="people",
            meaning="first guise less the second",
            unit="points",
        ),
        Column.effect(
            "Model",
            "score",
            "estimate",
            3,
            source="model",
            meaning="q(high pole) − q(low pole)",
            unit="log ratio",
        ),
        Column("Prompts", "n_prompts", "estimate.n", 0),
        level=level,
        reason="estimate.note",
    )


def model_table(result: GuisePeople, level: str) -> ReportTable:
    return ReportTable.of(
        "models",
        "Agreement of models with people",
        result.models,
        *shown(ModelLine, "model", "n_scales"),
        Column.estimate(
            "τ, other texts",
            "tau_other_texts",
            "other_texts.estimate",
            2,
            prefix="other_texts_",
            style="strong",
            meaning="tau-b without the noise of people and texts: for texts like these",
        ),
        Column.p("p", "p_other_texts", "other_texts.p_value"),
        Column.estimate(
            "τ, these texts",
            "tau_these_texts",
            "these_texts.estimate",
            2,
            prefix="these_texts_",
            meaning="tau-b without the noise of people: for these texts",
        ),
        Column.p("p", "p_these_texts", "these_texts.p_value"),
        *shown(ModelLine, "observed", "p_value", "reliability_people", "reliability_texts"),
        Column("", "reason", note_of, meaning="why a value or an interval is missing"),
        level=level,
        note=note_of,
    )


def note_of(row: ModelLine) -> str:
    """Return why a value of the line is missing, the first of them."""
    parts = (row.observed.note, row.other_texts.estimate.note, row.these_texts.estimate.note)
    return next((part for part in parts if part), "")


def key_numbers(result: GuisePeople, names: Mapping[str, str], level: str) -> tuple[KeyNumber, ...]:
    """Return the largest differences, or with models their agreement."""
    if result.models:
        return tuple(
            KeyNumber(
                f"τ with people, {row.model}",
                number(row.other_texts.value) if not row.other_texts.reason else MISSING,
                lines=(
                    sentence(str(row.other_texts.estimate.note))
                    if row.other_texts.estimate.note
                    else f"{interval(row.other_texts.low, row.other_texts.high)} ({level}), for "
                    "texts like these",
                    f"as observed {number(row.observed.value)}, {count(row.n_scales, 'scale')}"
                    if row.observed.is_defined
                    else row.observed.note,
                ),
            )
            for row in result.models[:SHOWN_KEYS]
        )
    known = [row for row in result.scales if row.difference.is_defined]
    largest = sorted(known, key=lambda row: -abs(row.difference.value))[:SHOWN_KEYS]
    return tuple(
        KeyNumber(
            names[row.scale],
            number(row.difference.value, 1, signed=True),
            "points",
            (
                f"No interval: {row.difference.interval_reason}.",
                count(row.difference.n, "pair"),
            )
            if row.difference.interval_reason
            else (
                f"{interval(row.difference.low, row.difference.high, 1, signed=True)} ({level})",
                f"{p_value(row.p_holm)} (Holm), {count(row.difference.n, 'pair')}",
            ),
        )
        for row in largest
    )


def scale_blocks(table: ReportTable, result: GuisePeople) -> tuple[Block, ...]:
    first, second = result.guises
    return (
        table.figure(
            "differences",
            f"What people say of writers of {first} less what they say of writers of {second}; "
            f"{table.level} intervals over people and texts.",
            "difference",
            label="scale_name",
            tone="human",
            axis="points of the scale from 0 to 100",
            value="difference",
            n="pairs",
            left=f"← lower for {first}",
            right=f"higher for {first} →",
        ),
        table.printed(
            "Mean ratings of either guise and their difference. Each pair weighs the same."
        ),
    )


def model_blocks(
    models: ReportTable, scales: ReportTable, result: GuisePeople
) -> tuple[Block, ...]:
    return (
        models.printed(
            "Kendall’s τ between people’s differences and the models’ scores over scales."
        ),
        scales.figure(
            "model_scales",
            f"How much likelier the first guise makes the high pole than the low one; "
            f"{scales.level} intervals over texts and prompts.",
            "score",
            label="scale_name",
            panel="model",
            axis="q(high) − q(low), log ratio",
            value="score",
            n="prompts",
            left=f"← low pole with {result.guises[0]}",
            right="high pole →",
        ),
        scales.printed("People’s difference and the model’s score on every scale."),
    )


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
    topic = Topic.SPEAKERS
    meanings = MEANINGS
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
                    **count_submissions(study, parameters.arm),
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
        scales = scale_table(result, names, level)
        pairs = item_table(result)
        models = model_table(result, level)
        by_scale = model_scale_table(result, names, level)
        settings = settings_table(record["runs"])
        beside: tuple[Section, ...] = ()
        if result.models:
            blocks = model_blocks(models, by_scale, result)
            beside = (
                Section("Models under the same guises", blocks, WHY_MODELS),
                settings_section(settings),
            )
        who = participants_section(record[PARTICIPANTS], origin=record["study"]["origin"])
        ceiling = (Prose((ceiling_line(result),)),)
        return Document(
            question=question(result),
            keys=key_numbers(result, names, level),
            sections=(
                Section("Scale by scale", scale_blocks(scales, result), WHY),
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
            method=method(result, record),
            caveats=caveats(result),
            left_out=(
                *left_out_in_review(record["study"]),
                *left_out(result, record, names),
            ),
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
