"""Counterparts: what models make of texts in either direction, against gold counterparts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.common.lazy import pd
from annotation.models import Corpus, Counterpart
from evaluation.analyses.counterpart_metrics import (
    CounterpartOptions,
    CounterpartResult,
    analyze_counterparts,
)
from evaluation.analyses.counterpart_scores import HUMAN, REPEAT, score_counterparts
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.models import Report
from evaluation.reports.counterparts import prose, tables
from evaluation.reports.counterparts.encoder import check_encoder, encoder_lines, load_similarity
from evaluation.reports.parts.corpus_inputs import (
    corpus_part,
    hash_rows,
    run_labels,
    text_run_record,
)
from evaluation.reports.parts.directions import Directions
from evaluation.reports.parts.document import Document, Provenance, Section
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.examples import draw, example_section
from evaluation.reports.parts.features import Features, count_uses
from evaluation.reports.parts.formatting import value_range
from evaluation.reports.parts.kind import Chosen, CorpusInput, Loaded, RunsInput
from evaluation.reports.parts.options import (
    DirectionParameters,
    RougeParameters,
    WordListKind,
    Words,
    load_words,
)
from evaluation.reports.parts.provenance import run_key
from evaluation.reports.parts.run_settings import settings_section, settings_table
from evaluation.reports.parts.table import ReportTable
from probing.models import Run

COLUMNS = ("pair", "source", "variety", "producer", "input", "output", "reference", "reason")


class CounterpartParameters(RougeParameters, DirectionParameters):
    """The options of a counterpart report."""

    stemming: bool = Field(False, description="Compare Porter stems instead of words in Rouge.")
    pooling: Literal["corpus", "mean"] = Field(
        "corpus",
        description="Toxicity removed from all texts together, or the mean over texts with a hit.",
    )
    encoder: str | None = Field(
        None,
        description="Encoder of BERTScore: the name of a registered model, a folder, or a hub id. "
        "The paper takes microsoft/deberta-large-mnli. Without one BERTScore is not computed.",
    )
    encoder_layer: int | None = Field(
        None,
        ge=1,
        le=200,
        description="Layer whose embeddings are compared, counted from 1; by default the one that "
        "bert-score recommends for the encoder.",
    )
    encoder_idf: bool = Field(
        False,
        description="In BERTScore, weigh tokens by how rare they are among the gold texts (idf).",
    )
    encoder_rescaled: bool = Field(
        False,
        description="Rescale BERTScore by the baseline that bert-score measured for the encoder "
        "and layer on unrelated English texts. The level that the paper prints, 51 to 54, suggests "
        "that it did.",
    )
    examples: int = Field(6, ge=0, le=100, description="Texts drawn as examples.")

    @property
    def bertscore(self) -> dict[str, Any]:
        """Return the options of BERTScore besides its encoder."""
        return {
            "layer": self.encoder_layer,
            "idf": self.encoder_idf,
            "rescaled": self.encoder_rescaled,
        }


class Counterparts(WordListKind):
    name = "counterparts"
    title = _("Counterparts by models")
    question = _("How close do models come to people’s counterparts, in either direction?")
    meanings = prose.MEANINGS
    Parameters = CounterpartParameters
    corpus = CorpusInput(_("The corpus whose pairs the models rewrote."))
    runs = RunsInput(
        _("Runs of counterpart generation on that corpus. The report waits for all of them."),
        measures=("counterpart_generation",),
        most=None,
    )

    def check(self, chosen: Chosen, parameters: CounterpartParameters) -> None:
        """Two queries."""
        super().check(chosen, parameters)
        check_encoder(parameters.encoder, **parameters.bertscore)

    def default_title(self, chosen: Chosen) -> str:
        return f"How do models rewrite {chosen.the_corpus}?"

    def load(self, chosen: Chosen, parameters: CounterpartParameters) -> Loaded:
        corpus = chosen.the_corpus
        labels = run_labels(chosen.runs, reserved=(HUMAN, REPEAT))
        rows: list[list[str]] = []
        hashes: dict[str, str] = {}
        missing: list[dict[str, Any]] = []
        for run in chosen.runs:
            found, unanswered = _load_run(run, corpus, labels[run.pk])
            hashes[run_key({"public_id": run.public_id})] = hash_rows(found)
            rows += found
            if unanswered:
                missing.append({"producer": labels[run.pk], "n": unanswered})
        if not rows:
            raise ReportError("The runs have no counterpart of any pair.")
        words = load_words(parameters.word_list)
        if words:
            hashes["word list"] = words.record["hash"]
        return Loaded(
            record={
                **corpus_part(corpus),
                "runs": [text_run_record(run, labels[run.pk]) for run in chosen.runs],
                "word_list": words.record if words else None,
                "missing": missing,
                "n_pairs": len({row[0] for row in rows}),
            },
            data=(pd.DataFrame(rows, columns=list(COLUMNS)), words),
            hashes=hashes,
        )

    def compute(self, loaded: Loaded, parameters: CounterpartParameters) -> dict[str, Any]:
        counterparts: pd.DataFrame
        words: Words | None
        counterparts, words = loaded.data
        corpus = loaded.record["corpus"]
        similarity, encoder = None, None
        if parameters.encoder is not None:
            similarity, encoder = load_similarity(parameters.encoder, **parameters.bertscore)
        scored = score_counterparts(
            counterparts,
            source_variety=corpus["source_variety"],
            words=words.words if words else None,
            stemming=parameters.stemming,
            tokens=parameters.rouge_tokens,
            similarity=similarity,
        )
        result = analyze_counterparts(
            scored,
            CounterpartOptions(
                directions=parameters.directions(corpus), pooling=parameters.pooling
            ),
            features=count_uses(_source_texts(counterparts, corpus), corpus["source_variety"]),
        )
        eligible = _eligible(counterparts)
        return {
            "analysis": to_plain(result),
            "encoder": encoder,
            "n_eligible": len(eligible),
            "examples": draw(eligible, parameters.examples, seed=parameters.seed),
        }

    def document(self, report: Report, view: Mapping[str, str]) -> Document:
        record: dict[str, Any] = report.inputs
        stored: dict[str, Any] = report.result or {}
        result = from_plain(CounterpartResult, stored["analysis"])
        directions = tables.directions_of(result)
        removed = tables.removed_table(result, directions.level)
        removed_gaps = tables.removed_gap_table(result, directions.level)
        against_gold = tables.against_gold_table(result, directions.level)
        features = Features(directions, result.features, tables.LEAD) if result.features else None
        examples = tables.example_table(stored["examples"])
        settings = settings_table(record["runs"])
        laid_out = Document(
            question=prose.question(directions, record),
            keys=tables.key_numbers(directions, result),
            sections=(
                *_score_sections(directions, removed, removed_gaps, against_gold),
                *((features.section,) if features else ()),
                example_section(
                    "Examples",
                    tables.example_tables(examples, stored["examples"]),
                    "that every producer rewrote; nobody chose them",
                    n_eligible=stored["n_eligible"],
                    seed=report.parameters["seed"],
                ),
                settings_section(settings),
            ),
            tables=(
                *directions.tables,
                *((removed, removed_gaps) if result.removed else ()),
                *((against_gold,) if result.against_gold else ()),
                *(features.tables if features else ()),
                *(examples, settings),
            ),
            method=prose.method(directions, result, features, report),
            caveats=prose.caveats(record, features),
            left_out=prose.left_out(result),
        )
        return self.complete(report, laid_out)

    def sources(self, report: Report) -> list[Provenance]:
        return [*super().sources(report), *encoder_lines((report.result or {})["encoder"])]

    def headline(self, result: dict[str, Any]) -> str:
        gaps = [
            gap["estimate"]["value"]
            for gap in result["analysis"]["gaps"]
            if gap["metric"] == "rouge1" and gap["split"] == "all" and gap["producer"] != REPEAT
        ]
        found = value_range(gaps, 1, signed=True)
        return found and f"Rouge-1 gap {found}"


def _score_sections(
    directions: Directions,
    removed: ReportTable,
    removed_gaps: ReportTable,
    against_gold: ReportTable,
) -> Iterator[Section]:
    """Yield the sections that the scores are shown in, by direction, toxicity and source."""
    source, target = directions.varieties
    drawn = [name for name in directions.metrics if name != "rouge2"]
    means = directions.mean_blocks(
        f"Mean scores; filled marks generate {source}, outlined ones {target}. “Repeat the input” "
        "gives back what it got.",
        "Mean scores against the gold text, × 100.",
        axis="Mean F, × 100",
        drawn=drawn,
    )
    yield Section("How close to the gold texts", means, prose.WHY_MEANS)
    gaps = directions.gap_blocks(
        f"Score for generating {source} less that for generating {target}", drawn=drawn
    )
    yield Section("The gap between the directions", gaps, prose.why_gaps(directions))
    yield Section("Against doing nothing", (directions.contrasts_printed("“Repeat the input”"),))
    if removed.rows:
        yield Section(
            "Words of the list that are removed",
            tables.toxicity_blocks(directions, removed, removed_gaps),
            prose.WHY_REMOVED,
        )
    if against_gold.rows:
        yield Section(
            "Words of the list, against the gold counterparts",
            tuple(tables.against_gold_blocks(directions, against_gold)),
            prose.WHY_AGAINST_GOLD,
        )
    if directions.has_toxic_split:
        yield directions.toxic_section(
            "Rouge-1 gaps", "Rouge-1 in both kinds of texts.", (tables.LEAD,)
        )
    if directions.sources:
        yield Section("By source", directions.source_blocks(tables.LEAD))
    if by_source := tables.toxicity_by_source(directions, removed):
        yield Section("Words of the list, by source", by_source, prose.WHY_REMOVED_BY_SOURCE)


def _load_run(run: Run, corpus: Corpus, label: str) -> tuple[list[list[str]], int]:
    """Return the rows of a run, and how many of its texts have no stored answer. One query.

    Inputs and references are those that the run worked on, whatever has become of the corpus.
    """
    answers = {
        (slug, variety): (body, reason)
        for slug, variety, body, reason in Counterpart.objects.filter(
            run=run.public_id, text__corpus=corpus
        ).values_list("text__slug", "variety", "body", "reason")
    }
    asked = {variety for _, variety in answers}
    rows, unanswered = [], 0
    for pair in sorted(run.stimuli.get("pairs", ()), key=lambda entry: entry["slug"]):
        for variety, given, gold in (
            (corpus.source_variety, pair["target"], pair["source"]),
            (corpus.target_variety, pair["source"], pair["target"]),
        ):
            if variety not in asked:
                continue
            answer = answers.get((given["slug"], variety))
            unanswered += answer is None
            body, reason = answer or ("", "the run stored no answer")
            rows.append(
                [
                    pair["slug"],
                    pair.get("origin", ""),
                    variety,
                    label,
                    given["body"],
                    body,
                    gold["body"],
                    reason,
                ]
            )
    return rows, unanswered


def _source_texts(counterparts: pd.DataFrame, corpus: dict[str, Any]) -> dict[str, str]:
    """Return pair → its text in the source variety, which is asked for or given."""
    asked = counterparts["variety"] == corpus["source_variety"]
    texts = counterparts["reference"].where(asked, counterparts["input"])
    return dict(zip(counterparts["pair"], texts, strict=True))


def _eligible(counterparts: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the texts that every producer of that direction rewrote, as examples show them."""
    found = []
    for variety, some in counterparts.groupby("variety", sort=False):
        producers = list(dict.fromkeys(some["producer"]))
        for pair, rows in some.groupby("pair", sort=False):
            outputs = dict(zip(rows["producer"], rows["output"], strict=True))
            if all(outputs.get(producer, "").strip() for producer in producers):
                first = rows.iloc[0]
                found.append(
                    {
                        "pair": str(pair),
                        "direction": f"generating {variety}",
                        "input": first["input"],
                        "reference": first["reference"],
                        "outputs": {producer: outputs[producer] for producer in producers},
                    }
                )
    return found
