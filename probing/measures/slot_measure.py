"""Base of measures that score an adjective in the slot of a template.

Cao et al. (2022): the score of a group and an adjective compares the group's sentence with the
*prior*, the same sentence with the group masked or replaced by a generic noun. The pair score of
a trait is the score of its high pole minus that of its low pole.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar, cast

from pydantic import Field

from annotation.common.lazy import np, pd
from probing.lm.errors import LanguageModelError, WordEdgeError
from probing.lm.protocols import SlotContext, SlotModel, SlotTokenizer, WordPart
from probing.measures.adjectives import Adjectives, empty_lists, scored_words
from probing.measures.aggregation import cells_of_fewer_templates, pair_scores, pole_scores
from probing.measures.base import (
    Cost,
    Frames,
    Measure,
    MeasureParameters,
    Problem,
    ShardPlan,
    in_words,
)
from probing.measures.stimuli import Group, Stimuli, StimuliError, Template

Prior = Literal["mask", "noun"]
SlotForm = Literal["replaced", "written"]

_LONGEST_TITLE = 200


class SlotParameters(MeasureParameters):
    """Parameters of every measure that compares a group's sentence with a prior."""

    prior: Prior = Field(
        "mask",
        description="What the group's sentence is compared with: the same sentence with the whole "
        "group phrase masked (mask, as published) or with person, people or People in its place "
        "(noun, as in the released code). Left out, it is mask, and noun for a causal model, "
        "which has no mask.",
        json_schema_extra=in_words(
            {"mask": "the group phrase masked", "noun": "person, people or People"}
        ),
    )
    adjectives: Adjectives = Field(
        "pole",
        description="What stands for a pole: its own adjective (pole, as published), the pole "
        "with its synonyms in the library (lists), or these as the released lists spell them "
        "(released lists).",
        json_schema_extra=in_words(
            {
                "pole": "its own adjective",
                "lists": "lists of the library",
                "released_lists": "released lists",
            }
        ),
    )
    list_average: Literal["mean", "median"] = Field(
        "mean",
        title="Average over a list",
        description="How the adjectives of a list become one score: their mean (as published) or "
        "their median (as in the released code). Without lists it changes nothing.",
        json_schema_extra=in_words({"mean": "mean", "median": "median"}),
    )
    slot: SlotForm = Field(
        "replaced",
        description="What a masked model reads: the tokens of the sentence with those of the "
        "adjective replaced by masks (replaced), or the text with mask tokens written into it (as "
        "in the released code). They differ for ALBERT, DeBERTa v2, XLM-RoBERTa, and CamemBERT, "
        "whose tokenizers put a space of their own after a written mask.",
        json_schema_extra=in_words(
            {"replaced": "masks in place of tokens", "written": "mask tokens in the text"}
        ),
    )
    groups_per_shard: int = Field(
        5,
        ge=1,
        le=1000,
        description="How many groups one unit of work covers. Smaller units show progress sooner; "
        "larger ones cost less overhead. The scores do not depend on it beyond rounding.",
    )


S = TypeVar("S", bound=SlotParameters)


