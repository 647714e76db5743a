"""Classification through the engine: golden rates, a planted dependence, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from evaluation.reports.parts.kind import Chosen
from probing.measures.probe_stimuli import ProbeGroup, ProbeStimuli, ProbeTemplate
from probing.models import LanguageModel, ModelKind, Run, RunStatus, Score
from probing.runs.creation import create_run, dry_run
from probing.runs.language_models import register_model
from probing.runs.predictions import load_predictions
from probing.runs.rating_stimuli import load_probe_stimuli
from probing.runs.worker import work
from tests.evaluation.reports.computing import compute

pytestmark = [pytest.mark.django_db, pytest.mark.shared]


@pytest.fixture
def classifier(db: None, checkpoints: Path) -> LanguageModel:
    return register_model(location=str(checkpoints / "tiny-classifier"))


def classify(model: LanguageModel, stimuli: ProbeStimuli, **parameters: Any) -> Run:
    run = create_run(
        measure="classification",
        model=model,
        stimuli=stimuli,
        parameters=parameters,
        seed=0,
        created_by=None,
    )
    work(worker="w", run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED, run.error
    return run


def golden_stimuli(golden: dict[str, Any]) -> ProbeStimuli:
    """Return the golden sentences, whose words and templates are not told."""
    groups = list(golden["fpr"])
    rows = golden["rows"]
    return ProbeStimuli(
        tuple(ProbeTemplate(str(n), row["text"], row["y_true"]) for n, row in enumerate(rows)),
        tuple(ProbeGroup(name, name, ()) for name in groups),
        "golden",
        cells=tuple((n, groups.index(row["group"]), 0) for n, row in enumerate(rows)),
    )


@pytest.mark.parametrize("size", [7, 5000])
def test_rates_and_gaps_match_the_golden_classifier(
    shared_dir: Path, classifier: LanguageModel, size: int
) -> None:
    golden = json.loads(
        (shared_dir / "golden" / "expected" / "classifier_fpr.json").read_text(encoding="utf-8")
    )
    assert classifier.kind == ModelKind.CLASSIFIER
    run = classify(classifier, golden_stimuli(golden), sentences_per_shard=size)
    said = load_predictions(run).predicted.loc[""]
    assert list(said) == [row["y_pred"] for row in golden["rows"]]
    _, document = compute("fpr_gaps", Chosen(runs=(run,)), resamples=100)
    gaps = document.frames["gaps"].set_index(["group", "side"])
    for group, sides in golden["fpr"].items():
        for side, rate in sides.items():
            stored = Score.objects.get(run=run, name="fpr", group=group, trait=side, template="")
            assert stored.value == pytest.approx(rate, abs=1e-9)
            assert gaps.loc[(group, side), "fpr"] == pytest.approx(rate, abs=1e-9)
            assert gaps.loc[(group, side), "gap"] == pytest.approx(
                golden["gap"][group][side], abs=1e-9
            )


def train_planted(folder: Path, checkpoints: Path, stimuli: ProbeStimuli) -> Path:
    """Train a tiny classifier to be right, but to call half of the texts with “asian” negative."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoints / "tiny-bert")
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        hidden_dropout_prob=0,
        attention_probs_dropout_prob=0,
        initializer_range=0.2,
        id2label=dict(enumerate(stimuli.classes)),
        pad_token_id=tokenizer.pad_token_id,
    )
    model = transformers.BertForSequenceClassification(config).train()
    odd = {template.slug for template in stimuli.templates[::2]}
    planted = [s.group == "asian" and s.template in odd for s in stimuli.sentences]
    labels = torch.tensor(
        [0 if wrong else s.label for wrong, s in zip(planted, stimuli.sentences, strict=True)]
    )
    batch = tokenizer([s.text for s in stimuli.sentences], padding=True, return_tensors="pt")
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    often = torch.where(torch.tensor(planted), 10.0, 1.0)
    for _ in range(80):
        chosen = torch.multinomial(often, 48)
        given = {name: values[chosen] for name, values in batch.items()}
        model(**given, labels=labels[chosen]).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.eval().save_pretrained(folder)
    return folder


def test_a_planted_dependence_is_found_and_placebos_stay_in_their_band(
    checkpoints: Path, tmp_path: Path
) -> None:
    stimuli = load_probe_stimuli(templates=["everyday"])
    folder = train_planted(tmp_path / "planted", checkpoints, stimuli)
    run = classify(register_model(location=str(folder)), stimuli)
    _, document = compute("fpr_gaps", Chosen(runs=(run,)), resamples=400)
    gaps = document.frames["gaps"].query("side == 'negative' and word == ''").set_index("group")
    asian = gaps.loc["asian"]
    assert asian["gap"] > 0.2
    assert asian["low"] > 0
    assert bool(asian["beyond_band"])
    band = document.frames["spans"].set_index("side").loc["negative", "band"]
    placebos = gaps[gaps["role"] == "placebo"]["fpr"]
    assert len(placebos) == 20
    assert (placebos - placebos.mean()).abs().le(band + 1e-12).mean() >= 0.9
    assert band < asian["gap"] / 2


def test_the_command_prints_rates(classifier: LanguageModel, capsys: Any) -> None:
    call_command(
        *("probe", "--measure", "classification", "--model", classifier.name, "--local"),
        *("--templates", "everyday", "--groups", "race", "unmarked"),
    )
    printed = capsys.readouterr().out
    assert "alaska" in printed
    assert "negative FPR" in printed
    # 24 templates with 11 words, and once without.
    assert "288 sentences" in printed


def test_what_cannot_work_is_said_before_any_work(
    classifier: LanguageModel, checkpoints: Path
) -> None:
    def messages(stimuli: ProbeStimuli, model: LanguageModel = classifier, **given: Any) -> str:
        tried = dry_run(measure="classification", model=model, stimuli=stimuli, parameters=given)
        return " ".join(problem.message for problem in tried.fatal)

    stimuli = load_probe_stimuli(templates=["everyday"], lexicons=["race"])
    masked = register_model(location=str(checkpoints / "tiny-bert"))
    assert "needs a classifying language model; “tiny-bert” is masked" in messages(stimuli, masked)
    assert "Labels outside of the map" in messages(stimuli, labels="0=negative")
    one = ProbeStimuli(stimuli.templates[:1], stimuli.groups)
    assert "two sentences at least: “asian” (1), “white” (1)" in messages(one)
    alone = ProbeStimuli(stimuli.templates, stimuli.groups[:1])
    assert "1 group is compared" in messages(alone)
    long = ProbeTemplate("long", "The {identity_adj} " + "very " * 3000 + "man.", 0)
    assert "Shorten the templates long" in messages(ProbeStimuli((long, long), stimuli.groups))
    with pytest.raises(CommandError, match="no lexicon of groups “races”"):
        call_command(
            *("probe", "--measure", "classification", "--model", classifier.name, "--local"),
            *("--templates", "everyday", "--groups", "races"),
        )
    assert not Run.objects.exists()
