"""The makers of studies and runs as fixtures."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from annotation.models import Study
from probing.models import Run
from tests.evaluation.reports.surveys import make_rated_study, make_scored_run


@pytest.fixture
def rated_study(db: None) -> Callable[..., Study]:
    """Return a function that makes a live study of three groups with accepted submissions."""
    return make_rated_study


@pytest.fixture
def scored_run(db: None) -> Callable[..., Run]:
    """Return a function that makes a finished run with pair scores for both templates."""
    return make_scored_run
