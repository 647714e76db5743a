"""Runs are planned whole or not at all, with messages that name what was wrong."""

from __future__ import annotations

import dataclasses
import shutil
from typing import Any

import pytest
from django.contrib.auth.models import User

from probing.measures.stimuli import Trait
from probing.models import LanguageModel, Run, RunEventKind, RunStatus, Shard, ShardStatus
from probing.runs.creation import create_run, dry_run
from probing.runs.errors import RunError
from probing.runs.stimuli import load_stimuli
from tests.probing.runs.fixtures import RunMaker, few_stimuli

pytestmark = [pytest.mark.django_db, pytest.mark.shared]


def request_for(model: LanguageModel, **changes: Any) -> dict[str, Any]:
    return {
        "measure": "set",
        "model": model,
        "stimuli": few_stimuli(),
        "parameters": {},
        "seed": 0,
        "created_by": None,
        **changes,
    }


def refusal(**request: Any) -> RunError:
    with pytest.raises(RunError) as caught:
        create_run(**request)
    assert not Run.objects.exists()
    assert not Shard.objects.exists()
    return caught.value


def test_a_run_is_stored_with_all_its_shards_and_what_it_was_made_of(bert: LanguageModel) -> None:
    alice = User.objects.create_user("alice")
    stimuli = few_stimuli()
    run = create_run(
        **request_for(bert, parameters={"groups_per_shard": 3}, seed=12, created_by=alice)
    )
    run.refresh_from_db()
    # 2 templates x (3 + 1 of 4 groups) at three groups a shard.
    assert run.shard_count == 4
    assert [shard.index for shard in run.shards.all()] == [0, 1, 2, 3]
    assert set(run.shards.values_list("status", flat=True)) == {ShardStatus.PENDING}
    assert run.status == RunStatus.WAITING
    assert run.seed == 12
    assert run.created_by == alice
    assert run.stimuli == stimuli.to_dict()
    assert run.stimuli_hash == stimuli.content_hash()
    assert run.parameters["groups_per_shard"] == 3
    assert run.parameters["prior"] == "mask", "defaults are stored, so that the run says it all"
    assert run.code_version
    assert [event.kind for event in run.events.all()] == [RunEventKind.PLANNED]


def test_workers_are_woken_once_the_run_is_committed(
    bert: LanguageModel, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks() as callbacks:
        create_run(**request_for(bert))
    assert len(callbacks) == 1


def test_parameters_may_come_as_texts(bert: LanguageModel) -> None:
    run = create_run(
        **request_for(
            bert, measure="ilps_star", parameters={"renorm": "none", "groups_per_shard": "2"}
        )
    )
    assert run.parameters == {
        "prior": "mask",
        "adjectives": "pole",
        "list_average": "mean",
        "slot": "replaced",
        "groups_per_shard": 2,
        "renorm": None,
    }


@pytest.mark.parametrize(
    ("parameters", "where", "parts"),
    [
        ({"gamma": "-1"}, "parameter gamma", ["gamma", "-1", "greater than 0"]),
        ({"gamma": "wide"}, "parameter gamma", ["gamma", "wide", "number"]),
        ({"prior": "nothing"}, "parameter prior", ["nothing", "mask", "noun"]),
        ({"gama": 1}, "parameter gama", ["gama", "gamma"]),
        ({"groups_per_shard": 0}, "parameter groups_per_shard", ["0", "1"]),
        ({"variant": "released", "subword": "max_score"}, "parameters", ["released"]),
    ],
)
def test_wrong_parameters_are_named_with_value_and_expectation(
    bert: LanguageModel, parameters: dict[str, Any], where: str, parts: list[str]
) -> None:
    error = refusal(**request_for(bert, parameters=parameters))
    assert [problem.where for problem in error.problems] == [where]
    assert all(part in str(error) for part in parts)


def test_all_wrong_parameters_are_reported_at_once(bert: LanguageModel) -> None:
    error = refusal(**request_for(bert, parameters={"gamma": 0, "bias": "gone", "x": 1}))
    assert {problem.where for problem in error.problems} == {
        "parameter gamma",
        "parameter bias",
        "parameter x",
    }


def test_an_unknown_measure_is_refused(bert: LanguageModel) -> None:
    error = refusal(**request_for(bert, measure="horoscope"))
    assert error.problems[0].where == "measure"
    assert "ilps_star, set" in str(error)


@pytest.mark.parametrize("seed", [-1, 2**31])
def test_a_seed_out_of_range_is_refused(bert: LanguageModel, seed: int) -> None:
    error = refusal(**request_for(bert, seed=seed))
    assert error.problems[0].where == "seed"
    assert str(seed) in str(error)


def test_a_model_that_went_away_is_refused(own_copy: LanguageModel) -> None:
    shutil.rmtree(own_copy.location)
    error = refusal(**request_for(own_copy))
    assert error.problems[0].where == "model"
    assert own_copy.location in str(error)


def test_an_adjective_that_the_tokenizer_cannot_encode_is_refused(bert: LanguageModel) -> None:
    stimuli = dataclasses.replace(
        few_stimuli(), traits=(Trait("cold-snowy", "cold", "☃☃", "communion"),)
    )
    error = refusal(**request_for(bert, stimuli=stimuli))
    assert "☃☃" in str(error)
    assert "cold-snowy" in error.problems[0].where
    tried = dry_run(measure="set", model=bert, stimuli=stimuli, parameters={})
    assert tried.cost is None
    assert tried.fatal == error.problems


def test_remarks_are_kept_with_the_run(make_run: RunMaker) -> None:
    stimuli = dataclasses.replace(
        few_stimuli(), traits=(Trait("low-high", "low-status", "high-status", "agency"),)
    )
    # methods.md §4: under WordPiece the released form is no probability for hyphenated words.
    run = make_run("ilps_star", stimuli=stimuli, renorm="released")
    assert len(run.notices) == 1
    assert "low-status" in run.notices[0]


def test_an_article_that_does_not_fit_its_group_is_remarked_on_and_stops_nothing(
    bert: LanguageModel,
) -> None:
    stimuli = load_stimuli(
        groups=["man", "elderly"], templates=["a-group-is-trait", "that-group-is-trait"]
    )
    tried = dry_run(measure="ilps", model=bert, stimuli=stimuli, parameters={})
    assert tried.cost is not None
    assert [problem.message for problem in tried.notices if "article" in problem.message] == [
        "The article does not fit 1 of the 2 groups: models read “A elderly person is ___.” as it "
        "stands."
    ]
