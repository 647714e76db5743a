"""How surprising it is to a language model that a group is mentioned (*ours*, methods.md §17).

Surprisal of a mention: −ln P(word | sentence) in nats, by the chain rule over its subwords. A
masked model reads the sentence on both sides, a causal one what comes before. Where a sentence
mentions the group more than once, the first mention counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import Field

from annotation.common.lazy import np, pd
from probing.lm.errors import LanguageModelError
from probing.lm.protocols import SlotContext, SlotModel, SlotTokenizer
from probing.measures.base import (
    SCORE_COLUMNS,
    Cost,
    Frames,
    Measure,
    MeasureParameters,
    Problem,
    ResultKind,
    ShardPlan,
    plan_stretches,
)
from probing.measures.classification import ALL_CLASSES
from probing.measures.probe_stimuli import ProbeStimuli, filler_name
from probing.measures.probe_templates import locate
from probing.measures.stimuli import StimuliError

SURPRISAL = "surprisal"
LONGEST_REASON = 200
#: Words of one context by (group, filler).
Mentions = dict[SlotContext, dict[tuple[str, str], str]]


class MentionParameters(MeasureParameters):
    """Parameters of the surprisal of mentions."""

    templates_per_shard: int = Field(
        25, ge=1, le=10_000, description="How many templates a worker reads at a time."
    )


class MentionSurprisal(Measure[ProbeStimuli, MentionParameters]):
    """−ln P of every word of every group in every template, and its mean over templates."""

    name = "mention_surprisal"
    title = "Surprisal of the mention of groups"
    citation = (
        "Ours, for the hypothesis of Kohankhaki et al. (2024), §1: templates state what usually "
        "goes without saying"
    )
    abilities = frozenset({"word_logprobs"})
    Parameters = MentionParameters
    stimuli_type = ProbeStimuli
    result = ResultKind.SURPRISALS

    def plan(
        self, stimuli: ProbeStimuli, parameters: MentionParameters, seed: int = 0
    ) -> list[ShardPlan]:
        """Return one shard for every stretch of templates."""
        return plan_stretches(len(stimuli.templates), parameters.templates_per_shard, "Templates")

    def problems(
        self, stimuli: ProbeStimuli, parameters: MentionParameters, lm: SlotTokenizer
    ) -> list[Problem]:
        """Name templates and words that cannot be put to this model; fatal where all are."""
        bad: dict[str, str] = {}
        good = 0
        for template in range(len(stimuli.templates)):
            for context, words in mentions(stimuli, template).items():
                for word in words.values():
                    try:
                        lm.slot_chain([context], [word])
                        good += 1
                    except LanguageModelError as error:
                        slug = stimuli.templates[template].slug
                        bad.setdefault(str(error), f"{slug} with “{word}”")
        found = [
            Problem(f"template {where}", f"{message} It is left out.", not good)
            for message, where in bad.items()
        ]
        if not (good or bad):
            found.append(Problem("groups", "No word mentions a group. Choose a lexicon.", True))
        return found

    def estimate(
        self, stimuli: ProbeStimuli, parameters: MentionParameters, lm: SlotTokenizer
    ) -> Cost:
        """Count the passes that all words need."""
        passes = tokens = 0
        for template in range(len(stimuli.templates)):
            for context, words in mentions(stimuli, template).items():
                try:
                    chain = lm.slot_chain([context], list(dict.fromkeys(words.values())))
                except LanguageModelError:
                    continue
                passes, tokens = passes + len(chain.states), tokens + chain.tokens
        return Cost(len(self.plan(stimuli, parameters)), passes, tokens)

    def compute(
        self,
        payload: Mapping[str, Any],
        stimuli: ProbeStimuli,
        parameters: MentionParameters,
        lm: SlotModel,
    ) -> pd.DataFrame:
        """Return a row for each group, word and template; NaN with a reason where none can be."""
        if set(payload) != {"start", "stop"}:
            raise StimuliError("A shard's payload is an object with a start and a stop.")
        places = range(len(stimuli.templates))[payload["start"] : payload["stop"]]
        if not places:
            raise StimuliError(f"There are {len(stimuli.templates):,} templates in these stimuli.")
        rows = [row for place in places for row in _surprisals(stimuli, place, lm)]
        return pd.DataFrame(rows, columns=["group", "filler", "template", "value", "reason"])

    def aggregate(
        self, stimuli: ProbeStimuli, parameters: MentionParameters, shard_frames: Frames
    ) -> pd.DataFrame:
        """Return the mean of every word over templates, and of every group over its words.

        Raises ValueError where rows are doubled or missing.
        """
        rows = pd.concat(shard_frames, ignore_index=True)
        keys = ["group", "filler", "template"]
        expected = {
            (group, filler, stimuli.templates[place].slug)
            for place in range(len(stimuli.templates))
            for words in mentions(stimuli, place).values()
            for group, filler in words
        }
        found = set(map(tuple, rows[keys].to_numpy()))
        if len(found) != len(rows) or found != expected:
            raise ValueError("mentions are missing or doubled among the shards")
        scores = []
        for group, of_group in rows.groupby("group", sort=False):
            words = []
            for filler, own in of_group.groupby("filler", sort=False):
                n, mean = int(own["value"].count()), float(own["value"].mean())
                reason = "" if n else str(own["reason"].iloc[0])
                words.append(mean)
                scores.append((SURPRISAL, group, ALL_CLASSES, filler, mean, reason, n))
            known = [value for value in words if not np.isnan(value)]
            mean = float(np.mean(known)) if known else np.nan
            reason = "" if known else str(of_group["reason"].iloc[0])
            scores.append((SURPRISAL, group, ALL_CLASSES, "", mean, reason, len(known)))
        return pd.DataFrame(scores, columns=list(SCORE_COLUMNS))


def mentions(stimuli: ProbeStimuli, template: int) -> Mentions:
    """Return what stands round each mention in a template, and the words that do there."""
    text = stimuli.templates[template].text
    found: Mentions = {}
    for group in stimuli.groups:
        for filler in group.fillers:
            located = locate(text, filler)
            if located is None or located.start == located.stop:
                continue
            sentence, start, stop = located
            context = SlotContext(sentence[:start], sentence[stop:])
            key = group.slug, filler_name(filler)
            found.setdefault(context, {})[key] = sentence[start:stop]
    return found


def _surprisals(
    stimuli: ProbeStimuli, template: int, lm: SlotModel
) -> Iterator[tuple[str, str, str, float, str]]:
    slug = stimuli.templates[template].slug
    for context, words in mentions(stimuli, template).items():
        distinct = list(dict.fromkeys(words.values()))
        values = _read(context, distinct, lm)
        for (group, filler), word in words.items():
            value, reason = values[word]
            yield group, filler, slug, value, reason


def _read(context: SlotContext, words: list[str], lm: SlotModel) -> dict[str, tuple[float, str]]:
    """Return every word's surprisal, or why it has none; word by word where one has none."""
    try:
        found = lm.word_logprobs([context], words)[0]
        return {word: (-float(value), "") for word, value in zip(words, found, strict=True)}
    except LanguageModelError as error:
        if len(words) == 1:
            return {words[0]: (float("nan"), str(error)[:LONGEST_REASON])}
    return {word: one for word in words for one in _read(context, [word], lm).values()}
