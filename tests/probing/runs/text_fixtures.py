"""Fixtures of runs on texts: a corpus in two varieties, short prompts, models of every family."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from annotation.corpora.bodies import hash_body
from annotation.models import Corpus, Split, Text, TextPair
from probing.measures.registry import get_measure
from probing.models import LanguageModel, Prompt, Run
from probing.runs.creation import create_run
from probing.runs.language_models import register_model
from probing.runs.stimuli_loading import StimuliChoice, choose_stimuli

PAIRS = (
    ("he be cookin dinner", "he is usually cooking dinner", "CORAAL"),
    ("she be workin late", "she is usually working late", "CORAAL"),
    ("they be talkin on the phone", "they are usually talking on the phone", "blogs"),
    ("he be playin music", "he is usually playing music", "blogs"),
)
TRAINING = (
    ("she be singin", "she is usually singing", "CORAAL"),
    ("they be runnin", "they are usually running", "blogs"),
)
ARROW, SLASH = "short-arrow", "short-slash"

TextRunMaker = Callable[..., Run]


def add_pair(
    corpus: Corpus,
    slug: str,
    bodies: tuple[str, str],
    *,
    source: str = "",
    split: Split = Split.EVALUATION,
    spans: Sequence[Sequence[dict[str, Any]]] = ((), ()),
) -> TextPair:
    """Store one pair as an import does; a target text of the same body is shared."""
    varieties = (corpus.source_variety, corpus.target_variety)
    texts = [
        Text.objects.get_or_create(
            corpus=corpus,
            variety=variety,
            body_hash=hash_body(body),
            defaults={
                "slug": f"{slug}-{variety.lower()}",
                "body": body,
                "source": source,
                "split": split,
                "spans": list(marked),
            },
        )[0]
        for variety, body, marked in zip(varieties, bodies, spans, strict=True)
    ]
    return TextPair.objects.create(
        corpus=corpus, slug=slug, source_text=texts[0], target_text=texts[1]
    )


def make_corpus(name: str = "Short texts", **fields: Any) -> Corpus:
    """Return a corpus of four pairs to evaluate and two of its training split."""
    corpus = Corpus.objects.create(name=name, license="CC BY 4.0", **fields)
    for number, (aal, wme, source) in enumerate(PAIRS):
        add_pair(corpus, f"p{number}", (aal, wme), source=source)
    for number, (aal, wme, source) in enumerate(TRAINING):
        add_pair(corpus, f"t{number}", (aal, wme), source=source, split=Split.TRAINING)
    return corpus


def make_prompts() -> None:
    """Store two prompts that leave the tiny models room: they read 64 tokens."""
    Prompt.objects.get_or_create(slug=ARROW, defaults={"text": "{text} =>"})
    Prompt.objects.get_or_create(slug=SLASH, defaults={"text": "{text} / {target}:"})


@pytest.fixture
def corpus(request: pytest.FixtureRequest) -> Corpus:
    names = request.fixturenames
    request.getfixturevalue("shared_database" if "shared_database" in names else "db")
    make_prompts()
    return make_corpus()


@pytest.fixture
def model_of(corpus: Corpus, checkpoints: Path) -> Callable[[str], LanguageModel]:
    """Register one of the tiny checkpoints."""
    return lambda name: register_model(location=str(checkpoints / name))


@pytest.fixture
def make_text_run(corpus: Corpus, model_of: Callable[[str], LanguageModel]) -> TextRunMaker:
    """Create a run on the corpus with a tiny checkpoint, one shard for each pair."""

    def make(
        measure: str,
        *,
        model: LanguageModel | str = "tiny-gpt2",
        choice: dict[str, Any] | None = None,
        seed: int = 7,
        **parameters: Any,
    ) -> Run:
        known = model_of(model) if isinstance(model, str) else model
        prompts = [ARROW] if measure == "counterpart_generation" else []
        given = StimuliChoice(**{"corpus": corpus, "prompts": prompts, **(choice or {})})
        stimuli = choose_stimuli(measure=get_measure(measure), model=known, choice=given, seed=seed)
        if measure == "counterpart_generation":
            parameters = {"max_new_tokens": 8, **parameters}
        return create_run(
            measure=measure,
            model=known,
            stimuli=stimuli,
            parameters={"pairs_per_shard": 1, **parameters},
            seed=seed,
            created_by=None,
            corpus=given.corpus,
        )

    return make
