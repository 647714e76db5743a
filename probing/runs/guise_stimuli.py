"""Selector: texts of a corpus, or names of groups, as the guises of matched guise probing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from annotation.models import Corpus, Split, Text
from probing.measures.guise_library import GUISE_PROMPTS
from probing.measures.guise_stimuli import GuisePrompt, GuiseStimuli, GuiseText
from probing.measures.stimuli import StimuliError
from probing.measures.streams import named_seed, named_stream
from probing.measures.text_noise import add_noise
from probing.models import GUISES, Prompt, PromptPurpose, WordList, WordPurpose
from probing.runs.errors import RunError
from probing.runs.stimuli import require_known
from probing.runs.text_stimuli import check_sources, draw_some, load_pairs, no_pairs

#: Slugs of the prompts that come with the platform.
PUBLISHED = frozenset(prompt.slug for prompt in GUISE_PROMPTS)

Sides = tuple[tuple[GuiseText, ...], tuple[GuiseText, ...]]
VARIETY_LENGTH = 40


def load_guise_stimuli(
    corpus: Corpus | None,
    *,
    attributes: str,
    terms: Sequence[str] = (),
    prompts: Iterable[str] = (),
    varieties: Sequence[str] = (),
    sources: Iterable[str] | None = None,
    limit: int | None = None,
    paired: bool = True,
    noise: float | None = None,
    seed: int = 0,
) -> GuiseStimuli:
    """Return the texts of ``corpus`` in its two varieties, or names of two groups. Four queries.

    Parameters
    ----------
    attributes : slug of a word list of attributes.
    terms : instead of a corpus, pairs such as “Black/White”; they fill the prompts that name.
    prompts : slugs of prompts, or purposes such as ``traits``; without any, all of the purpose of
        the attributes, and with terms those that name a race.
    varieties : two of those of the corpus, the first guise first; without any, those of its pairs.
    sources, limit, seed : which pairs, as of :func:`probing.runs.text_stimuli.load_text_stimuli`.
    paired : pairs alone; without, all texts to evaluate of either variety.
    noise : puts texts of the second variety with so much noise in place of the first guise.

    Raises :class:`RunError` naming what is unknown, missing or doubled.
    """
    words = _attributes(attributes)
    chosen = _prompts(prompts, PromptPurpose.OVERT if terms else words.purpose)
    if (corpus is None) == (not terms):
        raise RunError.at(
            "corpus",
            "Both a corpus and names of groups are given. Choose one of the two."
            if terms
            else "Choose a corpus of texts in two varieties, or give names such as “Black/White”.",
        )
    if noise is not None and corpus is None:
        raise RunError.at(
            "parameter first_guise",
            "Noise changes texts, and names of groups are given. Choose a corpus.",
        )
    try:
        if corpus is None:
            guises, sides = _named(terms)
        else:
            guises = _choose_varieties(corpus, varieties, paired=paired)
            sides = _sides(corpus, guises, sources, limit, paired=paired, seed=seed)
            if noise is not None:
                guises, sides = _with_noise(guises, sides, noise, seed)
        return GuiseStimuli(
            *guises,
            *sides,
            paired=paired,
            prompts=tuple(chosen),
            attributes=tuple(words.words),
            attribute_list=words.slug,
        )
    except StimuliError as error:
        raise RunError.at("terms" if terms else "corpus", str(error)) from error


def _sides(
    corpus: Corpus,
    varieties: tuple[str, str],
    sources: Iterable[str] | None,
    limit: int | None,
    *,
    paired: bool,
    seed: int,
) -> Sides:
    wanted = None if sources is None else list(dict.fromkeys(sources))
    if limit is not None and limit < 1:
        raise RunError.at("limit", f"The limit is {limit}, expected at least 1.")
    if not paired:
        return _all_texts(corpus, varieties, wanted, limit, seed)
    known = load_pairs(corpus, Split.EVALUATION)
    if not known:
        raise RunError.at("corpus", no_pairs(corpus, Split.EVALUATION))
    if wanted is not None:
        check_sources(corpus, wanted, {pair.origin for pair in known})
    kept = [pair for pair in known if wanted is None or pair.origin in wanted]
    drawn = draw_some(kept, limit, named_seed(seed, "pairs"))
    source = tuple(GuiseText(pair.slug, pair.source.body) for pair in drawn)
    target = tuple(GuiseText(pair.slug, pair.target.body) for pair in drawn)
    return (source, target) if varieties[0] == corpus.source_variety else (target, source)


def _choose_varieties(corpus: Corpus, wanted: Sequence[str], *, paired: bool) -> tuple[str, str]:
    """Return the two varieties that a run compares, the first guise first. One query at most."""
    own = (corpus.source_variety, corpus.target_variety)
    if paired:
        if wanted and sorted(wanted) != sorted(own):
            raise RunError.at(
                "varieties",
                f"The pairs of “{corpus.name}” are in {' and '.join(own)}, and "
                f"{' and '.join(wanted)} {'is' if len(wanted) == 1 else 'are'} chosen. Compare "
                "other varieties as whole sets: matching=pooled.",
            )
        return (wanted[0], wanted[1]) if wanted else own
    texts = Text.objects.filter(corpus=corpus, split=Split.EVALUATION)
    there = sorted(set(texts.order_by().values_list("variety", flat=True)))
    named = f"“{corpus.name}” has texts in {', '.join(there) or 'no variety'}"
    if not wanted:
        if set(there) - set(own):
            raise RunError.at("varieties", f"{named}; two of them are compared. Choose two.")
        return own
    if len(wanted) != 2 or wanted[0] == wanted[1]:
        raise RunError.at(
            "varieties", f"{len(set(wanted))} varieties are chosen, expected two different ones."
        )
    if missing := [name for name in wanted if name not in there]:
        raise RunError.at("varieties", f"{named}, and none in {' or '.join(missing)}.")
    return wanted[0], wanted[1]


def _all_texts(
    corpus: Corpus,
    varieties: tuple[str, str],
    wanted: list[str] | None,
    limit: int | None,
    seed: int,
) -> Sides:
    texts = Text.objects.filter(
        corpus=corpus, split=Split.EVALUATION, variety__in=varieties
    ).order_by("pk")
    if wanted is not None:
        texts = texts.filter(source__in=wanted)
    sides: dict[str, list[GuiseText]] = {variety: [] for variety in varieties}
    for slug, variety, body in texts.values_list("slug", "variety", "body"):
        sides[variety].append(GuiseText(slug, body))
    for variety, some in sides.items():
        if not some:
            raise RunError.at(
                "corpus",
                f"“{corpus.name}” has no text to evaluate in {variety}. Import some: two "
                "varieties are compared.",
            )
    first, second = (
        tuple(draw_some(some, limit, named_seed(seed, "texts", variety)))
        for variety, some in sides.items()
    )
    return first, second


def _with_noise(
    varieties: tuple[str, str], sides: Sides, rate: float, seed: int
) -> tuple[tuple[str, str], Sides]:
    """Return the second variety's texts with noise beside these texts as they are."""
    _, clean = sides
    noisy = tuple(
        GuiseText(text.slug, add_noise(text.body, rate, named_stream(seed, "noise", text.slug)))
        for text in clean
    )
    name = f"noise {100 * rate:g} %"
    return (name, varieties[1]), (noisy, clean)


