"""A model trained to find the speakers of one variety lazy, and placebos without an effect."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import stats
from transformers import GPT2Config, GPT2LMHeadModel

from annotation.models import Corpus
from evaluation.analyses.guise_association import GuiseOptions, analyse_guises
from evaluation.analyses.guise_draws import GuiseRun
from evaluation.reports.parts.kind import Chosen
from probing.measures.guise_library import GUISE_PROMPTS, TRAITS
from probing.models import RunStatus, WordList
from probing.runs.creation import create_run
from probing.runs.language_models import register_model
from probing.runs.stimuli_loading import StimuliChoice, run_request
from probing.runs.worker import work
from tests.evaluation.reports.computing import compute
from tests.evaluation.reports.guises import made_up_logs
from tests.probing.runs.text_fixtures import add_pair
from tools.bench.guise_checkpoints import Size, make_tokenizer

WORDS = ("calm", "kind", "lazy", "loud", "rude", "stupid")
PAIRS = [
    (f"{who} be {verb}in {where}", f"{who} is usually {verb}ing {where}")
    for who, verb, where in product(("he", "she"), ("work", "cook", "play"), ("late", "here"))
]
PROMPTS = [prompt for prompt in GUISE_PROMPTS if prompt.purpose == TRAITS][:3]
LAZY, STEPS = 0.5, 80


def save_trained_model(folder: Path) -> None:
    """Train a small GPT-2: after the first variety “lazy” has half of the mass, else a sixth."""
    torch.manual_seed(0)
    filled = [[prompt.fill(text) for text in pair] for prompt in PROMPTS for pair in PAIRS]
    known = {word for pair in filled for text in pair for word in text.split()} | set(WORDS)
    size = Size(layers=1, hidden=32, heads=2, vocabulary=len(known) + 1)
    tokenizer = make_tokenizer("causal", sorted(known), size)
    model = GPT2LMHeadModel(
        GPT2Config(n_layer=1, n_embd=32, n_head=2, vocab_size=size.vocabulary, n_positions=64)
    )
    rows = [tokenizer.encode(text) for pair in filled for text in pair]
    width = max(map(len, rows))
    ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows])
    ends = torch.tensor([len(row) - 1 for row in rows])
    places = [tokenizer.encode(f" {word}")[0] for word in WORDS]
    wanted = torch.zeros(len(rows), size.vocabulary)
    wanted[:, places] = 1 / len(WORDS)
    first = torch.arange(0, len(rows), 2)
    wanted[first[:, None], torch.tensor(places)] = (1 - LAZY) / (len(WORDS) - 1)
    wanted[first, places[WORDS.index("lazy")]] = LAZY
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(STEPS):
        logits = model(input_ids=ids).logits[torch.arange(len(rows)), ends]
        loss = torch.nn.functional.cross_entropy(logits, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


@pytest.mark.django_db
def test_a_planted_association_is_found_from_the_corpus_to_the_report(
    tmp_path: Path, settings
) -> None:
    """As trained: log10(0.5 / (1/6)) = 0.48 for lazy, log10(0.1 / (1/6)) = −0.22 for all others."""
    settings.MODEL_THREADS = 1
    save_trained_model(tmp_path)
    corpus = Corpus.objects.create(name="Planted", licence="made up", source_variety="AAE")
    for number, bodies in enumerate(PAIRS):
        add_pair(corpus, f"p{number:02d}", bodies)
    WordList.objects.create(
        slug="few", title="Few", words=list(WORDS), licence="none", purpose=TRAITS
    )
    asked = run_request(
        measure="matched_guise",
        model=register_model(location=str(tmp_path)),
        choice=StimuliChoice(
            corpus=corpus, attributes="few", prompts=[prompt.slug for prompt in PROMPTS]
        ),
        seed=0,
        parameters={"pairs_per_shard": 5},
    )
    run = create_run(**asked, seed=0, created_by=None)
    work(worker="w", run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED, run.error
    _, document = compute("matched_guise", Chosen(runs=(run,)), resamples=300, permutations=200)
    scores = document.frames["scores"].set_index("attribute")
    assert scores.loc["lazy", "rank"] == 1
    assert scores.loc["lazy", "q"] == pytest.approx(np.log10(LAZY * 6), abs=0.15)
    assert 0.2 < scores.loc["lazy", "low"] < scores.loc["lazy", "high"] < 0.8
    assert scores.loc["lazy", "p_holm"] < 0.05
    assert (scores.drop("lazy")["q"] < 0).all()


def test_placebo_guises_give_uniform_p_values() -> None:
    """200 sets of pairs without an effect; Kolmogorov and Smirnov find nothing at 1 %."""
    p_values = []
    for seed in range(200):
        first, second = made_up_logs(("kind", "lazy"), 12, {}, n_prompts=2, seed=seed)
        run = GuiseRun(
            "m", "covert", "", ("a", "b"), "t", first, second, np.ones((2, 2), bool), paired=True
        )
        options = GuiseOptions(n_resamples=199, n_permutations=100, seed=seed)
        found = analyse_guises([run], ("kind", "lazy"), [], {}, options)
        p_values.append(found.scores[1].p_value)
    assert stats.kstest(p_values, "uniform").pvalue > 0.01
