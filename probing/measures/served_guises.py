"""Asks served models for matched guises: echoed completions, likeliest tokens, or drawn answers.

The columns are those of :mod:`probing.measures.guise_logprobs`, and of a reading its access tier,
how many answers were asked for, read, refused, unreadable and cut off, the answers themselves
(`said`, JSON), and for every attribute the bounds of ln P (`ln_low_…`, `ln_high_…`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from annotation.common.lazy import np, pd
from probing.lm.echoed_endings import NoEchoError
from probing.lm.errors import EchoError, LanguageModelError, TokenizerError
from probing.lm.question_protocols import ACCESS_TIERS, Access, Answer, Question
from probing.lm.text_protocols import GenerationSettings
from probing.measures.answer_reading import Outcome, keepable, outcome_of
from probing.measures.answer_words import spellings
from probing.measures.guise_logprobs import to_frame
from probing.measures.guise_questions import ask_guise, named_attributes
from probing.measures.guise_stimuli import GuisePrompt, GuiseStimuli
from probing.measures.missing_mass import ToldAttributes, plain_token, read_told
from probing.measures.streams import named_seed

if TYPE_CHECKING:
    from probing.lm.chat import ChatModel
    from probing.measures.guise_parameters import MatchedGuiseParameters

REFUSED = "the model or its server refused"
UNREADABLE = "no answer named one attribute"
SEVERAL_TOKENS = "a token reaches across the end of the prompt"
CUT_OFF = "every answer was cut off before it named one attribute"
_WHY = {"refused": REFUSED, "unreadable": UNREADABLE, "cut_off": CUT_OFF}
_MOST_TOP = 20
#: What the logits of attributes are raised by, so that they are among the likeliest tokens.
_BIAS = 50.0


class AccessTierError(LanguageModelError):
    """A server gives less than the researcher allowed."""


@dataclass(frozen=True)
class GuiseReading:
    """A prompt with a text, to be asked about and answered."""

    prompt: GuisePrompt
    variety: str
    slug: str
    body: str

    @property
    def key(self) -> tuple[str, str, str]:
        return self.prompt.slug, self.variety, self.slug


@dataclass
class ReadGuise:
    """What came back: probabilities of the attributes, and what happened to the answers."""

    told: ToldAttributes
    access: str
    reason: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    said: list[dict[str, Any]] = field(default_factory=list)


class ServedGuises:
    """Reads prompts with texts with one served model."""

    def __init__(
        self, stimuli: GuiseStimuli, parameters: MatchedGuiseParameters, lm: ChatModel, seed: int
    ) -> None:
        self.stimuli, self.parameters, self.lm, self.seed = stimuli, parameters, lm, seed
        self.n = len(stimuli.attributes)

    def read(self, readings: Sequence[GuiseReading]) -> pd.DataFrame:
        """Return the rows, all of the highest tier that the server gives.

        Raises :class:`AccessTierError` where that is lower than the parameters allow.
        """
        why = ""
        if self.parameters.prompting != "chat":
            seen = self.lm.seen
            try:
                if seen is not None and seen.echo.works is False:
                    raise NoEchoError(f"{seen.echo.said}.")
                return self._frame(readings, self._echoed(readings), "full")
            except (NoEchoError, EchoError) as error:
                why = f"{error} "
        self._allow("top_k", f"{why}Answers of a chat tell at most the likeliest tokens.")
        found = self._likeliest(readings)
        if found is not None:
            return self._frame(readings, found, "top_k")
        said = f" ({self.lm.no_logprobs})" if self.lm.no_logprobs else ""
        none = f"The server {self.lm.device} tells no log-probabilities in a chat{said}."
        self._allow("sampled", why + none)
        return self._frame(readings, self._drawn(readings), "sampled")

    def _allow(self, tier: Access, why: str) -> None:
        least = self.parameters.least_access
        if ACCESS_TIERS.index(tier) > ACCESS_TIERS.index(least):
            raise AccessTierError(
                f"{why} The run allows no less than “{least}”. Set least_access to “{tier}”, or "
                "choose another server."
            )

    def _echoed(self, readings: Sequence[GuiseReading]) -> list[ReadGuise]:
        prompts = [reading.prompt.fill(reading.body) for reading in readings]
        told = self.lm.echoed_words(prompts, self.stimuli.attributes)
        if self.parameters.attribute_tokens == "one":
            longer = [
                attribute
                for attribute, word in zip(self.stimuli.attributes, told[0], strict=True)
                if word is not None and len(word.logprobs) > 1
            ]
            if longer:
                raise TokenizerError(
                    f"{len(longer)} of {self.n} attributes are several tokens for the served "
                    f"model: {', '.join(longer[:8])}. Choose another list, or set "
                    "“attribute_tokens” to “chain”."
                )
        found = []
        for row in told:
            values = [math.exp(word.total) if word and word.logprobs else math.nan for word in row]
            known = np.array(values)
            reason = REFUSED if all(word is None for word in row) else ""
            if not reason and np.isnan(known).any():
                reason = SEVERAL_TOKENS
            counts = {"asked": 1, "refused": int(reason == REFUSED)}
            found.append(ReadGuise(ToldAttributes(known, known, known), "full", reason, counts))
        return found

    def _question(self, reading: GuiseReading) -> Question:
        return ask_guise(
            reading.prompt,
            reading.body,
            self.stimuli,
            self.parameters,
            seed=self.seed,
            slug=reading.slug,
        )

    def _listed(self, prompt: GuisePrompt) -> list[str]:
        return [one for one in self.stimuli.attributes if prompt.agrees_with(one)]

    def _spellings(self, prompt: GuisePrompt) -> list[tuple[str, ...]]:
        return [
            spellings(one, opened=bool(self.parameters.opening)) if prompt.agrees_with(one) else ()
            for one in self.stimuli.attributes
        ]

    def _ask(
        self,
        readings: Sequence[GuiseReading],
        *,
        most: int,
        what: str,
        top: int = 0,
        bias: dict[int, float] | None = None,
    ) -> list[Answer]:
        return self.lm.answer(
            [self._question(reading) for reading in readings],
            GenerationSettings(max_new_tokens=most, temperature=1.0),
            seeds=[named_seed(self.seed, what, *reading.key) for reading in readings],
            top=top,
            bias=bias,
        )

    def _likeliest(self, readings: Sequence[GuiseReading]) -> list[ReadGuise] | None:
        """Return what the likeliest tokens tell; None where the server tells none."""
        answers: list[Answer] = []
        if self.lm.book is not None:  # a day for each batch: its first answers are not waited for
            if self.lm.seen is not None and self.lm.seen.logprobs.works is False:
                return None
            answers = self._ask(readings, most=1, what="told", top=_MOST_TOP)
        # One by one until the server has shown what it tells: nothing is asked in vain.
        while len(answers) < len(readings):
            answers += self._ask([readings[len(answers)]], most=1, what="told", top=_MOST_TOP)
            if answers[-1].finish != "refused":
                break
        if all(one.tokens is None for one in answers) and any(
            one.finish != "refused" for one in answers
        ):
            return None
        answers += self._ask(readings[len(answers) :], most=1, what="told", top=_MOST_TOP)
        return [
            self._told(reading, answer) for reading, answer in zip(readings, answers, strict=True)
        ]

    def _told(self, reading: GuiseReading, answer: Answer) -> ReadGuise:
        if answer.finish == "refused" or not answer.tokens:
            outcome: Outcome = "refused" if answer.finish == "refused" else "unreadable"
            counts = {"asked": 1, "refused": int(outcome == "refused")}
            said = [_told_answer(0, answer, outcome, outcome)]
            return ReadGuise(self._nothing(), "", _WHY[outcome], counts, said)
        likeliest = answer.tokens[0].likeliest
        forms = self._spellings(reading.prompt)
        resolved = self._resolve(reading, likeliest, forms) if self.parameters.bias else None
        told = read_told(likeliest, forms, missing=self.parameters.missing_mass, resolved=resolved)
        return ReadGuise(told, "top_k", "", {"asked": 1})

    def _resolve(
        self,
        reading: GuiseReading,
        likeliest: Sequence[tuple[str, float]],
        forms: Sequence[Sequence[str]],
    ) -> dict[str, float] | None:
        """Return ln P of every spelling that is one token, by requests that raise its logit.

        A bias that is the same for all raised tokens leaves their ratios as they are, so one of
        them whose ln P is known tells the others. None where the server does not tell token ids, or
        what it tells leaves some spelling out.
        """
        wanted = list(dict.fromkeys(form for some in forms for form in some))
        # The likeliest token that reads as whole characters and is told again by its text.
        anchor, known = next(
            ((plain_token(token), value) for token, value in likeliest if "\ufffd" not in token),
            ("", 0.0),
        )
        ids = self.lm.single_tokens([anchor, *wanted]) if anchor else None
        if ids is None or ids[anchor] is None:
            return None
        self._require_tokens(forms, ids)
        single = [form for form in wanted if ids[form] is not None and form != anchor]
        resolved = {anchor: known} if anchor in wanted else {}
        size = max(1, min(len(likeliest), _MOST_TOP) - 1)
        for begin in range(0, len(single), size):
            part = single[begin : begin + size]
            bias = {one: _BIAS for form in (anchor, *part) if (one := ids[form]) is not None}
            answer = self._ask([reading], most=1, what="raised", top=_MOST_TOP, bias=bias)[0]
            likely = answer.tokens[0].likeliest if answer.tokens else ()
            told = {plain_token(token): value for token, value in likely}
            if anchor not in told or any(form not in told for form in part):
                return None
            resolved |= {form: known + told[form] - told[anchor] for form in part}
        return resolved

    def _require_tokens(self, forms: Sequence[Sequence[str]], ids: dict[str, int | None]) -> None:
        longer = [
            attribute
            for attribute, some in zip(self.stimuli.attributes, forms, strict=True)
            if some and all(ids[form] is None for form in some)
        ]
        if longer:
            raise TokenizerError(
                f"{len(longer)} of {self.n} attributes are several tokens for the served model: "
                f"{', '.join(longer[:8])}. Choose another list; likeliest tokens tell no words of "
                "several."
            )

    def _drawn(self, readings: Sequence[GuiseReading]) -> list[ReadGuise]:
        draws = range(self.parameters.draws)
        # All at once: a server that answers batches takes a day for each.
        answers = self.lm.answer(
            [self._question(reading) for _ in draws for reading in readings],
            GenerationSettings(self.parameters.max_new_tokens, temperature=1.0),
            seeds=[
                named_seed(self.seed, f"draw {draw}", *reading.key)
                for draw in draws
                for reading in readings
            ],
        )
        return [
            self._shares(reading, answers[place :: len(readings)])
            for place, reading in enumerate(readings)
        ]

    def _shares(self, reading: GuiseReading, answers: Sequence[Answer]) -> ReadGuise:
        listed = self._listed(reading.prompt)
        all_named = [named_attributes(answer.text, listed) for answer in answers]
        named = [names[0] if len(names) == 1 else None for names in all_named]
        outcomes = [
            outcome_of(answer, readable=name is not None)
            for answer, name in zip(answers, named, strict=True)
        ]
        kept = [
            _told_answer(draw, answer, outcome, _why_unread(outcome, len(names)))
            for draw, (answer, outcome, names) in enumerate(
                zip(answers, outcomes, all_named, strict=True)
            )
        ]
        said = [
            name for name, outcome in zip(named, outcomes, strict=True) if outcome == "answered"
        ]
        counts = {
            "asked": len(answers),
            "answered": len(said),
            "refused": outcomes.count("refused"),
            "unreadable": outcomes.count("unreadable"),
            "cut_off": outcomes.count("cut_off"),
        }
        if not said:
            most = max(("refused", "unreadable", "cut_off"), key=lambda name: counts[name])
            return ReadGuise(self._nothing(), "sampled", _WHY[most], counts, kept)
        share = np.array(
            [
                said.count(one) / len(said) if reading.prompt.agrees_with(one) else math.nan
                for one in self.stimuli.attributes
            ]
        )
        return ReadGuise(ToldAttributes(share, share, share), "sampled", "", counts, kept)

    def _nothing(self) -> ToldAttributes:
        missing = np.full(self.n, np.nan)
        return ToldAttributes(missing, missing, missing)

    def _frame(
        self, readings: Sequence[GuiseReading], found: Sequence[ReadGuise], access: Access
    ) -> pd.DataFrame:
        def logs(values: Sequence[Any]) -> Any:
            with np.errstate(divide="ignore"):
                return np.log(np.array(values))

        frame = to_frame(
            [reading.key for reading in readings],
            [one.reason for one in found],
            logs([one.told.value for one in found]),
        )
        names = ("asked", "answered", *_WHY)
        more: dict[str, Any] = {name: [one.counts.get(name, 0) for one in found] for name in names}
        more["said"] = [json.dumps(one.said, ensure_ascii=False) for one in found]
        # Of what was refused altogether nobody knows what the server would have told.
        more["access"] = [access if one.access else "" for one in found]
        if access == "top_k":
            for side in ("low", "high"):
                values = logs([getattr(one.told, side) for one in found]).astype(np.float32)
                more |= {f"ln_{side}_{place}": values[:, place] for place in range(self.n)}
        return pd.concat([frame, pd.DataFrame(more)], axis=1)


def _told_answer(draw: int, answer: Answer, outcome: Outcome, why: str) -> dict[str, Any]:
    """Return an answer as it is kept with its reading."""
    return {
        "repeat": draw,
        "outcome": outcome,
        "why": why,
        "answer": keepable(answer.text),
        "reasoning_tokens": answer.reasoning,
        "reasoning": keepable(answer.thought),
    }


def _why_unread(outcome: Outcome, n_named: int) -> str:
    if outcome == "answered":
        return ""
    named = "several attributes" if n_named > 1 else "an attribute" if n_named else "no attribute"
    if outcome == "refused":
        return f"refused, with {named}" if n_named else "refused"
    return f"cut off, {named}" if outcome == "cut_off" else named
