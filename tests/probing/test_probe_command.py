"""``manage.py probe``: a run without a browser, and one line for every bad input."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from rich.console import Console

from probing.management.commands.probe import _report
from probing.models import LanguageModel, Run, RunStatus, Score
from tests.probing.runs.fixtures import bert, one_thread, own_copy, scores_of  # noqa: F401

pytestmark = [pytest.mark.django_db, pytest.mark.shared]


def probe(*arguments: str) -> str:
    """Run the command as the shell does and return what it printed."""
    out = StringIO()
    call_command("probe", *arguments, stdout=out)
    return out.getvalue()


def test_a_run_is_computed_here_and_its_scores_are_printed(checkpoints: Path) -> None:
    printed = probe(
        *("--model", str(checkpoints / "tiny-roberta"), "--local"),
        *("--groups", "man", "elderly", "--param", "prior=noun", "--seed", "5"),
    )
    run = Run.objects.get()
    assert run.status == RunStatus.FINISHED
    assert run.parameters["prior"] == "noun"
    assert run.seed == 5
    assert f"Run {run.pk} is finished" in printed
    assert "elderly people" in printed
    # Table 5 of Cao et al. (2022): “That [group] is [trait].” is the best of SeT with RoBERTa.
    assert [entry["slug"] for entry in run.stimuli["templates"]] == ["that-group-is-trait"]
    assert "meaningless" not in printed


def test_printed_scores_are_the_stored_ones(bert: LanguageModel) -> None:  # noqa: F811
    printed = probe("--model", bert.name, "--local", "--groups", "man", "--measure", "ilps_star")
    scores = {score.trait: score.value for score in Score.objects.filter(template="", group="man")}
    assert len(scores) == 16
    highest = max(scores.values(), key=lambda value: value or 0.0)
    assert f"{highest:+.2f}" in printed


@pytest.mark.parametrize(
    ("traits", "heading"),
    [
        (["cold-warm"], "cold – warm"),
        (["cold-warm", "powerless-powerful", "poor-wealthy"], "Lowest pair scores"),
    ],
)
def test_no_score_is_printed_among_the_highest_and_the_lowest(
    bert: LanguageModel,  # noqa: F811
    traits: list[str],
    heading: str,
) -> None:
    printed = probe("--model", bert.name, "--local", "--groups", "man", "--traits", *traits)
    assert heading in printed
    assert len(re.findall(r"[+−]\d\.\d\d", printed)) == len(traits)


@pytest.mark.parametrize("leaning", [1, -1])
def test_a_score_stands_beside_the_pole_that_it_leans_to(
    bert: LanguageModel,  # noqa: F811
    leaning: int,
) -> None:
    how = ("--model", bert.name, "--local", "--groups", "man", "--measure", "ilps_star")
    probe(*how)
    scores = {score.trait: score.value for score in Score.objects.filter(template="")}
    plain = {slug: value or 0.0 for slug, value in scores.items() if slug.count("-") == 1}
    alike = [slug for slug, value in plain.items() if leaning * value > 0.01][:2]
    assert len(alike) == 2
    printed = probe(*how, "--traits", *alike)  # the highest and the lowest lean to one side
    for slug in alike:
        low, high = slug.split("-")
        assert f"{high if leaning > 0 else low} {'+' if leaning > 0 else '−'}" in printed


@pytest.mark.parametrize("measure", ["ilps", "ilps_star", "set"])
def test_a_causal_model_takes_the_prior_noun_by_itself(checkpoints: Path, measure: str) -> None:
    model = str(checkpoints / "tiny-gpt2")
    chosen = ("--model", model, "--local", "--measure", measure, "--groups", "man")
    printed = probe(*chosen)
    assert printed.count("the prior noun: person, people or People in the group's place") == 1
    assert "prior noun" not in probe(*chosen, "--param", "prior=noun")
    first, second = Run.objects.order_by("pk")
    assert first.parameters == second.parameters
    assert first.parameters["prior"] == "noun"
    assert scores_of(first) == scores_of(second)
    with pytest.raises(CommandError, match="--param prior=noun"):
        probe(*chosen, "--param", "prior=mask")


def test_the_demo_model_is_called_meaningless(bert: LanguageModel) -> None:  # noqa: F811
    LanguageModel.objects.filter(pk=bert.pk).update(is_demo=True)
    assert "meaningless" in probe("--model", bert.name, "--local", "--groups", "man")


def test_a_dry_run_stores_nothing(bert: LanguageModel) -> None:  # noqa: F811
    printed = probe("--model", bert.name, "--dry-run", "--groups", "man", "woman")
    # Two templates are the best of SeT with BERT (Table 5), and two groups fit one shard.
    assert "2 shards" in printed
    assert "forward passes" in printed
    assert not Run.objects.exists()


def test_without_waiting_the_run_is_left_to_the_workers(
    bert: LanguageModel,  # noqa: F811
) -> None:
    probe("--model", bert.name, "--no-wait", "--groups", "man")
    assert Run.objects.get().status == RunStatus.WAITING


def test_a_failed_run_says_why_without_the_names_of_our_classes(
    bert: LanguageModel,  # noqa: F811
) -> None:
    probe("--model", bert.name, "--no-wait", "--groups", "man")
    error = "Traceback:\nprobing.lm.errors.ModelFilesError: The weights of 'm' cannot be loaded."
    Run.objects.update(status=RunStatus.FAILED, error=error)
    with pytest.raises(CommandError, match=r"failed: The weights of 'm' cannot be loaded\. The"):
        _report(Console(), Run.objects.get(), bert)


def test_two_runs_of_the_same_inputs_give_the_same_scores(
    bert: LanguageModel,  # noqa: F811
) -> None:
    for _ in range(2):
        probe("--model", bert.name, "--local", "--groups", "man", "woman")
    first, second = Run.objects.order_by("pk")
    assert scores_of(first) == scores_of(second)


def test_one_golden_value_comes_out_of_the_command(checkpoints: Path, shared_dir: Path) -> None:
    # golden/expected/abc_paper_bert.json: “That teenager is …”, ILPS* with the mask prior.
    file = shared_dir / "golden" / "expected" / "abc_paper_bert.json"
    golden: dict[str, Any] = json.loads(file.read_text())
    values = golden["templates"]["That <sgroup> is <mask>."]["prior_mask"]["ilps_star"]["teenager"]
    probe(
        *("--model", str(checkpoints / "tiny-bert"), "--local", "--measure", "ilps_star"),
        *("--groups", "teenager", "--templates", "that-group-is-trait"),
    )
    score = Score.objects.get(group="teenager", trait="powerless-powerful", template="")
    tolerance = golden["header"]["tolerance"]
    np.testing.assert_allclose(
        score.value,
        values["powerful"] - values["powerless"],
        atol=2 * tolerance["abs"],
        rtol=2 * tolerance["rel"],
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--model", "/no/such/model"], "/no/such/model"),
        (["--measure", "horoscope"], "ilps_star, set"),
        (["--measure", "horoscope"], "--measure: There is no measure"),
        (["--groups", "womn"], "womn"),
        (["--groups", "womn"], "--groups"),
        (["--param", "gamma=-1"], "--param gamma"),
        (["--param", "color=red"], "--param color"),
        (["--seed", "-3"], "--seed: The seed is -3"),
        (["--traits", "hot-cold"], "hot-cold"),
        (["--templates", "nope"], "nope"),
        (["--param", "gamma=-1"], "greater than 0"),
        (["--param", "gamma"], "NAME=VALUE"),
        (["--param", "gamma=1", "--param", "gamma=2"], "twice"),
        (["--param", "color=red"], "color"),
        (["--seed", "-3"], "-3"),
        (["--dry-run", "--param", "prior=x"], "prior"),
    ],
)
def test_bad_input_is_one_line_that_says_what_is_wrong(
    bert: LanguageModel,  # noqa: F811
    arguments: list[str],
    said: str,
) -> None:
    with pytest.raises(CommandError) as caught:
        probe("--model", bert.name, *arguments)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.returncode == 1
    assert not Run.objects.exists()


@pytest.mark.parametrize("checkpoint", ["tiny-gpt2", "tiny-classifier"])
def test_a_model_that_is_not_masked_is_refused(checkpoints: Path, checkpoint: str) -> None:
    with pytest.raises(CommandError, match="masked"):
        probe("--model", str(checkpoints / checkpoint), "--local", "--param", "prior=mask")
    assert not Run.objects.exists()


def test_damaged_weights_are_named_before_a_run_exists(
    own_copy: LanguageModel,  # noqa: F811
) -> None:
    weights = Path(own_copy.location) / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:500])
    with pytest.raises(CommandError) as caught:
        probe("--model", own_copy.name, "--local", "--groups", "man")
    assert "cannot be loaded" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not Run.objects.exists()
