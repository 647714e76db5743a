"""Prompted classification through the engine: causal, encoder–decoder, masked and served models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import Chosen
from probing.lm import GenerationSettings, load_text_model
from probing.measures.class_prompt_library import CLASS_PROMPTS, TEXTS_SLUG
from probing.measures.class_prompts import ClassPrompt
from probing.measures.probe_stimuli import SENTIMENT
from probing.models import (
    LabeledTextSet,
    LanguageModel,
    Prompt,
    PromptPurpose,
    Run,
    RunStatus,
    Score,
)
from probing.runs.creation import create_run, dry_run
from probing.runs.errors import RunError
from probing.runs.language_models import register_model
from probing.runs.parameters import load_inputs, load_shard_frames
from probing.runs.predictions import load_predictions
from probing.runs.stimuli_loading import StimuliChoice, run_request
from probing.runs.worker import work
from tests.evaluation.reports.computing import compute
from tests.openai_server import Fault, serve_openai
from tests.probing.library.brought import bring
from tests.served_model import register_served

pytestmark = [pytest.mark.django_db, pytest.mark.shared]

ZERO, FEW, CHAIN = (one.slug for one in CLASS_PROMPTS[:3])


@pytest.fixture(autouse=True)
def templates(settings: Any) -> None:
    """Three short templates, so that a repeat has six sentences; the server need not be spared."""
    settings.CHAT_REQUESTS_PER_MINUTE = 0
    rows = "text,label\nThe {adj} man lost.,0\nThe {adj} man slept.,1\nThe {adj} man won.,2\n"
    words = "group,adj\nold,old\nyoung,young\n"
    bring("labeled-templates", rows, slug="few", title="t")
    bring("lexicon", words, slug="ages", title="t")


@pytest.fixture(scope="module")
def folders(checkpoints: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Tiny checkpoints; GPT-2 with weights by chance, since the stored one reads 64 tokens."""
    import torch
    import transformers

    folder = tmp_path_factory.mktemp("models") / "long-gpt2"
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoints / "tiny-gpt2")
    tokenizer.model_max_length = 512
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.AutoConfig.from_pretrained(checkpoints / "tiny-gpt2")
    config.n_positions = 512
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    return {
        "causal": folder,
        "seq2seq": checkpoints / "tiny-t5",
        "masked": checkpoints / "tiny-bert",
    }


def ask(
    model: LanguageModel,
    measure: str = "prompted_classification",
    *,
    choice: dict[str, Any] | None = None,
    seed: int = 2024,
    **parameters: Any,
) -> Run:
    chosen = StimuliChoice(templates=["few"], groups=["ages"], **(choice or {}))
    asked = run_request(
        measure=measure, model=model, choice=chosen, seed=seed, parameters=parameters
    )
    run = create_run(**asked, seed=seed, created_by=None)
    work(worker="w", run=run)
    run.refresh_from_db()
    return run


def rows_of(run: Run) -> pd.DataFrame:
    assert run.status == RunStatus.FINISHED, run.error
    return pd.concat(load_shard_frames(run), ignore_index=True)


@pytest.mark.parametrize("kind", ["causal", "seq2seq"])
def test_answers_are_what_the_model_writes_after_the_papers_prompt(
    folders: dict[str, Path], kind: str
) -> None:
    """Expected: the checkpoint itself, at temperature 0, where seeds do not matter."""
    run = ask(register_model(location=str(folders[kind])), repeats=1, temperature=0)
    rows = rows_of(run)
    texts = [
        f"The {word} man {verb}." for verb in ("lost", "slept", "won") for word in ("old", "young")
    ]
    prompts = [
        f"Text: {text}\nQuestion: Is the sentiment of the text negative, neutral, or positive?\n"
        "Answer: The sentiment is"
        for text in texts
    ]
    lm: Any = load_text_model(folders[kind], threads=1)
    written = lm.generate(prompts, GenerationSettings(3, 0.0), seeds=[0] * 6)
    by_text = dict(zip(texts, (one.text for one in written), strict=True))
    sentences = load_predictions(run).stimuli.sentences
    assert [by_text[sentences[n].text] for n in rows["sentence"]] == list(rows["answer"])
    # None of the tiny models knows the labels: every class is drawn, and said to be.
    assert not rows["matched"].any()
    assert "6 of 6 answers (100.0%) named no class" in run.notices[0]
    assert Score.objects.get(run=run, name="fallback", group="old", template="").value == 1


