"""Selector: groups, traits and templates of the library as the measures' stimuli."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from annotation.library.abc_model import TRAIT_PAIRS
from annotation.models import GroupSet, SocialGroup, TraitPair
from probing.library.sentences import missing_forms
from probing.measures.prompt_library import CHAT_PROMPT, INSTRUCTION_PROMPT, PAPER_PROMPT
from probing.measures.stimuli import Group, Stimuli, StimuliError, Trait
from probing.measures.stimuli import Template as TemplateStimulus
from probing.measures.template_library import BEST_TEMPLATES
from probing.measures.templates import TemplateError
from probing.models import LanguageModel, ModelKind, Template, TemplateSet
from probing.runs.errors import RunError

# Table 5 of Cao et al. (2022): the best template of SeT with RoBERTa, and one of the two of
# ILPS* with RoBERTa. Other families and measures have their own rows where the paper gives any.
FALLBACK_TEMPLATES = ("that-group-is-trait",)
#: The set that a page offers: the one template that Table 5 finds best for SeT with RoBERTa.
DEFAULT_TEMPLATE_SET = "cao-2022-best-roberta"


def default_templates(*, measure: str, model: LanguageModel) -> tuple[str, ...]:
    """Return the paper's best templates for this measure and family of models, as slugs."""
    return BEST_TEMPLATES.get((measure, model.family), FALLBACK_TEMPLATES)


def default_prompts(model: LanguageModel, *, chat: bool = False) -> tuple[str, ...]:
    """Return the slug of the prompt that this kind of model is asked with.

    Figure 1 of Deas et al. (2023) for causal models; models that turn one sequence into another
    get the instruction without its arrow, and those that are asked in a `chat` our own.
    """
    if chat:
        return (CHAT_PROMPT,)
    return (INSTRUCTION_PROMPT,) if model.kind == ModelKind.SEQ2SEQ else (PAPER_PROMPT,)


DEFAULT_GROUPS = "cao-2022-human-study"
#: What is taken without a choice: never what somebody has added to the library.
DEFAULT_TRAITS = tuple(pair.slug for pair in TRAIT_PAIRS)


def load_stimuli(
    *,
    groups: str | Iterable[str],
    templates: str | Iterable[str],
    traits: Iterable[str] | None = None,
) -> Stimuli:
    """Return the stimuli named by slugs; a name may be an entry's or a set's. Five queries.

    A set stands for its entries in the order of their slugs. An entry that is named twice comes
    once, in its first place. ``traits=None`` takes the 16 trait pairs of Cao et al. (2022).

    Raises :class:`RunError` naming each unknown slug, what is missing altogether, and each group
    without the surface form that a template needs.
    """
    chosen_templates = _resolve(
        templates,
        where="templates",
        noun="template or set of templates",
        entries={entry.slug: entry for entry in Template.objects.all()},
        sets=_members(TemplateSet.templates.through, "templateset__slug", "template__slug"),
    )
    chosen_groups = _choose_groups(groups)
    try:
        if lacking := missing_forms(chosen_groups, chosen_templates):
            raise RunError(lacking)
        return Stimuli(
            groups=_as_groups(chosen_groups),
            traits=load_traits(traits),
            templates=tuple(
                TemplateStimulus(slug=entry.slug, text=entry.text) for entry in chosen_templates
            ),
        )
    except TemplateError as error:  # a text that went into the library round the validation
        raise RunError.at("templates", str(error)) from error


def load_groups(names: str | Iterable[str]) -> tuple[Group, ...]:
    """Return the groups of these slugs, of entries or sets. Two queries.

    Raises :class:`RunError` naming each unknown slug, and a group without one of its forms.
    """
    return _as_groups(_choose_groups(names))


def _choose_groups(names: str | Iterable[str]) -> Sequence[SocialGroup]:
    return _resolve(
        names,
        where="groups",
        noun="group or set of groups",
        entries={entry.slug: entry for entry in SocialGroup.objects.all()},
        sets=_members(GroupSet.groups.through, "groupset__slug", "socialgroup__slug"),
    )


def _as_groups(chosen: Sequence[SocialGroup]) -> tuple[Group, ...]:
    try:
        return tuple(
            Group(
                slug=entry.slug,
                singular=entry.singular,
                plural=entry.plural,
                plural_capitalised=entry.plural_capitalised,
            )
            for entry in chosen
        )
    except StimuliError as error:
        raise RunError.at("groups", str(error)) from error


def load_traits(names: Iterable[str] | None = None) -> tuple[Trait, ...]:
    """Return the trait pairs of these slugs, for None the 16 of Cao et al. (2022). One query.

    Raises :class:`RunError` naming each unknown slug, and a pair without one of its adjectives.
    """
    pairs = {entry.slug: entry for entry in TraitPair.objects.all()}
    chosen = _resolve(
        [slug for slug in DEFAULT_TRAITS if slug in pairs] if names is None else names,
        where="traits",
        noun="trait pair",
        entries=pairs,
        sets={},
    )
    try:
        return tuple(
            Trait(
                slug=entry.slug,
                low=entry.low,
                high=entry.high,
                dimension=entry.dimension,
                low_synonyms=tuple(entry.low_synonyms),
                high_synonyms=tuple(entry.high_synonyms),
            )
            for entry in chosen
        )
    except StimuliError as error:
        raise RunError.at("traits", str(error)) from error


def _members(through: Any, set_field: str, entry_field: str) -> dict[str, list[str]]:
    """Return the slugs of each set's entries in order."""
    members: dict[str, list[str]] = {}
    rows = through.objects.order_by(set_field, entry_field).values_list(set_field, entry_field)
    for set_slug, entry_slug in rows:
        members.setdefault(set_slug, []).append(entry_slug)
    return members


def _resolve(
    names: str | Iterable[str],
    *,
    where: str,
    noun: str,
    entries: dict[str, Any],
    sets: dict[str, list[str]],
) -> Sequence[Any]:
    wanted = [names] if isinstance(names, str) else list(names)
    require_known(where, noun, wanted, [*sets, *entries])
    slugs = dict.fromkeys(slug for name in wanted for slug in sets.get(name, [name]))
    if not slugs:
        raise RunError.at(where, f"No {where} are chosen, expected at least one {noun}.")
    return [entries[slug] for slug in slugs]


def require_known(where: str, noun: str, names: Iterable[str], known: Collection[str]) -> None:
    """Raise :class:`RunError` with every name that is not known, and the closest known ones."""
    if unknown := [name for name in names if name not in known]:
        messages = [unknown_name(noun, name, list(known)) for name in unknown]
        raise RunError.at(where, " ".join(messages))


def unknown_name(noun: str, name: str, known: list[str]) -> str:
    """Return the message for an unknown name, with the closest known ones."""
    close = get_close_matches(name, known, n=3) or known[:3]
    hint = f" Near or known: {', '.join(close)}." if close else " The library holds none."
    return f"There is no {noun} “{name}”.{hint}"
