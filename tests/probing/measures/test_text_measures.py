"""What every measure of texts has to keep, and how counterparts are asked for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from probing.lm import load_text_model, load_text_tokenizer
from probing.lm.text_protocols import Generation
from probing.measures.base import COUNTERPART_COLUMNS, TEXT_SCORE_COLUMNS, ResultKind
from probing.measures.counterpart_generation import (
    EMPTY,
    REFUSED,
    CounterpartGeneration,
    CounterpartParameters,
    _read,
    generation_settings,
)
from probing.measures.prompt_choice import fill_prompt
from probing.measures.prompt_library import PROMPTS
from probing.measures.span_prediction import SpanPrediction
from probing.measures.stimuli import StimuliError
from probing.measures.streams import named_seed
from probing.measures.text_measure import TextMeasure
from probing.measures.text_stimuli import PairStimulus, PromptStimulus, TextStimuli, TextStimulus

COLUMNS = {
    ResultKind.COUNTERPARTS: COUNTERPART_COLUMNS,
    ResultKind.TEXT_SCORES: TEXT_SCORE_COLUMNS,
}


def pair(slug: str, source: str, target: str) -> PairStimulus:
    return PairStimulus(
        slug, TextStimulus(f"{slug}-aal", source), TextStimulus(f"{slug}-wme", target)
    )


TWO = TextStimuli(
    "AAL",
    "WME",
    (
        pair("one", "he be cookin dinner", "he is usually cooking dinner"),
        pair("two", "she be workin late", "she is usually working late"),
    ),
    (PromptStimulus("short", "{text} =>"),),
)


@pytest.mark.parametrize("body", ["", " \n\u2003\t"])
def test_a_text_of_white_space_is_refused(body: str) -> None:
    """So that a perplexity by words always has a word to divide by."""
    with pytest.raises(StimuliError, match="'one' is empty"):
        TextStimulus("one", body)
    assert not body.split()


@pytest.fixture(params=[CounterpartGeneration(), SpanPrediction()], ids=lambda one: one.name)
def measure(request: pytest.FixtureRequest) -> TextMeasure[Any]:
    return request.param


def test_every_parameter_has_a_title_a_description_and_a_default(
    measure: TextMeasure[Any],
) -> None:
    schema = measure.Parameters.model_json_schema()
    assert schema["additionalProperties"] is False
    for name, described in schema["properties"].items():
        assert described["title"], name
        assert described["description"].endswith("."), name
        assert "default" in described, name


@pytest.mark.parametrize("size", [1, 2, 50])
def test_a_plan_covers_every_text_once_and_survives_json(
    measure: TextMeasure[Any], size: int
) -> None:
    plan = measure.plan(TWO, measure.Parameters(pairs_per_shard=size), seed=3)
    assert [shard.index for shard in plan] == list(range(len(plan)))
    cells = [
        (slug, shard.payload.get("variety")) for shard in plan for slug in shard.payload["pairs"]
    ]
    assert len(cells) == len(set(cells))
    assert {slug for slug, _ in cells} == {"one", "two"}
    for shard in plan:
        assert json.loads(json.dumps(shard.payload)) == shard.payload


@pytest.mark.shared
def test_results_have_the_agreed_columns_in_any_order_of_shards(
    measure: TextMeasure[Any], checkpoints: Path
) -> None:
    lm = load_text_model(checkpoints / "tiny-t5", threads=1)
    small = {"max_new_tokens": 5} if measure.result is ResultKind.COUNTERPARTS else {"trials": 2}
    parameters = measure.Parameters(pairs_per_shard=1, **small)
    assert measure.problems(TWO, parameters, load_text_tokenizer(checkpoints / "tiny-t5")) == []
    plan = measure.plan(TWO, parameters, seed=3)
    frames = [measure.compute(shard.payload, TWO, parameters, lm) for shard in plan]
    found = measure.aggregate(TWO, parameters, frames)
    assert tuple(found.columns) == COLUMNS[measure.result]
    pd.testing.assert_frame_equal(found, measure.aggregate(TWO, parameters, frames[::-1]))
    assert measure.estimate(TWO, parameters, lm).shards == len(plan)
    with pytest.raises(ValueError, match=r"missing|not rewritten"):
        measure.aggregate(TWO, parameters, frames[1:])
    with pytest.raises(ValueError, match="twice"):
        measure.aggregate(TWO, parameters, [*frames, frames[0]])


def test_a_payload_of_other_stimuli_is_refused(measure: TextMeasure[Any]) -> None:
    for payload in ({}, {"pairs": []}, {"pairs": ["nobody"], "seed": 1, "variety": "WME"}):
        with pytest.raises(StimuliError):
            measure.compute(payload, TWO, measure.Parameters(), None)


def test_seeds_differ_by_run_pair_and_direction_and_stay_the_same() -> None:
    seeds = {
        named_seed(run, pair, into)
        for run in (0, 1)
        for pair in ("one", "two")
        for into in ("AAL", "WME")
    }
    assert len(seeds) == 8
    assert all(0 <= seed < 2**63 for seed in seeds)
    # Names never run together: ("a", "bc") is another text than ("ab", "c").
    assert named_seed(0, "a", "bc") != named_seed(0, "ab", "c")


def test_the_papers_prompt_is_that_of_figure_1() -> None:
    """Deas et al. (2023), Figure 1, up to where the model goes on."""
    text = "and ain’t sixteen years old, this shit has got to stop."
    assert fill_prompt(PROMPTS[0], text, "WME", TWO) == (
        "Translate the following African American Vernacular English into Standard American "
        f"English:\n{text} =>"
    )
    assert fill_prompt(PROMPTS[1], text, "AAL", TWO).startswith(
        "Translate the following White Mainstream English into African American Language:\n"
    )


def test_examples_come_before_the_text_with_their_answers() -> None:
    shown = TextStimuli(
        "AAL", "WME", TWO.pairs, TWO.prompts, (pair("t", "she be here", "she is here"),)
    )
    assert fill_prompt(TWO.prompts[0], "he be there", "WME", shown) == (
        "she be here => she is here\n\nhe be there =>"
    )
    assert fill_prompt(TWO.prompts[0], "he is there", "AAL", shown) == (
        "she is here => she be here\n\nhe is there =>"
    )
    assert fill_prompt(TWO.prompts[0], "a {brace}", "WME", TWO) == "a {brace} =>"


@dataclass
class Facts:
    """A tokenizer of words: what a dry run sees of a model of any kind."""

    kind: str
    abilities: frozenset[str] = field(default_factory=lambda: frozenset({"generate"}))
    max_length: int | None = None

    def count_tokens(self, text: str) -> int:
        return len(text.split())


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("causal", (0.7, 1, 0)), ("chat", (0.7, 1, 0)), ("seq2seq", (0.0, 3, 3))],
)
def test_settings_without_values_are_those_of_appendix_e(
    kind: str, expected: tuple[float, int, int]
) -> None:
    found = generation_settings(CounterpartParameters(), Facts(kind))  # type: ignore[arg-type]
    assert (found.temperature, found.beams, found.no_repeat_ngram) == expected


def test_a_temperature_for_a_sequence_model_samples_without_beams() -> None:
    found = generation_settings(CounterpartParameters(temperature=1.0), Facts("seq2seq"))  # type: ignore[arg-type]
    assert (found.temperature, found.beams) == (1.0, 1)
    greedy = generation_settings(CounterpartParameters(beams=1), Facts("seq2seq"))  # type: ignore[arg-type]
    assert (greedy.temperature, greedy.beams) == (0.0, 1)


def test_a_training_text_among_those_to_evaluate_is_a_fatal_problem() -> None:
    mixed = TextStimuli(
        "AAL", "WME", TWO.pairs, TWO.prompts, (pair("t", "other", TWO.pairs[0].target.body),)
    )
    problems = CounterpartGeneration().problems(mixed, CounterpartParameters(), Facts("causal"))  # type: ignore[arg-type]
    assert [(problem.where, problem.fatal) for problem in problems] == [("examples", True)]
    assert "Training texts are never evaluated" in problems[0].message


@pytest.mark.parametrize(
    ("text", "finish", "first_line", "expected"),
    [
        ("  he is here \n", "stop", False, ("he is here", "")),
        ("he is\nhere", "stop", False, ("he is\nhere", "")),
        ("he is \nhere", "stop", True, ("he is", "")),
        ("he is\nhere", "length", True, ("he is", "")),
        ("he is", "length", True, ("he is", "cut after 128 tokens")),
        ("he is\nhere", "length", False, ("he is\nhere", "cut after 128 tokens")),
        (" \n ", "stop", False, ("", EMPTY)),
        ("I cannot", "refused", False, ("", REFUSED)),
        ("a\0b", "stop", False, ("ab", "")),
    ],
)
def test_what_is_kept_of_an_answer(
    text: str, finish: Any, first_line: bool, expected: Sequence[str]
) -> None:
    answer = Generation(text, 3, finish)
    assert _read(answer, CounterpartParameters(first_line_only=first_line)) == expected


def test_stimuli_survive_json() -> None:
    assert TextStimuli.from_json(json.dumps(TWO.to_dict())) == TWO
    assert np.isclose(len(TWO.content_hash()), 64)