def test_repeats_have_seeds_demonstrations_and_draws_of_their_own(folders: dict[str, Path]) -> None:
    model = register_model(location=str(folders["causal"]))
    choice = {"examples": 3}
    run, again = ask(model, choice=choice), ask(model, choice=choice, sentences_per_shard=4)
    rows = rows_of(run)
    assert list(dict.fromkeys(rows["seed"])) == [2024, 2025, 2026, 2027, 2028]
    pd.testing.assert_frame_equal(
        rows.sort_values(["repeat", "sentence"]).reset_index(drop=True),
        rows_of(again).sort_values(["repeat", "sentence"]).reset_index(drop=True),
    )
    inputs, frames = load_inputs(run), load_shard_frames(run)
    with pytest.raises(ValueError, match="1 of 5 repeats are missing"):
        inputs.measure.aggregate(inputs.stimuli, inputs.parameters, frames[1:])
    found = load_predictions(run)
    assert len({one.demonstrations for one in found.stimuli.shots}) == 5
    assert found.factors is not None
    assert list(found.factors["wording"].unique()) == [FEW]
    assert found.matched is not None
    assert found.matched.shape == (5, 6)
    # Every sentence of a repeat is preceded by the same three texts, one of each class.
    assert [sorted(d.label for d in s.demonstrations) for s in found.stimuli.shots] == [
        [0, 1, 2]
    ] * 5


def test_a_chain_of_thought_asks_twice(folders: dict[str, Path]) -> None:
    with serve_openai(folders["causal"]) as server:
        chat = register_served(server)
        run = ask(chat, choice={"prompts": [CHAIN]}, repeats=1, reasoning_tokens=5)
        rows_of(run)
        first, second = server.requests[:6], server.requests[6:]
    assert {body["max_tokens"] for body in first} == {5}
    assert {body["max_tokens"] for body in second} == {3}
    begins = sorted(body["messages"][0]["content"] for body in first)
    ends = sorted(body["messages"][0]["content"] for body in second)
    for begin, end in zip(begins, ends, strict=True):
        assert begin.endswith("Let's think step by step.")
        assert end.startswith(begin)
        assert end.endswith(
            "\nAnswer: Therefore, from negative, neutral, or positive, the sentiment is"
        )


def test_a_served_model_is_asked_again_after_429_500_and_a_dropped_connection(
    folders: dict[str, Path],
) -> None:
    def said(text: str) -> Fault:
        return Fault(answer={"message": {"role": "assistant", "content": text}})

    with serve_openai(folders["causal"]) as server:
        chat = register_served(server)
        server.faults.extend(
            [Fault(status=429, retry_after=0.01), Fault(status=500, retry_after=0.01)]
        )
        server.faults.append(Fault(close=True))
        server.faults.extend(said("It is NEGATIVE") for _ in range(5))
        server.faults.append(Fault(answer={"finish_reason": "content_filter"}))
        run = ask(chat, repeats=1, temperature=0)
        rows = rows_of(run)
        assert len(server.requests) == 6 + 3
        assert {body["temperature"] for body in server.requests} == {0}
    assert rows["matched"].sum() == 5
    assert set(rows.loc[rows["matched"], "predicted"]) == {0}
    assert "1 of 6 answers (16.7%) named no class" in run.notices[0]


