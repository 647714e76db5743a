"""What a corpus holds, in numbers: by source and split, lengths in words, features."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from django.core.cache import cache
from django.db.models import Count, IntegerField, Max, OuterRef, Prefetch, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.corpora.features import FEATURE_NAMES, detect_features, split_words
from annotation.models import Corpus, Split, Text, TextPair

# What African American Language is called; the detector of features knows no other variety.
NAMES_OF_AAL = ("aal", "aae", "aave")
KEPT_SECONDS = 24 * 60 * 60


@dataclass
class BodyCounts:
    """Texts of one source in one variety. ``features`` maps names to (uses, texts with them)."""

    n_texts: int = 0
    n_words: int = 0
    uses: Counter[str] = field(default_factory=Counter)
    texts_with: Counter[str] = field(default_factory=Counter)

    @property
    def mean_words(self) -> float | None:
        return self.n_words / self.n_texts if self.n_texts else None

    def add(self, body: str, *, with_features: bool) -> None:
        self.n_texts += 1
        self.n_words += len(split_words(body))
        if with_features:
            found = [feature.name for feature in detect_features(body)]
            self.uses.update(found)
            self.texts_with.update(set(found))


@dataclass(frozen=True)
class SourceLine:
    """One source, or all of them; numbers of texts and pairs, mean lengths in words."""

    source: str
    evaluation: int
    training: int
    target: int
    pairs_evaluation: int
    pairs_training: int
    source_words: float | None
    target_words: float | None


@dataclass(frozen=True)
class FeatureLine:
    """How often a feature occurs in the texts of either variety, and in how many texts."""

    name: str
    source_uses: int
    source_texts: int
    target_uses: int
    target_texts: int


@dataclass(frozen=True)
class CorpusSummary:
    """``features`` is empty where neither variety is one that the detector knows."""

    lines: tuple[SourceLine, ...]
    total: SourceLine
    features: tuple[FeatureLine, ...]
    source_word_count: int
    target_word_count: int


def with_counts(corpora: QuerySet[Corpus]) -> QuerySet[Corpus]:
    """Return the corpora with ``n_texts`` and ``n_pairs``, still one query."""

    def count(model: type[Text] | type[TextPair]) -> Coalesce:
        rows = model.objects.filter(corpus=OuterRef("pk")).order_by().values("corpus")
        return Coalesce(Subquery(rows.annotate(n=Count("pk")).values("n"), IntegerField()), 0)

    return corpora.annotate(n_texts=count(Text), n_pairs=count(TextPair))


def summarize_corpus(corpus: Corpus) -> CorpusSummary:
    """Return the numbers of a corpus. Four queries at most, whatever its size."""
    bodies = _count_bodies(corpus)
    texts: Counter[tuple[str, str, str]] = Counter()
    for source, variety, split, number in (
        corpus.texts.order_by()
        .values_list("source", "variety", "split")
        .annotate(number=Count("pk"))
    ):
        texts[source, variety, split] = number
    pairs: Counter[tuple[str, str]] = Counter()
    for source, split, number in (
        corpus.pairs.order_by()
        .values_list("source_text__source", "source_text__split")
        .annotate(number=Count("pk"))
    ):
        pairs[source, split] = number
    varieties = (corpus.source_variety, corpus.target_variety)
    sources = sorted({source for source, _, _ in texts})

    def line(name: str, of: Iterable[str]) -> SourceLine:
        chosen = list(of)
        source_bodies, target_bodies = (_add(bodies[s, v] for s in chosen) for v in varieties)
        return SourceLine(
            source=name,
            evaluation=sum(texts[s, varieties[0], Split.EVALUATION] for s in chosen),
            training=sum(texts[s, varieties[0], Split.TRAINING] for s in chosen),
            target=target_bodies.n_texts,
            pairs_evaluation=sum(pairs[s, Split.EVALUATION] for s in chosen),
            pairs_training=sum(pairs[s, Split.TRAINING] for s in chosen),
            source_words=source_bodies.mean_words,
            target_words=target_bodies.mean_words,
        )

    first, second = (_add(bodies[s, v] for s in sources) for v in varieties)
    return CorpusSummary(
        lines=tuple(line(source, [source]) for source in sources),
        total=line("", sources),
        features=tuple(
            FeatureLine(
                name,
                first.uses[name],
                first.texts_with[name],
                second.uses[name],
                second.texts_with[name],
            )
            for name in FEATURE_NAMES
        )
        if knows_features(corpus)
        else (),
        source_word_count=first.n_words,
        target_word_count=second.n_words,
    )


def knows_features(corpus: Corpus) -> bool:
    """Return whether the detector of features knows one of the corpus's varieties."""
    named = {corpus.source_variety.casefold(), corpus.target_variety.casefold()}
    return bool(named & set(NAMES_OF_AAL))


def select_texts(
    corpus: Corpus,
    *,
    words: str = "",
    source: str | None = None,
    split: str = "",
    variety: str = "",
) -> QuerySet[Text]:
    """Return the texts of a corpus that hold ``words`` and are as named. Two queries for a page.

    ``source`` None takes every source; an empty one takes texts without a source.
    """
    found = Text.objects.filter(corpus=corpus).prefetch_related(
        Prefetch("pairs_as_source", TextPair.objects.select_related("target_text").order_by("pk"))
    )
    if words.strip():
        found = found.filter(body__icontains=words.strip())
    if source is not None:
        found = found.filter(source=source)
    if split:
        found = found.filter(split=split)
    if variety:
        found = found.filter(variety=variety)
    return found.order_by("pk")


def list_sources(corpus: Corpus) -> list[str]:
    """Return the sources of a corpus's texts, in alphabetical order. One query."""
    return list(corpus.texts.order_by("source").values_list("source", flat=True).distinct())


def _count_bodies(corpus: Corpus) -> dict[tuple[str, str], BodyCounts]:
    """Read every body once; texts never change, so that their number and last key tell news."""
    state = corpus.texts.aggregate(n=Count("pk"), last=Max("pk"))
    # After a restore, another corpus may have the same keys: the public id is no other's.
    key = f"corpus-bodies-{corpus.public_id}-{state['n']}-{state['last']}"
    kept = cache.get(key)
    if kept is not None:
        return defaultdict(BodyCounts, kept)
    counts: dict[tuple[str, str], BodyCounts] = defaultdict(BodyCounts)
    with_features = knows_features(corpus)
    rows = corpus.texts.order_by().values_list("source", "variety", "body")
    for source, variety, body in rows.iterator(chunk_size=1000):
        counts[source, variety].add(body, with_features=with_features)
    cache.set(key, dict(counts), KEPT_SECONDS)
    return counts


def _add(parts: Iterable[BodyCounts]) -> BodyCounts:
    total = BodyCounts()
    for part in parts:
        total.n_texts += part.n_texts
        total.n_words += part.n_words
        total.uses += part.uses
        total.texts_with += part.texts_with
    return total
