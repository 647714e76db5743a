"""Fine-tuning as a measure: which examples it makes, what it refuses and what it remarks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from probing.lm import load_text_tokenizer
from probing.measures.fine_tuning import FineTuning, FineTuningParameters
from probing.measures.prompt_choice import fill_prompt
from probing.measures.stimuli import StimuliError
from probing.measures.text_stimuli import PairStimulus, PromptStimulus, TextStimuli, TextStimulus
from probing.training.rewriting_examples import LeftOut, RewritingExample
from probing.training.schedule import TrainingSettings
from probing.training.trainable import TrainedModel

MEASURE = FineTuning()
PROMPT = PromptStimulus("say", "Say in {target}, not {source}: {text}", {"AAL": "AAVE"})
STIMULI = TextStimuli(
    source_variety="AAL",
    target_variety="WME",
    pairs=(
        PairStimulus("one", TextStimulus("a1", "she cold"), TextStimulus("w1", "she is cold")),
        PairStimulus("two", TextStimulus("a2", "he warm"), TextStimulus("w2", "he is warm")),
    ),
    prompts=(PROMPT,),
)


class Recorder:
    """Keeps what it is asked to train on: only the examples matter here, not the training."""

    name = "the trained one"

    def __init__(self) -> None:
        self.examples: list[RewritingExample] = []
        self.settings = TrainingSettings()
        self.held_out_share = -1.0

    def train(self, examples, *, held_out_share, settings) -> TrainedModel:
        self.examples, self.settings = list(examples), settings
        self.held_out_share = held_out_share
        left = LeftOut("two into AAL", "too long: 99 tokens, but the model reads 64")
        return TrainedModel(Path("/m"), 9, 0.5, 0.75, 3, 1, (left,), resumed_at=4, damaged=1)


def compute(stimuli: TextStimuli = STIMULI, **parameters: object) -> tuple[Recorder, pd.DataFrame]:
    asked = FineTuningParameters(**parameters)
    (shard,) = MEASURE.plan(stimuli, asked, seed=11)
    recorder = Recorder()
    return recorder, MEASURE.compute(shard.payload, stimuli, asked, recorder)


def test_both_directions_are_told_apart_by_the_prompt() -> None:
    recorder, _ = compute()
    assert [(one.slug, one.prompt, one.answer) for one in recorder.examples] == [
        ("one into WME", "Say in WME, not AAVE: she cold", "she is cold"),
        ("one into AAL", "Say in AAVE, not WME: she is cold", "she cold"),
        ("two into WME", "Say in WME, not AAVE: he warm", "he is warm"),
        ("two into AAL", "Say in AAVE, not WME: he is warm", "he warm"),
    ]
    one, other = (
        {ex.group for ex in recorder.examples[:2]},
        {ex.group for ex in recorder.examples[2:]},
    )
    assert len(one) == len(other) == 1
    assert one != other, "both directions of a pair are held out together"


def test_prompts_are_those_that_generation_fills() -> None:
    recorder, _ = compute()
    assert recorder.examples[0].prompt == fill_prompt(PROMPT, "she cold", "WME", STIMULI)


@pytest.mark.parametrize(("directions", "into"), [("to_target", "WME"), ("to_source", "AAL")])
def test_one_direction_can_be_asked_for(directions: str, into: str) -> None:
    recorder, _ = compute(directions=directions)
    assert [one.slug for one in recorder.examples] == [f"one into {into}", f"two into {into}"]


def test_the_defaults_are_the_paper_s_and_the_seed_is_the_run_s() -> None:
    """Deas et al. (2023), Appendix E.1: learning rate 3e-5, 5 epochs, on all of the pairs."""
    recorder, _ = compute()
    assert (recorder.settings.learning_rate, recorder.settings.epochs) == (3e-5, 5)
    assert (recorder.held_out_share, recorder.settings.seed) == (0.0, 11)


def test_one_row_says_what_came_of_it() -> None:
    _, frame = compute()
    found = MEASURE.aggregate(STIMULI, FineTuningParameters(), [frame])
    assert found.to_dict("records") == [{"folder": "/m", "name": "the trained one"}]
    assert MEASURE.remarks(STIMULI, FineTuningParameters(), [frame]) == [
        "Trained on 3 examples of 2 pairs in 9 steps; the last loss is 0.5000 nats per token, on "
        "1 held-out examples 0.7500.",
        "An earlier worker had done 4 of the steps.",
        "1 damaged checkpoints were found and not used.",
    ]
    with pytest.raises(ValueError, match="one row of one shard"):
        MEASURE.aggregate(STIMULI, FineTuningParameters(), [frame, frame])


def test_a_payload_without_a_seed_is_refused() -> None:
    with pytest.raises(StimuliError, match="seed"):
        MEASURE.compute({}, STIMULI, FineTuningParameters(), Recorder())


@pytest.mark.shared
@pytest.mark.parametrize("model", ["tiny-t5", "tiny-gpt2"])
def test_problems_and_cost_come_from_the_tokenizer_alone(checkpoints: Path, model: str) -> None:
    facts = load_text_tokenizer(checkpoints / model)
    assert MEASURE.problems(STIMULI, FineTuningParameters(), facts) == []
    cost = MEASURE.estimate(STIMULI, FineTuningParameters(epochs=3), facts)
    assert (cost.shards, cost.forward_passes) == (1, 12)
    none = replace(STIMULI, pairs=())
    assert [p.where for p in MEASURE.problems(none, FineTuningParameters(), facts)] == ["corpus"]
    two = replace(STIMULI, prompts=(PROMPT, replace(PROMPT, slug="other")))
    (problem,) = MEASURE.problems(two, FineTuningParameters(), facts)
    assert problem.fatal
    assert "2 prompts are chosen (say, other), expected one" in problem.message


@pytest.mark.shared
def test_pairs_that_do_not_fit_are_named_and_fatal_only_if_none_is_left(checkpoints: Path) -> None:
    facts = load_text_tokenizer(checkpoints / "tiny-gpt2")
    long = PairStimulus(
        "long", TextStimulus("a3", "so cold " * 200), TextStimulus("w3", "it is so cold")
    )
    some = replace(STIMULI, pairs=(*STIMULI.pairs, long))
    (problem,) = MEASURE.problems(some, FineTuningParameters(), facts)
    assert not problem.fatal
    assert problem.message.startswith("2 of 6 training examples do not fit the model")
    assert "long into WME (too long: " in problem.message
    (problem,) = MEASURE.problems(replace(STIMULI, pairs=(long,)), FineTuningParameters(), facts)
    assert problem.fatal
