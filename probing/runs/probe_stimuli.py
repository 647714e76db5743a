"""Selector: labelled entries of the library as stimuli of classification, and of its training."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from probing.library.labelled_files import stored_groups, stored_templates, stored_texts
from probing.measures.labelled_texts import LabelledTexts, complete_splits
from probing.measures.lexicon_library import DEFAULT_LEXICONS
from probing.measures.probe_stimuli import ProbeGroup, ProbeStimuli
from probing.measures.probe_templates import missing_placeholders
from probing.measures.stimuli import StimuliError
from probing.models import GroupLexicon, LabelledTemplateSet, LabelledTextSet
from probing.models.labelled_templates import LibraryFile
from probing.runs.errors import RunError
from probing.runs.stimuli import require_known

F = TypeVar("F", bound=LibraryFile)
NOUNS: dict[type[LibraryFile], tuple[str, str]] = {
    LabelledTemplateSet: ("templates", "set of labelled templates"),
    GroupLexicon: ("groups", "lexicon of groups"),
    LabelledTextSet: ("examples_from", "set of labelled texts"),
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
    """Return labelled templates with the groups of lexicons. Two queries.

    Raises :class:`RunError` naming unknown slugs, placeholders that no lexicon fills, and groups
    that two lexicons have.
    """
    sets = find_entries(LabelledTemplateSet, templates)
    if not sets:
        known = ", ".join(LabelledTemplateSet.objects.values_list("slug", flat=True)[:SHOWN])
        raise RunError.at(
            "templates", f"No labelled templates are chosen. Choose a set, such as {known}."
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


def load_labelled_texts(
    slug: str, *, validation_share: float, test_share: float, seed: int
) -> LabelledTexts:
    """Return a set of labelled texts, with splits that it lacks drawn by the seed. One query.

    Raises :class:`RunError` for an unknown slug, or none.
    """
    if not slug:
        known = ", ".join(LabelledTextSet.objects.values_list("slug", flat=True)[:SHOWN])
        expected = f"Choose a set, such as {known}." if known else "Import a set first."
        raise RunError.at("texts", f"No labelled texts are chosen. {expected}")
    (entry,) = find_entries(LabelledTextSet, [slug])
    texts = complete_splits(
        stored_texts(entry), validation_share=validation_share, test_share=test_share, seed=seed
    )
    try:
        return LabelledTexts(texts, entry.slug)
    except StimuliError as error:
        raise RunError.at("texts", str(error)) from error
