"""Matched guise on the demo model, with the form's defaults."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from django.test import override_settings

from annotation.models import Corpus
from probing.models import Run, RunStatus, Score, WordList, WordPurpose
from probing.runs.creation import create_run
from probing.runs.parameters import load_shard_frames
from probing.runs.stimuli_loading import StimuliChoice, run_request
from probing.runs.worker import work
from stereoscope.demo.seeding import ensure_demo_model
from tests.probing.runs.text_fixtures import add_pair

PAIRS = (
    ("he be working late again", "he is usually working late again"),
    ("they done ate all of it", "they have already eaten all of it"),
)
#: From short to longer than the 64 tokens that the demo model reads.
GROWING = [("a " * number, "a " * number + "b") for number in range(38, 60)]

pytestmark = [pytest.mark.slow, pytest.mark.django_db]


@pytest.fixture(scope="module")
def var(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("var")


def probe(var: Path, pairs: Sequence[tuple[str, str]], parameters: Any, **choice: Any) -> Run:
    corpus = Corpus.objects.create(name="Pairs", license="made up", source_variety="AAE")
    for number, bodies in enumerate(pairs):
        add_pair(corpus, f"p{number}", bodies)
    with override_settings(VAR_DIR=var):
        model = ensure_demo_model()
    asked = run_request(
        measure="matched_guise",
        model=model,
        choice=StimuliChoice(corpus=corpus, **choice),
        seed=0,
        parameters=parameters,
    )
    run = create_run(**asked, seed=0, created_by=None)
    work(worker="w", run=run)
    run.refresh_from_db()
    return run


def test_the_default_run_on_the_demo_model_finishes(var: Path) -> None:
    run = probe(var, PAIRS, {})
    assert run.status == RunStatus.FINISHED, run.error
    assert Score.objects.filter(run=run, value__isnull=False).count() > 2 * 9 * 37


def test_a_text_without_room_for_every_attribute_is_left_out_by_the_dry_run(var: Path) -> None:
    words = WordList.objects.create(
        slug="long",
        title="Long",
        words=["kind", "unquestionably"],
        license="none",
        purpose=WordPurpose.TRAITS,
    )
    run = probe(
        var,
        GROWING,
        {"attribute_tokens": "chain"},
        attributes=words.slug,
        prompts=["guise-traits-the-person"],
    )
    assert run.status == RunStatus.FINISHED, run.error
    frames = pd.concat(load_shard_frames(run))
    unread = int((frames["reason"] != "").sum())
    assert 0 < unread < len(frames)
    assert any(f"{unread} of {2 * len(GROWING)} texts" in notice for notice in run.notices)
