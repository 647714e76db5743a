"""Selectors: a study's question, and labeled entries of the library, as stimuli."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from annotation.instruments.content import load_content
from annotation.instruments.default_wording import DEFAULT_WORDING
from annotation.instruments.versions import current_instrument, published_instrument
from annotation.models import Instrument, Study, StudyKind
from probing.library.labeled_files import stored_groups, stored_templates, stored_texts
from probing.measures.labeled_texts import LabeledTexts, complete_splits
from probing.measures.lexicon_library import DEFAULT_LEXICONS
from probing.measures.probe_stimuli import ProbeGroup, ProbeStimuli
from probing.measures.probe_templates import missing_placeholders
from probing.measures.rating_stimuli import RatingStimuli
from probing.measures.stimuli import Group, StimuliError, Trait
from probing.models import GroupLexicon, LabeledTemplateSet, LabeledTextSet
from probing.models.labeled_templates import LibraryFile
from probing.runs.errors import RunError
from probing.runs.stimuli import require_known

# --- Selector: labeled entries of the library as stimuli of classification, and of its training

F = TypeVar("F", bound=LibraryFile)
NOUNS: dict[type[LibraryFile], tuple[str, str]] = {
    LabeledTemplateSet: ("templates", "set of labeled templates"),
    GroupLexicon: ("groups", "lexicon of groups"),
    LabeledTextSet: ("examples_from", "set of labeled texts"),
}
SHOWN = 3


def find_entries(model: type[F], slugs: Iterable[str]) -> list[F]:
    """Return the entries of these slugs, each once. One query.

    Raises :class:`RunError` naming each unknown slug.
    """
    known = {entry.slug: entry for entry in model._default_manager.all()}
    wanted = list(dict.fromkeys(slugs))
    where, noun = NOUNS[model]
    require_known(where, noun, wanted, known)
    return [known[slug] for slug in wanted]


def load_probe_stimuli(
    *, templates: Sequence[str], lexicons: Sequence[str] = DEFAULT_LEXICONS
) -> ProbeStimuli:
    """Return labeled templates with the groups of lexicons. Two queries.

    Raises :class:`RunError` naming unknown slugs, placeholders that no lexicon fills, and groups
    that two lexicons have.
    """
    sets = find_entries(LabeledTemplateSet, templates)
    if not sets:
        known = ", ".join(LabeledTemplateSet.objects.values_list("slug", flat=True)[:SHOWN])
        raise RunError.at(
            "templates", f"No labeled templates are chosen. Choose a set, such as {known}."
        )
    chosen = [one for entry in sets for one in stored_templates(entry)]
    groups: list[ProbeGroup] = []
    for lexicon in find_entries(GroupLexicon, lexicons):
        own = stored_groups(lexicon)
        names = {name for group in own for filler in group.fillers for name in filler}
        unfilled = {
            name: template.text
            for template in chosen
            for name in missing_placeholders(template.text, names)
        }
        if unfilled:
            named = "; ".join(f"{{{n}}} in “{t}”" for n, t in list(unfilled.items())[:SHOWN])
            raise RunError.at(
                "groups",
                f"The lexicon “{lexicon.slug}” has no column for {named}. It has: "
                f"{', '.join(sorted(names))}. Add one, or choose another lexicon.",
            )
        groups += own
    try:
        name = ", ".join(entry.slug for entry in sets)
        return ProbeStimuli(tuple(chosen), tuple(groups), name)
    except StimuliError as error:
        raise RunError.at("groups", str(error)) from error


def load_labeled_texts(
    slug: str, *, validation_share: float, test_share: float, seed: int
) -> LabeledTexts:
    """Return a set of labeled texts, with splits that it lacks drawn by the seed. One query.

    Raises :class:`RunError` for an unknown slug, or none.
    """
    if not slug:
        known = ", ".join(LabeledTextSet.objects.values_list("slug", flat=True)[:SHOWN])
        expected = f"Choose a set, such as {known}." if known else "Import a set first."
        raise RunError.at("texts", f"No labeled texts are chosen. {expected}")
    (entry,) = find_entries(LabeledTextSet, [slug])
    texts = complete_splits(
        stored_texts(entry), validation_share=validation_share, test_share=test_share, seed=seed
    )
    try:
        return LabeledTexts(texts, entry.slug)
    except StimuliError as error:
        raise RunError.at("texts", str(error)) from error


# --- Direct ratings

Entry = TypeVar("Entry")


def load_rating_stimuli(
    study: Study | None, *, groups: Iterable[str] = (), traits: Iterable[str] | None = None
) -> RatingStimuli:
    """Return what people are asked in the version of ``study`` that they see, or in its draft.

    Parameters
    ----------
    groups, traits : slugs of the study's groups and scales; without any, all of them.

    Five queries at most. Raises :class:`RunError` where there is no such study, where it asks
    something else, and for each slug that it does not have.
    """
    if study is None:
        raise RunError.at(
            "study", "Direct rating asks the question of a study. Choose a study of group ratings."
        )
    instrument = _instrument(study)
    if study.kind != StudyKind.ABC_SURVEY or instrument is None:
        raise RunError.at(
            "study",
            f"“{study}” does not ask for ratings of groups. Choose a study of group ratings.",
        )
    content = load_content(instrument)
    words = {**DEFAULT_WORDING, **content.wording_in(instrument.language)}
    try:
        return RatingStimuli(
            groups=_groups(instrument, list(groups)),
            traits=_traits(instrument, None if traits is None else list(traits)),
            question=words["question"],
            lead=words["question_lead"],
            study=study.public_id,
            title=study.title,
            version=instrument.version,
            instrument_hash=instrument.content_hash,
            language=instrument.language,
        )
    except StimuliError as error:
        raise RunError.at("study", str(error)) from error


def asked_entries(study: Study | None) -> dict[str, list[tuple[str, str]]]:
    """Return the groups and traits of a study as choices (slug, text). Three queries."""
    instrument = study and _instrument(study)
    if not isinstance(instrument, Instrument):
        return {"groups": [], "traits": []}
    return {
        "groups": [(entry.slug, entry.plural) for entry in instrument.groups.all()],
        "traits": [(entry.slug, str(entry)) for entry in instrument.scales.all()],
    }


def _instrument(study: Study) -> Instrument | None:
    return published_instrument(study) or current_instrument(study)


def _groups(instrument: Instrument, wanted: list[str]) -> tuple[Group, ...]:
    known = {entry.slug: entry for entry in instrument.groups.all()}
    return tuple(
        Group(slug, entry.singular, entry.plural, entry.plural_capitalised)
        for slug, entry in _take(known, wanted, "groups", "group in this study")
    )


def _traits(instrument: Instrument, wanted: list[str] | None) -> tuple[Trait, ...]:
    known = {entry.slug: entry for entry in instrument.scales.all()}
    return tuple(
        Trait(slug, entry.low, entry.high, entry.dimension)
        for slug, entry in _take(known, wanted or [], "traits", "trait scale in this study")
    )


def _take(
    known: dict[str, Entry], wanted: list[str], where: str, noun: str
) -> list[tuple[str, Entry]]:
    require_known(where, noun, wanted, known)
    return [(slug, entry) for slug, entry in known.items() if not wanted or slug in wanted]
