"""Matched guise probing: what a model associates with the speakers of two varieties.

Hofmann et al. (2024), Methods, Probing. A model reads a text in either variety within a prompt that
speaks of its author, and is asked for an attribute. The association score compares the probability
of the attribute between the guises; neither race nor dialect is named.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from annotation.common.lazy import np, npt, pd, stats
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
from probing.measures.association import log_mean_exp, paired_association, pooled_association
from probing.measures.base import (
    ANSWER_COLUMNS,
    SCORE_COLUMNS,
    Cost,
    Frames,
    Measure,
    Problem,
    ResultKind,
    ShardPlan,
)
from probing.measures.guise_logprobs import (
    NO_TEXT,
    OUTCOMES,
    GuiseLogprobs,
    read_logprobs,
    to_frame,
)
from probing.measures.guise_parameters import MEANING_MATCHED, POOLED, MatchedGuiseParameters
from probing.measures.guise_questions import ask_guise, cut_prompt
from probing.measures.guise_stimuli import Base, GuisePrompt, GuiseStimuli
from probing.measures.missing_mass import wilson_bounds
from probing.measures.prompting import may_begin, prompting_of, prompting_problems
from probing.measures.served_access import access_problems, seen_access
from probing.measures.served_guises import GuiseReading, ServedGuises
from probing.measures.text_measure import length_problem, shorten

if TYPE_CHECKING:
    from probing.lm.end_words import OpenEnd

# --- Association scores of a run of matched guise probing ---

Scored: TypeAlias = "tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]"
_NO_FINITE = "no finite ratio: nothing is known of it after one of the guises"


def association_rows(
    stimuli: GuiseStimuli, parameters: MatchedGuiseParameters, frames: Frames
) -> pd.DataFrame:
    """Return q of every attribute in every prompt, and its mean over prompts (template "").

    With bounds (``pooled_low``, ``pooled_high``) where not everything is told, and the share of
    ``refused`` and ``unreadable`` answers of a served model after either guise.
    """
    read = read_logprobs(stimuli, frames)
    tables = []
    for name, (q, n) in _forms(read, paired=stimuli.paired, base=parameters.base).items():
        table = _table(stimuli, np.where(np.isfinite(q), q, np.nan), n)[read.agrees.ravel()]
        mean = table.groupby("trait", sort=False)["value"].agg(["mean", "count", "size"])
        if name.endswith(("_low", "_high")):  # a mean of some prompts' bounds bounds nothing
            mean.loc[mean["count"] < mean["size"], "mean"] = np.nan
        overall = pd.DataFrame(
            {"trait": mean.index, "template": "", "value": mean["mean"], "n": mean["count"]}
        )
        tables.append(pd.concat([table, overall], ignore_index=True).assign(name=name))
    rows = pd.concat(tables, ignore_index=True).assign(group=stimuli.first_variety)
    missing = "no text fits" if read.access == "full" and read.counts is None else _NO_FINITE
    rows["reason"] = ["" if there else missing for there in rows["value"].notna()]
    rows = pd.concat([rows, *_outcomes(read)], ignore_index=True).assign(access=read.access)
    return rows[[*SCORE_COLUMNS, "access"]]


def _forms(read: GuiseLogprobs, *, paired: bool, base: Base) -> dict[str, Scored]:
    """Return q and n by name, each (n_prompts, n_attributes)."""
    with np.errstate(invalid="ignore"):  # nothing after either guise: no ratio
        pooled = pooled_association(read.first, read.second, base=base)
    if read.access == "full":
        pairs = paired_association(read.first, read.second, base=base) if paired else None
        return ({MEANING_MATCHED: pairs} if pairs else {}) | {POOLED: pooled}
    unit = np.log(10.0) if base == "10" else 1.0
    if read.access == "sampled":
        low, high = _wilson(read)
        (low_a, low_s), (high_a, high_s) = low, high
        with np.errstate(divide="ignore", invalid="ignore"):
            bounds = [(np.log(low_a / high_s)) / unit, (np.log(high_a / low_s)) / unit]
    else:
        if read.low is None or read.high is None:
            raise ValueError("rows of the tier top_k have no bounds")
        with np.errstate(invalid="ignore"):
            bounds = [
                pooled_association(read.low[0], read.high[1], base=base)[0],
                pooled_association(read.high[0], read.low[1], base=base)[0],
            ]
    found = {POOLED: pooled}
    for side, q in zip(("low", "high"), bounds, strict=True):
        found[f"{POOLED}_{side}"] = (q, pooled[1])
    if paired and read.is_exact:
        found = {MEANING_MATCHED: paired_association(read.first, read.second, base=base)} | found
    return found


def _wilson(read: GuiseLogprobs) -> list[list[npt.NDArray[np.float64]]]:
    """Return the lower and the upper bounds of both sides' mean shares, (n_prompts, n_attributes).

    The answers of all texts count as independent, which they are not quite.
    """
    if read.counts is None:
        raise ValueError("rows of the tier sampled have no counts")
    bounds = []
    varieties = read.counts["variety"].drop_duplicates().tolist()
    prompts = read.counts["prompt"].drop_duplicates().tolist()
    answered = read.counts.groupby(["variety", "prompt"], sort=False)["answered"].sum()
    for variety, side in zip(varieties, (read.first, read.second), strict=True):
        n = np.array([[float(answered[variety, prompt])] for prompt in prompts])
        bounds.append(wilson_bounds(np.exp(log_mean_exp(side)), n))
    return [[low for low, _ in bounds], [high for _, high in bounds]]


def _outcomes(read: GuiseLogprobs) -> list[pd.DataFrame]:
    """Return shares of answers without an attribute after either guise, by prompt and over all.

    n: answers that were asked for.
    """
    if read.counts is None:
        return []
    tables = []
    for outcome in OUTCOMES if read.access == "sampled" else ("refused",):
        for keys in (["variety", "prompt"], ["variety"]):
            sums = read.counts.groupby(keys, sort=False)[[outcome, "asked"]].sum().reset_index()
            tables.append(
                pd.DataFrame(
                    {
                        "name": outcome,
                        "group": sums["variety"],
                        "trait": "",
                        "template": sums.get("prompt", ""),
                        "value": sums[outcome] / sums["asked"],
                        "reason": "",
                        "n": sums["asked"],
                    }
                )
            )
    return tables


def remarks_on_access(stimuli: GuiseStimuli, frames: Frames) -> list[str]:
    """Say how the scores were obtained, why texts are missing, and what was refused."""
    read = read_logprobs(stimuli, frames)
    found = [_HOW[read.access]]
    found += [f"{n} readings are missing: {why}." for why, n in read.reasons.items()]
    return found + _refusals(stimuli, read)


_HOW = {
    "full": "Access: full. Every probability is a softmax over the model's whole vocabulary.",
    "top_k": "Access: top_k. Probabilities are known of the likeliest tokens alone; pooled_low and "
    "pooled_high bound every score whatever the missing probability does.",
    "sampled": "Access: sampled. Probabilities are shares of drawn answers; pooled_low and "
    "pooled_high come from Wilson's 95 % intervals of both shares, which take all answers for "
    "independent.",
}


def _refusals(stimuli: GuiseStimuli, read: GuiseLogprobs) -> list[str]:
    """Return how much was refused after either guise, with a test over texts."""
    if read.counts is None:
        return []
    sums = read.counts.groupby("variety", sort=False)[["refused", "asked"]].sum()
    if not sums["refused"].sum():
        return []
    told = []
    for variety in stimuli.varieties:
        refused, asked = sums.loc[[variety]].to_numpy(dtype=np.int64)[0]
        told.append(f"{refused:,} of {asked:,} after {variety}")
    share = read.counts.groupby(["variety", "text"], sort=False)["refused"].sum().unstack("variety")
    first, second = (share[variety].dropna().to_numpy() for variety in stimuli.varieties)
    return [f"Refused answers: {' and '.join(told)}; {_test(first, second, stimuli.paired)}."]


def _test(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64], paired: bool) -> str:
    """Return the test of a difference, with texts as units: their answers hang together."""
    if paired:
        more, fewer = int((first > second).sum()), int((first < second).sum())
        if not more + fewer:
            return "as many after both texts of every pair"
        p = stats.binomtest(more, more + fewer).pvalue
        return f"more in {more} pairs, fewer in {fewer} (exact sign test, p = {p:.3g})"
    table = np.array([[(side > 0).sum(), (side == 0).sum()] for side in (first, second)])
    p = stats.fisher_exact(table).pvalue
    return (
        f"of {table[0][0]} and {table[1][0]} texts at least once (Fisher's exact test, p = {p:.3g})"
    )


def _table(
    stimuli: GuiseStimuli, q: npt.NDArray[np.float64], n: npt.NDArray[np.int64]
) -> pd.DataFrame:
    prompts = [prompt.slug for prompt in stimuli.prompts]
    return pd.DataFrame(
        {
            "trait": np.tile(np.array(stimuli.attributes, dtype=object), len(prompts)),
            "template": np.repeat(np.array(prompts, dtype=object), len(stimuli.attributes)),
            "value": q.ravel(),
            "n": n.ravel(),
        }
    )


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

    def said(self, stimuli: GuiseStimuli, rows: pd.DataFrame) -> pd.DataFrame | None:
        """Return the answers of a served model that were drawn, or refused."""
        if "said" not in rows:
            return None
        found = [
            {"group": variety, "item": text, "prompt": prompt, **one}
            for variety, text, prompt, said in zip(
                rows["variety"], rows["text"], rows["prompt"], rows["said"], strict=True
            )
            for one in json.loads(said)
        ]
        return pd.DataFrame(found, columns=list(ANSWER_COLUMNS))

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
            "scores toward 0."
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
