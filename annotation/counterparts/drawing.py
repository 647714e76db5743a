"""Which texts of a corpus a study works on."""

from __future__ import annotations

from django.db.models import QuerySet

from annotation.corpora.features import measure_density
from annotation.corpora.sampling import SampleItem, SamplingError, sample_texts
from annotation.models import Corpus, Text, WritingDesign


def open_texts(corpus: Corpus) -> QuerySet[Text]:
    """Return the texts that can be rewritten: in the source variety, without a gold counterpart."""
    return Text.objects.filter(
        corpus=corpus, variety=corpus.source_variety, pair__isnull=True
    ).order_by("slug")


def draw_texts(design: WritingDesign) -> list[Text]:
    """Return the texts that a design's seed draws, all of them where it names no number. One query.

    Weighted draws follow `annotation.corpora.sampling`: by features of the variety per word.
    Raises `ValueError` where the corpus has fewer than the design asks for.
    """
    texts = list(open_texts(design.corpus))
    if design.n_texts is None or design.n_texts == len(texts):
        return texts
    weighted = design.weighted_by_features
    items = [
        SampleItem(text.slug, text.source, measure_density(text.body) if weighted else 0.0)
        for text in texts
    ]
    try:
        drawn = sample_texts(items, seed=design.seed, n=design.n_texts, weighted=weighted)
    except SamplingError as error:
        raise ValueError(str(error)) from None
    chosen = {item.key for item in drawn}
    return [text for text in texts if text.slug in chosen]