class SlotMeasure(Measure[Stimuli, S]):
    """A measure whose evidence comes from one slot per sentence."""

    stimuli_type = Stimuli

    @abstractmethod
    def evidence(
        self, lm: SlotModel, contexts: Sequence[SlotContext], words: Sequence[str], parameters: S
    ) -> np.ndarray:
        """Return what the model says of each word in each context, (n_contexts, n_words, …)."""

    @abstractmethod
    def compare(
        self, group: np.ndarray, prior: np.ndarray, words: Sequence[str], parameters: S
    ) -> pd.DataFrame:
        """Return one row per word: `value`, `reason`, and the measure's own details.

        `group` and `prior` are the evidence of each word, (n_words, …); a word comes once for
        every group.
        """

    def evidence_key(self, parameters: S) -> tuple[Any, ...]:
        """Return the parameters that the evidence depends on, to tell cached priors apart."""
        return ()

    def part(self, parameters: S) -> WordPart:
        """Return what of a word is scored: the whole of it, unless a measure says otherwise."""
        return "word"

    def plan(self, stimuli: Stimuli, parameters: S, seed: int = 0) -> list[ShardPlan]:
        """Return one shard for each template and chunk of groups, in the order of the stimuli."""
        size = parameters.groups_per_shard
        chunks = [stimuli.groups[i : i + size] for i in range(0, len(stimuli.groups), size)]
        cells = [(template, chunk) for template in stimuli.templates for chunk in chunks]
        return [
            ShardPlan(
                index=index,
                title=_shard_title(template, chunk),
                payload={"template": template.slug, "groups": [group.slug for group in chunk]},
            )
            for index, (template, chunk) in enumerate(cells)
        ]

    def estimate(self, stimuli: Stimuli, parameters: S, lm: SlotTokenizer) -> Cost:
        """Count the forward passes of every group and, once for each template, of the prior."""
        words = distinct_words(stimuli, parameters.adjectives)
        passes = tokens = 0
        for template in stimuli.templates:
            prior = prior_context(template, parameters.prior, lm, parameters.slot)
            for read in (_contexts(template, stimuli.groups, parameters), [prior]):
                chain = lm.slot_chain(read, words, part=self.part(parameters))
                passes += len(chain.states)
                tokens += chain.tokens
        return Cost(len(self.plan(stimuli, parameters)), passes, tokens)

    def complete(self, parameters: S, lm: SlotTokenizer) -> S:
        """Take the prior noun for a model without a mask, unless a prior was chosen."""
        if lm.mask_token is not None or _chose_prior(parameters):
            return parameters
        # It stays apart from a chosen one, so that `problems` can say who chose it.
        taken = {**dict(parameters), "prior": "noun"}
        return cast("S", type(parameters).model_construct(parameters.model_fields_set, **taken))

    def problems(self, stimuli: Stimuli, parameters: S, lm: SlotTokenizer) -> list[Problem]:
        """Put every adjective and every sentence to the tokenizer and collect what fails."""
        found = empty_lists(stimuli.traits, parameters.adjectives)
        if parameters.prior == "noun" and not _chose_prior(parameters):
            message = (
                "The model has no mask token, so each group's sentence is compared with the prior "
                "noun: person, people or People in the group's place."
            )
            found.append(Problem("parameter prior", message, False))
        words: list[str] = []
        for scored in scored_words(stimuli, parameters.adjectives):
            try:
                lm.split(scored.word)
            except WordEdgeError:
                pass  # of that sentence: the templates are tried below
            except LanguageModelError as error:
                place = f"trait {scored.trait}, {scored.pole} pole"
                found.append(Problem(place, str(error), True))
                continue
            words.append(scored.word)
        if parameters.slot == "written" and not lm.mask_takes_space:
            found.append(
                Problem(
                    "tokenizer",
                    "The mask token leaves the space before it as a token of its own, so the "
                    "model reads a sentence that it never saw in training. Set slot to replaced, "
                    "or correct the tokenizer's files (lstrip of the mask token).",
                    False,
                )
            )
        if lm.mask_token is None and parameters.prior == "mask":
            message = (
                "A causal model has no mask token, so no group can be masked. Choose the prior "
                "noun (--param prior=noun), which puts person or people in the group's place."
            )
            return [*found, Problem("parameter prior", message, True)]
        joined: dict[tuple[str, ...], dict[str, str]] = {}
        for template in stimuli.templates:
            found += _template_problems(template, stimuli.groups, parameters, words, lm, joined)
        return [*found, *_joined_problems(joined, len(set(words)))]

    def compute(
        self, payload: Mapping[str, Any], stimuli: Stimuli, parameters: S, lm: SlotModel
    ) -> pd.DataFrame:
        """Return one row per group, trait, pole and adjective of the shard.

        Columns: template, group, trait, pole, word, value, reason, subwords, then the measure's
        details. The prior is computed once per template and kept with the model.
        """
        template, groups = _shard_stimuli(payload, stimuli)
        words = distinct_words(stimuli, parameters.adjectives)
        # The prior always has forward passes of its own: had it shared a batch with the groups,
        # their last digits would depend on whether it was remembered.
        before = prior_context(template, parameters.prior, lm, parameters.slot)
        key = (self.name, before, words, self.evidence_key(parameters))
        prior = lm.cache.get_or_compute(key, lambda: self.evidence(lm, [before], words, parameters))
        contexts = _contexts(template, groups, parameters)
        evidence = self.evidence(lm, contexts, words, parameters)
        scored = scored_words(stimuli, parameters.adjectives)
        # Lists share adjectives, so that an entry may stand for several rows of the evidence.
        places = [words.index(entry.word) for entry in scored]
        rows = evidence[:, places]
        shape = (len(groups) * len(scored), *rows.shape[2:])
        cut = [[len(row) for row in opened.pieces] for opened in lm.open(contexts, words)]
        compared = self.compare(
            rows.reshape(shape),
            np.broadcast_to(prior[:, places], rows.shape).reshape(shape),
            [entry.word for entry in scored] * len(groups),
            parameters,
        )
        head = pd.DataFrame(
            {
                "template": template.slug,
                "group": np.repeat([group.slug for group in groups], len(scored)),
                "trait": [entry.trait for entry in scored] * len(groups),
                "pole": [entry.pole for entry in scored] * len(groups),
                "word": [entry.word for entry in scored] * len(groups),
                "value": compared["value"],
                "reason": compared["reason"],
                "subwords": np.array(cut)[:, places].ravel(),
            }
        )
        return pd.concat([head, compared.drop(columns=["value", "reason"])], axis=1)

    def aggregate(self, stimuli: Stimuli, parameters: S, shard_frames: Frames) -> pd.DataFrame:
        """Return pair scores by template and their means; see :func:`pair_scores`."""
        words = scored_words(stimuli, parameters.adjectives)
        return pair_scores(stimuli, shard_frames, words=words, average=parameters.list_average)

    def remarks(self, stimuli: Stimuli, parameters: S, shard_frames: Frames) -> list[str]:
        """Say how many means rest on fewer templates than the others."""
        fewer = cells_of_fewer_templates(stimuli, shard_frames)
        if not fewer:
            return []
        total, templates = len(stimuli.groups) * len(stimuli.traits), len(stimuli.templates)
        return [
            f"{fewer:,} of {total:,} mean scores rest on fewer than the {templates} templates, for "
            "want of a score in the others: a star marks them on the run's page, and n counts "
            "their templates. Compare them with care, or choose templates that give every score."
        ]

    def poles(self, stimuli: Stimuli, parameters: S, shard_frames: Frames) -> pd.DataFrame:
        """Return the scores of single poles, means over templates; see :func:`pole_scores`."""
        words = scored_words(stimuli, parameters.adjectives)
        return pole_scores(stimuli, shard_frames, words=words, average=parameters.list_average)


