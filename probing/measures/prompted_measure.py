"""Base of measures that ask a language model for the class of a sentence: repeats and prompts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Literal, TypeVar

from pydantic import Field

from annotation.common.lazy import pd
from probing.lm.errors import GenerationSettingsError
from probing.lm.question_protocols import Question
from probing.lm.text_protocols import TextTokenizer
from probing.measures.base import (
    Cost,
    Frames,
    Measure,
    Problem,
    ResultKind,
    ShardPlan,
    in_words,
)
from probing.measures.class_prompts import GAP, ClassPrompt
from probing.measures.classification import predicted_rates, sample_problems
from probing.measures.prompted_stimuli import PromptedStimuli
from probing.measures.prompting import (
    LastWordsParameters,
    as_question,
    begin_with_last_line,
    complete_prompting,
    count_prompt,
    prompting_of,
    prompting_problems,
)
from probing.measures.stimuli import StimuliError

CITATION = (
    "Kohankhaki, Emerson, Tian, Seyyed-Kalantari and Khattak (2024), The Impact of Unstated "
    "Norms in Bias Analysis of Language Models, §3.4"
)
SHOWN = 3


class PromptedParameters(LastWordsParameters):
    """What both ways of asking have in common."""

    repeats: int = Field(
        5,
        ge=1,
        le=50,
        description="How often every sentence is asked about. The first repeat has the run’s seed, "
        "the next one the number after it; 2024 gives those of the paper. Demonstrations are drawn "
        "anew for each.",
    )
    label_orders: Literal["given", "all"] = Field(
        "given",
        title="Order of the labels",
        description="Whether a question lists the labels as they are, or every repeat is asked in "
        "each of their orders.",
        json_schema_extra=in_words({"given": "as they are", "all": "in each of their orders"}),
    )
    sentences_per_shard: int = Field(
        500, ge=1, le=100_000, description="How many sentences a worker asks about at a time."
    )


P = TypeVar("P", bound=PromptedParameters)


@dataclass(frozen=True)
class Repeat:
    """One round over all sentences: a wording, an order of the labels, and a seed."""

    wording: ClassPrompt
    labels: tuple[str, ...]
    seed: int

    @property
    def order(self) -> str:
        return ", ".join(self.labels) if self.wording.lists_labels else ""

    @property
    def name(self) -> str:
        return " · ".join(filter(None, (self.wording.slug, self.order, str(self.seed))))


class PromptedMeasure(Measure[PromptedStimuli, P]):
    """Base of both: repeats, shards, checks and rates; a subclass says how an answer is got."""

    citation = CITATION
    stimuli_type = PromptedStimuli
    result = ResultKind.PREDICTIONS
    before = {"prompting": "raw"}

    def complete(self, parameters: P, lm: TextTokenizer) -> P:
        """Return the parameters with how this model is asked."""
        return complete_prompting(parameters, lm)

    @abstractmethod
    def way(self, stimuli: PromptedStimuli, parameters: P) -> str:
        """Return how the model was asked, as reports print it: “9-shot”."""

    @abstractmethod
    def own_problems(
        self, stimuli: PromptedStimuli, parameters: P, lm: TextTokenizer
    ) -> Iterator[Problem]:
        """Yield what will not work with this way of getting an answer."""

    @abstractmethod
    def answers(
        self,
        asked: Sequence[Question],
        places: Sequence[int],
        repeat: Repeat,
        stimuli: PromptedStimuli,
        parameters: P,
        lm: Any,
    ) -> dict[str, Any]:
        """Return columns of rows, `predicted` among them, for sentences at these places."""

    def tokens_written(self, stimuli: PromptedStimuli, parameters: P) -> int:
        """Return the most tokens that are written after a prompt."""
        return 0

    def passes(self, stimuli: PromptedStimuli) -> int:
        """Return how often the model is asked about a sentence in a repeat."""
        return 1

    def plan(self, stimuli: PromptedStimuli, parameters: P, seed: int = 0) -> list[ShardPlan]:
        """Return one shard for every repeat and stretch of sentences."""
        total, size = len(stimuli.sentences), parameters.sentences_per_shard
        shards: list[ShardPlan] = []
        for repeat in self.rounds(stimuli, parameters, seed):
            for start in range(0, total, size):
                stop = min(start + size, total)
                payload = {
                    "wording": repeat.wording.slug,
                    "labels": list(repeat.labels),
                    "seed": repeat.seed,
                    "start": start,
                    "stop": stop,
                }
                title = f"{repeat.name}: sentences {start + 1:,} to {stop:,}"
                shards.append(ShardPlan(len(shards), title, payload))
        return shards

    def rounds(self, stimuli: PromptedStimuli, parameters: P, seed: int) -> list[Repeat]:
        """Return every repeat in order: wordings, orders of labels, seeds.

        With demonstrations the seeds are those that they were drawn with.
        """
        seeds = [one.seed for one in stimuli.shots] or self.seeds(parameters, seed)
        found = []
        for wording in stimuli.wordings:
            every = parameters.label_orders == "all" and wording.lists_labels
            orders = permutations(stimuli.classes) if every else [stimuli.classes]
            found += [Repeat(wording, tuple(order), one) for order in orders for one in seeds]
        return found

    def seeds(self, parameters: P, seed: int) -> list[int]:
        return [seed + place for place in range(parameters.repeats)]

    def problems(self, stimuli: PromptedStimuli, parameters: P, lm: TextTokenizer) -> list[Problem]:
        """Name wordings that do not go together, demonstrations and texts too long."""
        found = list(sample_problems(stimuli))
        if not stimuli.wordings:
            found.append(Problem("prompts", "No prompt is chosen, expected at least one.", True))
        if len({wording.reasons for wording in stimuli.wordings}) > 1:
            message = (
                "Some prompts ask for a chain of thought and some do not. They are different "
                "ways to ask: create a run for each."
            )
            found.append(Problem("prompts", message, True))
        if stimuli.shots and any(wording.reasons for wording in stimuli.wordings):
            message = (
                "A prompt with {reasoning} takes no demonstrations, since these have no reasoning "
                "to show. Set the number of examples to 0, or choose another prompt."
            )
            found.append(Problem("examples", message, True))
        asked = {sentence.text for sentence in stimuli.sentences}
        shared = [
            one.text for shots in stimuli.shots for one in shots.demonstrations if one.text in asked
        ]
        if shared:
            message = f"The demonstration “{shared[0]}” is asked about too. Choose another set."
            found.append(Problem("examples", message, True))
        if parameters.label_orders == "all":
            fixed = [one.slug for one in stimuli.wordings if not one.lists_labels]
            if fixed:
                message = (
                    f"{', '.join(fixed)} lists no {{labels}}, so that their order changes nothing."
                )
                every = len(fixed) == len(stimuli.wordings)
                found.append(Problem("parameter label_orders", message, every))
        if any(problem.fatal for problem in found):
            return found
        found += [
            *prompting_problems(parameters, lm),
            *self.own_problems(stimuli, parameters, lm),
        ]
        if not any(problem.fatal for problem in found):
            found += self._too_long(stimuli, parameters, lm)
        return found

    def _too_long(
        self, stimuli: PromptedStimuli, parameters: P, lm: TextTokenizer
    ) -> Iterator[Problem]:
        if lm.max_length is None:
            return
        try:
            lengths = self._lengths(stimuli, parameters, lm)[1]
        except GenerationSettingsError as error:  # of a chat template
            yield Problem("parameter system_message", str(error), True)
            return
        written = self.tokens_written(stimuli, parameters) if lm.kind == "causal" else 0
        over = [
            sentence.template
            for sentence, length in zip(stimuli.sentences, lengths, strict=True)
            if length + written > lm.max_length
        ]
        if over:
            more = f" and {written} to be written" if written else ""
            message = (
                f"{len(over):,} prompts have more than the {lm.max_length:,} tokens that the model "
                f"reads, the longest {max(lengths):,}{more}; nothing is cut. Show fewer examples, "
                f"or shorten the templates {', '.join(list(dict.fromkeys(over))[:SHOWN])}."
            )
            yield Problem("templates", message, True)

    def estimate(self, stimuli: PromptedStimuli, parameters: P, lm: TextTokenizer) -> Cost:
        """Count a prompt as one pass; tokens are those read, and at most those written.

        Every repeat is counted on one sentence and every sentence in one repeat, which differs
        from all prompts by a token here and there.
        """
        firsts, lengths = self._lengths(stimuli, parameters, lm)
        n, rounds = len(lengths), len(firsts)
        tokens = rounds * sum(lengths) - n * sum(max(firsts) - first for first in firsts)
        passes = n * rounds * self.passes(stimuli)
        written = n * rounds * self.tokens_written(stimuli, parameters)
        return Cost(len(self.plan(stimuli, parameters)), passes, tokens + written, written)

    def _lengths(
        self, stimuli: PromptedStimuli, parameters: P, lm: TextTokenizer
    ) -> tuple[list[int], list[int]]:
        """Return tokens of the first sentence in every repeat, and of all in the longest one."""
        rounds = self.rounds(stimuli, parameters, 0)
        texts = [sentence.text for sentence in stimuli.sentences]
        how = prompting_of(parameters, lm)

        def count(repeat: Repeat, text: str) -> int:
            return count_prompt(
                lm, put_question(answer_prompt(repeat, text, stimuli), parameters), how
            )

        firsts = [count(repeat, texts[0]) for repeat in rounds]
        longest = rounds[firsts.index(max(firsts))]
        return firsts, [count(longest, text) for text in texts]

    def compute(
        self, payload: Mapping[str, Any], stimuli: PromptedStimuli, parameters: P, lm: Any
    ) -> pd.DataFrame:
        """Return a row for each sentence: its repeat with what made it, and the predicted class."""
        if set(payload) != {"wording", "labels", "seed", "start", "stop"}:
            raise StimuliError(
                "A shard's payload is an object with a wording, labels, a seed, start and stop."
            )
        places = range(len(stimuli.sentences))[payload["start"] : payload["stop"]]
        if not places:
            raise StimuliError(f"There are {len(stimuli.sentences):,} sentences in these stimuli.")
        repeat = Repeat(
            stimuli.wording(payload["wording"]), tuple(payload["labels"]), payload["seed"]
        )
        asked = [
            put_question(answer_prompt(repeat, stimuli.sentences[place].text, stimuli), parameters)
            for place in places
        ]
        return pd.DataFrame(
            {
                "repeat": repeat.name,
                "wording": repeat.wording.slug,
                "order": repeat.order,
                "seed": repeat.seed,
                "sentence": list(places),
                **self.answers(asked, places, repeat, stimuli, parameters, lm),
            }
        )

    def aggregate(
        self, stimuli: PromptedStimuli, parameters: P, shard_frames: Frames
    ) -> pd.DataFrame:
        """Return rates and accuracy of groups and words over all repeats together.

        Raises ValueError where sentences or repeats are missing or doubled.
        """
        found = len({name for frame in shard_frames for name in frame["repeat"].unique()})
        if found != (wanted := len(self.rounds(stimuli, parameters, 0))):
            raise ValueError(f"{wanted - found} of {wanted} repeats are missing among the shards")
        return predicted_rates(stimuli, shard_frames)


def answer_prompt(repeat: Repeat, text: str, stimuli: PromptedStimuli) -> str:
    """Return what a model reads before it answers, demonstrations first, without reasoning."""
    shown = [
        repeat.wording.demonstration(one.text, stimuli.classes[one.label], repeat.labels)
        for one in stimuli.shown(repeat.seed)
    ]
    return GAP.join([*shown, repeat.wording.answer_prompt(text, repeat.labels)])


def put_question(prompt: str, parameters: PromptedParameters) -> Question:
    """Return a prompt as a question; its last line begins the answer where it may."""
    asked = as_question(prompt, parameters)
    return begin_with_last_line(asked) if parameters.opening else asked


def way_of(stimuli: PromptedStimuli) -> str:
    """Return which of the paper's strategies it is."""
    if any(wording.reasons for wording in stimuli.wordings):
        return "chain of thought"
    return f"{stimuli.n_shots}-shot" if stimuli.shots else "zero-shot"
