"""Counterparts: what models make of texts in either direction, against gold counterparts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
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
from evaluation.analyses.counterpart_scores import HUMAN, REPEAT, Similarity, score_counterparts
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.metrics.bertscore import bert_similarity
from evaluation.models import Report
from evaluation.reports import counterparts_tables as tables
from evaluation.reports.parts.corpus_inputs import (
    corpus_part,
    hash_rows,
    run_labels,
    text_run_record,
)
from evaluation.reports.parts.directions import NAMES, NO_VERDICT, Directions
from evaluation.reports.parts.document import Document, Provenance, Section
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.examples import draw, example_section
from evaluation.reports.parts.features import CAVEAT, Features, count_uses
from evaluation.reports.parts.formatting import count, value_range
from evaluation.reports.parts.kind import Chosen, CorpusInput, Loaded, RunsInput, Topic
from evaluation.reports.parts.missing import join_reasons
from evaluation.reports.parts.options import (
    HITS_CAVEAT,
    NO_WORD_LIST,
    DirectionParameters,
    RougeParameters,
    WordListKind,
    Words,
    load_words,
    rouge_words,
)
from evaluation.reports.parts.provenance import run_key
from evaluation.reports.parts.records import CorpusRecord
from evaluation.reports.parts.run_settings import settings_section, settings_table
from evaluation.reports.parts.table import ReportTable
from probing.models import LanguageModel, ModelSource, Run

# --- The encoder of BERTScore, by a registered model's name, a folder or a hub id -----------------

NO_ENCODER = "BERTScore was not computed: no encoder was given."


def check_encoder(
    name: str | None, layer: int | None, *, idf: bool = False, rescaled: bool = False
) -> None:
    """Raise `ReportError` for an encoder that could never be used. One query."""
    if name is None:
        for given, what in ((layer is not None, "A layer"), (idf, "idf"), (rescaled, "Rescaling")):
            if given:
                raise ReportError(
                    f"{what} was given without an encoder. Name the encoder, or neither."
                )
        return
    model = LanguageModel.objects.filter(name=name).first()
    if model is not None and model.source == ModelSource.SERVER:
        raise ReportError(
            f"“{name}” is behind a server, which gives no embeddings. Name a model from the hub or "
            "a folder."
        )


def load_similarity(
    name: str, layer: int | None, *, idf: bool = False, rescaled: bool = False
) -> tuple[Similarity, dict[str, Any]]:
    """Return the F of BERTScore by that encoder, and which encoder it is; loads torch."""
    from probing.lm.errors import LanguageModelError
    from probing.lm.token_embeddings import load_token_encoder

    model = LanguageModel.objects.filter(name=name).first()
    location = model.location if model else name
    revision = model.revision or None if model else None
    try:
        encoder = load_token_encoder(location, layer=layer, revision=revision)
    except (LanguageModelError, OSError, ValueError) as error:
        raise ReportError(f"The encoder “{name}” cannot be used: {error}") from error
    baseline = find_baseline(location, encoder.layer) if rescaled else None
    record = {
        "name": name,
        "revision": encoder.revision,
        "layer": encoder.layer,
        "idf": idf,
        "baseline": list(baseline) if baseline else None,
    }
    return bert_similarity(encoder, idf=idf, baseline=baseline), record


def find_baseline(location: str, layer: int) -> tuple[float, float, float]:
    """Return (P, R, F) of unrelated English texts that bert-score measured for this encoder.

    Its tables are for models of the hub, by name; layer 0 is their embeddings.
    """
    import bert_score

    folder = Path(bert_score.__file__).parent / "rescale_baseline" / "en"
    path = folder / f"{location}.tsv"
    known = path.resolve().is_relative_to(folder.resolve()) and path.is_file()
    table = pd.read_csv(path, sep="\t" if "\t" in path.read_text() else ",") if known else None
    if table is None or layer not in set(table["LAYER"]):
        raise ReportError(
            f"bert-score has no baseline for “{location}”, layer {layer}, that scores could be "
            "rescaled by. Leave them as they are, or take an encoder such as "
            "microsoft/deberta-large-mnli."
        )
    row = table[table["LAYER"] == layer].iloc[0]
    return float(row["P"]), float(row["R"]), float(row["F"])


def encoder_lines(encoder: dict[str, Any] | None) -> list[Provenance]:
    """Return the encoder of a report's record, if any."""
    if encoder is None:
        return []
    return [("Encoder", f"{encoder['name']}, layer {encoder['layer']}", encoder["revision"])]


# --- The words of the counterpart report ----------------------------------------------------------

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "… gap, …": (
        "How much closer the producer comes to people’s counterparts in one direction than in "
        "the other. 0 would be equally close in both; the sign says which direction is "
        "better, as the figure’s axis does."
    ),
    "Models": (
        "How many models are compared on these pairs. Texts without a counterpart are left "
        "out of their means, and counted."
    ),
}


POOLED = {
    "corpus": "of the sums over all texts",
    "mean": "as the mean over texts whose input has a hit",
}
AGAINST_GOLD = (
    "The change against the gold counterparts is (T of outputs − T of gold counterparts) / T of "
    "gold counterparts, pooled alike. "
)
WHY_MEANS = (
    "A model that changes nothing already shares most words with the gold text: read every score "
    "beside the first row."
)
WHY_REMOVED = (
    "Hits of the input less hits of the output, as a share of the hits of the input. People stand "
    "for the gold texts."
)
WHY_REMOVED_BY_SOURCE = (
    "Inputs against outputs. Figure 8 of Deas et al. (2023) sets outputs against the gold "
    "counterparts, which is another quantity."
)
WHY_AGAINST_GOLD = (
    "Outputs against the counterparts that annotators wrote of the same texts, as in Figure 8 of "
    "Deas et al. (2023). A model can keep every hit of its input and still hold more, or fewer, "
    "than people wrote."
)