def _named(terms: Sequence[str]) -> tuple[tuple[str, str], Sides]:
    pairs = []
    for term in terms:
        sides = [side.strip() for side in term.split("/")]
        if len(sides) != 2 or not all(sides):
            raise RunError.at(
                "terms", f"“{term}” is no pair of names. Write two with a slash: Black/White."
            )
        pairs.append((sides[0], sides[1]))
    first, second = pairs[0]
    for name in (first, second):
        if len(name) > VARIETY_LENGTH:
            raise RunError.at(
                "terms",
                f"“{name}” has {len(name)} characters. Write a name of {VARIETY_LENGTH} at most.",
            )
    slugs = [f"{a}/{b}" for a, b in pairs]
    return (first, second), (
        tuple(GuiseText(slug, a) for slug, (a, _) in zip(slugs, pairs, strict=True)),
        tuple(GuiseText(slug, b) for slug, (_, b) in zip(slugs, pairs, strict=True)),
    )


def _attributes(slug: str) -> WordList:
    known = {one.slug: one for one in WordList.objects.exclude(purpose=WordPurpose.LOOKUP)}
    require_known("attributes", "list of attributes", [slug], known)
    return known[slug]


def _prompts(names: Iterable[str], usual: str) -> list[GuisePrompt]:
    """Return the prompts of those slugs or purposes, each once. One query.

    A purpose stands for its published prompts, and for all of its prompts where the library has no
    published one: prompts that are added to it are used by their slugs.
    """
    known = list(Prompt.objects.filter(purpose__in=GUISES).order_by("slug"))
    by_name: dict[str, list[Prompt]] = {prompt.slug: [prompt] for prompt in known}
    for purpose in GUISES:
        own = [prompt for prompt in known if prompt.purpose == purpose]
        if own:
            by_name[purpose] = [one for one in own if one.slug in PUBLISHED] or own
    wanted = list(dict.fromkeys(names)) or [usual]
    require_known("prompts", "prompt about a speaker", wanted, by_name)
    chosen = {prompt.slug: prompt for name in wanted for prompt in by_name[name]}
    try:
        return [GuisePrompt(slug, one.text, one.purpose) for slug, one in chosen.items()]
    except StimuliError as error:
        raise RunError.at("prompts", str(error)) from error