def _chose_prior(parameters: SlotParameters) -> bool:
    return "prior" in parameters.model_fields_set


def distinct_words(stimuli: Stimuli, choice: Adjectives = "pole") -> tuple[str, ...]:
    """Return the adjectives in scoring order, each once: lists share some of them."""
    return tuple(dict.fromkeys(entry.word for entry in scored_words(stimuli, choice)))


def group_context(template: Template, group: Group, slot: SlotForm = "replaced") -> SlotContext:
    """Return the template with the group in its slot and the trait slot open."""
    parsed = template.parsed
    around = parsed.around_trait(group.form(parsed.form))
    return SlotContext(*around, written=slot == "written")


def prior_context(
    template: Template, prior: Prior, lm: SlotTokenizer, slot: SlotForm = "replaced"
) -> SlotContext:
    """Return the template without a group: one mask for the whole phrase, or a generic noun."""
    parsed, written = template.parsed, slot == "written"
    if prior == "noun":
        return SlotContext(*parsed.around_trait(template.generic_noun), written=written)
    if lm.mask_token is None:
        raise StimuliError("A causal model has no mask token: choose the prior noun.")
    before, after = parsed.around_trait(lm.mask_token)
    masked = int(parsed.group_first), int(not parsed.group_first)
    return SlotContext(before, after, *masked, written=written)


def _contexts(
    template: Template, groups: Sequence[Group], parameters: SlotParameters
) -> list[SlotContext]:
    return [group_context(template, group, parameters.slot) for group in groups]


def _shard_stimuli(
    payload: Mapping[str, Any], stimuli: Stimuli
) -> tuple[Template, tuple[Group, ...]]:
    if set(payload) != {"template", "groups"} or not payload["groups"]:
        raise StimuliError("A shard's payload is an object with a template and its groups.")
    groups = tuple(stimuli.group(slug) for slug in payload["groups"])
    return stimuli.template(payload["template"]), groups


def _shard_title(template: Template, groups: Sequence[Group]) -> str:
    names = groups[0].plural if len(groups) == 1 else f"{groups[0].plural} … {groups[-1].plural}"
    title = f"{template.text} × {names}"
    return title if len(title) <= _LONGEST_TITLE else title[: _LONGEST_TITLE - 1] + "…"


