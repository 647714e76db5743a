"""Which texts of a corpus a study works on."""

from __future__ import annotations

from collections import Counter

from django.db.models import QuerySet

from annotation.corpora.features import measure_density
from annotation.corpora.sampling import SampleItem, SamplingError, sample_texts
from annotation.models import Corpus, Text, WritingDesign

#: Stands for all sources together, where texts are not counted by source.
ALL_SOURCES = ""


def open_texts(corpus: Corpus) -> QuerySet[Text]:
    """Return the texts that can be rewritten: in the source variety, without a gold counterpart."""
    return Text.objects.filter(
        corpus=corpus, variety=corpus.source_variety, pairs_as_source__isnull=True
    ).order_by("slug")


def count_open_texts(corpus: Corpus, *, per_source: bool) -> dict[str, int]:
    """Return how many texts can be rewritten, by source or in all. One query."""
    if not per_source:
        return {ALL_SOURCES: n} if (n := open_texts(corpus).count()) else {}
    return dict(Counter(open_texts(corpus).values_list("source", flat=True)))


def draw_texts(design: WritingDesign) -> list[Text]:
    """Return the texts that a design's seed draws, all of them where it names no number. One query.

    Weighted draws follow `annotation.corpora.sampling`: by features of the variety per word. A
    number of texts per source is drawn from every source.
    Raises `ValueError` where the corpus has fewer than the design asks for.
    """
    texts = list(open_texts(design.corpus))
    if design.n_texts is None or (design.n_texts == len(texts) and not design.per_source):
        return texts
    weighted = design.weighted_by_features
    items = [
        SampleItem(text.slug, text.source, measure_density(text.body) if weighted else 0.0)
        for text in texts
    ]
    try:
        wanted = {"per_source" if design.per_source else "n": design.n_texts}
        drawn = sample_texts(items, seed=design.seed, weighted=weighted, **wanted)
    except SamplingError as error:
        raise ValueError(str(error)) from None
    chosen = {item.key for item in drawn}
    return [text for text in texts if text.slug in chosen]