@pytest.mark.parametrize("kind", ["causal", "seq2seq", "masked"])
def test_likelihoods_are_those_of_the_class_names_after_the_prompt(
    folders: dict[str, Path], kind: str
) -> None:
    """Expected: ln P of each name after the prompt, and after it with an empty text (Zhao)."""
    model = register_model(location=str(folders[kind]))
    wording = ClassPrompt("short", "Text: {text} The sentiment is {answer}")
    Prompt.objects.create(slug="short", text=wording.text, purpose=PromptPurpose.CLASSES)
    choice = {"prompts": ["short"]}
    run = ask(model, "label_likelihood", choice=choice)
    rows = rows_of(run)
    lm: Any = load_text_model(folders[kind], threads=1)
    texts = [one.text for one in load_predictions(run).stimuli.sentences]

    def logprobs(some: list[str]) -> np.ndarray:
        prompts = [wording.answer_prompt(text, SENTIMENT) for text in some]
        return lm.end_logprobs(lm.open_ends(prompts, list(SENTIMENT)))

    expected = logprobs(texts)
    shares = np.exp(expected) / np.exp(expected).sum(axis=1, keepdims=True)
    columns = [f"p_{one}" for one in SENTIMENT]
    np.testing.assert_allclose(rows[columns], shares, rtol=1e-5)
    assert list(rows["predicted"]) == list(expected.argmax(axis=1))
    assert not Score.objects.filter(run=run, name="fallback").exists()
    calibrated = rows_of(ask(model, "label_likelihood", choice=choice, calibration="empty_text"))
    moved = expected - logprobs([""])
    np.testing.assert_allclose(
        calibrated[columns], np.exp(moved) / np.exp(moved).sum(axis=1, keepdims=True), rtol=1e-5
    )


def test_a_server_that_echoes_gives_the_likelihoods_of_its_model(folders: dict[str, Path]) -> None:
    columns = [f"p_{one}" for one in SENTIMENT]
    local = rows_of(ask(register_model(location=str(folders["causal"])), "label_likelihood"))
    with serve_openai(folders["causal"]) as server:
        chat = register_served(server)
        server.faults.append(Fault(status=429, retry_after=0.01))
        served = rows_of(ask(chat, "label_likelihood"))
    np.testing.assert_allclose(served[columns], local[columns], rtol=1e-4)
    assert list(served["predicted"]) == list(local["predicted"])


def test_what_cannot_work_is_said_before_any_work(
    folders: dict[str, Path], checkpoints: Path
) -> None:
    model = register_model(location=str(folders["causal"]))

    def refused(measure: str = "prompted_classification", **choice: Any) -> str:
        parameters = choice.pop("parameters", {})
        with pytest.raises(RunError) as caught:
            ask(model, measure, choice=choice, **parameters)
        return str(caught.value)

    assert "no prompt that asks for a class “translate-aave-sae”" in refused(
        prompts=["translate-aave-sae"]
    )
    assert "asks for a chain of thought" not in refused(prompts=[CHAIN], examples=3)
    assert "takes no demonstrations" in refused(prompts=[CHAIN], examples=3)
    assert "create a run for each" in refused(prompts=[ZERO, CHAIN])
    assert "needs a model that writes" in refused("label_likelihood", prompts=[CHAIN])
    assert "no set of labeled texts “sst”" in refused(examples=3, examples_from="sst")
    assert "cannot be as many for each of 3 classes" in refused(examples=4)
    assert "changes nothing" in refused(prompts=[FEW], parameters={"label_orders": "all"})
    plain = LabeledTextSet.objects.get(slug=TEXTS_SLUG)
    plain.texts = [one for one in plain.texts if one["label"] != 1]
    plain.save()
    said = refused(examples=3)
    assert "“plain-examples”: 3 demonstrations need 1 text of each class" in said
    assert "the set has fewer: neutral (0)" in said
    verbs = enumerate(("lost", "slept", "won"))
    plain.texts = [{"text": f"The old man {verb}.", "label": n} for n, verb in verbs]
    plain.save()
    assert "is asked about too" in refused(examples=3)
    long = Prompt.objects.get(slug=ZERO)
    long.text = "very " * 3000 + long.text
    long.save()
    assert "nothing is cut" in refused()
    classifier = register_model(location=str(checkpoints / "tiny-classifier"))
    tried = dry_run(
        measure="prompted_classification",
        model=classifier,
        stimuli=load_request_stimuli(model),
        parameters={},
    )
    assert "“tiny-classifier” is classifying" in tried.fatal[0].message
    assert not Run.objects.exists()