def _template_problems(
    template: Template,
    groups: Sequence[Group],
    parameters: SlotParameters,
    words: Sequence[str],
    lm: SlotTokenizer,
    joined: dict[tuple[str, ...], dict[str, str]],
) -> list[Problem]:
    """Try the template with every group and every word; a word's fault is named once.

    joined : takes the words that the tokenizer joins with others → template → such a sentence
    """
    found: list[Problem] = []
    where = f"template {template.slug}"
    if lm.mask_token is None:
        found += _left_to_right_problems(template)
        if any(problem.fatal for problem in found):
            return found
    elif lm.mask_token in template.text:
        message = (
            f"The text holds the mask token '{lm.mask_token}'. Write {{trait}} for the slot and "
            "take the mask token out."
        )
        return [Problem(where, message, True)]
    if template.parsed.opens_with_trait:
        message = (
            "The adjective opens the sentence, but is scored as inside one: in lower case and, "
            "for byte-level tokenizers, with a leading space."
        )
        found.append(Problem(where, message, False))
    faulty: dict[str, Problem] = {}
    edges: dict[str, str] = {}
    prior = prior_context(template, parameters.prior, lm, parameters.slot)
    try:
        _try_words(prior, words, lm, where, faulty, edges)
    except LanguageModelError as error:
        return [*found, Problem(where, str(error), True)]
    for group, context in zip(groups, _contexts(template, groups, parameters), strict=True):
        place = f"group {group.slug} in {where}"
        try:
            _try_words(context, words, lm, place, faulty, edges)
        except LanguageModelError as error:
            found.append(Problem(place, str(error), True))
            continue
        if lm.unknown_parts(context.before + context.after):
            message = (
                "The tokenizer does not know a part of the sentence with "
                f"'{group.form(template.parsed.form)}'; the model reads its unknown token there "
                "and cannot tell such groups apart."
            )
            found.append(Problem(place, message, False))
    if edges:
        joined.setdefault(tuple(edges), {})[template.slug] = next(iter(edges.values()))
    return [*found, *faulty.values()]


def _joined_problems(joined: Mapping[tuple[str, ...], Mapping[str, str]], of: int) -> list[Problem]:
    """Return one problem for all templates in which the same words are joined with others."""
    found = []
    for words, templates in joined.items():
        slug, sentence = next(iter(templates.items()))
        many = len(templates) > 1
        where = f"the templates {', '.join(templates)}" if many else f"the template {slug}"
        message = (
            f"The tokenizer joins {len(words):,} of {of:,} adjectives with what is beside them in "
            f"{where}, as in “{sentence}”, so they have no tokens of their own: "
            f"{', '.join(words)}. Choose other templates, or replace these adjectives."
        )
        found.append(Problem(f"template {slug}", message, True))
    return found


def _try_words(
    context: SlotContext,
    words: Sequence[str],
    lm: SlotTokenizer,
    place: str,
    faulty: dict[str, Problem],
    edges: dict[str, str],
) -> None:
    """Note the words that cannot be put to the context; raises where none of them can."""
    try:
        cut = lm.open([context], words)[0].words
    except WordEdgeError:  # whatever the word is
        edges |= {word: edges.get(word, f"{context.before}{word}{context.after}") for word in words}
        return
    for word, pieces in zip(words, cut, strict=True):
        if isinstance(pieces, WordEdgeError):
            edges.setdefault(word, f"{context.before}{word}{context.after}")
        elif isinstance(pieces, LanguageModelError):
            faulty.setdefault(word, Problem(place, str(pieces), True))
    known = [len(pieces) for pieces in cut if not isinstance(pieces, LanguageModelError)]
    lm.encode_slot(context, max(known, default=1))


def _left_to_right_problems(template: Template) -> list[Problem]:
    """Say what a model that reads from left to right does not see of a template."""
    where = f"template {template.slug}"
    if not template.parsed.group_first:
        message = (
            "The adjective comes before the group, and a causal model reads from left to right: "
            "it would not see the group. Choose a template that names the group first."
        )
        return [Problem(where, message, True)]
    after = template.text.rpartition("{trait}")[2]
    if any(character.isalnum() for character in after):
        message = f"A causal model does not see what follows the adjective: “{after.strip()}”."
        return [Problem(where, message, False)]
    return []
