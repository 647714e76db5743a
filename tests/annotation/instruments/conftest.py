"""Studies that can be read in several languages."""

from __future__ import annotations

import pytest

from annotation.instruments.languages.language_service import add_known_language, store_language
from annotation.instruments.languages.texts import list_texts
from annotation.models import Instrument, Study
from annotation.studies.lifecycle import launch_study
from tests.annotation.survey.conftest import StudyMaker, make_person, make_study  # noqa: F401

TITLE = {"es": "Cómo se ve a los grupos"}


@pytest.fixture
def make_bilingual(make_study: StudyMaker):  # type: ignore[no-untyped-def]  # noqa: F811
    """Return a maker of live studies in English and Spanish."""

    def make(**options) -> Study:  # type: ignore[no-untyped-def]
        study = make_study(launched=False, **options)
        add_spanish(study.instruments.get())
        return launch_study(study=study)

    return make


def add_spanish(instrument: Instrument) -> None:
    """Add Spanish as the platform brings it along; the study's title is not among that."""
    add_known_language(instrument=instrument, language="es")
    complete(instrument, "es", {"study.title": TITLE["es"]})


def complete(instrument: Instrument, language: str, more: dict[str, str]) -> None:
    known = {text.key: text.translation for text in list_texts(instrument, language)}
    store_language(instrument=instrument, language=language, translations=known | more)
