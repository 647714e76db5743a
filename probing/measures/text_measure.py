"""Base of measures of texts: shards of pairs, seeds of single texts, texts that do not fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from probing.lm.errors import ContextTooLongError
from probing.lm.text_protocols import TextTokenizer
from probing.measures.base import Measure, MeasureParameters, Problem, ShardPlan
from probing.measures.stimuli import StimuliError
from probing.measures.text_stimuli import PairStimulus, TextStimuli, TextStimulus

P = TypeVar("P", bound=MeasureParameters)
Q = TypeVar("Q")
R = TypeVar("R")

LONGEST_REASON = 200
NAMED_TEXTS = 8


class TextMeasure(Measure[TextStimuli, P]):
    """A measure whose stimuli are pairs of texts."""

    stimuli_type = TextStimuli
    #: Whether the model is asked in words, so that a prompt has to be chosen.
    uses_prompts: ClassVar[bool] = True
    #: Whether examples of the training split may come before each text.
    takes_examples: ClassVar[bool] = False


def varieties(stimuli: TextStimuli) -> tuple[str, str]:
    """Return the source and the target variety."""
    return stimuli.source_variety, stimuli.target_variety


def directions(stimuli: TextStimuli, chosen: str) -> list[str]:
    """Return the varieties that texts are rewritten in: to_target, to_source, or both."""
    target, source = stimuli.target_variety, stimuli.source_variety
    return {"to_target": [target], "to_source": [source]}.get(chosen, [target, source])


def text_of(pair: PairStimulus, variety: str, stimuli: TextStimuli) -> TextStimulus:
    """Return the pair's text in `variety`."""
    if variety == stimuli.source_variety:
        return pair.source
    if variety == stimuli.target_variety:
        return pair.target
    raise StimuliError(
        f"The pairs are in {' and '.join(varieties(stimuli))}, none of them in '{variety}'."
    )


def chunks(entries: Sequence[R], size: int) -> list[Sequence[R]]:
    """Cut `entries` into runs of `size`, the last one shorter."""
    return [entries[begin : begin + size] for begin in range(0, len(entries), size)]


def shard_pairs(payload: Mapping[str, Any], stimuli: TextStimuli) -> list[PairStimulus]:
    """Return the pairs that a payload names; :class:`StimuliError` where it names none."""
    if not payload.get("pairs"):
        raise StimuliError("A shard's payload names its pairs.")
    return [stimuli.pair(slug) for slug in payload["pairs"]]


def all_texts(stimuli: TextStimuli) -> list[tuple[PairStimulus, str]]:
    """Return every pair with each of its varieties."""
    return [(pair, variety) for pair in stimuli.pairs for variety in varieties(stimuli)]


def plan_pairs(stimuli: TextStimuli, size: int, what: str, **payload: Any) -> list[ShardPlan]:
    """Return a shard for every `size` pairs, with what else its payload holds."""
    slugs = [pair.slug for pair in stimuli.pairs]
    return [
        ShardPlan(index, shard_title(chunk, what), {"pairs": list(chunk), **payload})
        for index, chunk in enumerate(chunks(slugs, size))
    ]


def shard_title(pairs: Sequence[str], what: str) -> str:
    """Return how a shard is called, by its first and last pair."""
    names = pairs[0] if len(pairs) == 1 else f"{pairs[0]} … {pairs[-1]}"
    return f"{what}: {names}"[:LONGEST_REASON]


def one_by_one_where_too_long(
    call: Callable[[Sequence[Q]], Sequence[R]], entries: Sequence[Q]
) -> list[R | str]:
    """Return ``call(entries)``, with the reason in the place of every entry that does not fit.

    Nothing is cut: where the whole does not fit, each entry is tried by itself.
    """
    if not entries:
        return []
    try:
        return list(call(entries))
    except ContextTooLongError as error:
        if len(entries) == 1:
            return [shorten(str(error))]
    found: list[R | str] = []
    for entry in entries:
        found += one_by_one_where_too_long(call, [entry])
    return found


def too_long(length: int, limit: int | None, *, new: int = 0) -> str:
    """Return why `length` tokens with `new` ones do not fit, or an empty text where they do."""
    if limit is None or length + new <= limit:
        return ""
    written = f" and {new} to be written" if new else ""
    return f"too long: {length} tokens{written}, but the model reads {limit}"


def text_problems(stimuli: TextStimuli) -> list[Problem]:
    """Return what is wrong with the pairs whatever the measure."""
    found = []
    if not stimuli.pairs:
        found.append(Problem("corpus", "No pair of texts is chosen, expected at least one.", True))
    evaluated = {text.body for pair in stimuli.pairs for text in (pair.source, pair.target)}
    shared = [
        pair.slug
        for pair in stimuli.examples
        if pair.source.body in evaluated or pair.target.body in evaluated
    ]
    if shared:
        message = (
            f"The training pair '{shared[0]}' has a text that is evaluated too. Training texts "
            "are never evaluated: take it out of one of the two splits."
        )
        found.append(Problem("examples", message, True))
    return found


def text_lengths(stimuli: TextStimuli, lm: TextTokenizer) -> list[int]:
    """Return the tokens of every text, in the order of `all_texts`."""
    return [
        lm.count_tokens(text_of(pair, variety, stimuli).body)
        for pair, variety in all_texts(stimuli)
    ]


def unread_texts(stimuli: TextStimuli, lm: TextTokenizer) -> list[Problem]:
    """Return the remark on texts that are too long to get a score."""
    named = [f"{pair.slug} ({variety})" for pair, variety in all_texts(stimuli)]
    lengths = text_lengths(stimuli, lm)
    longer = [
        n for n, length in zip(named, lengths, strict=True) if too_long(length, lm.max_length)
    ]
    return length_problem(longer, len(named), "score")


def length_problem(too_long_texts: Sequence[str], number: int, what: str) -> list[Problem]:
    """Return the remark on texts that do not fit; fatal where none does."""
    if not too_long_texts:
        return []
    named = ", ".join(too_long_texts[:NAMED_TEXTS])
    more = len(too_long_texts) - NAMED_TEXTS
    return [
        Problem(
            "corpus",
            f"{len(too_long_texts)} of {number} texts are longer than the model can read and get "
            f"no {what}; nothing is cut: {named}{f' and {more} more' if more > 0 else ''}.",
            len(too_long_texts) == number,
        )
    ]


def shorten(text: str) -> str:
    """Return `text` on one line, as long as a reason may be."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_REASON else line[: LONGEST_REASON - 1] + "…"
