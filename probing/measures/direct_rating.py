"""Direct ratings: a model answers a study's own question on its own scale from 0 to 100.

Ours. A chat or instruct model is asked what people were asked, about one group and one scale in a
chat of its own, many times, with the words' sides and the order in which the ends are named
counterbalanced. Its rating is the expected value of the numbers where their probabilities are
told, and else the mean of drawn answers.

Columns: group, trait, wording, repeat; access; expected, low, high (from 0 to 100 in the scale's
own direction, NaN where not told) and mass; drawn (NaN where no answer was drawn or read), outcome,
why (no number was read), rescaled (what an answer on another scale comes to), reasoning (tokens),
thought (its text), and text (the answer).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field, field_validator

from annotation.common.holm import holm_correction
from annotation.common.lazy import np, pd, stats
from annotation.common.proportions import estimate_proportion
from probing.lm.errors import ContextTooLongError, GenerationSettingsError
from probing.lm.question_protocols import Access, Answer, AnsweringModel, Question
from probing.lm.text_protocols import GenerationSettings
from probing.measures.answer_reading import RESCALED, keepable, read_rating, said_rows
from probing.measures.base import SCORE_COLUMNS, Cost, Frames, Measure, Problem, ShardPlan, in_words
from probing.measures.number_evidence import (
    HIGHEST,
    LOWEST,
    ExpectedNumber,
    expected_from_all,
    expected_from_top,
    told_numbers,
)
from probing.measures.prompting import (
    OpenedParameters,
    ThinkingParameters,
    complete_prompting,
    prompting_problems,
)
from probing.measures.rating_stimuli import RatingStimuli
from probing.measures.rating_wordings import WORDINGS, Wording
from probing.measures.served_access import access_problems
from probing.measures.stimuli import Group, Trait
from probing.measures.streams import named_seed, named_stream
from probing.measures.text_measure import LONGEST_REASON

# --- Asks a model for direct ratings: one row for every reading -----------------------------------

#: As many likeliest tokens as OpenAI's protocol tells.
MOST_TOP = 20
_UNKNOWN = ExpectedNumber(math.nan, math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class Ask:
    """One question: a group, a scale, and how it is put."""

    group: Group
    trait: Trait
    wording: Wording
    repeat: int


def plan_asks(
    groups: Sequence[Group],
    traits: Sequence[Trait],
    wordings: Sequence[Wording],
    answers: int,
    seed: int,
) -> list[Ask]:
    """Return every question; the wordings take turns in an order drawn for each cell."""
    found = []
    for group in groups:
        for trait in traits:
            order = named_stream(seed, "wordings", group.slug, trait.slug).permutation(4)
            found += [
                Ask(group, trait, wordings[order[repeat % 4]], repeat) for repeat in range(answers)
            ]
    return found


def read_group(
    measure: DirectRating,
    groups: Sequence[Group],
    stimuli: RatingStimuli,
    parameters: DirectRatingParameters,
    lm: Any,
    *,
    seed: int,
) -> pd.DataFrame:
    """Return the readings of some groups on all scales."""
    asks = plan_asks(groups, stimuli.traits, WORDINGS, parameters.answers, seed)
    questions = {
        ask: measure.question(stimuli, ask.group, ask.trait, ask.wording, parameters)
        for ask in asks
    }
    first = [ask for ask in asks if ask.repeat < parameters.n_wordings]
    wants_expected = parameters.reading == "expected"
    rescale = parameters.other_scales == "rescaled"
    if wants_expected and lm.kind != "chat":
        asked = [questions[ask] for ask in first]
        told = lm.answer_logprobs(asked, told_numbers(lm.tokenizer, asked[0]))
        rows = [
            _reading_row(ask, "full", expected_from_all(values), None)
            for ask, values in zip(first, told, strict=True)
        ]
        return pd.DataFrame(rows)

    def draw(some: Sequence[Ask], top: int) -> list[Answer]:
        answers: list[Answer] = lm.answer(
            [questions[ask] for ask in some],
            parameters.settings,
            seeds=[
                named_seed(seed, "answer", ask.group.slug, ask.trait.slug, ask.repeat)
                for ask in some
            ],
            top=top,
        )
        return answers

    if not wants_expected:
        return pd.DataFrame(
            _reading_row(ask, "sampled", _UNKNOWN, answer, rescale=rescale)
            for ask, answer in zip(asks, draw(asks, 0), strict=True)
        )
    answers = draw(first, MOST_TOP)
    expected = [expected_from_top(answer) for answer in answers]
    if any(one is not None for one in expected):
        nothing = ExpectedNumber(math.nan, math.nan, math.nan, 0.0)
        return pd.DataFrame(
            _reading_row(ask, "top_k", one or nothing, answer, rescale=rescale)
            for ask, one, answer in zip(first, expected, answers, strict=True)
        )
    later = [ask for ask in asks if ask.repeat >= parameters.n_wordings]
    answers += draw(later, 0)
    return pd.DataFrame(
        _reading_row(ask, "sampled", _UNKNOWN, answer, rescale=rescale)
        for ask, answer in zip([*first, *later], answers, strict=True)
    )


def _reading_row(
    ask: Ask,
    access: Access,
    expected: ExpectedNumber,
    answer: Answer | None,
    *,
    rescale: bool = False,
) -> dict[str, Any]:
    read = None if answer is None else read_rating(answer, rescale=rescale)
    number, rescaled = (read.value, read.rescaled) if read else (None, None)
    turned = not ask.wording.low_at_zero
    low, high = (expected.high, expected.low) if turned else (expected.low, expected.high)

    def in_own_direction(value: float) -> float:
        return HIGHEST - value if turned else value

    return {
        "group": ask.group.slug,
        "trait": ask.trait.slug,
        "wording": ask.wording.slug,
        "repeat": ask.repeat,
        "access": access,
        "expected": in_own_direction(expected.value),
        "low": in_own_direction(low),
        "high": in_own_direction(high),
        "mass": expected.mass,
        "drawn": math.nan if number is None else in_own_direction(number),
        "outcome": read.outcome if read else "",
        "why": read.why if read else "",
        "rescaled": math.nan if rescaled is None else in_own_direction(rescaled),
        "reasoning": 0 if answer is None else answer.reasoning,
        "thought": "" if answer is None else keepable(answer.thought),
        "text": "" if answer is None else keepable(answer.text),
    }


# --- From the readings of direct ratings to scores ------------------------------------------------

PAIR_SCORE, RATING = "pair_score", "rating"
#: A rating here leans to neither word, as a pair score of 0 does.
MIDDLE = 50.0
_CELL = ["group", "trait"]
#: What answers without a number ended as.
_OUTCOMES = {
    "refused": "were refused",
    "unreadable": "could not be read",
    "cut_off": "were cut off",
}
_ADVICE = {"cut_off": " Raise max_new_tokens."}


def aggregate_ratings(
    stimuli: RatingStimuli, parameters: DirectRatingParameters, frames: Frames
) -> pd.DataFrame:
    """Return the scores, with the access tier of each in a column ``access``.

    Raises ValueError where readings are missing or doubled.
    """
    readings, access = _readings(parameters, frames)
    _require_all(stimuli, parameters, readings)
    rows: list[dict[str, Any]] = []
    cells = dict(list(readings.groupby(_CELL, sort=False)))
    for group in stimuli.groups:
        for trait in stimuli.traits:
            key = {"group": group.slug, "trait": trait.slug}
            cell = cells[group.slug, trait.slug]
            rows += [{**key, **row} for row in _cell_rows(cell, access)]
    if (asked := readings[readings["outcome"] != ""]).size:
        groups = [group.slug for group in stimuli.groups]
        rows += group_outcomes(groups, parameters, asked, access)
    return pd.DataFrame(rows)[[*SCORE_COLUMNS, "access"]]


def remarks_on_ratings(
    stimuli: RatingStimuli, parameters: DirectRatingParameters, frames: Frames
) -> list[str]:
    """Return how ratings were obtained, and what came instead of a number."""
    readings, access = _readings(parameters, frames)
    n = len(readings)
    found = [_HOW[access].format(n=n)]
    if pd.concat(frames)["access"].nunique() > 1:
        found.append(
            "The server told log-probabilities of numbers for some groups alone. Tiers are never "
            "mixed, so all ratings rest on drawn answers, one for each wording at least."
        )
    for outcome, words in _OUTCOMES.items():
        why = readings.loc[readings["outcome"] == outcome, "why"].value_counts()
        if len(why):
            told = ", ".join(f"{count:,} {reason}" for reason, count in why.sort_index().items())
            more = "" if list(why.index) == ["refused"] else f": {told}"
            found.append(f"{why.sum():,} of {n:,} answers {words}{more}.{_ADVICE.get(outcome, '')}")
    if rescaled := int((readings["why"] == RESCALED).sum()):
        found.append(f"{rescaled:,} of {n:,} answers on another scale were multiplied to 100.")
    missing = int(readings["value"].isna().sum())
    if access != "sampled" and missing:
        found.append(
            f"{missing:,} of {n:,} readings have no expected value: less than "
            f"{parameters.least_mass:g} of the probability lies on numbers."
        )
    if access != "sampled":
        found.append(
            f"On average {readings['mass'].mean():.1%} of the probability lies on numbers that "
            "are told."
        )
    if reasoned := int(readings["reasoning"].sum()):
        found.append(f"The model wrote {reasoned / n:,.0f} tokens of reasoning for each answer.")
    return found


_HOW = {
    "full": "Access: full. Each of {n:,} ratings is the expected value over the numbers from 0 to "
    "100, from a softmax over the model's whole vocabulary.",
    "top_k": "Access: top_k. Each of {n:,} ratings is the expected value over those numbers that "
    "are among the likeliest tokens; rating_low and rating_high bound what the missing probability "
    "could change.",
    "sampled": "Access: sampled. {n:,} answers were drawn.",
}


def _readings(parameters: DirectRatingParameters, frames: Frames) -> tuple[pd.DataFrame, str]:
    """Return the readings with their `value`, and the one tier that they all have."""
    if not frames:
        raise ValueError("there are no shards to aggregate")
    readings = pd.concat(frames, ignore_index=True)
    tiers = set(readings["access"])
    access = tiers.pop() if len(tiers) == 1 else "sampled"
    if access == "sampled":
        return readings.assign(value=readings["drawn"], low=math.nan, high=math.nan), access
    told = readings["mass"] >= parameters.least_mass
    return readings.assign(value=readings["expected"].where(told)), access


def _require_all(
    stimuli: RatingStimuli, parameters: DirectRatingParameters, readings: pd.DataFrame
) -> None:
    expected = pd.MultiIndex.from_product(
        [[one.slug for one in stimuli.groups], [one.slug for one in stimuli.traits]]
    )
    found = pd.MultiIndex.from_frame(readings[_CELL]).unique()
    if len(missing := expected.difference(found)):
        raise ValueError(f"{len(missing)} cells are missing, the first {missing[0]}")
    if len(strangers := found.difference(expected)):
        raise ValueError(f"{len(strangers)} cells belong to no group and scale of the stimuli")
    if readings.duplicated([*_CELL, "repeat"]).any():
        raise ValueError("some readings occur twice")
    drawn = readings["access"].eq("sampled").groupby([readings[name] for name in _CELL]).all()
    wanted = drawn.map({True: parameters.answers, False: parameters.n_wordings})
    if lost := int((wanted - readings.groupby(_CELL).size()).clip(lower=0).sum()):
        raise ValueError(f"{lost} readings are missing")


def _cell_rows(cell: pd.DataFrame, access: str) -> list[dict[str, Any]]:
    by_wording = cell.groupby("wording", sort=True)
    means, counts = by_wording["value"].mean(), by_wording["value"].count()
    n = int(counts.sum())
    reason = "" if n else _why(cell, access)
    value = float(means.mean())
    rows = [
        _row(PAIR_SCORE, str(wording), mean - MIDDLE, number, access, _why(part, access))
        for (wording, part), mean, number in zip(by_wording, means, counts, strict=True)
    ]
    rows += [
        _row(PAIR_SCORE, "", value - MIDDLE, n, access, reason),
        _row(RATING, "", value, n, access, reason),
    ]
    defined = means.dropna()
    few = f"only {len(defined)} wordings have a rating"
    spread = float(defined.std(ddof=1)) if len(defined) > 1 else math.nan
    rows.append(_row("wording_sd", "", spread, len(defined), access, reason or few))
    if access == "top_k":
        read = cell[cell["value"].notna()].groupby("wording")
        rows += [
            _row(f"{RATING}_{side}", "", float(read[side].mean().mean()), n, access, reason)
            for side in ("low", "high")
        ]
    if access == "sampled":
        drawn = cell["value"].dropna()
        error = float(drawn.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan
        rows.append(_row("rating_se", "", error, n, access, reason or "only one answer was read"))
    if (cell["outcome"] != "").any():
        rows += [
            _row(outcome, "", float((cell["outcome"] == outcome).mean()), len(cell), access, "")
            for outcome in _OUTCOMES
        ]
    return rows


def group_outcomes(
    groups: list[str], parameters: DirectRatingParameters, asked: pd.DataFrame, access: str
) -> list[dict[str, Any]]:
    """Return how often a group's answers ended otherwise, on all scales (trait "").

    ``…_low`` and ``…_high``: Wilson's 95 % interval. ``…_p``: Fisher's exact test against all
    other groups, by Holm over groups. Both are about this model's answers to these questions: the
    questions are fixed and answers are drawn one by one, so that unlike scales make the variance
    smaller than a binomial one, and both err to the safe side (Hoeffding 1956).
    """
    rows = []
    for outcome in _OUTCOMES:
        ended = (asked["outcome"] == outcome).groupby(asked["group"])
        counts, n = ended.sum().reindex(groups), ended.size().reindex(groups)
        rest, rest_n = counts.sum() - counts, n.sum() - n
        reason = "there are no other groups" if len(groups) < 2 else ""
        if parameters.temperature == 0:
            reason = "at temperature 0 nothing is drawn"
        p_values = holm_correction(
            [
                math.nan
                if reason
                else stats.fisher_exact(
                    np.array(
                        [[counts[one], n[one] - counts[one]], [rest[one], rest_n[one] - rest[one]]]
                    )
                ).pvalue
                for one in groups
            ]
        )
        for group, p in zip(groups, p_values, strict=True):
            share = estimate_proportion(int(counts[group]), int(n[group]))
            for name, value in (
                ("", share.share),
                ("_low", share.low),
                ("_high", share.high),
                ("_p", float(p)),
            ):
                row = _row(outcome + name, "", value, share.n, access, reason)
                rows.append({"group": group, "trait": "", **row})
    return rows


def _row(
    name: str, template: str, value: float, n: int, access: str, reason: str
) -> dict[str, Any]:
    return {
        "name": name,
        "template": template,
        "value": value,
        "reason": reason if math.isnan(value) else "",
        "n": int(n),
        "access": access,
    }


def _why(cell: pd.DataFrame, access: str) -> str:
    """Return why a cell has no rating."""
    if access != "sampled":
        return "too little probability lies on numbers"
    counts = {one: int((cell["outcome"] == one).sum()) for one in _OUTCOMES}
    told = [f"{n} {outcome.replace('_', ' ')}" for outcome, n in counts.items() if n]
    return f"of {len(cell)} answers {' and '.join(told)}"


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
            tokenizer: Any = lm
            pieces = tokenizer.encode_answers(first, told_numbers(tokenizer, first))
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
        """Return a row for every reading; see `tell_readings`."""
        groups = [stimuli.group(slug) for slug in payload["groups"]]
        return read_group(self, groups, stimuli, parameters, lm, seed=payload["seed"])

    def said(self, stimuli: RatingStimuli, rows: pd.DataFrame) -> pd.DataFrame | None:
        """Return the answers; expected values of a local model come without any."""
        names = {"trait": "item", "wording": "prompt", "reasoning": "reasoning_tokens"}
        names |= {"text": "answer", "thought": "reasoning"}
        return said_rows(rows[rows["outcome"] != ""], names)

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
