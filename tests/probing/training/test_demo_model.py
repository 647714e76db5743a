"""The demo model: complete or absent, the same for a seed, and able to be probed."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
import torch

from annotation.library.abc_model import HUMAN_STUDY_GROUPS, TRAIT_PAIRS
from probing.lm import load_masked
from probing.measures.registry import MEASURES, get_measure
from probing.measures.stimuli import Group, Stimuli, Trait
from probing.measures.template_library import TEMPLATES, get_template
from probing.training.demo.model import DemoModel, compose_corpus, train_demo_model
from tests.conftest import ROOT
from tests.waiting import wait_until

STIMULI = Stimuli(
    tuple(
        Group(entry.slug, entry.singular, entry.plural, entry.plural_capitalised)
        for entry in HUMAN_STUDY_GROUPS
    ),
    tuple(Trait(entry.slug, entry.low, entry.high, entry.dimension) for entry in TRAIT_PAIRS),
    (get_template("that-group-is-trait"), get_template("all-groups-are-trait")),
)
FEW_STEPS = 3

#: Measures of texts have a contract of their own.
SLOT_MEASURES = [name for name, entry in MEASURES.items() if entry.stimuli_type is Stimuli]


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> tuple[DemoModel, float]:
    """The model as `make run` makes it, and the seconds of computing that it took."""
    begun = time.process_time()
    model = train_demo_model(tmp_path_factory.mktemp("demo") / "model", stimuli=STIMULI)
    return model, time.process_time() - begun


@pytest.fixture(scope="module")
def trained(training: tuple[DemoModel, float]) -> DemoModel:
    return training[0]


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.slow
def test_it_is_trained_in_well_under_a_minute_and_has_learned_its_corpus(
    training: tuple[DemoModel, float],
) -> None:
    trained, computing = training
    # Whatever else the machine does; what it took on the clock is the model's own account.
    assert computing < 60
    assert trained.seconds > 0
    # Guessing by the frequency of words alone costs the corpus' unigram entropy.
    tokenizer = load_masked(trained.folder, threads=1).tokenizer
    counts = Counter(
        token
        for sentence in compose_corpus(STIMULI, seed=0)
        for token in tokenizer.encode(sentence)[1:-1]
    )
    total = sum(counts.values())
    entropy = -sum(n / total * math.log(n / total) for n in counts.values())
    assert trained.loss < 0.6 * entropy


@pytest.mark.slow
def test_it_knows_every_group_and_adjective_and_cuts_some_into_pieces(trained: DemoModel) -> None:
    lm = load_masked(trained.folder, threads=1)
    lengths = [len(lm.split(word).ids) for t in STIMULI.traits for word in (t.low, t.high)]
    assert len(lengths) == 32
    assert min(lengths) == 1
    assert max(lengths) > 1
    for group in STIMULI.groups:
        for form in (group.singular, group.plural, group.plural_capitalised):
            assert lm.unknown_parts(form) == 0, form
    for template in TEMPLATES:
        assert lm.unknown_parts(template.fill(STIMULI.groups[0], "cold")) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOT_MEASURES)
def test_every_measure_gives_scores_that_differ_between_groups(
    trained: DemoModel, name: str
) -> None:
    measure = get_measure(name)
    parameters = measure.Parameters()
    lm = load_masked(trained.folder, threads=1)
    assert not any(problem.fatal for problem in measure.problems(STIMULI, parameters, lm))
    plan = measure.plan(STIMULI, parameters)
    frames = [measure.compute(s.payload, STIMULI, parameters, lm) for s in plan]
    scores = measure.aggregate(STIMULI, parameters, frames)
    means = scores[scores["template"] == ""]
    assert len(means) == 25 * 16
    assert means["value"].notna().all()
    assert (means.groupby("trait")["value"].std() > 0.01).all()


@pytest.mark.slow
def test_its_card_says_that_it_means_nothing(trained: DemoModel) -> None:
    card = (trained.folder / "README.md").read_text(encoding="utf-8")
    assert "Its scores mean nothing." in card
    assert f"{trained.parameter_count:,} weights" in card
    weights = load_masked(trained.folder, threads=1).facts.parameter_count
    assert weights == trained.parameter_count


def test_the_same_seed_gives_the_same_files_and_another_seed_others(tmp_path: Path) -> None:
    for name, seed in (("one", 4), ("two", 4), ("three", 5)):
        torch.rand(1)  # whatever else the process draws must not matter
        train_demo_model(tmp_path / name, stimuli=STIMULI, seed=seed, steps=FEW_STEPS)
    assert files(tmp_path / "one") == files(tmp_path / "two")
    one, three = files(tmp_path / "one"), files(tmp_path / "three")
    assert one["model.safetensors"] != three["model.safetensors"]


def test_the_random_numbers_and_threads_of_the_caller_are_left_alone(tmp_path: Path) -> None:
    state, threads = torch.random.get_rng_state(), torch.get_num_threads()
    train_demo_model(tmp_path / "model", stimuli=STIMULI, steps=FEW_STEPS)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.get_num_threads() == threads


def test_an_existing_model_of_the_same_recipe_is_taken_as_it_is(tmp_path: Path) -> None:
    first = train_demo_model(tmp_path / "model", stimuli=STIMULI, steps=FEW_STEPS)
    before = (first.folder / "model.safetensors").stat().st_mtime_ns
    second = train_demo_model(tmp_path / "model", stimuli=STIMULI, steps=FEW_STEPS)
    assert (first.folder / "model.safetensors").stat().st_mtime_ns == before
    assert second.seconds == 0.0
    assert second.loss == first.loss


def test_a_model_of_another_recipe_is_replaced_and_nothing_is_left_over(tmp_path: Path) -> None:
    train_demo_model(tmp_path / "model", stimuli=STIMULI, steps=FEW_STEPS)
    again = train_demo_model(tmp_path / "model", stimuli=STIMULI, seed=1, steps=FEW_STEPS)
    record = json.loads((again.folder / "demo_model.json").read_text(encoding="utf-8"))
    assert record["seed"] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_folder_that_is_no_demo_model_is_never_touched(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(FileExistsError, match="is not a demo model"):
        train_demo_model(tmp_path, stimuli=STIMULI, steps=FEW_STEPS)
    assert (tmp_path / "thesis.txt").read_text(encoding="utf-8") == "years of work"


def test_an_empty_folder_may_be_filled(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    made = train_demo_model(tmp_path / "model", stimuli=STIMULI, steps=FEW_STEPS)
    assert load_masked(made.folder, threads=1).facts.family == "bert"


def test_a_build_that_is_killed_leaves_no_half_model(tmp_path: Path) -> None:
    """Kill the process as soon as its temporary folder appears, in the middle of training."""
    program = (
        "import sys; from pathlib import Path;"
        "from probing.measures.stimuli import Stimuli;"
        "from probing.training.demo.model import train_demo_model;"
        "stimuli = Stimuli.from_json(sys.stdin.read());"
        "train_demo_model(Path(sys.argv[1]), stimuli=stimuli, steps=100_000)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "model")],
        stdin=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
    )
    try:
        assert process.stdin
        process.stdin.write(STIMULI.to_json())
        process.stdin.close()
        wait_until(lambda: process.poll() is not None or any(tmp_path.iterdir()), seconds=300)
        assert process.poll() is None
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    (left_over,) = tmp_path.iterdir()
    assert left_over.name.startswith(".model.building-")
    long_ago = time.time() - 2 * 3600
    os.utime(left_over, (long_ago, long_ago))
    made = train_demo_model(tmp_path / "model", stimuli=STIMULI, steps=FEW_STEPS)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert load_masked(made.folder, threads=1).split("cold").ids


def test_steps_must_be_positive(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="steps"):
        train_demo_model(tmp_path / "model", stimuli=STIMULI, steps=0)
    assert not (tmp_path / "model").exists()


def test_the_corpus_names_every_group_in_every_form() -> None:
    corpus = " ".join(compose_corpus(STIMULI, seed=3))
    for group in STIMULI.groups:
        for form in (group.singular, group.plural, group.plural_capitalised):
            assert form in corpus
    assert compose_corpus(STIMULI, seed=3) == compose_corpus(STIMULI, seed=3)
    assert compose_corpus(STIMULI, seed=3) != compose_corpus(STIMULI, seed=4)
