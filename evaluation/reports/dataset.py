"""Dataset: what a corpus of pairs holds, and its data statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypedDict

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.corpora.features import FEATURE_NAMES, Tagger, detect_features
from annotation.models import Split, TextPair
from evaluation.analyses.corpus_statistics import (
    CorpusOptions,
    CorpusStatistics,
    OriginRow,
    PairTexts,
    describe_pairs,
)
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.metrics.rouge import NO_WORDS
from evaluation.metrics.shown import Shown
from evaluation.metrics.t_test import TTest
from evaluation.metrics.type_token import TypeTokenRatio
from evaluation.models import Report
from evaluation.reports.parts.corpus_inputs import PairRow, corpus_part, hash_rows, load_pairs
from evaluation.reports.parts.document import Document, Figure, KeyNumber, Section, Table
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.features import FEATURE_WORDS
from evaluation.reports.parts.formatting import count, number, p_value, percent, sentence
from evaluation.reports.parts.kind import Chosen, CorpusInput, Loaded, Topic
from evaluation.reports.parts.options import (
    HITS_CAVEAT,
    NO_WORD_LIST,
    RougeParameters,
    WordListKind,
    WordListParameters,
    Words,
    load_words,
    rouge_words,
)
from evaluation.reports.parts.table import Column, ReportTable

NO_TAGGER = "closed lists of words say what is an auxiliary or a preposition"


def load_tagger(name: str) -> tuple[Any, str]:
    """Return the pipeline of that name or in that folder, and its title with versions.

    Raises `ReportError` where spaCy or the pipeline is missing, or tags no parts of speech.
    """
    try:
        import spacy
    except ImportError as error:
        raise ReportError(
            "A tagger needs spaCy, which is not installed here. Install it (pip install spacy), or "
            "leave the tagger out."
        ) from error
    try:
        pipeline = spacy.load(name)
    except (OSError, ValueError) as error:
        raise ReportError(
            f"There is no spaCy pipeline “{name}” on this machine. Expected an installed one, such "
            "as en_core_web_sm after “python -m spacy download en_core_web_sm”, or a folder."
        ) from error
    if not pipeline("He sleeps").has_annotation("POS"):
        raise ReportError(
            f"The spaCy pipeline “{name}” gives no parts of speech. Choose one with a tagger and "
            "an attribute ruler, or a morphologizer."
        )
    meta = pipeline.meta
    title = f"{meta['lang']}_{meta['name']} {meta['version']} (spaCy {spacy.__version__})"
    return pipeline, title


# --- The words of the dataset report --------------------------------------------------------------

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Pairs": (
        "Texts that are there in both varieties. Texts of the training split are not counted."
    ),
    "Words a text": (
        "Mean length in words in either variety, and whether one is longer by more than "
        "chance explains."
    ),
    "Rouge-1 of a pair": (
        "How many words both texts of a pair share: 100 if all, 0 if none. High values mean "
        "that the varieties differ little on paper."
    ),
    "Different words among all": (
        "Different words divided by all words (type–token ratio). It falls with the length of "
        "a corpus, so compare the two varieties, never corpora of unlike size."
    ),
}


WHY_SOURCES = (
    "Texts of different sources differ in length and in how much of them a counterpart keeps. "
    "Rouge-1 is the overlap in words of the two texts of a pair."
)
WHY_VARIETIES = (
    "Scores of generated texts compare best where both varieties say the same in about as many "
    "words, with about as many different ones."
)
WHY_FEATURES = (
    "Found by patterns, which miss some uses and find some that are none. They guide sampling; "
    "they describe no speaker."
)


def question(statistics: CorpusStatistics, corpus: dict[str, Any]) -> str:
    return (
        f"{corpus['name']} holds {count(statistics.total.n, 'pair')} of texts in "
        f"{corpus['source_variety']} and {corpus['target_variety']}. This report says how long "
        "they are, how much a pair shares, which features they hold, and where they come from."
    )


def method(
    statistics: CorpusStatistics, report: Report, level: str, tagger: str | None
) -> tuple[str, ...]:
    record, rouge = report.inputs, rouge_words(report.parameters)
    words = record["word_list"]
    return (
        "A word is a run of letters and digits with the apostrophes and hyphens inside it, in "
        "lower case. Rouge-1 is the F-measure of overlapping words between the two texts of a "
        f"pair, its words being {rouge}, without stemming; means are times 100.",
        f"Intervals of means come from {statistics.options.n_resamples} resamples of pairs "
        f"(bias-corrected percentile, {level}). The difference in length is tested with a paired "
        "two-tailed t-test. The ratio of different words has no interval, since words of a text "
        "are no independent draws.",
        f"Toxicity is the mean number of words of “{words['title']}” ({words['n_words']} entries) "
        "in a text: whole words, whatever their case, repetitions counted."
        if words
        else NO_WORD_LIST,
        "Features are found by the search patterns of Deas et al. (2023, Appendix B). Of be, done, "
        "gone and been only those count that no auxiliary or preposition governs: "
        f"{f'the spaCy pipeline {tagger} tags these' if tagger else NO_TAGGER}.",
    )


def caveats(record: dict[str, Any]) -> tuple[str, ...]:
    found = [
        "A ratio of different words falls as texts get longer; compare it only between sides of "
        "about the same number of words.",
        "Sources are few and were chosen by hand: an interval says what other texts of the same "
        "sources would give, not what other sources would.",
    ]
    if record["word_list"]:
        found.append(HITS_CAVEAT)
    return tuple(found)


def left_out(record: dict[str, Any], statistics: CorpusStatistics) -> tuple[str, ...]:
    wordless = statistics.total.n - statistics.total.rouge1.n
    found = {
        "kept for training, never evaluated": record["n_training"],
        f"no Rouge-1, {NO_WORDS}": wordless,
    }
    return tuple(f"{count(n, 'pair')}: {why}." for why, n in found.items() if n)


# --- The tables of the dataset report: Tables 2 and 3 of Deas et al. (2023) -----------------------

NO_SOURCE = "no source named"
ALL = "All"


def name_of(row: OriginRow) -> str:
    return ALL if row.origin is None else row.origin or NO_SOURCE


def source_table(
    statistics: CorpusStatistics, varieties: tuple[str, str], level: str
) -> ReportTable:
    return ReportTable.of_rows(
        "sources",
        "Statistics of every source and of all",
        (*statistics.rows, statistics.total),
        OriginRow,
        Column("Source", "source", name_of),
        *("n", "source_length", "target_length", "rouge1", "source_toxicity", "target_toxicity"),
        labels=dict(zip(("source", "target"), varieties, strict=True)),
        level=level,
        note=lambda row: "" if row.rouge1.reason else row.rouge1.interval_reason,
    )


def sources_printed(sources: ReportTable, has_words: bool) -> Table:
    shown = ["source_length", "target_length", "rouge1"]
    shown += ["source_toxicity", "target_toxicity"] if has_words else []
    return sources.printed(
        "Pairs, mean length in words, Rouge-1 between the texts of a pair"
        + (" and mean hits of the word list, by source." if has_words else ", by source."),
        columns=(
            "source",
            "n",
            *(replace(sources.column(name), with_interval=name == "rouge1") for name in shown),
        ),
    )


def rouge_figure(sources: ReportTable, statistics: CorpusStatistics) -> Figure:
    return sources.figure(
        "rouge-by-source",
        "How much the two texts of a pair share in words, by source. Intervals: "
        f"{statistics.options.n_resamples} resamples of pairs; n is the number of pairs.",
        Column("Rouge-1", value=lambda row: replace(row.rouge1, n=row.n)),
        label="Source",
        bold=lambda row: row.origin is None,
        decimals=1,
        reference=None,
        tone="ink",
        title="Rouge-1 between the texts of a pair, by source",
        axis="Mean Rouge-1 F, × 100",
        n="pairs",
    )


@dataclass(frozen=True)
class VarietyRow:
    """The words of all texts of one variety."""

    variety: Annotated[str, Shown("Variety")]
    types: TypeTokenRatio


def type_table(statistics: CorpusStatistics, varieties: tuple[str, str]) -> ReportTable:
    sides = (statistics.source_types, statistics.target_types)
    return ReportTable.of_rows(
        "types",
        "Words, types and their ratio",
        [VarietyRow(*side) for side in zip(varieties, sides, strict=True)],
        VarietyRow,
        *("variety", "types.n_tokens", "types.n_types", "types.value"),
        reason="types.reason",
    )


def length_table(statistics: CorpusStatistics, level: str) -> ReportTable:
    return ReportTable.of_rows(
        "length_difference",
        "Words of a text less words of its counterpart, with the paired test",
        (statistics.length_difference,),
        TTest,
        Column.effect("Mean difference", "difference", "estimate", 3),
        *("statistic", "df", "p_value", "n_first", "kind"),
        level=level,
        reason="reason",
    )


def length_printed(lengths: ReportTable, varieties: tuple[str, str]) -> Table:
    return lengths.printed(
        f"Words of a text in {varieties[0]} less words of its counterpart in {varieties[1]}, over "
        "all pairs, with a paired two-tailed t-test.",
        columns=(
            Column("Pairs", value="n_first"),
            *("difference", "statistic", "df", "p_value"),
        ),
    )


class FeatureUses(TypedDict):
    """Uses of a feature in either variety, and texts with it."""

    name: str
    source_uses: Annotated[int, Shown("Uses, {source}", 0)]
    source_texts: Annotated[int, Shown("Texts, {source}", 0)]
    target_uses: Annotated[int, Shown("Uses, {target}", 0)]
    target_texts: Annotated[int, Shown("Texts, {target}", 0)]


def feature_table(features: list[FeatureUses], varieties: tuple[str, str]) -> ReportTable:
    return ReportTable.of_rows(
        "features",
        "Uses of features, and texts with them",
        features,
        FeatureUses,
        "name",
        Column("Feature", value=lambda row: FEATURE_WORDS.get(row["name"], row["name"])),
        *("source_uses", "source_texts", "target_uses", "target_texts"),
        labels=dict(zip(("source", "target"), varieties, strict=True)),
    )


def key_numbers(
    statistics: CorpusStatistics,
    varieties: tuple[str, str],
    sources: ReportTable,
    lengths: ReportTable,
) -> tuple[KeyNumber, ...]:
    total, difference = statistics.total, statistics.length_difference
    source, target = varieties
    types = (statistics.source_types, statistics.target_types)
    value, around = replace(lengths.column("difference"), decimals=2).cells(difference)
    bare = difference.estimate.interval_reason
    around = f". No interval: {bare}" if bare else f", {lengths.level} interval {around}"
    return (
        KeyNumber("Pairs", str(total.n), lines=(f"from {count(len(statistics.rows), 'source')}",)),
        KeyNumber(
            "Words a text",
            number(total.source_length.value, 1),
            f"{source}, {number(total.target_length.value, 1)} {target}",
            (sentence(difference.reason),)
            if difference.reason
            else (
                f"Difference {value}{around}",
                p_value(difference.p_value),
            ),
        ),
        sources.key("rouge1", total, label="Rouge-1 of a pair", unit="of 100"),
        KeyNumber(
            "Different words among all",
            number(types[0].value, 3),
            f"{source}, {number(types[1].value, 3)} {target}",
            (f"of {types[0].n_tokens} and {types[1].n_tokens} words",),
        ),
    )


class DatasetParameters(RougeParameters, WordListParameters):
    """The options of a dataset report."""

    tagger: str | None = Field(
        None,
        max_length=300,
        description="A spaCy pipeline that says which words are auxiliaries and prepositions, by "
        "its name or folder. Without one closed lists do.",
    )


class Dataset(WordListKind):
    name = "dataset"
    title = _("Dataset")
    question = _("What does a corpus of text pairs hold, and where do its texts come from?")
    topic = Topic.SPEAKERS
    meanings = MEANINGS
    Parameters = DatasetParameters
    corpus = CorpusInput(_("Corpora with pairs. The report holds their data statement too."))

    def check(self, chosen: Chosen, parameters: DatasetParameters) -> None:
        """Two queries."""
        if not TextPair.objects.filter(
            corpus=chosen.the_corpus, source_text__split=Split.EVALUATION
        ).exists():
            raise ReportError(
                f"“{chosen.corpus}” has no pair to describe. Import pairs, or publish the gold "
                "counterparts of a writing study."
            )
        super().check(chosen, parameters)

    def default_title(self, chosen: Chosen) -> str:
        return f"What is in {chosen.the_corpus}?"

    def load(self, chosen: Chosen, parameters: DatasetParameters) -> Loaded:
        corpus = chosen.the_corpus
        pairs = load_pairs(corpus)
        if not pairs:
            raise ReportError(f"“{corpus}” has no pair to describe.")
        words = load_words(parameters.word_list)
        training = TextPair.objects.filter(corpus=corpus, source_text__split=Split.TRAINING).count()
        hashes = {"pairs": hash_rows(pairs)}
        if words:
            hashes["word list"] = words.record["hash"]
        return Loaded(
            record={
                **corpus_part(corpus),
                "n_training": training,
                "word_list": words.record if words else None,
            },
            data=(pairs, words),
            hashes=hashes,
        )

    def compute(self, loaded: Loaded, parameters: DatasetParameters) -> dict[str, Any]:
        pairs: list[PairRow]
        words: Words | None
        pairs, words = loaded.data
        tagger, tagger_title = load_tagger(parameters.tagger) if parameters.tagger else (None, None)
        statistics = describe_pairs(
            [PairTexts(pair.source_body, pair.target_body, pair.source) for pair in pairs],
            words=words.words if words else None,
            options=CorpusOptions(**parameters.bootstrap),
            tokens=parameters.rouge_tokens,
        )
        return {
            "statistics": to_plain(statistics),
            "features": _count_features(pairs, tagger),
            "tagger": tagger_title,
        }

    def document(self, report: Report, view: Mapping[str, str]) -> Document:
        record, stored = report.inputs, report.result or {}
        statistics = from_plain(CorpusStatistics, stored["statistics"])
        corpus = record["corpus"]
        varieties = corpus["source_variety"], corpus["target_variety"]
        level = percent(statistics.options.level)
        sources = source_table(statistics, varieties, level)
        types = type_table(statistics, varieties)
        lengths = length_table(statistics, level)
        features = feature_table(stored["features"], varieties)
        laid_out = Document(
            question=question(statistics, corpus),
            keys=key_numbers(statistics, varieties, sources, lengths),
            sections=(
                Section(
                    "By source",
                    (
                        sources_printed(sources, record["word_list"] is not None),
                        rouge_figure(sources, statistics),
                    ),
                    WHY_SOURCES,
                ),
                Section(
                    "Are the two varieties comparable?",
                    (
                        types.printed(
                            "Words, different words and their ratio, with Wilson’s score interval."
                        ),
                        length_printed(lengths, varieties),
                    ),
                    WHY_VARIETIES,
                ),
                Section(
                    f"Features of {varieties[0]}",
                    (
                        features.printed(
                            "Uses of each feature, and the number of the "
                            f"{statistics.total.n} texts with it."
                        ),
                    ),
                    WHY_FEATURES,
                ),
            ),
            tables=(sources, types, lengths, features),
            method=method(statistics, report, level, stored["tagger"]),
            caveats=caveats(record),
            left_out=left_out(record, statistics),
        )
        return self.complete(report, laid_out)

    def headline(self, result: dict[str, Any]) -> str:
        return f"n {result['statistics']['total']['n']}"


def _count_features(pairs: list[PairRow], tagger: Tagger | None) -> list[FeatureUses]:
    """Return for every feature its uses and the texts with it, in either variety."""
    found: dict[str, list[int]] = {name: [0, 0, 0, 0] for name in FEATURE_NAMES}
    for pair in pairs:
        for place, body in ((0, pair.source_body), (2, pair.target_body)):
            names = [feature.name for feature in detect_features(body, tagger)]
            for name in names:
                found[name][place] += 1
            for name in set(names):
                found[name][place + 1] += 1
    return [
        FeatureUses(name=name, source_uses=a, source_texts=b, target_uses=c, target_texts=d)
        for name, (a, b, c, d) in found.items()
    ]
