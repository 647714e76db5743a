"""Selectors: pairs of a corpus, sentences, and labeled templates as stimuli of measures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from django.db.models import Count, QuerySet

from annotation.common.lazy import np
from annotation.models import Corpus, Split, Text, TextPair
from probing.library.labeled_files import stored_texts
from probing.measures.adjectives import Adjectives
from probing.measures.class_prompt_library import DEMONSTRATION_SET, FEW_SHOT, ZERO_SHOT
from probing.measures.class_prompts import ClassPrompt
from probing.measures.probe_stimuli import ProbeStimuli
from probing.measures.prompted_stimuli import Demonstration, PromptedStimuli, draw_shots, vars_of
from probing.measures.prompts import PromptError
from probing.measures.sentence_stimuli import SentenceStimuli, draw_sentences
from probing.measures.stimuli import StimuliError
from probing.measures.streams import named_seed, named_stream
from probing.measures.text_stimuli import (
    AnnotatedSpan,
    PairStimulus,
    PromptStimulus,
    TextStimuli,
    TextStimulus,
)
from probing.models import LabeledTextSet, Prompt, PromptPurpose
from probing.runs.errors import RunError
from probing.runs.rating_stimuli import find_entries
from probing.runs.sentence_files import GivenSentences
from probing.runs.stimuli import load_groups, load_traits, require_known

# --- Selector: labeled templates and lexicons with wordings that ask for a class, and examples

DEFAULT_EXAMPLES = DEMONSTRATION_SET[0]


def load_prompted_stimuli(
    probes: ProbeStimuli,
    *,
    prompts: Sequence[str] = (),
    examples: int = 0,
    examples_from: str = DEFAULT_EXAMPLES,
    seeds: Sequence[int] = (0,),
) -> PromptedStimuli:
    """Return the sentences with wordings, and demonstrations drawn for every seed. Two queries.

    prompts : slugs; without any the paper's, zero-shot or few-shot
    examples : demonstrations before each text, as many of each class
    examples_from : slug of a set of labeled texts

    Raises :class:`RunError` naming unknown slugs, prompts that ask for something else, and a class
    that the demonstrations lack.
    """
    if examples < 0:
        raise RunError.at("examples", f"The number of examples is {examples}, expected 0 or more.")
    wordings = _wordings(prompts or [FEW_SHOT if examples else ZERO_SHOT])
    if not examples:
        return PromptedStimuli(**vars_of(probes), wordings=wordings)
    (chosen,) = find_entries(LabeledTextSet, [examples_from])
    # Texts to validate and test with are shown to no model.
    shown = [one for one in stored_texts(chosen) if one.split in ("", "train")]
    texts = [Demonstration(one.text, one.label) for one in shown]
    try:
        shots = draw_shots(texts, examples, seeds, probes.classes)
    except StimuliError as error:
        raise RunError.at("examples", f"“{chosen.slug}”: {error}") from error
    return PromptedStimuli(**vars_of(probes), wordings=wordings, shots=shots)


def _wordings(slugs: Sequence[str]) -> tuple[ClassPrompt, ...]:
    known = {one.slug: one for one in Prompt.objects.filter(purpose=PromptPurpose.CLASSES)}
    wanted = list(dict.fromkeys(slugs))
    require_known("prompts", "prompt that asks for a class", wanted, known)
    try:
        return tuple(ClassPrompt(slug, known[slug].text) for slug in wanted)
    except PromptError as error:  # a text that went into the library round the validation
        raise RunError.at("prompts", str(error)) from error


# --- Selector: groups, traits and sentences that hold them, of a corpus or a file, as stimuli

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


# --- Pairs of a corpus

T = TypeVar("T")


def load_text_stimuli(
    corpus: Corpus,
    *,
    prompts: Iterable[str] = (),
    sources: Iterable[str] | None = None,
    limit: int | None = None,
    per_source: int | None = None,
    examples: int = 0,
    seed: int = 0,
    split: Split = Split.EVALUATION,
) -> TextStimuli:
    """Return the pairs of one split of ``corpus``. Three queries at most.

    Parameters
    ----------
    prompts : slugs of prompts, in the order in which they are tried; none for measures without.
    sources : takes only pairs drawn from these; every source without.
    limit : draws at most so many pairs, and keeps their order.
    per_source : draws at most so many from each source instead, whatever the others hold.
    examples : draws so many pairs of the training split, to be shown before each text.
    seed : of both draws.
    split : the pairs to evaluate, unless a model is to be trained.

    Raises :class:`RunError` naming each unknown slug, and a corpus with too few pairs.
    """
    chosen = None if sources is None else list(dict.fromkeys(sources))
    known = load_pairs(corpus, split)
    kept = [pair for pair in known if chosen is None or pair.origin in chosen]
    if not known:
        raise RunError.at("corpus", no_pairs(corpus, split))
    if chosen is not None:
        check_sources(corpus, chosen, {pair.origin for pair in known})
    if limit is not None and limit < 1:
        raise RunError.at("limit", f"The limit is {limit}, expected at least 1 pair.")
    if per_source is not None and per_source < 1:
        raise RunError.at("per_source", f"It is {per_source}, expected at least 1 pair per source.")
    if limit is not None and per_source is not None:
        raise RunError.at("per_source", "Say the most pairs of all or per source, not both.")
    try:
        return TextStimuli(
            source_variety=corpus.source_variety,
            target_variety=corpus.target_variety,
            pairs=tuple(
                draw_some(kept, limit, named_seed(seed, "pairs"))
                if per_source is None
                else _draw_by_source(kept, per_source, seed)
            ),
            prompts=tuple(_prompts(prompts)),
            examples=tuple(_examples(corpus, examples, seed)),
        )
    except StimuliError as error:
        raise RunError.at("corpus", str(error)) from error


def pair_sources(corpus: Corpus, split: Split = Split.EVALUATION) -> list[tuple[str, int]]:
    """Return where the pairs of a split were drawn from, with their numbers. One query."""
    pairs = _pairs_of(corpus, split).values_list("source_text__source")
    return sorted(pairs.annotate(n=Count("pk")))


def _pairs_of(corpus: Corpus, split: Split) -> QuerySet[TextPair]:
    return TextPair.objects.filter(
        corpus=corpus, source_text__split=split, target_text__split=split
    ).order_by()


def load_pairs(corpus: Corpus, split: Split) -> list[PairStimulus]:
    """Return the pairs of one split in the corpus's order. One query."""
    rows = _pairs_of(corpus, split).select_related("source_text", "target_text").order_by("pk")
    try:
        return [
            PairStimulus(
                slug=pair.slug,
                source=_text(pair.source_text),
                target=_text(pair.target_text),
                origin=pair.source_text.source,
            )
            for pair in rows
        ]
    except StimuliError as error:
        raise RunError.at("corpus", str(error)) from error


