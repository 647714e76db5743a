"""Fixtures of classifiers that are trained: made-up sentences whose adjective says the class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from probing.models import LabeledTextSet, LanguageModel, Run
from probing.runs.creation import create_run
from probing.runs.language_models import register_model
from probing.runs.stimuli_loading import StimuliChoice, run_request
from tests.probing.library.brought import bring
from tests.probing.training.made_up_texts import compose_texts

TuningMaker = Callable[..., Run]
FAST = {"learning_rate": "0.01", "epochs": 3, "batch_size": 8, "trainings": 2, "kept": 1}


def as_tsv(rows: Sequence[tuple[str, int, str]]) -> bytes:
    lines = ["text\tlabel\tsplit", *(f"{text}\t{label}\t{split}" for text, label, split in rows)]
    return "\n".join(lines).encode()


@pytest.fixture
def made_up(base: LanguageModel) -> LabeledTextSet:
    """A set of 81 labeled texts in three splits, in the database of the model."""
    facts = {"slug": "made-up", "title": "Made-up texts"}
    entry: LabeledTextSet = bring("labeled-texts", as_tsv(compose_texts()), "made-up.tsv", **facts)
    return entry


@pytest.fixture
def base(request: pytest.FixtureRequest, own_folder: None, checkpoints: Path) -> LanguageModel:
    """A tiny RoBERTa with a language model's head."""
    names = request.fixturenames
    request.getfixturevalue("shared_database" if "shared_database" in names else "db")
    return register_model(location=str(checkpoints / "tiny-roberta"), name="tiny")


@pytest.fixture
def make_tuning(base: LanguageModel, made_up: LabeledTextSet) -> TuningMaker:
    """Create a run that trains classifiers on the made-up texts."""

    def make(*, model: LanguageModel = base, seed: int = 5, **parameters: Any) -> Run:
        asked = run_request(
            measure="classifier_fine_tuning",
            model=model,
            choice=StimuliChoice(texts=made_up.slug),
            seed=seed,
            parameters={**FAST, **parameters},
        )
        return create_run(**asked, seed=seed, created_by=None)

    return make
