"""Creates a study with a complete first instrument, ready to be edited or launched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from annotation.instruments.default_wording import DEFAULT_WORDING
from annotation.instruments.demographics import build_default_questions
from annotation.instruments.flow import DEFAULT_FLOW, count_groups
from annotation.instruments.presets import PRESETS, SPEAKERS, Preset
from annotation.library.abc_model import HUMAN_STUDY_SET, TRAIT_PAIRS
from annotation.models import (
    Corpus,
    Domain,
    GroupSet,
    Instrument,
    Skipping,
    SocialGroup,
    Study,
    StudyGroup,
    StudyKind,
    TraitPair,
    TraitScale,
    Wording,
)
from annotation.studies.guise_ratings import copy_guises, draw_guises


def human_study_groups() -> list[SocialGroup]:
    """Return the 25 groups of Cao et al. 2022, ordered by domain and name. One query."""
    return order_groups(GroupSet.objects.get(slug=HUMAN_STUDY_SET[0]).groups.all())


def human_study_scales() -> list[TraitPair]:
    """Return the 16 trait pairs of Cao et al. 2022, in their order; own ones are not. One query."""
    return list(TraitPair.objects.filter(slug__in=[pair.slug for pair in TRAIT_PAIRS]))


def order_groups(groups: Iterable[SocialGroup]) -> list[SocialGroup]:
    """Return groups by domain, then by name, as tables and charts show them."""
    places = {domain: place for place, domain in enumerate(Domain.values)}
    return sorted(
        groups,
        key=lambda group: (
            places.get(next(iter(group.domains), ""), len(places)),
            group.plural.lower(),
        ),
    )


def gather_groups(
    sets: Iterable[GroupSet], single: Iterable[SocialGroup] = ()
) -> list[SocialGroup]:
    """Return the groups of sets and single ones, each once, in the order of tables.

    Raises `ValidationError` where they are fewer than the rating pages.
    """
    groups = {group.pk: group for group in single}
    for chosen in sets:
        groups.update({group.pk: group for group in chosen.groups.all()})
    wanted = count_groups(DEFAULT_FLOW)
    if len(groups) < wanted:
        problem = _("Choose at least %(n)d groups, one for each rating page.")
        raise ValidationError(problem % {"n": wanted})
    return order_groups(groups.values())


@transaction.atomic
def create_study(
    *,
    title: str,
    owner: AbstractBaseUser | None,
    contact_email: str,
    groups: Iterable[SocialGroup] | None = None,
    trait_pairs: Iterable[TraitPair] | None = None,
    flow: list[Any] | None = None,
    instrument_options: dict[str, Any] | None = None,
    preset: str = "",
    **options: Any,
) -> Study:
    """Create a draft study and version 1 of its instrument.

    Without ``groups`` and ``trait_pairs`` the study has the 25 groups and 16 scales of Cao et al.
    2022, or the scales of its preset. A ``preset`` decides over ``instrument_options``. Raises
    `ValidationError` for bad options; nothing is stored then.
    """
    instrument = _begin(
        Study(  # type: ignore[misc]
            title=title,
            owner=owner,
            contact_email=contact_email,
            **{"estimated_minutes": PRESETS[preset].minutes, **options},
        ),
        PRESETS[preset],
        flow=flow,
        instrument_options=instrument_options,
    )
    fill_instrument(
        instrument=instrument,
        groups=human_study_groups() if groups is None else list(groups),
        trait_pairs=_preset_scales(PRESETS[preset]) if trait_pairs is None else list(trait_pairs),
        wording=PRESETS[preset].wording,
    )
    return instrument.study


@transaction.atomic
def create_guise_study(
    *,
    title: str,
    owner: AbstractBaseUser | None,
    contact_email: str,
    corpus: Corpus,
    n_pairs: int | None = None,
    trait_pairs: Iterable[TraitPair] | None = None,
    flow: list[Any] | None = None,
    instrument_options: dict[str, Any] | None = None,
    **options: Any,
) -> Study:
    """Create a draft in which people rate the speakers of a corpus's pairs, as `SPEAKERS` says.

    n_pairs : how many pairs are drawn; None takes all. The draw follows from the study's public id
    trait_pairs : without them the 16 scales of Cao et al. 2022

    Raises `ValidationError` for bad options and for a corpus without enough pairs; nothing is
    stored then.
    """
    instrument = _begin(
        Study(
            kind=StudyKind.GUISE_RATING,
            title=title,
            owner=owner,
            contact_email=contact_email,
            **options,  # type: ignore[misc]
        ),
        SPEAKERS,
        flow=flow,
        instrument_options=instrument_options,
    )
    guises = draw_guises(corpus, n_pairs=n_pairs, seed_text=instrument.study.public_id)
    copy_guises(instrument=instrument, guises=guises)
    fill_instrument(
        instrument=instrument,
        groups=[],
        trait_pairs=human_study_scales() if trait_pairs is None else list(trait_pairs),
        wording=SPEAKERS.wording,
    )
    return instrument.study


def _preset_scales(preset: Preset) -> list[TraitPair]:
    """Return a preset's scales in the order of tables. One query."""
    scales = human_study_scales()
    return [pair for pair in scales if not preset.scales or pair.slug in preset.scales]


def _begin(
    study: Study,
    preset: Preset,
    *,
    flow: list[Any] | None,
    instrument_options: dict[str, Any] | None,
) -> Instrument:
    """Store a study with an instrument that holds nothing but its flow and settings."""
    study.full_clean()
    study.save()
    instrument = Instrument(
        study=study,
        flow=list(preset.flow if flow is None else flow),
        **{"skipping": Skipping.GROUP, **(instrument_options or {}), **preset.options},
    )
    instrument.full_clean(exclude=["flow"])
    instrument.save()
    return instrument


@transaction.atomic
def fill_instrument(
    *,
    instrument: Instrument,
    groups: list[SocialGroup],
    trait_pairs: list[TraitPair],
    wording: Mapping[str, str] | None = None,
) -> None:
    """Copy library entries, default wording and default questions into an empty instrument."""
    if instrument.is_frozen:
        raise ValidationError(f"“{instrument}” is frozen, expected a draft.")
    copy_groups(instrument=instrument, groups=groups)
    copy_scales(instrument=instrument, trait_pairs=trait_pairs)
    Wording.objects.bulk_create(
        Wording(instrument=instrument, language=instrument.language, key=key, text=text)
        for key, text in {**DEFAULT_WORDING, **(wording or {})}.items()
    )
    instrument.questions.bulk_create(build_default_questions(instrument))


def copy_groups(*, instrument: Instrument, groups: Iterable[SocialGroup]) -> None:
    """Copy library groups into ``instrument``, in the order given: later edits leave it alone."""
    StudyGroup.objects.bulk_create(
        StudyGroup(
            instrument=instrument,
            group=group,
            slug=group.slug,
            singular=group.singular,
            plural=group.plural,
            plural_capitalised=group.plural_capitalised,
            domains=group.domains,
            position=position,
        )
        for position, group in enumerate(groups, start=1)
    )


def copy_scales(*, instrument: Instrument, trait_pairs: Iterable[TraitPair]) -> None:
    """Copy library trait pairs into ``instrument`` as its scales, in the order given."""
    TraitScale.objects.bulk_create(
        TraitScale(
            instrument=instrument,
            trait_pair=pair,
            slug=pair.slug,
            low=pair.low,
            high=pair.high,
            dimension=pair.dimension,
            position=position,
        )
        for position, pair in enumerate(trait_pairs, start=1)
    )
