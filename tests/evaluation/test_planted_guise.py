"""A model trained to find the speakers of one variety lazy, and models without an effect."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import stats
from transformers import GPT2Config, GPT2LMHeadModel

from annotation.models import Corpus
from evaluation.analyses.guise_association import HumanStudy, analyze_guises
from evaluation.analyses.guise_cells import GuiseOptions
from evaluation.analyses.guise_draws import GuiseRun
from evaluation.reports.parts.kind import Chosen
from probing.measures.guise_library import GUISE_PROMPTS, TRAITS
from probing.models import RunStatus, WordList
from probing.runs.creation import create_run
from probing.runs.language_models import register_model
from probing.runs.stimuli_loading import StimuliChoice, run_request
from probing.runs.worker import work
from tests.evaluation.reports.computing import compute
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
    corpus = Corpus.objects.create(name="Planted", license="made up", source_variety="AAE")
    for number, bodies in enumerate(PAIRS):
        add_pair(corpus, f"p{number:02d}", bodies)
    WordList.objects.create(
        slug="few", title="Few", words=list(WORDS), license="none", purpose=TRAITS
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


def p_values(first: np.ndarray, second: np.ndarray, seed: int) -> tuple[float, float]:
    """Return p of one attribute: of the report's scores and its table."""
    agrees = np.ones((len(first), first.shape[2]), bool)
    run = GuiseRun("m", "covert", "", ("a", "b"), "t", first, second, agrees, paired=True)
    options = GuiseOptions(n_resamples=199, n_permutations=100, seed=seed)
    found = analyze_guises([run], ("kind", "lazy"), [], {}, options)
    return found.scores[1].p_value, found.crossed[1].p_value


def is_uniform(values: list[float]) -> bool:
    """Kolmogorov and Smirnov find nothing at 1 %."""
    return bool(stats.kstest(values, "uniform").pvalue > 0.01)


def test_models_without_an_effect_give_uniform_p_values() -> None:
    """200 untrained models, which read texts of the same random words under both guises."""
    found = []
    config = GPT2Config(n_layer=1, n_embd=16, n_head=2, vocab_size=40, n_positions=8)
    texts = np.random.default_rng(0).integers(2, 36, size=(200, 2, 12, 4))
    for seed, sides in enumerate(texts):
        torch.manual_seed(seed)
        model = GPT2LMHeadModel(config).eval()
        logs = []
        for bodies in sides:
            rows = [[36 + prompt, *body, 38 + prompt] for prompt in (0, 1) for body in bodies]
            with torch.no_grad():
                ends = model(input_ids=torch.tensor(rows)).logits[:, -1].log_softmax(-1)
            logs.append(ends[:, :2].reshape(2, 12, 2).numpy().astype(float))
        found.append(p_values(*logs, seed))
    for values in zip(*found, strict=True):
        assert is_uniform(list(values))


def test_random_rankings_agree_with_people_as_often_as_chance_allows() -> None:
    """200 sets of scores that know nothing of the study; four prompts share most of the noise.

    The paper's t-test takes them for independent and finds agreement too often.
    """
    words = tuple(f"w{number:02d}" for number in range(20))
    study = HumanStudy("s", "S", None, dict(zip(words, range(90, 40, -10), strict=False)))
    ours, paper = [], []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        shared, own = rng.normal(size=(1, 8, 20)), rng.normal(size=(4, 8, 20))
        first = -5 + shared + 0.3 * own
        run = GuiseRun(
            "m", "covert", "", tuple("abcd"), "t", first, np.full(first.shape, -5.0),
            np.ones((4, 20), bool), paired=True,
        )  # fmt: skip
        options = GuiseOptions(n_resamples=100, n_permutations=199, seed=seed)
        found = analyze_guises([run], words, [study], {}, options).agreements[0]
        ours.append(found.p_permutation)
        paper.append(found.p_t)
    assert is_uniform(ours)
    assert np.mean(np.array(paper) < 0.05) > 0.1
