"""Selector: a study's question, groups and scales as the stimuli of direct ratings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from annotation.instruments.content import load_content
from annotation.instruments.default_wording import DEFAULT_WORDING
from annotation.instruments.versions import current_instrument, published_instrument
from annotation.models import Instrument, Study, StudyKind
from probing.measures.rating_stimuli import RatingStimuli
from probing.measures.stimuli import Group, StimuliError, Trait
from probing.runs.errors import RunError
from probing.runs.stimuli import require_known

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
