"""Dataset: what a corpus of pairs holds, and its data statement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.corpora.clauses import Tagger
from annotation.corpora.features import FEATURE_NAMES, detect_features
from annotation.models import Split, TextPair
from evaluation.analyses import to_plain
from evaluation.analyses.corpus_statistics import CorpusOptions, PairTexts, describe_pairs
from evaluation.models import Report
from evaluation.reports.corpus_inputs import PairRow, corpus_record, hash_rows, load_pairs
from evaluation.reports.data_statement import load_statement
from evaluation.reports.dataset_document import lay_out_dataset
from evaluation.reports.document import Document
from evaluation.reports.errors import ReportError
from evaluation.reports.kinds.base import Chosen, CorpusInput, Loaded, ReportKind
from evaluation.reports.kinds.options import (
    WordListParameters,
    Words,
    check_word_list,
    load_words,
    word_list_choices,
)
from evaluation.reports.kinds.taggers import load_tagger


class DatasetParameters(WordListParameters):
    """The options of a dataset report."""

    tagger: str | None = Field(
        None,
        max_length=300,
        description="A spaCy pipeline that says which words are auxiliaries and prepositions, by "
        "its name or folder. Without one closed lists do.",
    )


class Dataset(ReportKind):
    name = "dataset"
    title = _("Dataset")
    question = _("What does a corpus of text pairs hold, and where do its texts come from?")
    Parameters = DatasetParameters
    corpus = CorpusInput(_("Corpora with pairs. The report holds their data statement too."))

    def choices(self, parameter: str) -> list[tuple[str, str]] | None:
        return word_list_choices() if parameter == "word_list" else None

    def check(self, chosen: Chosen, parameters: DatasetParameters) -> None:
        """Two queries."""
        if not TextPair.objects.filter(
            corpus=chosen.the_corpus, source_text__split=Split.EVALUATION
        ).exists():
            raise ReportError(
                f"“{chosen.corpus}” has no pair to describe. Import pairs, or publish the gold "
                "counterparts of a writing study."
            )
        check_word_list(parameters.word_list)

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
                "corpus": corpus_record(corpus),
                "n_training": training,
                "word_list": words.record if words else None,
                "statement": load_statement(corpus),
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
            options=CorpusOptions(
                seed=parameters.seed, n_resamples=parameters.resamples, level=parameters.level
            ),
        )
        return {
            "statistics": to_plain(statistics),
            "features": _count_features(pairs, tagger),
            "tagger": tagger_title,
        }

    def document(self, report: Report, view: Mapping[str, str]) -> Document:
        return lay_out_dataset(report)

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