def question(view: Directions, record: dict[str, Any]) -> str:
    source, target = view.varieties
    return (
        f"{count(len(view.producers) - 1, 'model')} rewrote {count(view.result.n_pairs, 'pair')} "
        f"of {record['corpus']['name']} between {source} and {target}. This report measures how "
        "close the results are to the gold texts, and whether one direction comes out better."
    )


def why_gaps(view: Directions) -> str:
    source, target = view.varieties
    return f"Below zero a model writes {target} closer to the gold text than {source}."


def method(
    view: Directions, result: CounterpartResult, features: Features | None, report: Report
) -> tuple[str, ...]:
    words, encoder = report.inputs["word_list"], (report.result or {})["encoder"]
    stems = "Porter stems" if report.parameters["stemming"] else "without stemming"
    source, target = view.varieties
    similarity = NO_ENCODER
    if encoder:
        similarity = (
            f"BERTScore is the F of greedy matches of embeddings of {encoder['name']}, layer "
            f"{encoder['layer']}, {_weighed(encoder)}, padding kept out of it."
        )
    toxicity = NO_WORD_LIST
    if words:
        gold = AGAINST_GOLD if result.against_gold else ""
        toxicity = (
            f"Toxicity T is the number of words of “{words['title']}” ({words['n_words']} entries) "
            "in a text. The share removed is (T of inputs − T of outputs) / T of inputs, "
            f"{POOLED[result.options.pooling]}. {gold}A pair belongs to the texts with a word of "
            f"the list if its text in {source} holds one."
        )
    return (
        f"Each model got the {target} text of a pair to make {source} of it, and the {source} text "
        f"to make {target}. The other text of the pair is the gold text. Prompts and settings "
        "stand under “How the models were asked”.",
        "Rouge is the F-measure of overlapping words (1), pairs of words (2) and the longest "
        f"common subsequence (L), lower-cased {rouge_words(report.parameters)}, {stems}; means "
        f"over texts, times 100. {similarity}",
        f"A gap is the mean for {source} less that for {target}. {view.method}",
        toxicity,
        *((features.method,) if features else ()),
    )


def _weighed(encoder: dict[str, Any]) -> str:
    weights = "tokens weighed by idf over the gold texts" if encoder.get("idf") else "without idf"
    baseline = encoder.get("baseline")
    if not baseline:
        return f"{weights}, not rescaled"
    return f"{weights}, rescaled by bert-score’s baseline F = {baseline[2]:g}"


def caveats(record: dict[str, Any], features: Features | None) -> tuple[str, ...]:
    found = [
        "A text has many good counterparts, and the gold text is one of them. A low score says "
        "that the words differ, not that the counterpart is wrong.",
        "Scores of the two directions compare only as far as the two varieties say the same in as "
        "many words; the dataset report shows that.",
        NO_VERDICT,
        "Gaps of several scores of one model are not independent findings: the scores overlap.",
    ]
    if features:
        found.append(CAVEAT)
    if record["word_list"]:
        found.append(HITS_CAVEAT)
    return tuple(found)


def left_out(result: CounterpartResult) -> tuple[str, ...]:
    entries = (((e.producer, e.variety), e.reason, e.n) for e in result.left_out)
    return tuple(
        f"{NAMES.get(producer, producer)}, generating {variety}: {count(n, 'text')}, {reason}."
        for (producer, variety), reason, n in join_reasons(entries)
    )


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
    topic = Topic.SPEAKERS
    meanings = MEANINGS
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
            question=question(directions, record),
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
            method=method(directions, result, features, report),
            caveats=caveats(record, features),
            left_out=left_out(result),
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
    yield Section("How close to the gold texts", means, WHY_MEANS)
    gaps = directions.gap_blocks(
        f"Score for generating {source} less that for generating {target}", drawn=drawn
    )
    yield Section("The gap between the directions", gaps, why_gaps(directions))
    yield Section("Against doing nothing", (directions.contrasts_printed("“Repeat the input”"),))
    if removed.rows:
        yield Section(
            "Words of the list that are removed",
            tables.toxicity_blocks(directions, removed, removed_gaps),
            WHY_REMOVED,
        )
    if against_gold.rows:
        yield Section(
            "Words of the list, against the gold counterparts",
            tuple(tables.against_gold_blocks(directions, against_gold)),
            WHY_AGAINST_GOLD,
        )
    if directions.has_toxic_split:
        yield directions.toxic_section(
            "Rouge-1 gaps", "Rouge-1 in both kinds of texts.", (tables.LEAD,)
        )
    if directions.sources:
        yield Section("By source", directions.source_blocks(tables.LEAD))
    if by_source := tables.toxicity_by_source(directions, removed):
        yield Section("Words of the list, by source", by_source, WHY_REMOVED_BY_SOURCE)


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


def _source_texts(counterparts: pd.DataFrame, corpus: CorpusRecord) -> dict[str, str]:
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
