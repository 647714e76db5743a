"""Direct ratings: a model answers a study's own question on its own scale from 0 to 100.

Ours. A chat or instruct model is asked what people were asked, about one group and one scale in a
chat of its own, many times, with the words' sides and the order in which the ends are named
counterbalanced. Its rating is the expected value of the numbers where their probabilities are
told, and else the mean of drawn answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field, field_validator

from annotation.common.lazy import pd
from probing.lm.errors import ContextTooLongError, GenerationSettingsError
from probing.lm.question_protocols import AnsweringModel, Question
from probing.lm.text_protocols import GenerationSettings
from probing.measures.base import (
    Cost,
    Frames,
    Measure,
    Problem,
    ShardPlan,
    in_words,
)
from probing.measures.number_evidence import HIGHEST, LOWEST, NUMBERS
from probing.measures.prompting import (
    OpenedParameters,
    ThinkingParameters,
    complete_prompting,
    prompting_problems,
)
from probing.measures.rating_aggregation import aggregate_ratings, remarks_on_ratings
from probing.measures.rating_readings import read_group
from probing.measures.rating_stimuli import RatingStimuli
from probing.measures.rating_wordings import WORDINGS, Wording
from probing.measures.served_access import access_problems
from probing.measures.stimuli import Group, Trait
from probing.measures.text_measure import LONGEST_REASON

#: Where each end of the scale is named in `scale_text`.
_ENDS = ("{first_number}", "{first_word}", "{second_number}", "{second_word}")


class DirectRatingParameters(OpenedParameters, ThinkingParameters):
    """Parameters of direct ratings."""

    answers: int = Field(
        8,
        ge=1,
        le=1000,
        title="Answers for each group and scale",
        description="How often a model is asked. The four wordings (either word at 0, either end "
        "named first) take turns, in an order drawn with the seed. Where log-probabilities tell "
        "the expected value, each wording is asked once.",
    )
    reading: Literal["expected", "answers"] = Field(
        "expected",
        title="How a rating is read",
        description="As the expected value of the numbers from 0 to 100 where the model or its "
        "server tells their probabilities, and from drawn answers elsewhere (expected), or always "
        "from drawn answers (answers).",
        json_schema_extra=in_words({"expected": "expected value", "answers": "drawn answers"}),
    )
    other_scales: Literal["unread", "rescaled"] = Field(
        "unread",
        title="Answers on another scale",
        description="What becomes of answers such as “7 out of 10”: they count as unreadable, and "
        "what they come to is stored beside them (unread), or they count as that, 70 (rescaled).",
        json_schema_extra=in_words({"unread": "unreadable", "rescaled": "multiplied to 100"}),
    )
    temperature: float = Field(
        1.0,
        ge=0,
        le=2,
        description="Of drawn answers; 1 draws from the model's own distribution, 0 takes the "
        "likeliest token each time.",
    )
    max_new_tokens: int = Field(
        16,
        ge=1,
        le=8192,
        title="Most tokens of an answer",
        description="Models that reason before they answer need many more.",
    )
    least_mass: float = Field(
        0.01,
        ge=0,
        le=1,
        title="Least probability of a number",
        description="Where less probability than this lies on the numbers, there is no expected "
        "value.",
    )
    scale_text: str = Field(
        "On a scale from 0 to 100, {first_number} means “{first_word}” and {second_number} means "
        "“{second_word}”.",
        max_length=1000,
        title="The scale in words",
        description="Follows the study's question. {first_number}, {first_word}, {second_number} "
        "and {second_word} stand for the two ends in the order in which they are named.",
    )
    answer_text: str = Field(
        "Answer with one whole number from 0 to 100 and nothing else.",
        max_length=1000,
        title="How to answer",
        description="Ends every question.",
    )
    groups_per_shard: int = Field(
        1,
        ge=1,
        le=1000,
        description="How many groups one unit of work covers. The ratings do not depend on it.",
    )

    @field_validator("scale_text")
    @classmethod
    def _names_both_ends(cls, text: str) -> str:
        if missing := [end for end in _ENDS if end not in text]:
            raise ValueError(f"expected a text with {', '.join(missing)}")
        return text

    @field_validator("answer_text")
    @classmethod
    def _says_something(cls, text: str) -> str:
        if not text.strip():
            raise ValueError("expected a text such as “Answer with one whole number.”")
        return text

    @property
    def n_wordings(self) -> int:
        """How many of the four wordings are asked."""
        return min(len(WORDINGS), self.answers)

    @property
    def settings(self) -> GenerationSettings:
        return GenerationSettings(self.max_new_tokens, self.temperature)


class DirectRating(Measure[RatingStimuli, DirectRatingParameters]):
    """What a model answers when it is asked what people were asked."""

    name = "direct_rating"
    title = "Direct rating"
    citation = (
        "Ours, with the question and the groups of a study; scale and counterbalancing after Cao, "
        "Sotnikova, Daumé III, Rudinger and Zou (2022), §4"
    )
    abilities = frozenset({"answer"})
    Parameters = DirectRatingParameters

    def complete(
        self, parameters: DirectRatingParameters, lm: AnsweringModel
    ) -> DirectRatingParameters:
        """Return the parameters with how this model is asked."""
        return complete_prompting(parameters, lm)

    stimuli_type = RatingStimuli

    def plan(
        self, stimuli: RatingStimuli, parameters: DirectRatingParameters, seed: int = 0
    ) -> list[ShardPlan]:
        """Return a shard for each chunk of groups; draws derive from the seed in its payload."""
        size = parameters.groups_per_shard
        chunks = [stimuli.groups[i : i + size] for i in range(0, len(stimuli.groups), size)]
        return [
            ShardPlan(
                index=index,
                title=" … ".join(dict.fromkeys((chunk[0].plural, chunk[-1].plural)))[:200],
                payload={"groups": [group.slug for group in chunk], "seed": seed},
            )
            for index, chunk in enumerate(chunks)
        ]

    def problems(
        self, stimuli: RatingStimuli, parameters: DirectRatingParameters, lm: AnsweringModel
    ) -> list[Problem]:
        """Put every question to the tokenizer, and say what a reader should know."""
        found = []
        if parameters.answers % len(WORDINGS) and (
            parameters.reading == "answers" or lm.kind == "chat" or parameters.answers < 4
        ):
            message = (
                f"{parameters.answers} answers are no multiple of {len(WORDINGS)}, so that some "
                "wordings are asked more often than others; their means count alike."
            )
            found.append(Problem("parameter answers", message, False))
        if parameters.temperature == 0 and parameters.reading == "answers":
            message = "At temperature 0 a model answers the same every time; raise it to draw."
            found.append(Problem("parameter temperature", message, False))
        if not stimuli.language.startswith("en") and self._has_english_texts(parameters):
            message = (
                f"The study is in “{stimuli.language}”, but scale_text and answer_text are the "
                "English ones. Translate them."
            )
            found.append(Problem("parameter scale_text", message, False))
        found += prompting_problems(parameters, lm, plain=True)
        if parameters.thinking_tokens and parameters.reading == "expected" and lm.kind != "chat":
            message = (
                "The expected value is read where the answer begins, before any reasoning. Set "
                "reading to “answers”, or thinking_tokens to 0."
            )
            found.append(Problem("parameter thinking_tokens", message, True))
        if any(problem.fatal for problem in found):
            return found
        if lm.kind == "chat":
            found += access_problems(
                lm, completions=False, least="sampled", opening=bool(parameters.opening)
            )
        return [*found, *_local_problems(stimuli, parameters, lm)]

    def estimate(
        self, stimuli: RatingStimuli, parameters: DirectRatingParameters, lm: AnsweringModel
    ) -> Cost:
        """Count every answer as one pass or request, at most; tokens read, and at most written.

        Expected values of a local model take a pass for every beginning that numbers share.
        """
        times, written = parameters.answers, parameters.max_new_tokens + parameters.thinking_tokens
        if lm.kind != "chat" and parameters.reading == "expected":
            from probing.lm.end_words import plan_words

            first = self.question(
                stimuli, stimuli.groups[0], stimuli.traits[0], WORDINGS[0], parameters
            )
            encode: Any = lm.encode_answers  # type: ignore[attr-defined] # of a local tokenizer
            pieces = encode(first, NUMBERS)
            times, written = parameters.n_wordings * len(plan_words(pieces, masks=False)), 0
        shown = [
            lm.count_tokens(self.question(stimuli, group, trait, WORDINGS[0], parameters).user)
            for group in stimuli.groups
            for trait in stimuli.traits
        ]
        shared = (
            lm.count_tokens(parameters.system_message or "") if parameters.system_message else 0
        )
        return Cost(
            shards=len(self.plan(stimuli, parameters)),
            forward_passes=times * len(shown),
            tokens=times * (sum(shown) + len(shown) * (shared + written)),
            written=times * len(shown) * written,
        )

    def compute(
        self,
        payload: Mapping[str, Any],
        stimuli: RatingStimuli,
        parameters: DirectRatingParameters,
        lm: AnsweringModel,
    ) -> pd.DataFrame:
        """Return a row for every reading; see :mod:`probing.measures.rating_readings`."""
        groups = [stimuli.group(slug) for slug in payload["groups"]]
        return read_group(self, groups, stimuli, parameters, lm, seed=payload["seed"])

    def aggregate(
        self, stimuli: RatingStimuli, parameters: DirectRatingParameters, shard_frames: Frames
    ) -> pd.DataFrame:
        """Return ratings, pair scores (rating − 50) by wording and over wordings, and outcomes.

        Names: ``pair_score``; ``rating`` from 0 to 100 in the scale's own direction, with
        ``rating_low`` and ``rating_high`` (bounds for missing probability), ``rating_se`` (of the
        mean of drawn answers) and ``wording_sd``; ``refused``, ``unreadable`` and ``cut_off``,
        shares of what was asked, for each group (trait "") with an interval and a test. n counts
        readings; for ``wording_sd`` wordings.
        """
        return aggregate_ratings(stimuli, parameters, shard_frames)

    def remarks(
        self, stimuli: RatingStimuli, parameters: DirectRatingParameters, shard_frames: Frames
    ) -> list[str]:
        """Say how ratings were obtained, and how many answers gave no number, and why."""
        return remarks_on_ratings(stimuli, parameters, shard_frames)

    @staticmethod
    def question(
        stimuli: RatingStimuli,
        group: Group,
        trait: Trait,
        wording: Wording,
        parameters: DirectRatingParameters,
    ) -> Question:
        """Return what a model is asked about a group on a scale."""
        left, right = (trait.low, trait.high) if wording.low_at_zero else (trait.high, trait.low)
        ends = [(str(LOWEST), left), (str(HIGHEST), right)]
        named = ends if wording.zero_first else ends[::-1]
        scale = parameters.scale_text
        for slot, text in zip(_ENDS, (*named[0], *named[1]), strict=True):
            scale = scale.replace(slot, text)
        text = f"{stimuli.ask(group, left, right)}\n\n{scale}\n{parameters.answer_text}"
        return Question(
            text,
            parameters.system_message or "",
            parameters.opening or "",
            thinking=parameters.thinking_tokens if parameters.prompting != "raw" else 0,
            raw=parameters.prompting == "raw",
        )

    @staticmethod
    def _has_english_texts(parameters: DirectRatingParameters) -> bool:
        fields = DirectRatingParameters.model_fields
        return any(
            getattr(parameters, name) == fields[name].default
            for name in ("scale_text", "answer_text")
        )


def _local_problems(
    stimuli: RatingStimuli, parameters: DirectRatingParameters, lm: AnsweringModel
) -> list[Problem]:
    """Return what a local model's tokenizer says; of a served one nobody knows beforehand."""
    encode = getattr(lm, "encode_question", None)
    if encode is None:
        return []
    found = []
    if not getattr(lm, "has_chat_template", True):
        message = (
            "Its tokenizer has no chat template, so it is asked in plain text. Models that were "
            "not trained to answer continue a text instead."
        )
        found.append(Problem("model", message, False))
    written = parameters.max_new_tokens + parameters.thinking_tokens
    written = 0 if parameters.reading == "expected" else written
    too_long: Sequence[str] = ()
    for group in stimuli.groups:
        for trait in stimuli.traits:
            for wording in WORDINGS:
                asked = DirectRating.question(stimuli, group, trait, wording, parameters)
                try:
                    encode(asked, written=written)
                except GenerationSettingsError as error:
                    return [*found, Problem("parameters", str(error), True)]
                except ContextTooLongError as error:
                    too_long = too_long or [str(error)[:LONGEST_REASON]]
    return [*found, *(Problem("study", message, True) for message in too_long)]
