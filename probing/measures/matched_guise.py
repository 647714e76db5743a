"""Matched guise probing: what a model associates with the speakers of two varieties.

Hofmann et al. (2024), Methods, Probing. A model reads a text in either variety within a prompt that
speaks of its author, and is asked for an attribute. The association score compares the probability
of the attribute between the guises; neither race nor dialect is named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from annotation.common.lazy import np, pd
from probing.lm.errors import (
    ContextTooLongError,
    GenerationSettingsError,
    MaskCountError,
    TokenizerError,
    UnknownWordError,
)
from probing.lm.question_protocols import ACCESS_TIERS
from probing.lm.text_protocols import EndWordModel, EndWordTokenizer
from probing.measures.answer_words import spelled_answers, spellings, word_logprobs
from probing.measures.base import Cost, Frames, Measure, Problem, ResultKind, ShardPlan
from probing.measures.guise_logprobs import NO_TEXT, to_frame
from probing.measures.guise_parameters import MatchedGuiseParameters
from probing.measures.guise_questions import ask_guise, cut_prompt
from probing.measures.guise_scores import association_rows, remarks_on_access
from probing.measures.guise_stimuli import GuisePrompt, GuiseStimuli
from probing.measures.prompting import may_begin, prompting_of, prompting_problems
from probing.measures.served_access import access_problems, seen_access
from probing.measures.served_guises import GuiseReading, ServedGuises
from probing.measures.text_measure import length_problem, shorten

if TYPE_CHECKING:
    from probing.lm.end_words import OpenEnd

_NAMED = 8


class MatchedGuise(Measure[GuiseStimuli, MatchedGuiseParameters]):
    """How much more likely an attribute is after a text in one variety than in the other."""

    name = "matched_guise"
    title = "Matched guise probing"
    citation = (
        "Hofmann, Kalluri, Jurafsky and King (2024), AI generates covertly racist decisions about "
        "people based on their dialect, Methods"
    )
    abilities = frozenset({"end_word"})
    Parameters = MatchedGuiseParameters
    stimuli_type = GuiseStimuli
    result = ResultKind.ASSOCIATIONS

    def complete(
        self, parameters: MatchedGuiseParameters, lm: EndWordTokenizer
    ) -> MatchedGuiseParameters:
        """Return the parameters with how this model is asked."""
        found: dict[str, Any] = {}
        if lm.kind != "chat":
            how = prompting_of(parameters, lm)
            found["form"] = "chat" if how == "chat" else "completion"
        if parameters.opening is None:
            found["opening"] = may_begin(parameters, lm)
        return parameters.model_copy(update=found)

    def plan(
        self, stimuli: GuiseStimuli, parameters: MatchedGuiseParameters, seed: int = 0
    ) -> list[ShardPlan]:
        """Return shards of texts of both varieties; the first also reads prompts without a text."""
        size = parameters.pairs_per_shard
        n = max(map(len, stimuli.texts))
        return [
            ShardPlan(
                index=index,
                title=f"Texts {start + 1} to {min(start + size, n)}",
                payload={"start": start, "stop": min(start + size, n), "seed": seed},
            )
            for index, start in enumerate(range(0, n, size))
        ]

    def problems(
        self,
        stimuli: GuiseStimuli,
        parameters: MatchedGuiseParameters,
        lm: EndWordTokenizer,
    ) -> list[Problem]:
        """Look for missing texts, prompts or attributes, several tokens, and texts too long."""
        found = [
            Problem(where, message, True)
            for where, message, missing in (
                ("corpus", _no_texts(stimuli), not all(stimuli.texts)),
                ("prompts", "No prompt is chosen. Choose at least one.", not stimuli.prompts),
                ("attributes", "The list of attributes is empty.", not stimuli.attributes),
            )
            if missing
        ]
        if found:
            return found
        found += [
            *prompting_problems(parameters, lm, plain=True),
            *_prompt_problems(stimuli, parameters, lm),
        ]
        if any(problem.fatal for problem in found):
            return found
        if lm.kind == "chat":  # its server alone knows tokens and lengths
            return found
        found += _attribute_problems(stimuli, parameters, lm)
        return [*found, *_text_problems(stimuli, parameters, lm)]

    def estimate(
        self,
        stimuli: GuiseStimuli,
        parameters: MatchedGuiseParameters,
        lm: EndWordTokenizer,
    ) -> Cost:
        """Count a pass for every text in every prompt, as often as the attributes need it.

        Of a served model requests and tokens, for the costliest of the tiers that are allowed.
        """
        from probing.lm.end_words import plan_words

        bodies = [text.body for texts in stimuli.texts for text in texts] + [""]
        if lm.kind == "chat":
            return _served_cost(self, stimuli, parameters, lm, bodies)
        if parameters.prompting != "chat":
            first = stimuli.prompts[0].fill("")
            pieces = list(lm.open_ends([first], stimuli.attributes)[0].words)
        else:
            asked = ask_guise(stimuli.prompts[0], "", stimuli, parameters, seed=0, slug="")
            opened = bool(parameters.opening)
            spelled = spelled_answers(lm, asked, stimuli.attributes, opened=opened)
            pieces = [ids for some in spelled for ids in some]
        times = len(plan_words(pieces, masks=lm.kind == "masked"))
        longest = _longest_attribute(stimuli, parameters, lm)
        rows = (
            _encode(lm, prompt, body, stimuli, parameters, longest)
            for prompt in stimuli.prompts
            for body in bodies
        )
        lengths = [len(row.ids) for row in rows if not isinstance(row, str)]
        return Cost(
            shards=len(self.plan(stimuli, parameters)),
            forward_passes=times * len(lengths),
            tokens=times * sum(lengths),
        )

    def compute(
        self,
        payload: Mapping[str, Any],
        stimuli: GuiseStimuli,
        parameters: MatchedGuiseParameters,
        lm: EndWordModel,
    ) -> pd.DataFrame:
        """Return a row for every prompt and text; see :mod:`probing.measures.guise_logprobs`."""
        texts = [
            (variety, text.slug, text.body)
            for variety, some in zip(stimuli.varieties, stimuli.texts, strict=True)
            for text in some[payload["start"] : payload["stop"]]
        ]
        if payload["start"] == 0:
            texts.append((NO_TEXT, NO_TEXT, ""))
        seed = payload.get("seed", 0)
        if lm.kind == "chat":
            served: Any = lm
            return ServedGuises(stimuli, parameters, served, seed).read(
                [GuiseReading(prompt, *text) for prompt in stimuli.prompts for text in texts]
            )
        entries: list[tuple[str, str, str]] = []
        reasons: list[str] = []
        values = []
        words = stimuli.attributes
        for prompt in stimuli.prompts:
            read = [
                _encode(lm, prompt, body, stimuli, parameters, words, seed=seed, slug=slug)
                for _, slug, body in texts
            ]
            found = np.full((len(read), len(stimuli.attributes)), np.nan)
            there = [place for place, row in enumerate(read) if not isinstance(row, str)]
            rows = [row for row in read if not isinstance(row, str)]
            if rows and parameters.prompting == "chat":
                asked = [
                    ask_guise(prompt, body, stimuli, parameters, seed=seed, slug=slug)
                    for _, slug, body in (texts[place] for place in there)
                ]
                found[there] = word_logprobs(lm, asked, words, opened=bool(parameters.opening))
            elif rows:
                found[there] = lm.end_logprobs(rows)
            values.append(found)
            entries += [(prompt.slug, variety, slug) for variety, slug, _ in texts]
            reasons += [row if isinstance(row, str) else "" for row in read]
        return to_frame(entries, reasons, np.concatenate(values))

    def aggregate(
        self, stimuli: GuiseStimuli, parameters: MatchedGuiseParameters, shard_frames: Frames
    ) -> pd.DataFrame:
        """Return q of every attribute in every prompt, and its mean over prompts (template "").

        Meaning-matched (pairs alone) and pooled; the group is the first variety. Attributes that
        do not agree with a prompt's article have no row there. n: pairs, or texts of the smaller
        side; for the mean, prompts.
        """
        return association_rows(stimuli, parameters, shard_frames)

    def remarks(
        self, stimuli: GuiseStimuli, parameters: MatchedGuiseParameters, shard_frames: Frames
    ) -> list[str]:
        """Say how the scores were obtained, and why texts are missing."""
        return remarks_on_access(stimuli, shard_frames)


def _encode(
    lm: EndWordTokenizer,
    prompt: GuisePrompt,
    body: str,
    stimuli: GuiseStimuli,
    parameters: MatchedGuiseParameters,
    words: Sequence[str] = (),
    *,
    seed: int = 0,
    slug: str = "",
) -> OpenEnd | str:
    """Return the ids of a prompt with a text and of words after it, or why there are none."""
    from probing.lm.end_words import OpenEnd

    try:
        if parameters.prompting != "chat":
            return lm.open_ends([prompt.fill(body)], words)[0]
        encode: Any = lm.encode_question  # type: ignore[attr-defined] # a model that writes
        return OpenEnd(
            encode(ask_guise(prompt, body, stimuli, parameters, seed=seed, slug=slug)), ()
        )
    except (ContextTooLongError, MaskCountError, UnknownWordError) as error:
        return shorten(str(error))


def _longest_attribute(
    stimuli: GuiseStimuli, parameters: MatchedGuiseParameters, lm: EndWordTokenizer
) -> tuple[str, ...]:
    """Return the attribute of the most tokens, for which a text has to leave room in a prompt."""
    if parameters.prompting == "chat":
        return ()
    pieces = lm.open_ends([stimuli.prompts[0].fill("")], stimuli.attributes)[0].words
    return (stimuli.attributes[max(range(len(pieces)), key=lambda place: len(pieces[place]))],)


def _served_cost(
    measure: MatchedGuise,
    stimuli: GuiseStimuli,
    parameters: MatchedGuiseParameters,
    lm: EndWordTokenizer,
    bodies: list[str],
) -> Cost:
    """Return the requests and tokens of the costliest tier that is allowed."""
    from probing.lm.echoed_endings import PER_REQUEST

    allowed = ACCESS_TIERS[: ACCESS_TIERS.index(parameters.least_access) + 1]
    if seen := seen_access(lm, completions=parameters.prompting != "chat"):
        allowed = (seen,)
    n = len(stimuli.attributes)
    costs = []
    for prompt in stimuli.prompts:
        for body in bodies:
            asked = ask_guise(prompt, body, stimuli, parameters, seed=0, slug="")
            chat = lm.count_tokens(asked.system + asked.user + asked.opening)
            raised = -(-n * len(spellings("x", opened=bool(parameters.opening))) // 19)
            times = 1 + (raised if parameters.bias else 0)
            by_tier = {
                "full": (-(-n // PER_REQUEST), n * lm.count_tokens(prompt.fill(body) + " …"), 0),
                "top_k": (times, times * (chat + 1), times),
                "sampled": (
                    1 + parameters.draws,
                    parameters.draws * (chat + parameters.max_new_tokens) + chat + 1,
                    parameters.draws * parameters.max_new_tokens + 1,
                ),
            }
            if parameters.prompting == "chat":
                del by_tier["full"]
            found = [by_tier[tier] for tier in allowed if tier in by_tier]
            costs.append(max(found, key=lambda cost: cost[1], default=(0, 0, 0)))
    return Cost(
        shards=len(measure.plan(stimuli, parameters)),
        forward_passes=sum(requests for requests, _, _ in costs),
        tokens=sum(tokens for _, tokens, _ in costs),
        written=sum(written for _, _, written in costs),
    )


def _no_texts(stimuli: GuiseStimuli) -> str:
    empty = [
        variety
        for variety, texts in zip(stimuli.varieties, stimuli.texts, strict=True)
        if not texts
    ]
    return f"There is no text in {' and none in '.join(empty)}. Choose texts in two varieties."


def _attribute_problems(
    stimuli: GuiseStimuli, parameters: MatchedGuiseParameters, lm: EndWordTokenizer
) -> list[Problem]:
    found, longer = [], []
    prompts = [prompt.fill("") for prompt in stimuli.prompts]
    asked = ask_guise(stimuli.prompts[0], "", stimuli, parameters, seed=0, slug="")
    for attribute in stimuli.attributes:
        try:
            ends = lm.open_ends(prompts, [attribute])  # raises for what the model cannot read
            pieces = [end.words[0] for end in ends]
            if parameters.prompting == "chat":
                opened = bool(parameters.opening)
                pieces = spelled_answers(lm, asked, [attribute], opened=opened)[0][:1]
            if max(map(len, pieces)) > 1:
                longer.append(attribute)
        except TokenizerError as error:
            found.append(Problem("attributes", str(error), True))
        except GenerationSettingsError as error:  # of a chat template
            return [*found, Problem("parameter system_message", str(error), True)]
    if not longer:
        return found
    named = ", ".join(longer[:_NAMED]) + (" …" if len(longer) > _NAMED else "")
    counted = f"{len(longer)} of {len(stimuli.attributes)} attributes are several tokens: {named}."
    if parameters.attribute_tokens == "one":
        message = (
            f"{counted} Choose another list, or set “attribute_tokens” to “chain”, which "
            "multiplies the probabilities of their tokens."
        )
        return [*found, Problem("attributes", message, True)]
    message = (
        f"{counted} Their scores rest on several factors; do not rank them among attributes of one "
        "token."
    )
    return [*found, Problem("attributes", message, False)]


def _prompt_problems(
    stimuli: GuiseStimuli, parameters: MatchedGuiseParameters, lm: EndWordTokenizer
) -> list[Problem]:
    found = []
    in_chat = parameters.prompting == "chat"
    if in_chat and lm.kind == "masked":
        message = "A masked model answers no questions. Set form to “completion”."
        found.append(Problem("parameter form", message, True))
    if in_chat and parameters.opening and lm.kind == "seq2seq":
        message = "An encoder and decoder takes no beginning of its answer. Leave the opening out."
        found.append(Problem("parameter opening", message, True))
    if in_chat and lm.kind == "chat" and parameters.least_access == "full":
        message = (
            "Answers of a served chat tell at most the likeliest tokens, but least_access is "
            "“full”. Set it to “top_k”, or form to “completion”."
        )
        found.append(Problem("parameter least_access", message, True))
    elif lm.kind == "chat":
        found += access_problems(
            lm,
            completions=not in_chat,
            least=parameters.least_access,
            opening=bool(parameters.opening),
        )
    if parameters.opening and (in_chat or lm.kind == "chat"):
        found += [
            Problem(
                "prompts",
                f"“{prompt.text}” has no words after the text, so nothing begins the answer. "
                "Choose another prompt, or leave the opening out.",
                True,
            )
            for prompt in stimuli.prompts
            if not cut_prompt(prompt)[1]
        ]
    return found + [
        Problem(
            "prompts",
            f"No attribute follows the article of “{prompt.text}”: the prompt counts for none.",
            False,
        )
        for prompt in stimuli.prompts
        if not any(map(prompt.agrees_with, stimuli.attributes))
    ]


def _text_problems(
    stimuli: GuiseStimuli, parameters: MatchedGuiseParameters, lm: EndWordTokenizer
) -> list[Problem]:
    """Return remarks on pairs without a difference, and on texts that do not fit the prompts."""
    found = []
    same = [
        first.slug
        for first, second in zip(stimuli.first, stimuli.second, strict=False)
        if stimuli.paired and first.body == second.body
    ]
    if same:
        message = (
            f"{len(same)} pairs say the same in both varieties, such as '{same[0]}'; they draw the "
            "scores towards 0."
        )
        found.append(Problem("corpus", message, False))
    longest = max(stimuli.prompts, key=lambda prompt: lm.count_tokens(prompt.text))
    texts = [text for some in stimuli.texts for text in some]
    try:
        word = _longest_attribute(stimuli, parameters, lm)
        read = [_encode(lm, longest, text.body, stimuli, parameters, word) for text in texts]
    except GenerationSettingsError as error:  # of a chat template
        return [*found, Problem("parameter system_message", str(error), True)]
    unread = [text.slug for text, one in zip(texts, read, strict=True) if isinstance(one, str)]
    return [*found, *length_problem(unread, len(texts), "score")]
