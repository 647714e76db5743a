"""Which model a worker loads for what a measure asks, and what it says where none fits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from probing.lm import (
    GenerationSettings,
    SlotModel,
    SpanModel,
    SpendCapError,
    TextGenerator,
    TextScorer,
    WrongModelKindError,
)
from probing.models import ModelKind, Run
from probing.runs.creation import dry_run
from probing.runs.language_models import register_model
from probing.runs.loaded_models import load_facts, load_model
from probing.runs.model_compatibility import compatibility_error, fitting_kinds
from tests.openai_server import SERVED_NAME, serve_openai
from tests.probing.lm.tiny_bart import make_tiny_bart
from tests.probing.runs.fixtures import RunMaker, few_stimuli
from tests.served_model import register_served

pytestmark = [pytest.mark.django_db, pytest.mark.shared]

SETTINGS = GenerationSettings(max_new_tokens=5, temperature=0)


@pytest.mark.parametrize(
    ("checkpoint", "ability", "protocol"),
    [
        ("tiny-bert", "slot", SlotModel),
        ("tiny-bert", "text_logprob", TextScorer),
        ("tiny-gpt2", "slot", SlotModel),
        ("tiny-gpt2", "generate", TextGenerator),
        ("tiny-llama", "text_logprob", TextScorer),
        ("tiny-t5", "span", SpanModel),
    ],
)
def test_what_is_asked_decides_what_is_loaded(
    checkpoints: Path, checkpoint: str, ability: str, protocol: Any
) -> None:
    model = register_model(location=str(checkpoints / checkpoint))
    loaded = load_model(model, frozenset({ability}))
    assert isinstance(loaded.lm, protocol)
    assert ability in loaded.lm.abilities
    assert loaded.revision.startswith("sha256:")
    assert loaded.device.endswith("float32")
    assert load_model(model, frozenset({ability})) is loaded
    assert load_facts(model, frozenset({ability})) is not None


@pytest.mark.parametrize("measure", ["ilps_star", "set"])
def test_a_dry_run_names_measure_and_model_that_do_not_fit(measure: str) -> None:
    from probing.measures.registry import get_measure

    model = register_model(location="http://localhost:8001/v1", served_name="served")
    tried = dry_run(measure=measure, model=model, stimuli=few_stimuli(), parameters={})
    (problem,) = tried.fatal
    assert problem.where == "model"
    assert problem.message.startswith(get_measure(measure).title)
    for part in ("masked", "causal", "sequence-to-sequence", "is chat"):
        assert part in problem.message


def test_a_chat_model_writes_and_nothing_else() -> None:
    model = register_model(location="http://localhost:1/v1", served_name="gpt-4")
    assert compatibility_error(title="X", abilities={"generate"}, model=model) is None
    for ability in ("slot", "embed", "text_logprob", "span", "train"):
        message = compatibility_error(title="X", abilities={ability}, model=model)
        assert message is not None
        assert message.endswith("“gpt-4” is chat.")
        with pytest.raises(WrongModelKindError):
            load_model(model, frozenset({ability}))
    facts = load_facts(model, frozenset({"generate"}))  # port 1 answers nobody
    assert (facts.kind, facts.max_length) == ("chat", None)
    assert facts.count_tokens("he be cookin dinner") > 4


def test_a_family_may_lack_what_its_kind_may_have(tmp_path: Path) -> None:
    model = register_model(location=str(make_tiny_bart(tmp_path / "tiny-bart")))
    assert model.kind == ModelKind.SEQ2SEQ
    for load in (load_facts, load_model):
        with pytest.raises(WrongModelKindError, match="cannot tell the probability of a text"):
            load(model, frozenset({"text_logprob"}))


def test_kinds_are_found_by_what_they_can_do() -> None:
    assert fitting_kinds({"generate"}) == ("causal", "seq2seq", "chat")
    assert fitting_kinds({"embed"}) == ("masked", "causal", "seq2seq", "encoder")


def test_what_a_run_spends_is_counted_over_all_workers_and_capped(
    checkpoints: Path, make_run: RunMaker, settings: Any
) -> None:
    settings.CHAT_REQUESTS_PER_MINUTE = 0
    settings.CHAT_TOKENS_PER_RUN = 12
    run = make_run()
    with serve_openai(checkpoints / "tiny-gpt2") as server:
        model = register_served(server)
        first = load_model(model, frozenset({"generate"}), run=run)
        assert first.revision == SERVED_NAME
        assert first.device == server.base_url.removeprefix("http://").removesuffix("/v1")
        first.lm.generate(["he be", "they"], SETTINGS, seeds=[0, 0])
        spent = Run.objects.get(pk=run.pk).tokens_spent
        assert spent >= 12  # five tokens written and at least one read, twice
        # Another worker, or the same one after a restart, finds the run's money gone …
        again = load_model(model, frozenset({"generate"}), run=run)
        with pytest.raises(SpendCapError, match="Raise it for the workers and resume the run"):
            again.lm.generate(["she"], SETTINGS, seeds=[0])
        assert Run.objects.get(pk=run.pk).tokens_spent == spent
        # … and goes on where more is allowed.
        settings.CHAT_TOKENS_PER_RUN = 1000
        assert again.lm.generate(["she"], SETTINGS, seeds=[0])[0].text
        assert Run.objects.get(pk=run.pk).tokens_spent > spent
