"""Judgments: how judges rate people's and models' counterparts without knowing who wrote them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any, Literal

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.common.lazy import pd
from annotation.judgments.error_coding import load_codings
from annotation.judgments.ratings import JudgmentRow, load_judgments
from annotation.models import ASPECTS, JudgmentItem, Origin, Study, StudyKind, TaskState
from evaluation.analyses.error_analysis import Coding, analyze_errors
from evaluation.analyses.judgment_analysis import HUMAN, JudgmentResult, analyze_judgments
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.metrics.toxicity import count_hits
from evaluation.models import Report
from evaluation.reports import judgments_tables as tables
from evaluation.reports.judgments_tables import ERROR_CAVEAT, Errors, measurement_of
from evaluation.reports.parts.corpus_inputs import corpus_part, hash_rows
from evaluation.reports.parts.directions import NO_VERDICT, Directions
from evaluation.reports.parts.document import Document, Provenance, Section
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.examples import draw, example_section
from evaluation.reports.parts.features import CAVEAT as FEATURE_CAVEAT
from evaluation.reports.parts.features import Features, count_uses
from evaluation.reports.parts.formatting import count, value_range
from evaluation.reports.parts.kind import Chosen, Loaded, StudyInput, Topic
from evaluation.reports.parts.meanings import ALPHA
from evaluation.reports.parts.options import (
    NO_WORD_LIST,
    DirectionParameters,
    WordListKind,
    Words,
    level_of_measurement,
    load_words,
)
from evaluation.reports.parts.records import CorpusRecord

# --- The words of the judgment report -------------------------------------------------------------

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Judgments": ("How many ratings of counterparts were given, and by how many judges."),
    "Match, …": (
        "How much better models are rated for matching the variety in one direction than in "
        "the other, from the model with the smallest to the one with the largest value. "
        "Ratings go from 1 to 5."
    ),
    "Meaning, …": ("The same for keeping the meaning of the text."),
    "… α of judges": ALPHA,
}


WHY_MEANS = "Higher is better. People’s own counterparts are the baseline: no text asks for more."


def question(result: JudgmentResult) -> str:
    return (
        f"{count(result.n_judges, 'judge')} rated {count(result.n_items, 'counterpart')} of "
        f"{count(result.n_pairs, 'pair')} from 1 to 5, without knowing who wrote them. This "
        "report sets models beside people, and one direction beside the other."
    )


def why_agreement(result: JudgmentResult) -> str:
    return f"{count(result.n_twice, 'counterpart')} had two judges or more."


def method(
    view: Directions,
    result: JudgmentResult,
    features: Features | None,
    errors: Errors | None,
    record: dict[str, Any],
) -> tuple[str, ...]:
    words = record["word_list"]
    return (
        "Judges saw the original and one counterpart in random order, never who wrote it, and "
        "never a text that they had rewritten themselves. They rated human-likeness, how well the "
        "language matches the variety, meaning and tone, each from 1 to 5.",
        f"{record['study']['overlap_percent']:g} % of the counterparts went to two judges. Ratings "
        "of one counterpart are averaged first, so that it counts once.",
        view.method,
        f"Agreement is Krippendorff’s {measurement_of(result)} alpha over the counterparts with "
        "two judges or more; ratings that are missing are left out. Its intervals say what "
        "other counterparts would give with these judges, not what other judges would; there is "
        "none below 40 counterparts.",
        f"Texts are split by whether the text in {result.options.source_variety} holds a word of "
        f"“{words['title']}”."
        if words
        else NO_WORD_LIST,
        *(part.method for part in (features, errors) if part),
    )


def caveats(
    result: JudgmentResult, features: Features | None, errors: Errors | None
) -> tuple[str, ...]:
    found = [
        "Ratings are of these judges. Others, with other lives in the variety, may judge "
        "otherwise.",
        "A test takes text pairs for independent of one another; ratings of one judge are not."
        if result.options.test == "paired"
        else "A test treats ratings as independent numbers; ratings of one judge and one pair are "
        "not.",
        "“Human-likeness” asks judges to guess; it says how a text reads, not who wrote it.",
        "A mean hides disagreement: look at the agreement of judges before small differences.",
        NO_VERDICT,
    ]
    if features:
        found.append(FEATURE_CAVEAT)
    if errors:
        found.append(ERROR_CAVEAT)
    if result.n_judges < 3:
        found.append(f"Only {count(result.n_judges, 'judge')} took part.")
    return tuple(found)


def left_out(study: dict[str, Any]) -> Iterator[str]:
    for entry in study["left_out"]:
        if isinstance(entry, dict):
            yield f"{count(int(entry.get('n', 0)), 'pair')}: {entry.get('reason', '')}."
        else:
            yield str(entry)
    if n := study["open"]:
        yield f"{count(n, 'judgment')}: assigned, but not given yet."


class JudgmentParameters(DirectionParameters):
    """The options of a judgment report."""

    measurement: Literal["nominal", "ordinal", "interval", "ratio"] = level_of_measurement(
        "ordinal", " of the judges"
    )
    error_unit: Literal["word", "character"] = Field(
        "word",
        title="Unit of coded errors",
        description="Over what agreement on coded errors is computed; with characters a long word "
        "weighs more than a short one.",
    )
    examples: int = Field(
        4,
        ge=0,
        le=50,
        description="Texts drawn where a model is rated above people, and as many where below.",
    )


class Judgments(WordListKind):
    name = "judgments"
    title = _("Judgments of counterparts")
    question = _(
        "How do people rate counterparts by people and models, not knowing whose they are?"
    )
    topic = Topic.PEOPLE
    meanings = MEANINGS
    Parameters = JudgmentParameters
    study = StudyInput(StudyKind.COUNTERPART_JUDGMENT, _("Judging studies with judgments."))
    libraries = (*WordListKind.libraries, "krippendorff")

    def fitting_studies(self, studies: QuerySet[Study]) -> QuerySet[Study]:
        return (
            super().fitting_studies(studies).filter(judgment_tasks__state=TaskState.DONE).distinct()
        )

    def check(self, chosen: Chosen, parameters: JudgmentParameters) -> None:
        """Two queries."""
        study = chosen.the_study
        if not study.judgment_tasks.filter(state=TaskState.DONE).exists():
            raise ReportError(f"Nobody has judged a counterpart in “{study}” yet.")
        super().check(chosen, parameters)

    def default_title(self, chosen: Chosen) -> str:
        return f"How are the counterparts of {chosen.the_study} judged?"

    def load(self, chosen: Chosen, parameters: JudgmentParameters) -> Loaded:
        study = chosen.the_study
        rows = load_judgments(study)
        if not rows:
            raise ReportError(f"Nobody has judged a counterpart in “{study}” yet.")
        labels = _labels(rows)
        items = _load_items(study)
        words = load_words(parameters.word_list)
        corpus, scheme = study.judging.corpus, study.judging.error_scheme
        codings = _load_codings(study) if scheme else []
        hashes = {
            "judgments": hash_rows(rows),
            "counterparts": hash_rows([[pk, *texts] for pk, texts in sorted(items.items())]),
        }
        if scheme:
            hashes["errors"] = hash_rows(codings)
        if words:
            hashes["word list"] = words.record["hash"]
        frame = pd.DataFrame([asdict(row) for row in rows])
        frame["producer"] = [labels[row.producer, row.run] for row in rows]
        return Loaded(
            record={
                "study": {
                    "public_id": study.public_id,
                    "title": study.title,
                    "origin": study.origin,
                    "overlap_percent": study.judging.overlap_percent,
                    "wording": study.judging.wording,
                    "error_scheme": scheme,
                    "left_out": study.judging.left_out,
                    **({"obtained": study.source} if study.origin == Origin.IMPORTED else {}),
                    "open": study.judgment_tasks.filter(state=TaskState.OPEN).count(),
                },
                **corpus_part(corpus),
                "producers": {
                    label: {"producer": producer, "run": run}
                    for (producer, run), label in labels.items()
                },
                "word_list": words.record if words else None,
            },
            data=(frame, items, words, codings),
            hashes=hashes,
        )

    def compute(self, loaded: Loaded, parameters: JudgmentParameters) -> dict[str, Any]:
        frame: pd.DataFrame
        items: dict[int, tuple[str, str]]
        words: Words | None
        codings: list[Coding]
        frame, items, words, codings = loaded.data
        corpus = loaded.record["corpus"]
        options = parameters.directions(corpus)
        sources = _source_texts(frame, items, corpus)
        result = analyze_judgments(
            frame,
            toxic=_toxic(sources, words) if words else None,
            features=count_uses(sources, corpus["source_variety"]),
            options=options,
            measurement=parameters.measurement,
        )
        if scheme := loaded.record["study"]["error_scheme"]:
            about = frame.drop_duplicates("item")[["item", "pair", "variety", "producer"]]
            errors = analyze_errors(
                about.assign(body=[items[item][1] for item in about["item"]]),
                codings,
                [category["slug"] for category in scheme],
                unit=parameters.error_unit,
                options=options,
            )
            result = replace(result, errors=errors)
        above, below = _beside_people(frame, items)
        return {
            "analysis": to_plain(result),
            "n_above": len(above),
            "n_below": len(below),
            "above": draw(above, parameters.examples, seed=parameters.seed),
            "below": draw(below, parameters.examples, seed=parameters.seed),
        }

    def document(self, report: Report, view: Mapping[str, str]) -> Document:
        record: dict[str, Any] = report.inputs
        stored: dict[str, Any] = report.result or {}
        result = from_plain(JudgmentResult, stored["analysis"])
        directions = tables.directions_of(result)
        agreement = tables.agreement_tables(result, directions.level)
        examples = tables.example_table(stored)
        features = Features(directions, result.features, tables.LEAD) if result.features else None
        names = {one["slug"]: one["name"] for one in record["study"]["error_scheme"]}
        errors = Errors(directions, result.errors, names) if result.errors else None
        parts = [part for part in (features, errors) if part]
        laid_out = Document(
            question=question(result),
            keys=tables.key_numbers(directions, result),
            sections=(
                *_rating_sections(directions),
                *(part.section for part in parts),
                Section(
                    "Agreement of judges",
                    tuple(tables.agreement_blocks(result, agreement)),
                    why_agreement(result),
                ),
                *(
                    example_section(
                        f"Examples: a model rated {word} people",
                        tables.example_tables(examples, stored[word]),
                        f"on which the total of some model is {word} that of people",
                        n_eligible=stored[f"n_{word}"],
                        seed=report.parameters["seed"],
                    )
                    for word in ("above", "below")
                ),
            ),
            tables=(
                *directions.tables,
                *agreement,
                *(table for part in parts for table in part.tables),
                examples,
            ),
            method=method(directions, result, features, errors, record),
            caveats=caveats(result, features, errors),
            left_out=tuple(left_out(record["study"])),
        )
        return self.complete(report, laid_out)

    def sources(self, report: Report) -> list[Provenance]:
        return super().sources(report) + [
            (label, found["producer"], found["run"] and f"run {found['run']}")
            for label, found in report.inputs["producers"].items()
            if label != HUMAN
        ]

    def headline(self, result: dict[str, Any]) -> str:
        analysis = result["analysis"]
        alphas = value_range(row["alpha"]["value"] for row in analysis["agreement"])
        return f"α {alphas}" if alphas else f"{analysis['n_judgments']} judgments"


def _rating_sections(directions: Directions) -> Iterator[Section]:
    source, target = directions.varieties
    means = directions.mean_blocks(
        f"Mean ratings of counterparts in {source} (filled) and {target} (outlined).",
        "Mean ratings; judges of one counterpart count once.",
        axis="Mean rating, 1 to 5",
    )
    yield Section("Ratings", means, WHY_MEANS)
    gaps = directions.gap_blocks(f"Rating of counterparts in {source} less that in {target}")
    yield Section("The gap between the directions", gaps)
    if directions.contrasts.rows:
        yield Section("Against people", (directions.contrasts_printed("people"),))
    if directions.has_toxic_split:
        yield directions.toxic_section("Gaps", "Ratings and gaps in both kinds of texts.")


def _labels(rows: list[JudgmentRow]) -> dict[tuple[str, str], str]:
    """Return how tables name each producer: a model's name, with its run where two share it."""
    found = list(dict.fromkeys((row.producer, row.run) for row in rows))
    names = {key: key[0].rpartition("@")[0] or key[0] for key in found}
    times = list(names.values())
    return {
        key: HUMAN
        if not key[1] and key[0] == HUMAN
        else (name if times.count(name) == 1 and name != HUMAN else f"{name} (run {key[1]})")
        for key, name in names.items()
    }


