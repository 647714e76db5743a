"""A small live study and people who take part in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from annotation.models import SocialGroup, Study, TraitPair
from annotation.studies.creation import create_study
from annotation.studies.lifecycle import launch_study
from tests.annotation.studies.people import allow_unsigned_links
from tests.annotation.survey.participants import InProcess, Person, spread
from tests.probing.runs.fixtures import shared_database  # noqa: F401

GROUPS = ("elderly", "teenager", "veteran", "immigrant", "working-class", "blind")
SCALES = ("cold-warm", "poor-wealthy", "traditional-modern", "powerless-powerful")

StudyMaker = Callable[..., Study]
PersonMaker = Callable[..., Person]


@pytest.fixture
def make_study() -> StudyMaker:
    """Return a maker of live studies with six groups and four scales, unless told otherwise."""

    def make(
        *,
        launched: bool = True,
        groups: tuple[str, ...] = GROUPS,
        scales: tuple[str, ...] = SCALES,
        **options: Any,
    ) -> Study:
        study = create_study(
            **{
                "title": "How groups are seen",
                "owner": None,
                "contact_email": "lab@example.org",
                "reward_cents": 200,
                "groups": SocialGroup.objects.filter(slug__in=groups),
                "trait_pairs": TraitPair.objects.filter(slug__in=scales),
                **options,
            }
        )
        allow_unsigned_links(study)
        return launch_study(study=study) if launched else study

    return make


@pytest.fixture
def study(db: None, make_study: StudyMaker) -> Study:
    return make_study()


@pytest.fixture
def make_person() -> PersonMaker:
    """Return a maker of people with a browser of their own."""

    def make(
        rate: Callable[[str, str], int] = spread, *, keeps_cookies: bool = True, **options: Any
    ) -> Person:
        return Person(InProcess(keeps_cookies=keeps_cookies), rate, **options)

    return make


@pytest.fixture
def person(study: Study, make_person: PersonMaker) -> Person:
    """Somebody who has pressed “Start”."""
    person = make_person()
    assert person.start(study.get_absolute_url()).status == 302
    return person
