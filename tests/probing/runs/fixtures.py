"""Fixtures of everything that goes through the work engine."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections

from probing.measures.stimuli import Stimuli
from probing.models import LanguageModel, Run, Score
from probing.runs.creation import create_run
from probing.runs.language_models import describe_model, is_registered, register_model
from probing.runs.stimuli import load_stimuli

RunMaker = Callable[..., Run]


@pytest.fixture(autouse=True)
def one_thread(settings: Any) -> None:
    """One thread each: several tests compute side by side."""
    settings.MODEL_THREADS = 1
    settings.MODEL_DEVICE = "cpu"


@pytest.fixture
def shared_database(transactional_db: None, tmp_path: Path) -> Iterator[str]:
    """A database that threads and other processes open as well; yields its address.

    On SQLite the tests' own database lives in memory, where a second connection meets other
    locks than in a file, so a copy in a file takes its place.
    """
    if connection.vendor != "sqlite":
        stored = connection.settings_dict
        yield (
            f"postgres://{stored['USER']}:{stored['PASSWORD']}@{stored['HOST']}:{stored['PORT']}"
            f"/{stored['NAME']}"
        )
        return
    file = tmp_path / "shared.sqlite3"
    with connection.cursor() as cursor:
        cursor.execute("VACUUM INTO %s", [str(file)])
    before, settings_before = connections["default"], connections.settings["default"]
    connections.settings["default"] = {**before.settings_dict, "NAME": str(file)}
    del connections["default"]
    try:
        yield f"sqlite:///{file}"
    finally:
        connections["default"].close()
        connections.settings["default"] = settings_before
        connections["default"] = before


@pytest.fixture
def bert(request: pytest.FixtureRequest, checkpoints: Path) -> LanguageModel:
    """The tiny BERT-style checkpoint, registered in the test's database."""
    _need_database(request)
    location = str(checkpoints / "tiny-bert")
    if registered := is_registered(location=location):
        return registered
    model = copy(describe_once(location))
    model.save(force_insert=True)
    return model


@cache
def describe_once(location: str) -> LanguageModel:
    """What registering a checkpoint reads of it: its tokenizer is loaded once, not for each test.

    Not stored; for checkpoints that nobody changes.
    """
    return describe_model(location=location)


@pytest.fixture
def own_copy(request: pytest.FixtureRequest, checkpoints: Path, tmp_path: Path) -> LanguageModel:
    """The same checkpoint in a folder that the test may damage."""
    _need_database(request)
    folder = tmp_path / "model"
    shutil.copytree(checkpoints / "tiny-bert", folder)
    return register_model(location=str(folder))


@pytest.fixture
def make_run(bert: LanguageModel) -> RunMaker:
    """Create a run of two templates and four groups, one shard for each unless told otherwise."""

    def make(
        measure: str = "set",
        *,
        model: LanguageModel | None = None,
        stimuli: Stimuli | None = None,
        **parameters: Any,
    ) -> Run:
        return create_run(
            measure=measure,
            model=model or bert,
            stimuli=stimuli or few_stimuli(),
            parameters={"groups_per_shard": 1, **parameters},
            seed=7,
            created_by=None,
        )

    return make


def few_stimuli() -> Stimuli:
    """Two templates, four groups, two traits: eight shards of one group each."""
    return load_stimuli(
        groups=["man", "woman", "elderly", "teenager"],
        templates=["that-group-is-trait", "groups-should-be-trait"],
        traits=["poor-wealthy", "cold-warm"],
    )


def scores_of(run: Run) -> dict[tuple[str, str, str, str], tuple[float | None, str, int]]:
    """Return all scores of a run by what they are scores of."""
    return {
        (score.name, score.group, score.trait, score.template): (
            score.value,
            score.reason,
            score.n,
        )
        for score in Score.objects.filter(run=run)
    }


def _need_database(request: pytest.FixtureRequest) -> None:
    """Use the shared database where the test asks for it, and the usual one elsewhere."""
    names = request.fixturenames
    request.getfixturevalue("shared_database" if "shared_database" in names else "db")
