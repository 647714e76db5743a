"""What every measure of groups and templates has to keep, on real checkpoints."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from probing.lm import UnknownWordError, load_masked, load_tokenizer
from probing.lm.masked import MaskedLanguageModel
from probing.measures.base import SCORE_COLUMNS, AnyMeasure
from probing.measures.registry import MEASURES, UnknownMeasureError, get_measure
from probing.measures.slot_measure import SlotMeasure, distinct_words, group_context, prior_context
from probing.measures.stimuli import Group, Stimuli, StimuliError, Template, Trait

pytestmark = pytest.mark.slow

#: Measures of texts have a contract of their own.
SLOT_MEASURES = [name for name, entry in MEASURES.items() if entry.stimuli_type is Stimuli]

ROW_COLUMNS = ["template", "group", "trait", "pole", "word", "value", "reason", "subwords"]


@pytest.fixture(params=SLOT_MEASURES)
def measure(request: pytest.FixtureRequest) -> AnyMeasure:
    return get_measure(request.param)


def run(
    measure: AnyMeasure, stimuli: Stimuli, lm: MaskedLanguageModel, **parameters: Any
) -> list[pd.DataFrame]:
    chosen = measure.Parameters(**parameters)
    plan = measure.plan(stimuli, chosen)
    return [measure.compute(shard.payload, stimuli, chosen, lm) for shard in plan]


def test_an_unknown_measure_lists_those_that_exist() -> None:
    with pytest.raises(UnknownMeasureError, match=r"no measure 'iq'.*ilps_star, set"):
        get_measure("iq")


def test_a_measure_describes_itself(measure: AnyMeasure) -> None:
    assert MEASURES[measure.name] is measure
    assert measure.title
    assert "(20" in measure.citation
    assert measure.abilities


def test_every_parameter_has_a_title_a_description_and_a_default(
    measure: AnyMeasure,
) -> None:
    schema = measure.Parameters.model_json_schema()
    assert schema["additionalProperties"] is False
    for name, field in schema["properties"].items():
        assert field["title"], name
        # Guides and reports read it from the field, forms from the schema.
        assert measure.Parameters.model_fields[name].title == field["title"]
        assert field["description"].endswith("."), name
        assert "default" in field, name
    assert measure.Parameters(**measure.Parameters().model_dump()) == measure.Parameters()


@pytest.mark.parametrize(
    "bad",
    [{"prior": "none"}, {"groups_per_shard": 0}, {"groups_per_shard": 1.5}, {"temperature": 1}],
)
def test_bad_parameters_are_refused(measure: AnyMeasure, bad: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        measure.Parameters(**bad)


def test_the_model_offers_what_the_measure_needs(
    measure: AnyMeasure, tiny_bert: MaskedLanguageModel
) -> None:
    assert measure.abilities <= tiny_bert.abilities


@pytest.mark.parametrize("size", [1, 2, 3, 50])
def test_a_plan_covers_every_cell_once(
    measure: AnyMeasure, small_stimuli: Stimuli, size: int
) -> None:
    plan = measure.plan(small_stimuli, measure.Parameters(groups_per_shard=size))
    assert [shard.index for shard in plan] == list(range(len(plan)))
    assert len(plan) == 2 * -(-3 // size)
    assert all(shard.title and len(shard.title) <= 300 for shard in plan)
    cells = [(s.payload["template"], group) for s in plan for group in s.payload["groups"]]
    assert len(cells) == len(set(cells)) == 2 * 3
    for shard in plan:
        assert json.loads(json.dumps(shard.payload)) == shard.payload


def test_a_shard_has_one_row_for_each_group_trait_and_pole(
    measure: AnyMeasure, small_stimuli: Stimuli, tiny_model: MaskedLanguageModel
) -> None:
    rows = pd.concat(run(measure, small_stimuli, tiny_model))
    assert list(rows.columns[: len(ROW_COLUMNS)]) == ROW_COLUMNS
    keys = rows[["template", "group", "trait", "pole"]].apply(tuple, axis=1)
    assert len(rows) == len(set(keys)) == 2 * 3 * 3 * 2
    words = {(trait.slug, "low"): trait.low for trait in small_stimuli.traits}
    words |= {(trait.slug, "high"): trait.high for trait in small_stimuli.traits}
    for row in rows.itertuples():
        assert row.word == words[row.trait, row.pole]
        assert row.subwords == len(tiny_model.split(row.word).ids)
    assert np.isfinite(rows["value"]).all()


def test_shards_survive_parquet(
    measure: AnyMeasure,
    small_stimuli: Stimuli,
    tiny_bert: MaskedLanguageModel,
    tmp_path: Any,
) -> None:
    frames = run(measure, small_stimuli, tiny_bert)
    stored = []
    for number, frame in enumerate(frames):
        frame.to_parquet(tmp_path / f"{number}.parquet")
        stored.append(pd.read_parquet(tmp_path / f"{number}.parquet"))
    parameters = measure.Parameters()
    pd.testing.assert_frame_equal(
        measure.aggregate(small_stimuli, parameters, stored),
        measure.aggregate(small_stimuli, parameters, frames),
    )


def test_scores_have_the_agreed_columns_for_every_cell(
    measure: AnyMeasure, small_stimuli: Stimuli, tiny_model: MaskedLanguageModel
) -> None:
    frames = run(measure, small_stimuli, tiny_model)
    scores = measure.aggregate(small_stimuli, measure.Parameters(), frames)
    assert tuple(scores.columns) == SCORE_COLUMNS
    pairs = scores[scores["name"] == "pair_score"]
    assert len(pairs) == 3 * 3 * (2 + 1)
    assert list(pairs["template"].unique()) == ["that", "trait-first", ""]
    assert (pairs["value"].isna() == (pairs["reason"] != "")).all()


@pytest.mark.parametrize(("dtype", "atol"), [("float32", 1e-5), ("float64", 1e-9)])
def test_shard_size_and_batch_size_do_not_change_scores(
    measure: AnyMeasure,
    small_stimuli: Stimuli,
    tiny_model: MaskedLanguageModel,
    dtype: Any,
    atol: float,
) -> None:
    """But for rounding: a float32 log probability is good to 1e-6, and a pair score adds up to
    thirty of them; in float64 the same scores agree a thousand times better."""

    def scores(batch_size: int, shard_size: int) -> pd.DataFrame:
        lm = load_masked(tiny_model.facts.source, threads=1, batch_size=batch_size, dtype=dtype)
        frames = run(measure, small_stimuli, lm, groups_per_shard=shard_size)
        return measure.aggregate(small_stimuli, measure.Parameters(), frames)

    usual = scores(64, 5)
    for batch_size, shard_size in ((1, 5), (64, 1), (5, 2)):
        found = scores(batch_size, shard_size)
        # SeT takes logarithms of changes down to 1e-3, which magnifies rounding; hence rtol.
        np.testing.assert_allclose(found["value"], usual["value"], atol=atol, rtol=10 * atol)
        pd.testing.assert_frame_equal(found.drop(columns="value"), usual.drop(columns="value"))


def test_shards_are_the_same_bits_in_any_order_and_after_a_restart(
    measure: AnyMeasure, small_stimuli: Stimuli, tiny_model: MaskedLanguageModel
) -> None:
    parameters = measure.Parameters(groups_per_shard=2)
    plan = measure.plan(small_stimuli, parameters)
    usual = [measure.compute(s.payload, small_stimuli, parameters, tiny_model) for s in plan]
    restarted = load_masked(tiny_model.facts.source, threads=1)
    for shard in plan[::-1]:
        again = measure.compute(shard.payload, small_stimuli, parameters, restarted)
        pd.testing.assert_frame_equal(again, usual[shard.index], check_exact=True)


def test_the_prior_is_computed_once_per_template(
    measure: AnyMeasure, small_stimuli: Stimuli, checkpoints: Any
) -> None:
    lm = load_masked(checkpoints / "tiny-bert", threads=1)
    run(measure, small_stimuli, lm, groups_per_shard=1)
    assert len(lm.cache) == len(small_stimuli.templates)
    run(measure, small_stimuli, lm, groups_per_shard=1, prior="noun")
    assert len(lm.cache) == 2 * len(small_stimuli.templates)


def test_runs_with_other_parameters_do_not_share_what_is_remembered(
    measure: AnyMeasure, small_stimuli: Stimuli, checkpoints: Any
) -> None:
    """Every other value of every choice, and twice the numbers, first on one model in turn and
    then on a model that remembers nothing."""
    variants = list(_variants(measure))
    assert len(variants) > 2
    shared = load_masked(checkpoints / "tiny-roberta", threads=1)
    for parameters in variants:
        alone = load_masked(checkpoints / "tiny-roberta", threads=1)
        pd.testing.assert_frame_equal(
            pd.concat(run(measure, small_stimuli, shared, **parameters)),
            pd.concat(run(measure, small_stimuli, alone, **parameters)),
            check_exact=True,
        )


def test_forms_have_words_for_every_value() -> None:
    for measure in MEASURES.values():
        for name, field in measure.Parameters.model_json_schema()["properties"].items():
            parts = [*field.get("anyOf", [field]), field.get("items", {})]
            values = [value for part in parts for value in part.get("enum", [])]
            assert set(field.get("labels", ())) == set(values), (measure.name, name)


def _variants(measure: AnyMeasure) -> Iterator[dict[str, Any]]:
    """Yield the default parameters, then each change of one of them that the schema allows."""
    yield {}
    for name, field in measure.Parameters.model_json_schema()["properties"].items():
        choices = [value for part in field.get("anyOf", [field]) for value in part.get("enum", [])]
        if field.get("type") in ("integer", "number"):
            choices = [2 * field["default"]]
        for value in choices:
            if value != field["default"]:
                yield {name: value}


def test_the_estimate_counts_the_forward_passes_that_are_made(
    measure: AnyMeasure, small_stimuli: Stimuli, tiny_model: MaskedLanguageModel
) -> None:
    assert isinstance(measure, SlotMeasure)
    parameters = measure.Parameters(groups_per_shard=2)
    cost = measure.estimate(small_stimuli, parameters, tiny_model)
    read: list[int] = []
    hook = tiny_model._body.register_forward_pre_hook(
        lambda module, args, kwargs: read.append(len(kwargs["input_ids"])), with_kwargs=True
    )
    try:
        for template in small_stimuli.templates:
            contexts = [group_context(template, group) for group in small_stimuli.groups]
            prior = [prior_context(template, "mask", tiny_model)]
            for asked in (contexts, prior):
                measure.evidence(tiny_model, asked, distinct_words(small_stimuli), parameters)
    finally:
        hook.remove()
    assert cost.forward_passes == sum(read)
    assert cost.shards == 4
    assert cost.tokens > cost.forward_passes


def test_dry_run_needs_the_tokenizer_alone_and_finds_nothing_wrong(
    measure: AnyMeasure, small_stimuli: Stimuli, tiny_model: MaskedLanguageModel
) -> None:
    tokenizer = load_tokenizer(tiny_model.facts.source)
    parameters = measure.Parameters()
    assert measure.problems(small_stimuli, parameters, tokenizer) == []
    assert measure.estimate(small_stimuli, parameters, tokenizer) == measure.estimate(
        small_stimuli, parameters, tiny_model
    )


def test_an_adjective_that_cannot_be_encoded_is_a_fatal_problem(
    measure: AnyMeasure, small_stimuli: Stimuli, tiny_bert: MaskedLanguageModel
) -> None:
    odd = replace(small_stimuli, traits=(Trait("cold-☃", "cold", "☃", "communion"),))
    parameters = measure.Parameters()
    (problem,) = measure.problems(odd, parameters, tiny_bert)
    assert problem.fatal
    assert problem.where == "trait cold-☃, high pole"
    assert "'☃'" in problem.message
    with pytest.raises(UnknownWordError, match="'☃'"):
        measure.compute({"template": "that", "groups": ["man"]}, odd, parameters, tiny_bert)
    with pytest.raises(UnknownWordError):
        measure.estimate(odd, parameters, tiny_bert)


def test_mask_tokens_in_texts_are_fatal_problems(
    measure: AnyMeasure, small_stimuli: Stimuli, tiny_model: MaskedLanguageModel
) -> None:
    mask = tiny_model.mask_token
    odd = replace(
        small_stimuli,
        groups=(Group("masked", f"{mask} person", f"{mask} people", f"{mask} people"),),
        templates=(
            Template("fine", "That {singular} is {trait}."),
            Template("odd", f"That {{singular}} is {mask} {{trait}}."),
        ),
    )
    problems = measure.problems(odd, measure.Parameters(), tiny_model)
    assert [(p.where, p.fatal) for p in problems] == [
        ("group masked in template fine", True),
        ("template odd", True),
    ]
    assert all(mask in problem.message for problem in problems)


def test_a_sentence_that_is_too_long_is_a_fatal_problem(
    measure: AnyMeasure, small_stimuli: Stimuli, tiny_model: MaskedLanguageModel
) -> None:
    long = "very " * 60
    odd = replace(small_stimuli, groups=(Group("long", f"{long}man", f"{long}men", f"{long}men"),))
    problems = measure.problems(odd, measure.Parameters(), tiny_model)
    assert problems
    assert all(problem.fatal and "64" in problem.message for problem in problems)


def test_what_only_deserves_a_remark_is_not_fatal(
    measure: AnyMeasure, small_stimuli: Stimuli, tiny_bert: MaskedLanguageModel
) -> None:
    odd = replace(
        small_stimuli,
        groups=(Group("snow", "☃ person", "☃ people", "☃ people"),),
        templates=(Template("opens", "{trait} are the {plural}."),),
    )
    problems = measure.problems(odd, measure.Parameters(), tiny_bert)
    assert [(p.where, p.fatal) for p in problems] == [
        ("template opens", False),
        ("group snow in template opens", False),
    ]


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"template": "that", "groups": []},
        {"template": "nothing", "groups": ["man"]},
        {"template": "that", "groups": ["nobody"]},
        {"template": "that", "groups": ["man"], "more": 1},
    ],
)
def test_a_payload_of_other_stimuli_is_refused(
    measure: AnyMeasure,
    small_stimuli: Stimuli,
    tiny_bert: MaskedLanguageModel,
    payload: dict[str, Any],
) -> None:
    with pytest.raises(StimuliError):
        measure.compute(payload, small_stimuli, measure.Parameters(), tiny_bert)