def _load_items(study: Study) -> dict[int, tuple[str, str]]:
    """Return item → (original text, counterpart). One query."""
    rows = JudgmentItem.objects.filter(study=study).values_list("pk", "text__body", "body")
    return {pk: (original, body) for pk, original, body in rows}


def _load_codings(study: Study) -> list[Coding]:
    """Two queries."""
    return [
        Coding(row.item, row.annotator, tuple((p.category, p.start, p.end) for p in row.passages))
        for row in load_codings(study)
    ]


def _source_texts(
    frame: pd.DataFrame, items: dict[int, tuple[str, str]], corpus: CorpusRecord
) -> dict[str, str]:
    """Return pair → its text in the source variety.

    That text is the original where the target variety was generated; pairs that were judged in
    the other direction alone are not known.
    """
    asked = frame[frame["variety"] == corpus["target_variety"]].drop_duplicates("pair")
    return {pair: items[item][0] for pair, item in zip(asked["pair"], asked["item"], strict=True)}


def _toxic(texts: dict[str, str], words: Words) -> dict[str, bool]:
    """Return pair → whether its text in the source variety holds a word of the list."""
    hits = count_hits(list(texts.values()), words.words)
    return {pair: bool(n) for pair, n in zip(texts, hits, strict=True)}


def _beside_people(
    frame: pd.DataFrame, items: dict[int, tuple[str, str]]
) -> tuple[list[tables.ExampleRecord], list[tables.ExampleRecord]]:
    """Return the texts on which some model's total is above people's, and those where below."""
    aspects = list(ASPECTS)
    means = frame.groupby(["pair", "variety", "producer", "item"], as_index=False)[aspects].mean()
    means["total"] = means[aspects].sum(axis=1)
    above, below = [], []
    for (pair, variety), some in means.groupby(["pair", "variety"]):
        people = some[some["producer"] == HUMAN]
        models = some[some["producer"] != HUMAN]
        if people.empty or models.empty:
            continue
        example: tables.ExampleRecord = {
            "pair": str(pair),
            "variety": str(variety),
            "original": items[int(people["item"].iloc[0])][0],
            "rows": [
                {
                    "producer": row["producer"],
                    "body": items[int(row["item"])][1],
                    "ratings": [float(row[aspect]) for aspect in aspects],
                }
                for row in (*people.to_dict("records"), *models.to_dict("records"))
            ],
        }
        total = people["total"].iloc[0]
        if (models["total"] > total).any():
            above.append(example)
        if (models["total"] < total).any():
            below.append(example)
    return above, below
