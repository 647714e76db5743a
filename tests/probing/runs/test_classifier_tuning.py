"""Runs that train classifiers: the best are kept, and classification is run with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from evaluation.reports.parts.kind import Chosen
from probing.models import (
    LabeledTextSet,
    LanguageModel,
    ModelKind,
    Run,
    RunStatus,
    Score,
    Shard,
    TrainingPoint,
)
from probing.runs.control import cancel_run, resume_run
from probing.runs.creation import dry_run
from probing.runs.errors import RunError
from probing.runs.graceful_stop import ask_to_stop, forget_order
from probing.runs.language_models import register_model
from probing.runs.leases import claim_shard
from probing.runs.predictions import load_predictions
from probing.runs.shard_computation import ShardOutcome
from probing.runs.stimuli_loading import StimuliChoice, run_request
from probing.runs.trained_classification import classify_with_trained
from probing.runs.trained_models import folder_of, workspace_of
from probing.runs.training_progress import store_point
from probing.runs.tuning_progress import load_trainings
from probing.runs.worker import compute_shard, work
from probing.training.schedule import LossPoint
from tests.evaluation.reports.computing import compute
from tests.probing.runs.tuning_fixtures import TuningMaker

pytestmark = [pytest.mark.django_db, pytest.mark.shared]

SENTENCES = StimuliChoice(templates=["everyday"], groups=["race", "placebo"])


def finish(run: Run) -> Run:
    work(worker="w", run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED, run.error
    return run


@pytest.fixture
def alice(db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("alice"))
    return client


def test_the_best_trainings_become_models_and_feed_a_report_as_runs_of_one(
    make_tuning: TuningMaker, base: LanguageModel, django_capture_on_commit_callbacks: Any
) -> None:
    run = make_tuning(trainings=3, kept=2, seed=2024)
    with django_capture_on_commit_callbacks(execute=True):
        finish(run)
    accuracy = {
        score.group: score.value for score in Score.objects.filter(run=run, name="test_accuracy")
    }
    assert list(accuracy) == ["training 1", "training 2", "training 3"]
    best = sorted(accuracy, key=lambda group: -(accuracy[group] or 0.0))[:2]
    models = list(LanguageModel.objects.filter(training_run=run.public_id).order_by("pk"))
    assert {f"training {int(Path(model.location).name)}" for model in models} == set(best)
    for model in models:
        number = int(Path(model.location).name)
        assert (
            model.name
            == f"tiny (fine-tuned, run {run.pk}, training {number}, seed {2023 + number})"
        )
        assert (model.kind, model.trained_from) == (ModelKind.CLASSIFIER, base)
    assert sorted(path.name for path in folder_of(run).iterdir()) == sorted(
        Path(model.location).name for model in models
    ), "the weights of the others are gone"
    assert not workspace_of(run).exists(), "a finished run needs no checkpoints"
    assert run.parameters["patience"] == 7, "completed from the paper’s table, and kept"
    assert "3 trainings reach a test accuracy of" in run.notices[-2]
    points = TrainingPoint.objects.filter(run=run)
    assert set(points.values_list("training", flat=True)) == {1, 2, 3}
    last = points.filter(training=1).last()
    assert last is not None
    assert None not in (last.accuracy, last.held_out_accuracy, last.held_out_loss)

    alice = User.objects.create_user("alice")
    runs = classify_with_trained(run=run, choice=SENTENCES, parameters={}, seed=0, created_by=alice)
    assert [one.model for one in runs] == models
    assert {one.created_by for one in runs} == {alice}
    for one in runs:
        finish(one)
    report, document = compute("fpr_gaps", Chosen(runs=tuple(runs)), resamples=100)
    assert {one["counts_for"] for one in report.inputs["runs"]} == {"tiny"}
    assert report.title == "Does tiny err more often when a group is named?"
    rates = document.frames["rates"]
    assert set(rates["run"]) == {f"run {one.pk}" for one in runs}, "run by run"
    assert len(load_predictions(runs[0]).predicted) == 1


def test_everything_on_the_disk_goes_with_the_run_and_its_models(
    make_tuning: TuningMaker, django_capture_on_commit_callbacks: Any
) -> None:
    begun = make_tuning()
    shard = claim_shard(worker="w", run=begun)
    assert shard is not None
    compute_shard(shard)  # one of two
    assert workspace_of(begun).is_dir()
    assert folder_of(begun).is_dir()
    with django_capture_on_commit_callbacks(execute=True):
        begun.delete()
    assert not workspace_of(shard.run).exists()
    assert not folder_of(shard.run).exists()

    run = make_tuning()
    with django_capture_on_commit_callbacks(execute=True):
        finish(run)
    model = LanguageModel.objects.get(training_run=run.public_id)
    target = folder_of(run)
    with django_capture_on_commit_callbacks(execute=True):
        Run.objects.get(pk=run.pk).delete()
    assert Path(model.location).is_dir(), "the model is still registered"
    with django_capture_on_commit_callbacks(execute=True):
        model.delete()
    assert not target.exists()


def test_models_from_elsewhere_keep_their_folder(
    base: LanguageModel, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        base.delete()
    assert Path(base.location).is_dir()


def test_a_stopped_worker_and_a_canceled_run_lose_no_step(make_tuning: TuningMaker) -> None:
    calm = finish(make_tuning(trainings=1, method="lora"))
    run = make_tuning(trainings=1, method="lora")
    shard = claim_shard(worker="w", run=run)
    assert shard is not None
    ask_to_stop()
    try:
        assert compute_shard(shard) is ShardOutcome.RELEASED
    finally:
        forget_order()
    assert len(list((workspace_of(run) / "001").glob("step-*.pt"))) == 1
    cancel_run(run=run)
    finish(resume_run(run=run))

    def weights(of: Run) -> bytes:
        model = LanguageModel.objects.get(training_run=of.public_id)
        return (Path(model.location) / "model.safetensors").read_bytes()

    assert weights(run) == weights(calm)
    assert TrainingPoint.objects.filter(run=run).count() == 18


def test_a_point_of_one_training_replaces_none_of_another(make_tuning: TuningMaker) -> None:
    run = make_tuning()
    for training, loss in ((1, 2.5), (2, 1.5), (1, 2.0)):
        point = LossPoint(3, 0.5, loss, None, 0.001, accuracy=0.5)
        store_point(run_id=run.pk, point=point, training=training)
    found = TrainingPoint.objects.values_list("training", "step", "loss", "accuracy")
    assert list(found) == [(1, 3, 2.0, 0.5), (2, 3, 1.5, 0.5)]


# --- What is refused -----------------------------------------------------------------------------


def ask(model: LanguageModel, texts: str = "made-up", **parameters: Any) -> dict[str, Any]:
    return run_request(
        measure="classifier_fine_tuning",
        model=model,
        choice=StimuliChoice(texts=texts),
        seed=0,
        parameters=parameters,
    )


def test_what_cannot_be_trained_is_said_before_any_work(
    base: LanguageModel, made_up: LabeledTextSet, tmp_path: Path
) -> None:
    headless = tmp_path / "headless"
    headless.mkdir()
    config = {"architectures": ["XGLMForCausalLM"], "model_type": "xglm"}
    (headless / "config.json").write_text(json.dumps(config))
    model = LanguageModel.objects.create(
        name="headless", kind=ModelKind.CAUSAL, source="path", location=str(headless)
    )
    (problem,) = dry_run(**ask(model)).fatal
    assert "family 'xglm', for which there is no head" in problem.message
    served = LanguageModel(name="served", kind=ModelKind.CHAT, source="server", location="http://x")
    assert "needs a masked, causal, " in dry_run(**ask(served)).fatal[0].message
    with pytest.raises(RunError, match="no set of labeled texts “made-off”"):
        ask(base, texts="made-off")
    with pytest.raises(RunError, match="Choose a set, such as"):
        ask(base, texts="")
    (problem,) = dry_run(**ask(base, trainings=2, kept=3)).fatal
    assert "3 models are to be kept of 2 trainings" in problem.message
    with pytest.raises(
        RunError, match=r"learning_rate\.1 is “fast”, expected a valid number"
    ) as bad:
        ask(base, learning_rate="1e-3, fast")
    assert bad.value.problems[0].where == "parameter learning_rate"
    LabeledTextSet.objects.filter(pk=made_up.pk).update(
        texts=[one for one in made_up.texts if one["split"] != "train" or one["label"] == 0]
    )
    assert "two classes at least" in dry_run(**ask(base)).fatal[0].message
    assert not Run.objects.exists()


def test_only_kept_classifiers_are_classified_with(
    make_tuning: TuningMaker, checkpoints: Path
) -> None:
    run = make_tuning()
    with pytest.raises(RunError, match="has no trained classifiers: it is waiting"):
        classify_with_trained(run=run, choice=SENTENCES, parameters={}, seed=0, created_by=None)
    finish(run)
    with pytest.raises(RunError, match="No labeled templates are chosen"):
        classify_with_trained(
            run=run, choice=StimuliChoice(), parameters={}, seed=0, created_by=None
        )
    (own,) = classify_with_trained(
        run=run, choice=SENTENCES, parameters={}, seed=0, created_by=None
    )
    with pytest.raises(RunError, match="trained no classifiers"):
        classify_with_trained(run=own, choice=SENTENCES, parameters={}, seed=0, created_by=None)


# --- Command, API and page -----------------------------------------------------------------------


def test_the_command_trains_and_classifies(
    base: LanguageModel, made_up: LabeledTextSet, capsys: Any
) -> None:
    call_command(
        *("probe", "--measure", "classifier_fine_tuning", "--model", "tiny", "--texts", "made-up"),
        *("--param", "trainings=2", "--param", "kept=1", "--param", "epochs=2", "--local"),
        *("--param", "learning_rate=1e-2, 1e-3", "--seed", "7"),
    )
    printed = capsys.readouterr().out
    assert "“made-up”: 48 train, 15 validation, 18 test texts, 4 shards" in printed
    assert "1 models registered" in printed
    assert "not kept" in printed
    run = Run.objects.get()
    call_command(
        *("probe", "--measure", "classification", "--trained-by", str(run.pk), "--local"),
        *("--templates", "everyday", "--groups", "race"),
    )
    printed = capsys.readouterr().out
    assert "negative FPR" in printed
    assert f"manage.py report fpr_gaps --run {run.pk + 1}" in printed
    with pytest.raises(CommandError, match="There is no run 999"):
        call_command("probe", "--measure", "classification", "--trained-by", "999")
    with pytest.raises(CommandError, match="classification alone"):
        call_command("probe", "--trained-by", str(run.pk))


def test_the_api_trains_and_classifies(
    base: LanguageModel, made_up: LabeledTextSet, django_assert_max_num_queries: Any
) -> None:
    client = APIClient()
    client.force_authenticate(User.objects.create_superuser("alice"))
    asked = {
        "measure": "classifier_fine_tuning",
        "model": base.public_id,
        "texts": "made-up",
        "parameters": {"epochs": 2, "trainings": 2, "kept": 2, "learning_rate": [0.01]},
    }
    tried = client.post("/api/v1/runs/dry-run/", asked, format="json").json()
    # By hand: twice 48 and 15 texts in two epochs, and 18 once.
    assert tried["cost"]["forward_passes"] == 2 * 144
    created = client.post("/api/v1/runs/", asked, format="json").json()
    run = finish(Run.objects.get(public_id=created["public_id"]))
    curve = f"/api/v1/runs/{run.public_id}/training/?training=2"
    rows = client.get(curve).json()["results"]
    assert [row["step"] for row in rows] == list(range(1, 7))
    assert rows[-1]["held_out_accuracy"] is not None
    models = client.get(f"/api/v1/models/?training_run={run.public_id}").json()["results"]
    assert {model["trained_from"] for model in models} == {base.public_id}
    sentences = {"templates": ["everyday"], "groups": ["race"]}
    answer = client.post(f"/api/v1/runs/{run.public_id}/classify/", sentences, format="json")
    assert answer.status_code == 201
    assert [one["model"] for one in answer.json()] == [model["public_id"] for model in models]
    assert set(Run.objects.values_list("created_by__username", flat=True)) == {"alice"}
    refused = client.post(f"/api/v1/runs/{run.public_id}/classify/", {}, format="json")
    assert refused.status_code == 400
    assert "No labeled templates are chosen" in refused.content.decode()


def test_the_pages_follow_a_training_to_the_report(
    base: LanguageModel, made_up: LabeledTextSet, alice: Client
) -> None:
    form = f"{reverse('admin:probing_run_add')}?measure=classifier_fine_tuning"
    assert "Made-up texts" in alice.get(form).text
    values = {"model": base.pk, "texts": "made-up", "seed": 3}
    chosen = {"trainings": 2, "kept": 2, "epochs": 2, "learning_rate": "1e-2", "batch_size": 16}
    shares = {"validation_share": 0.1, "test_share": 0.2, "warmup_share": 0}
    others = {"schedule": "constant", "lora_rank": 8, "lora_alpha": 8}
    values |= {f"parameter_{name}": value for name, value in (chosen | shares | others).items()}
    preview = alice.post(form, {**values, "preview": "1"}).text
    assert "Forward passes" in preview
    wrong = alice.post(form, {**values, "parameter_learning_rate": "fast", "preview": "1"}).text
    assert "fast" in wrong
    assert not Run.objects.exists()
    alice.post(form, {**values, "create": "1"})
    run = Run.objects.get()
    page = reverse("admin:probing_run_change", args=[run.pk])
    live = reverse("admin:probing_run_live", args=[run.pk])
    waiting = alice.get(page).text
    assert "The curves begin with the second step." in waiting
    assert "81 labeled texts" in waiting
    assert alice.get(reverse("admin:probing_run_classify", args=[run.pk])).status_code == 404

    for training, step in ((1, 1), (1, 2), (2, 1), (2, 2)):
        point = LossPoint(step, step / 3, 2.5, 2.25, 0.01, 0.25, 0.5)
        store_point(run_id=run.pk, point=point, training=training)
    open_page = alice.get(live).text
    assert open_page.count('<polyline class="line-interval faint"') == 4, "loss and accuracy of two"
    assert open_page.count('<polyline class="line-held-out faint"') == 4
    TrainingPoint.objects.all().delete()

    finish(run)
    done = alice.get(page).text
    assert done.count(">kept</a>") == 2
    row = load_trainings(run)[0]
    assert row.test is not None
    assert f'{row.test.share:.3f} <span class="dim">[{row.test.low:.3f}, ' in done
    csv: Any = alice.get(reverse("admin:probing_run_training", args=[run.pk]))
    head = b"".join(csv.streaming_content).decode().splitlines()[0]
    assert head.startswith("training,step,epoch,loss,held_out_loss,learning_rate,at,accuracy")

    classify = reverse("admin:probing_run_classify", args=[run.pk])
    assert "Create 2 runs" in alice.get(classify).text
    sentences = {"seed": 0, "parameter_labels": "automatic", "parameter_sentences_per_shard": 5000}
    refused = alice.post(classify, {**sentences, "groups": ["race"]})
    assert refused.status_code == 422
    assert "No labeled templates are chosen" in refused.text
    assert Run.objects.count() == 1
    alice.post(classify, {**sentences, "templates": ["everyday"], "groups": ["race"]})
    first, second = Run.objects.filter(measure="classification").order_by("pk")
    assert first.created_by is not None
    assert first.created_by == second.created_by == run.created_by
    for one in (first, second):
        finish(one)
    linked = alice.get(page).text
    wanted = f"?kind=fpr_gaps&amp;runs={second.pk}&amp;runs={first.pk}"
    assert wanted in linked
    report = alice.get(reverse("admin:evaluation_report_add") + wanted.replace("&amp;", "&")).text
    assert report.count("checked") >= 2


def test_watching_many_trainings_costs_few_queries(
    make_tuning: TuningMaker, django_assert_num_queries: Any
) -> None:
    run = make_tuning(trainings=30)
    with django_assert_num_queries(4):
        rows = load_trainings(run)
    assert [row.seed for row in rows] == list(range(5, 35))
    assert Shard.objects.filter(run=run).count() == 30


def test_a_classifier_is_trained_further(make_tuning: TuningMaker, checkpoints: Path) -> None:
    model = register_model(location=str(checkpoints / "tiny-classifier"))
    run = finish(make_tuning(model=model, trainings=1, epochs=1))
    assert LanguageModel.objects.get(training_run=run.public_id).kind == ModelKind.CLASSIFIER