def _text(text: Any) -> TextStimulus:
    spans = tuple(
        AnnotatedSpan(start=span["start"], end=span["end"], kind=span["kind"])
        for span in text.spans
    )
    return TextStimulus(slug=text.slug, body=text.body, spans=spans)


def _prompts(slugs: Iterable[str]) -> list[PromptStimulus]:
    wanted = list(dict.fromkeys(slugs))
    if not wanted:
        return []
    known = {
        prompt.slug: prompt for prompt in Prompt.objects.filter(purpose=PromptPurpose.COUNTERPARTS)
    }
    require_known("prompts", "prompt", wanted, known)
    return [
        PromptStimulus(slug=slug, text=known[slug].text, variety_names=known[slug].variety_names)
        for slug in wanted
    ]


def no_pairs(corpus: Corpus, split: Split) -> str:
    """Return what a corpus without a pair in the split lacks."""
    if split == Split.TRAINING:
        return (
            f"The corpus “{corpus.name}” has no training pair. Import pairs with the split "
            "“training”; those to evaluate are never trained on."
        )
    return (
        f"The corpus “{corpus.name}” has no pair of texts to evaluate. Import pairs, or let "
        "annotators write counterparts; training pairs are never evaluated."
    )


def check_sources(corpus: Corpus, chosen: Sequence[str], known: set[str]) -> None:
    """Raise :class:`RunError` for a source that no pair has, and where none is chosen."""
    require_known_sources("pair", corpus, chosen, known)
    if not chosen:
        raise RunError.at("sources", "No source is chosen, expected at least one, or all.")


def require_known_sources(
    noun: str, corpus: Corpus, chosen: Sequence[str], known: set[str]
) -> None:
    """Raise :class:`RunError` for a source that none of the corpus's pairs or texts has."""
    if unknown := [source for source in chosen if source not in known]:
        listed = ", ".join(f"“{source}”" for source in sorted(known))
        raise RunError.at(
            "sources",
            f"No {noun} of “{corpus.name}” was drawn from “{unknown[0]}”, expected some of: "
            f"{listed or f'none, it has no {noun}s'}.",
        )


def _examples(corpus: Corpus, number: int, seed: int) -> list[PairStimulus]:
    if number == 0:
        return []
    if number < 0:
        raise RunError.at("examples", f"The number of examples is {number}, expected 0 or more.")
    training = load_pairs(corpus, Split.TRAINING)
    if len(training) < number:
        raise RunError.at(
            "examples",
            f"{number} examples are asked for, but the training split of “{corpus.name}” has "
            f"{len(training)} pairs. Examples never come from texts that are evaluated.",
        )
    order = named_stream(seed, "examples").permutation(len(training))
    return [training[place] for place in order[:number]]


def _draw_by_source(pairs: list[PairStimulus], per_source: int, seed: int) -> list[PairStimulus]:
    """Draw from each source by itself, and keep the order of all."""
    drawn: set[str] = set()
    for source in {pair.origin for pair in pairs}:
        own = [pair for pair in pairs if pair.origin == source]
        chosen = draw_some(own, per_source, named_seed(seed, "pairs", source))
        drawn |= {pair.slug for pair in chosen}
    return [pair for pair in pairs if pair.slug in drawn]


def draw_some(items: list[T], limit: int | None, seed: int) -> list[T]:
    """Return at most ``limit`` items in their order, drawn with the seed."""
    if limit is None or limit >= len(items):
        return items
    drawn = np.random.default_rng(seed).permutation(len(items))[:limit]
    return [items[place] for place in sorted(drawn)]
