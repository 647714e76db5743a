"""Real tiny checkpoints and a small set of stimuli for the machines' side."""

from __future__ import annotations

from pathlib import Path

import pytest

from probing.lm import load_masked
from probing.lm.masked import MaskedLanguageModel
from probing.measures.stimuli import Group, Stimuli, Template, Trait


@pytest.fixture(scope="session")
def checkpoints(shared_dir: Path) -> Path:
    """The folder of tiny checkpoints."""
    return shared_dir / "golden" / "models"


@pytest.fixture(scope="session")
def tiny_bert(checkpoints: Path) -> MaskedLanguageModel:
    # One thread: the suite runs several processes side by side.
    return load_masked(checkpoints / "tiny-bert", threads=1)


@pytest.fixture(scope="session")
def tiny_roberta(checkpoints: Path) -> MaskedLanguageModel:
    return load_masked(checkpoints / "tiny-roberta", threads=1)


@pytest.fixture(params=["tiny-bert", "tiny-roberta"])
def tiny_model(request: pytest.FixtureRequest) -> MaskedLanguageModel:
    """Either family in turn."""
    return request.getfixturevalue(request.param.replace("-", "_"))


@pytest.fixture(scope="session")
def small_stimuli() -> Stimuli:
    """Groups of different length, adjectives of one and of many subwords, both slot orders."""
    return Stimuli(
        groups=(
            Group("man", "man", "men", "Men"),
            Group("elderly", "elderly person", "elderly people", "Elderly people"),
            Group("native-american", "Native American", "Native Americans", "Native Americans"),
        ),
        traits=(
            Trait("poor-wealthy", "poor", "wealthy", "agency"),
            Trait("unconfident-confident", "unconfident", "confident", "agency"),
            Trait("low-status-high-status", "low-status", "high-status", "agency"),
        ),
        templates=(
            Template("that", "That {singular} is {trait}."),
            Template("trait-first", "The {trait} people are {plural}."),
        ),
    )