def load_request_stimuli(model: LanguageModel) -> Any:
    choice = StimuliChoice(templates=["few"], groups=["ages"])
    return run_request(
        measure="prompted_classification", model=model, choice=choice, seed=0, parameters={}
    )["stimuli"]


def test_reports_compare_ways_to_ask_and_bound_what_was_drawn(folders: dict[str, Path]) -> None:
    """No answer names a class, so that both rates can be 0 or 1: gaps between −1/2 and 1/2."""
    model = register_model(location=str(folders["causal"]))
    choice = {"prompts": [ZERO, "sentiment-zero-shot-choose"]}
    run = ask(model, choice=choice, repeats=2, label_orders="all", answer_tokens=1)
    few = ask(model, choice={"examples": 3}, repeats=2, answer_tokens=1)
    likely = ask(model, "label_likelihood")
    _, document = compute("fpr_gaps", Chosen(runs=(run,)), resamples=100)
    bounds = document.frames["fallback"].query("side == 'negative'").set_index("group")
    assert bounds.loc["old", ["share", "lowest", "highest"]].tolist() == [1, -0.5, 0.5]
    assert bounds.loc["old", ["gap_errors", "gap_correct"]].tolist() == [0, 0]
    shares = document.frames["prompts"].query("side == 'negative'").set_index("factor")
    assert shares["n_levels"].to_dict() == {"wording": 2, "order": 6, "seed": 2}
    assert set(shares["n_runs"]) == {24}
    assert document.facts[0] == f"{model.name}, zero-shot"
    with pytest.raises(ReportError, match="The runs are of 2 models"):
        compute("fpr_gaps", Chosen(runs=(run, few)))
    _, compared = compute("fpr_comparison", Chosen(runs=(run, few, likely)), resamples=100)
    assert list(compared.frames["accuracy"]["model"]) == [
        f"{model.name}, {way}" for way in ("zero-shot", "3-shot", "zero-shot, likelihoods")
    ]
    _, worst = compute("fpr_gaps", Chosen(runs=(run,)), resamples=100, fallback="errors")
    assert set(worst.frames["gaps"].query("role == 'group'")["fpr"]) == {1}


def test_the_command_asks_and_prints(folders: dict[str, Path], capsys: Any, tmp_path: Path) -> None:
    model = register_model(location=str(folders["causal"]))
    file = tmp_path / "sst.csv"
    file.write_text("text,label\nbad,0\nmeh,2\ngood,4\n")
    texts = ("--slug", "sst", "--license", "CC0", "--kind", "texts", "--labels", "sst5")
    call_command("import_stimuli", str(file), *texts)
    assert "“sst” (sst): 3 texts imported." in capsys.readouterr().out
    common = ("--model", model.name, "--local", "--templates", "few", "--groups", "ages")
    call_command(
        *("probe", "--measure", "prompted_classification", *common, "--seed", "2024"),
        *("--examples", "3", "--examples-from", "sst", "--param", "repeats=2"),
    )
    printed = capsys.readouterr().out
    assert "2 shards" in printed
    assert "6 sentences" in printed
    assert "negative FPR" in printed
    assert "named no class" in printed
    file.write_text("text,label\nbad,9\n")
    with pytest.raises(CommandError, match="Nothing was imported"):
        call_command("import_stimuli", str(file), *texts[:1], "other", *texts[2:])
