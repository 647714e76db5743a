"""Dataset: what a corpus of pairs holds, and its data statement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.corpora.clauses import Tagger
from annotation.corpora.features import FEATURE_NAMES, detect_features
from annotation.models import Split, TextPair
from evaluation.analyses.corpus_statistics import (
    CorpusOptions,
    CorpusStatistics,
    PairTexts,
    describe_pairs,
)
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.models import Report
from evaluation.reports.dataset import prose, tables
from evaluation.reports.dataset.tagger import load_tagger
from evaluation.reports.parts.corpus_inputs import PairRow, corpus_part, hash_rows, load_pairs
from evaluation.reports.parts.document import Document, Section
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import percent
from evaluation.reports.parts.kind import Chosen, CorpusInput, Loaded
from evaluation.reports.parts.options import (
    RougeParameters,
    WordListKind,
    WordListParameters,
    Words,
    load_words,
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
    meanings = prose.MEANINGS
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
        sources = tables.source_table(statistics, varieties, level)
        types = tables.type_table(statistics, varieties, level)
        lengths = tables.length_table(statistics, level)
        features = tables.feature_table(stored["features"], varieties)
        laid_out = Document(
            question=prose.question(statistics, corpus),
            keys=tables.key_numbers(statistics, varieties, sources, lengths),
            sections=(
                Section(
                    "By source",
                    (
                        tables.sources_printed(sources, record["word_list"] is not None),
                        tables.rouge_figure(sources, statistics),
                    ),
                    prose.WHY_SOURCES,
                ),
                Section(
                    "Are the two varieties comparable?",
                    (
                        types.printed(
                            "Words, different words and their ratio, with Wilson’s score interval."
                        ),
                        tables.length_printed(lengths, varieties),
                    ),
                    prose.WHY_VARIETIES,
                ),
                Section(
                    f"Features of {varieties[0]}",
                    (
                        features.printed(
                            "Uses of each feature, and the number of the "
                            f"{statistics.total.n} texts with it."
                        ),
                    ),
                    prose.WHY_FEATURES,
                ),
            ),
            tables=(sources, types, lengths, features),
            method=prose.method(statistics, report, level, stored["tagger"]),
            caveats=prose.caveats(record),
            left_out=prose.left_out(record, statistics),
        )
        return self.complete(report, laid_out)

    def headline(self, result: dict[str, Any]) -> str:
        return f"n {result['statistics']['total']['n']}"


def _count_features(pairs: list[PairRow], tagger: Tagger | None) -> list[dict[str, Any]]:
    """Return for every feature its uses and the texts with it, in either variety."""
    found: dict[str, list[int]] = {name: [0, 0, 0, 0] for name in FEATURE_NAMES}
    for pair in pairs:
        for place, body in ((0, pair.source_body), (2, pair.target_body)):
            names = [feature.name for feature in detect_features(body, tagger)]
            for name in names:
                found[name][place] += 1
            for name in set(names):
                found[name][place + 1] += 1
    columns = ("source_uses", "source_texts", "target_uses", "target_texts")
    return [{"name": name} | dict(zip(columns, row, strict=True)) for name, row in found.items()]
