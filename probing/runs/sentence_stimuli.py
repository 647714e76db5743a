"""Selector: groups, traits and sentences that hold them, of a corpus or a file, as stimuli."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from django.db.models import Count, QuerySet

from annotation.models import Corpus, Split, Text
from probing.measures.adjectives import Adjectives
from probing.measures.sentence_stimuli import SentenceStimuli, draw_sentences
from probing.measures.stimuli import StimuliError
from probing.runs.errors import RunError
from probing.runs.sentence_files import GivenSentences
from probing.runs.stimuli import load_groups, load_traits
from probing.runs.text_stimuli import require_known_sources

CHUNK = 2000


def load_sentence_stimuli(
    given: GivenSentences,
    *,
    groups: Iterable[str],
    traits: Iterable[str] | None = None,
    adjectives: Adjectives = "pole",
    per_word: int,
    seed: int,
) -> SentenceStimuli:
    """Return groups and traits with sentences for each of their words. Three queries.

    The sentences are read once, from beginning to end, and only those that are drawn are kept.

    Raises :class:`RunError` naming each unknown slug, and where ``given`` holds no sentence.
    """
    chosen_groups, chosen_traits = load_groups(groups), load_traits(traits)
    try:
        return draw_sentences(
            given.sentences,
            groups=chosen_groups,
            traits=chosen_traits,
            name=given.name,
            per_word=per_word,
            seed=seed,
            adjectives=adjectives,
        )
    except (StimuliError, ValueError) as error:
        raise RunError.at("sentences", str(error)) from error


def corpus_sentences(
    corpus: Corpus, *, variety: str = "", sources: Sequence[str] = ()
) -> GivenSentences:
    """Return the lines of a corpus's texts as sentences, in the order of the corpus.

    variety : takes only texts in it; empty takes both
    sources : takes only texts drawn from these; empty takes all

    Training texts are left out, as in every run that evaluates. One query here, one when they are
    read. Raises :class:`RunError` where no text is left.
    """
    varieties = (corpus.source_variety, corpus.target_variety)
    if variety and variety not in varieties:
        raise RunError.at(
            "variety",
            f"The corpus “{corpus.name}” has no texts in “{variety}”, expected "
            f"{' or '.join(varieties)}.",
        )
    texts = _texts(corpus)
    if variety:
        texts = texts.filter(variety=variety)
    if sources:
        known = set(texts.values_list("source", flat=True).distinct())
        require_known_sources("text", corpus, sources, known)
        texts = texts.filter(source__in=sources)
    if not texts.exists():
        raise RunError.at(
            "corpus",
            f"The corpus “{corpus.name}” has no text to read sentences from. Import texts; those "
            "of the training split are left out.",
        )
    return GivenSentences(corpus.name, _lines(texts))


def text_sources(corpus: Corpus) -> list[tuple[str, int]]:
    """Return where the texts of ``corpus`` were drawn from, with their numbers. One query."""
    return sorted(_texts(corpus).order_by().values_list("source").annotate(n=Count("pk")))


def _texts(corpus: Corpus) -> QuerySet[Text]:
    return Text.objects.filter(corpus=corpus, split=Split.EVALUATION).order_by("pk")


def _lines(texts: QuerySet[Text]) -> Iterator[str]:
    for body in texts.values_list("body", flat=True).iterator(chunk_size=CHUNK):
        yield from body.splitlines()
