"""Fixtures of runs that train: a corpus of the made-up dialect, and a model that only copies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from annotation.corpora.bodies import hash_body
from annotation.models import Corpus, Split, Text, TextPair
from probing.models import LanguageModel, Prompt, Run
from probing.runs.creation import create_run
from probing.runs.language_models import register_model
from probing.runs.text_stimuli import load_text_stimuli
from tests.conftest import shared_folder
from tests.probing.training.dialect import (
    PROMPT,
    VARIETIES,
    DialectPair,
    build_copying_model,
    compose_sentences,
)

TrainingMaker = Callable[..., Run]
FAST = {"learning_rate": 0.003, "epochs": 2, "checkpoint_every": 1}


@pytest.fixture
def own_folder(settings: Any, tmp_path: Path) -> None:
    """Models and checkpoints of a test lie in a folder of its own."""
    settings.VAR_DIR = tmp_path / "var"
    settings.MODEL_THREADS = 1
    settings.MODEL_DEVICE = "cpu"


@pytest.fixture(scope="session")
def copying_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny T5 that copies; built once for all processes of the suite."""
    shared = shared_folder(tmp_path_factory)
    folder = shared / "copying-model"
    with FileLock(f"{folder}.lock"):
        if not folder.is_dir():
            building = shared / "copying-model-building"
            build_copying_model(building)
            building.rename(folder)
    return folder


@pytest.fixture
def copier(request: pytest.FixtureRequest, own_folder: None, copying_model: Path) -> LanguageModel:
    """The copying model, registered in the test's database."""
    names = request.fixturenames
    request.getfixturevalue("shared_database" if "shared_database" in names else "db")
    return register_model(location=str(copying_model), name="copier")


def store_pairs(corpus: Corpus, pairs: Sequence[DialectPair], split: Split) -> None:
    """Store pairs as a corpus holds them; equal standard sentences are one text."""
    for pair in pairs:
        number = Text.objects.filter(corpus=corpus).count()
        source, target = (
            Text.objects.get_or_create(
                corpus=corpus,
                variety=variety,
                body_hash=hash_body(body),
                defaults={
                    "slug": f"{variety.lower()}-{number}",
                    "body": body,
                    "source": "made up",
                    "split": split,
                },
            )[0]
            for variety, body in zip(VARIETIES, (pair.dialect, pair.standard), strict=True)
        )
        TextPair.objects.create(
            corpus=corpus, slug=f"pair-{number}", source_text=source, target_text=target
        )


@pytest.fixture
def dialect(copier: LanguageModel) -> Corpus:
    """A corpus of 72 pairs to train on and 40 to evaluate, and the prompt for them."""
    corpus = Corpus.objects.create(
        name="A made-up dialect",
        source_variety=VARIETIES[0],
        target_variety=VARIETIES[1],
        license="CC0",
    )
    sentences = compose_sentences()
    store_pairs(corpus, sentences.training, Split.TRAINING)
    store_pairs(corpus, sentences.evaluation, Split.EVALUATION)
    Prompt.objects.create(slug="rewrite", text=PROMPT)
    return corpus


@pytest.fixture
def make_training(copier: LanguageModel, dialect: Corpus) -> TrainingMaker:
    """Create a run that trains on some of the training pairs."""

    def make(*, pairs: int | None = 8, seed: int = 7, **parameters: Any) -> Run:
        stimuli = load_text_stimuli(dialect, prompts=["rewrite"], limit=pairs, split=Split.TRAINING)
        return create_run(
            measure="fine_tuning",
            model=copier,
            corpus=dialect,
            stimuli=stimuli,
            parameters={**FAST, **parameters},
            seed=seed,
            created_by=None,
        )

    return make


def weights_of(run: Run) -> bytes:
    """Return the weights of the model that a run has trained, as they lie on the disk."""
    model = LanguageModel.objects.get(training_run=run.public_id)
    return (Path(model.location) / "model.safetensors").read_bytes()
