"""Covert, overt, human: one model, three pictures on the same scales."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.models import Dimension, Study, StudyKind
from annotation.studies.guise_ratings import hash_guise_ratings, list_varieties, load_guise_ratings
from evaluation.analyses.guise_ratings import build_guise_ratings
from evaluation.analyses.rating_cube import build_rating_cube
from evaluation.analyses.three_pictures import (
    MODEL_GROUPS,
    MODEL_SPEAKERS,
    PEOPLE_GROUPS,
    PEOPLE_SPEAKERS,
    PairLine,
    PictureLine,
    PictureOptions,
    ScaleLine,
    ThreePictures,
    compare_pictures,
    covert_picture,
    rated_groups_picture,
    rated_speakers_picture,
    score_picture,
)
from evaluation.charts import ScaleLabel
from evaluation.charts.pictures import (
    PictureColumn,
    PictureMark,
    PictureMarks,
    PicturePair,
    PictureWords,
    narrow_pictures_spec,
    picture_pairs_spec,
    pictures_spec,
)
from evaluation.models import Report
from evaluation.reports.parts.document import (
    Block,
    Document,
    Figure,
    KeyNumber,
    Provenance,
    Section,
)
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import count, interval, listing, number, percent
from evaluation.reports.parts.guise_inputs import MEASURE, load_guise_run, require_purposes
from evaluation.reports.parts.guise_tables import FEW_PROMPTS, METHOD_OVER_TEXTS, disagreement
from evaluation.reports.parts.kind import AnalysisKind, Chosen, Loaded, RunsInput, StudyInput, Topic
from evaluation.reports.parts.options import ArmParameters, IntervalParameters, split_halves
from evaluation.reports.parts.provenance import banners, run_key, run_lines
from evaluation.reports.parts.rating_inputs import (
    RatingsKind,
    left_out_in_review,
    load_model_scores,
    load_people,
    no_ratings,
)
from evaluation.reports.parts.run_settings import settings_section, settings_table
from evaluation.reports.parts.table import Column, ReportTable, beside, pivot, shown
from probing.measures.base import ResultKind
from probing.measures.guise_library import TRAITS
from probing.measures.registry import MEASURES
from probing.models import Run

# --- Tables and figures of the report on a model's covert and overt picture beside people's -------

TITLES = {
    MODEL_GROUPS: "Model, by name",
    MODEL_SPEAKERS: "Model, of speakers",
    PEOPLE_GROUPS: "People, by name",
    PEOPLE_SPEAKERS: "People, of speakers",
}
SHOWN_PAIRS = 3


@dataclass(frozen=True)
class PictureTables:
    """``units``: picture → unit of its differences."""

    result: ThreePictures
    scales: Mapping[str, ScaleLabel]
    units: Mapping[str, str]
    guises: tuple[str, str]

    @classmethod
    def of(cls, result: ThreePictures, record: Mapping[str, Any]) -> PictureTables:
        dimensions = dict(Dimension.choices)
        return cls(
            result,
            {
                entry["slug"]: ScaleLabel(
                    entry["slug"],
                    entry["low"],
                    entry["high"],
                    entry["dimension"],
                    str(dimensions.get(entry["dimension"], "")),
                )
                for entry in record["scales"]
            },
            record["units"],
            tuple(record["guises"]),
        )

    @property
    def level(self) -> str:
        return percent(self.result.options.level)

    def scale_text(self, row: Any) -> str:
        scale = self.scales[row.scale]
        return f"{scale.low} – {scale.high}"

    def dimension(self, row: Any) -> str:
        return self.scales[row.scale].dimension_text

    @cached_property
    def lines(self) -> ReportTable:
        return ReportTable.of(
            "scales",
            "Difference on every scale in every picture",
            self.result.lines,
            Column("", "scale", meaning="slug of the scale"),
            Column("Scale", "scale_text", self.scale_text),
            Column("Dimension", "dimension", self.dimension),
            Column("", "picture", meaning="whose picture, of what"),
            Column("Picture", "picture_title", lambda row: TITLES[row.picture]),
            Column.estimate(
                "Difference",
                "difference",
                "estimate",
                2,
                signed=True,
                meaning="first group or guise less the second; above 0 nearer the high word",
                unit="see unit",
            ),
            Column("", "unit", lambda row: self.units[row.picture]),
            Column("Rank", "rank", decimals=0, whole=True, meaning="1 = highest difference"),
            Column("n", "n", "estimate.n", decimals=0, meaning="prompts, or people"),
            Column("", "reason", "estimate.note", meaning="why there is no value or interval"),
            level=self.level,
        )

    @cached_property
    def pairs(self) -> ReportTable:
        return ReportTable.of_rows(
            "pairs",
            "Agreement of two pictures over scales",
            self.result.pairs,
            PairLine,
            Column("Pictures", "pictures", _pair_title),
            *("first", "second"),
            Column.estimate(
                "τ",
                "tau",
                "tau.estimate",
                2,
                style="strong",
                meaning="Kendall’s tau-b over scales",
            ),
            Column.p("p", "p", "tau.p_value", meaning="of τ = 0, two-sided"),
            *("ceiling", "n_opposite"),
            Column("Scales", "n_scales", "tau.n", decimals=0),
            Column("", "reason", "tau.estimate.note"),
            level=self.level,
            note="tau.estimate.note",
        )

    @cached_property
    def tests(self) -> ReportTable:
        def covert(row: Any) -> Any:
            return self._by_key[MODEL_SPEAKERS, row.scale].estimate

        return ReportTable.of(
            "covert_tests",
            "The covert picture by both tests",
            self.result.by_scale,
            Column("", "scale"),
            Column("Scale", "scale_text", self.scale_text),
            Column.estimate("q", "difference", covert, 3, signed=True),
            *shown(ScaleLine, "p_value", "prompt_p", "prompt_p_holm"),
            Column("Disagree", "disagree", lambda row: "yes" if row.disagree else "no"),
            Column("", "opposite", meaning="by name and of speakers on different sides"),
            level=self.level,
        )

    @property
    def downloads(self) -> tuple[ReportTable, ...]:
        return (self.lines, self.pairs, self.tests)

    @property
    def opposite(self) -> list[str]:
        return [row.scale for row in self.result.by_scale if row.opposite]

    def keys(self) -> tuple[KeyNumber, ...]:
        """Return τ of the pairs that are asked first, and how many scales lie opposite."""
        asked = [
            self.pairs.key("tau", row, *_ceiling_line(row), label=f"{_pair_title(row)}, τ")
            for row in self.result.pairs[:SHOWN_PAIRS]
        ]
        n = len(self.result.scales)
        opposite = KeyNumber(
            "Scales on opposite sides",
            str(len(self.opposite)),
            f"of {n}",
            ("By name and of speakers, clear of 0",),
        )
        return (*asked, opposite)

    def picture_blocks(self) -> tuple[Block, ...]:
        people = [name for name in (PEOPLE_GROUPS, PEOPLE_SPEAKERS) if name in self.result.pictures]
        columns = [
            PictureColumn(heading, self.units[names[0]], tuple(map(self._marks, names)))
            for heading, names in (
                ("Model, of groups by name", [MODEL_GROUPS]),
                ("Model, of speakers", [MODEL_SPEAKERS]),
                ("People, of both" if people[1:] else TITLES[people[0]], people),
            )
        ]
        words = PictureWords(
            "Differences on every scale in every picture",
            self.level,
            "Opposite sides",
            f"Rank of {len(self.result.scales)}",
        )
        scales = list(self.scales.values())
        how = {"tinted": self.opposite, "words": words}
        return (
            Figure(
                "pictures",
                f"Differences on {count(len(scales), 'scale')}. Lines are {self.level} intervals: "
                "over prompts (model, by name), over texts and prompts (model, of speakers), over "
                "people (by name), over people and texts (of speakers). Rank 1 is the scale "
                "farthest to the right.",
                pictures_spec(scales, columns, **how),  # type: ignore[arg-type]
                narrow_pictures_spec(scales, columns, **how),  # type: ignore[arg-type]
                data="scales",
            ),
        )

    def pair_blocks(self) -> tuple[Block, ...]:
        points = [
            PicturePair(self._marks(row.first), self._marks(row.second), _tau_text(row))
            for row in self.result.pairs[:SHOWN_PAIRS]
        ]
        scales = list(self.scales.values())
        wide, narrow = (
            picture_pairs_spec(scales, points, title="Where two pictures part", stacked=stacked)
            for stacked in (False, True)
        )
        return (
            Figure(
                "pairs",
                "One mark is one scale, named by its right word where it lies far off.",
                wide,
                narrow,
                data="pairs",
            ),
            self.pairs.printed(
                "τ of every two pictures, with its interval for scales like these, and how well "
                "halves of the people agree with each other."
            ),
        )

    def opposite_blocks(self) -> tuple[Block, ...]:
        if not self.opposite:
            return ()
        rows = [row for row in self.result.lines if row.scale in self.opposite]
        table = self.lines
        columns = [
            Column("Scale", value=lambda row: self.scale_text(row.first)),
            Column("Dimension", value=lambda row: self.dimension(row.first)),
        ]
        for name in self.result.pictures:
            if name == PEOPLE_GROUPS:
                continue
            head = f"{TITLES[name]}, {self.units[name].partition(',')[0]}"
            columns += table.side_by_side(
                name, ["difference"], group=head, source=name.partition("_")[0]
            )
        columns.append(Column("Model’s rank", value=_rank_move, style="strong"))
        return (
            table.printed(
                "Scales on which the model stands on one side by name and on the other of "
                "speakers.",
                rows=pivot(rows, "scale", "picture"),
                columns=columns,
            ),
        )

    def test_blocks(self) -> tuple[Block, ...]:
        return (
            self.tests.printed(
                "q of the high pole less that of the low one, with the interval over texts and "
                "prompts. p (prompts) is a t-test that takes prompts for independent samples, with "
                "and without Holm’s correction; p is that of the interval, not corrected.",
            ),
        )

    @cached_property
    def _by_key(self) -> dict[tuple[str, str], PictureLine]:
        return {(row.picture, row.scale): row for row in self.result.lines}

    def _marks(self, picture: str) -> PictureMarks:
        return PictureMarks(
            TITLES[picture],
            "model" if picture in (MODEL_GROUPS, MODEL_SPEAKERS) else "human",
            picture in (MODEL_GROUPS, PEOPLE_GROUPS),
            {
                row.scale: PictureMark(
                    row.estimate.value, row.estimate.low, row.estimate.high, row.rank
                )
                for row in self.result.lines
                if row.picture == picture
            },
        )


def _pair_title(row: PairLine) -> str:
    return f"{TITLES[row.first]}, and {TITLES[row.second][0].lower()}{TITLES[row.second][1:]}"


def _tau_text(row: PairLine) -> str:
    if row.tau.reason:
        return "no τ"
    return f"τ = {number(row.tau.value, 2)} ({interval(row.tau.low, row.tau.high, 2)})"


def _ceiling_line(row: PairLine) -> tuple[str, ...]:
    return (
        () if row.ceiling != row.ceiling else (f"Halves of the people: {number(row.ceiling, 2)}",)
    )


def _rank_move(row: Any) -> str:
    ranks = (beside(name, "rank")(row) for name in (MODEL_GROUPS, MODEL_SPEAKERS))
    return " → ".join("–" if rank is None else str(rank) for rank in ranks)


# --- The words of the report on a model's covert and overt picture beside people's ----------------

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "…, τ": (
        "How alike two pictures order the scales: 1 the same order, 0 no relation, −1 the "
        "opposite order. Units differ between pictures, so nothing but order is compared."
    ),
    "Scales on opposite sides": (
        "Scales on which the model says the opposite of a group by name and of its speakers, "
        "both clear of zero."
    ),
}


PARTS = (
    "Scales in the tinted quarters lie on opposite sides in the two pictures. τ compares order "
    "over few scales, so that its intervals are wide."
)
OPPOSITE = (
    "By name the model stands on one side of zero, of speakers on the other, and intervals leave "
    "out zero; by name with fewer than six prompts it is the side in these prompts. Rank 1 is the "
    "scale farthest to the right."
)
TESTS = (
    "The paper treats prompts as independent samples. The intervals of this report take texts and "
    "prompts together."
)
CAVEATS = (
    "A difference between two groups is no level: both can stand on the same side of a scale.",
    "A speaker of a variety is not a member of a group, nor the other way round.",
    "Covert and overt scores have different units and different n; only sides and order are "
    "compared.",
    "Agreement with people is no merit where people hold a stereotype.",
    "The texts are those of one corpus. Pairs may differ in more than the variety, such as length.",
    FEW_PROMPTS,
)


def question(record: Mapping[str, Any]) -> str:
    people = "people say of both" if "second_study" in record else "people say of the groups"
    return (
        f"On the same {count(len(record['scales']), 'scale')}: what {record['runs'][0]['model']} "
        "says of groups by name, what it says of the speakers of texts that name no group, and "
        f"what {people}."
    )


def pictures(record: Mapping[str, Any]) -> str:
    (first, second), (one, other) = record["group_names"], record["guises"]
    return (
        f"Right of 0, {first} (by name) or speakers of {one} (from texts) stand nearer the right "
        f"word than {second} or speakers of {other} do. Units differ between columns: compare "
        "sides and order, not distances."
    )


def disagreements(result: ThreePictures, names: Mapping[str, str]) -> tuple[str, ...]:
    """Return on which covert scales the test over prompts and the interval disagree."""
    found = [names[row.scale] for row in result.by_scale if row.disagree]
    return disagreement(
        "The t-test that takes prompts for independent, and the interval over texts and prompts, "
        f"disagree on {len(found)} of {count(len(result.scales), 'covert scale')}",
        found,
    )


def method(result: ThreePictures, record: Mapping[str, Any]) -> tuple[str, ...]:
    options, (named, guised) = result.options, record["runs"]
    pairs = f"{guised['n_first']:,} and {guised['n_second']:,} texts"
    asked = (
        f"By name: run {named['number']} ({named['measure']}), the mean over prompts of the score "
        "of the first group less that of the second, with Student’s interval for prompts like "
        "these, from six on."
    )
    spoken = (
        f"Of speakers: matched guise probing (Hofmann et al. 2024) with both poles of every scale "
        f"as attributes, {pairs}, {count(len(guised['prompt_texts']), 'prompt')}. A scale’s score "
        f"is q of its high pole less q of its low one. {METHOD_OVER_TEXTS}"
    )
    people = (
        f"People by name: accepted ratings of “{record['study']['title']}”, the mean rating of the "
        "first group less that of the second, with Student’s interval for people like these."
    )
    if "second_study" in record:
        people += (
            f" People of speakers: “{record['second_study']['title']}”, in which nobody rates two "
            "guises of one pair; differences within pairs, averaged, with Student’s interval for "
            "people and texts like these, as crossed samples."
        )
    compared = (
        "Two pictures are compared by Kendall’s tau-b over scales. Interval and p leave out one "
        "scale at a time (jackknife on artanh τ, Student’s t), for scales like these. The "
        "ceiling is the mean τ between the pictures by random halves of the people "
        f"({options.n_splits:,} splits)."
    )
    return (asked, spoken, people, compared)


def left_out(record: Mapping[str, Any]) -> tuple[str, ...]:
    found = [f"Scale {name}: {why}." for name, why in record["other_scales"].items()]
    if "second_study" not in record:
        found.append("People of speakers: no study of speakers of texts was chosen.")
    return tuple(found)


def headline_tau(result: Mapping[str, Any]) -> str:
    pair = result["pairs"][0]
    return f"τ, overt and covert {number(pair['tau']['value'], 2)}"


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
    topic = Topic.SPEAKERS
    meanings = MEANINGS
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
        poles = [(scale.low, scale.high) for scale in scales]
        covert = covert_picture([guise.run], guise.attributes, poles, options.level)
        cube, _left_out = build_rating_cube(people.ratings, groups=groups, scales=slugs)
        others = [
            score_picture(scores.scores, groups, slugs, options.level),
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
            Section("The three pictures", shown.picture_blocks(), pictures(record)),
            Section("Where the pictures part", shown.pair_blocks(), PARTS),
            Section("Scales on opposite sides", shown.opposite_blocks(), OPPOSITE),
            Section("The covert picture by both tests", shown.test_blocks(), TESTS),
        )
        studies = [record[name] for name in ("study", "second_study") if name in record]
        told = [
            line
            for study in studies
            for line in banners(origin=study["origin"], obtained=study.get("obtained", ""))
        ]
        return Document(
            question=question(record),
            keys=shown.keys(),
            sections=(
                *(section for section in sections if section.blocks),
                settings_section(settings),
            ),
            tables=(*shown.downloads, settings),
            method=method(result, record),
            caveats=CAVEATS,
            left_out=(*left_out_in_review(record["study"]), *left_out(record)),
            banners=tuple(
                dict.fromkeys((*told, *banners(record["runs"]), *disagreements(result, names)))
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
        return headline_tau(result)


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
