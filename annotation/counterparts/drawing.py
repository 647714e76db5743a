"""Which texts of a corpus a study works on."""

from __future__ import annotations

from django.db.models import QuerySet

from annotation.models import Corpus, Text, WritingDesign
from annotation.survey.seeded import shuffle


def open_texts(corpus: Corpus) -> QuerySet[Text]:
    """Return the texts that can be rewritten: in the source variety, without a gold counterpart."""
    return Text.objects.filter(
        corpus=corpus, variety=corpus.source_variety, pair__isnull=True
    ).order_by("slug")


def draw_texts(design: WritingDesign) -> list[Text]:
    """Return the texts that a design's seed draws, all of them where it names no number. One query.

    Raises `ValueError` where the corpus has fewer than the design asks for.
    """
    texts = list(open_texts(design.corpus))
    if design.n_texts is None or design.n_texts == len(texts):
        return texts
    if design.n_texts > len(texts):
        raise ValueError(
            f"The design draws {design.n_texts} texts, the corpus has {len(texts)} without a gold "
            "counterpart."
        )
    return shuffle(texts, name=lambda text: text.slug, seed=design.seed, purpose="draw")[
        : design.n_texts
    ]
