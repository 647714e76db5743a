"""Runs in bfloat16: refused where it is not, and set beside float32 where it is."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from django.core.management import CommandError, call_command
from django.test import Client

from probing.models import LanguageModel, ModelKind, ModelSource, Run, RunStatus
from probing.runs.loaded_models import load_model
from probing.runs.number_formats import describe_error
from probing.runs.parameters import load_shard_frames
from tests.probing.runs.fixtures import RunMaker

pytestmark = [pytest.mark.django_db, pytest.mark.shared]
NONE = {"avx512_bf16": False, "amx_bf16": False, "avx2": True}


def probe(*arguments: str) -> str:
    out = StringIO()
    call_command("probe", *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture(autouse=True)
def able(monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor with bfloat16, whichever the test runs on: PyTorch emulates it elsewhere."""
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {**NONE, "avx512_bf16": True})


def test_differences_are_the_mean_and_the_largest_of_the_finite_ones() -> None:
    exact = pd.DataFrame({"word": ["a", "b", "c"], "logprob": [-1.0, -2.0, float("-inf")]})
    frame = exact.assign(word=["a", "x", "c"], logprob=[-1.5, -1.75, float("-inf")])
    said = describe_error("bfloat16", frame, exact)
    assert "logprob differs by 0.38 on average and 0.5 at most (n = 2)" in said
    assert "1 of 3 rows have other texts or counts" in said
    assert "2 rows instead of 3" in describe_error("bfloat16", frame[:2], exact)


@pytest.mark.parametrize("name", ["tiny-bert", "tiny-gpt2", "tiny-t5"])
def test_a_run_in_bfloat16_says_how_far_its_first_shard_is_from_float32(
    checkpoints: Path, name: str, settings: Any
) -> None:
    chosen = ("--model", str(checkpoints / name), "--local", "--measure", "ilps_star")
    chosen += ("--groups", "man", "elderly", "--traits", "poor-wealthy", "--param", "prior=noun")
    probe(*chosen)
    printed = probe(*chosen, "--dtype", "bfloat16")
    plain, other = Run.objects.order_by("pk")
    assert (plain.dtype, plain.device) == ("", "cpu, float32")
    assert (other.dtype, other.device) == ("bfloat16", "cpu, bfloat16")
    assert not [notice for notice in plain.notices if "float" in notice]
    [notice] = [notice for notice in other.notices if "float" in notice]
    assert notice in re.sub(r"\s+", " ", printed)
    found = re.search(r"logprob_group differs by (\S+) on average and (\S+) at most", notice)
    assert found
    first, second = (load_shard_frames(run)[0]["logprob_group"] for run in (plain, other))
    moved = (first - second).abs()
    assert found.groups() == (f"{moved.mean():.2g}", f"{moved.max():.2g}")
    assert 0 < moved.max() < 0.5


def test_a_processor_without_bfloat16_refuses_before_a_run_exists(
    bert: LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: NONE)
    with pytest.raises(CommandError, match=r"--dtype: The processor of this machine has no bf"):
        probe("--model", bert.name, "--groups", "man", "--dtype", "bfloat16")
    assert not Run.objects.exists()


def test_a_worker_without_bfloat16_refuses_too(
    make_run: RunMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run()
    run.dtype = "bfloat16"
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: NONE)
    with pytest.raises(Exception, match="has no bfloat16"):
        load_model(run.model, run=run)


def test_a_training_and_a_served_model_refuse_it(checkpoints: Path, bert: LanguageModel) -> None:
    from probing.measures.registry import MEASURES
    from probing.runs.number_formats import why_not_in

    training = MEASURES["classifier_fine_tuning"]
    assert "trains in float32" in why_not_in("bfloat16", training, bert)
    served = LanguageModel(name="s", kind=ModelKind.CHAT, source=ModelSource.SERVER)
    assert "its server chose" in why_not_in("bfloat16", MEASURES["direct_rating"], served)
    assert why_not_in("", training, bert) == ""


def test_page_and_api_take_the_format(bert: LanguageModel, admin_client: Client) -> None:
    asked = {"measure": "set", "model": bert.public_id, "groups": ["man"], "dtype": "bfloat16"}
    answer = admin_client.post("/api/v1/runs/", asked, content_type="application/json")
    assert answer.status_code == 201, answer.content
    assert answer.json()["dtype"] == "bfloat16"
    run = Run.objects.get()
    assert run.status == RunStatus.WAITING
    address = f"/admin/probing/run/{run.pk}/change/"
    assert "<dd>bfloat16</dd>" in admin_client.get(address).content.decode()
    form = admin_client.get("/admin/probing/run/add/?measure=set").content.decode()
    assert 'name="dtype"' in form
    training = admin_client.get("/admin/probing/run/add/?measure=classifier_fine_tuning")
    assert 'name="dtype"' not in training.content.decode()
