"""Runs that train a model: one model comes of each, once, whatever happens on the way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from django.db import connection

from annotation.models import Corpus, Counterpart, Split, Text, TextPair
from probing.models import (
    LanguageModel,
    ModelKind,
    ModelSource,
    Run,
    RunStatus,
    Shard,
    ShardStatus,
    TrainingPoint,
)
from probing.runs.aggregation import aggregate_run
from probing.runs.control import cancel_run, resume_run
from probing.runs.creation import create_run, dry_run
from probing.runs.errors import RunError
from probing.runs.graceful_stop import ask_to_stop, forget_order
from probing.runs.leases import claim_shard
from probing.runs.shard_computation import ShardOutcome
from probing.runs.text_stimuli import load_text_stimuli
from probing.runs.trained_models import open_training, store_trained_model, workspace_of
from probing.runs.training_progress import load_training, store_point
from probing.runs.training_splits import evaluation_problems, training_problems
from probing.runs.worker import compute_shard, work
from probing.training.errors import TrainingStoppedError
from probing.training.schedule import LossPoint
from tests.probing.runs.training_fixtures import TrainingMaker, weights_of
from tests.waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

# 8 pairs in both directions are 16 examples: two steps of 8 in each of two epochs.
STEPS = 4


@pytest.fixture
def told_to_stop() -> Iterator[None]:
    ask_to_stop()
    yield
    forget_order()


def train(run: Run) -> Run:
    work(worker="w", run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED, run.error
    return run


def steps_of(run: Run) -> list[int]:
    return list(TrainingPoint.objects.filter(run=run).values_list("step", flat=True))


def test_a_run_leaves_a_model_that_says_where_it_comes_from(
    make_training: TrainingMaker,
    copier: LanguageModel,
    settings: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:
    run = make_training(held_out_share=0.25)
    with django_capture_on_commit_callbacks(execute=True):
        train(run)
    model = LanguageModel.objects.get(training_run=run.public_id)
    assert model.name == f"copier (fine-tuned, run {run.pk})"
    assert (model.kind, model.family) == (ModelKind.SEQ2SEQ, "t5")
    assert (model.source, model.trained_from) == (ModelSource.PATH, copier)
    assert model.location == str(settings.VAR_DIR / "models" / f"copier-{run.public_id}")
    assert weights_of(run) != (Path(copier.location) / "model.safetensors").read_bytes()
    assert run.model_revision.startswith("sha256:"), "of the base, as every run keeps it"
    assert run.device == "cpu, float32"
    assert not workspace_of(run).exists(), "a finished run needs no checkpoints"
    # By hand: 2 of 8 pairs are held out; 12 examples left, two steps of 8 and 4 an epoch.
    assert "Trained on 12 examples of 8 pairs in 4 steps" in run.notices[-1]
    assert "on 4 held-out examples" in run.notices[-1]


def test_the_loss_curve_is_stored_point_by_point(make_training: TrainingMaker) -> None:
    run = train(make_training(held_out_share=0.25))
    points = list(TrainingPoint.objects.filter(run=run))
    assert [point.step for point in points] == [1, 2, 3, 4]
    assert [point.epoch for point in points] == [0.5, 1.0, 1.5, 2.0]
    assert [point.held_out_loss is not None for point in points] == [False, True, False, True]
    # Linear to zero over four steps, without warm-up.
    expected = [0.003, 0.00225, 0.0015, 0.00075]
    assert [point.learning_rate for point in points] == pytest.approx(expected)


@pytest.mark.services
def test_a_finished_training_registers_its_model_once(make_training: TrainingMaker) -> None:
    run = train(make_training())
    assert not aggregate_run(run), "there is nothing left to aggregate"
    model = LanguageModel.objects.get(training_run=run.public_id)
    again = store_trained_model(run, [{"folder": model.location, "name": model.name}])
    assert again == f"the trained model “{model.name}” is registered"
    assert LanguageModel.objects.filter(training_run=run.public_id).count() == 1


def test_the_same_run_twice_gives_the_same_weights_in_two_models(
    make_training: TrainingMaker,
) -> None:
    first, second, other = (train(make_training(seed=seed)) for seed in (7, 7, 8))
    assert weights_of(first) == weights_of(second)
    assert weights_of(first) != weights_of(other)
    assert LanguageModel.objects.filter(training_run__gt="").count() == 3


@pytest.mark.services
def test_a_taken_name_does_not_keep_a_model_from_being_registered(
    make_training: TrainingMaker, copier: LanguageModel
) -> None:
    run = make_training()
    copier.pk, copier.public_id = None, "another12345"
    copier.name, copier.location = f"copier (fine-tuned, run {run.pk})", "/elsewhere"
    copier.save(force_insert=True)
    train(run)
    model = LanguageModel.objects.get(training_run=run.public_id)
    assert model.name == f"copier (fine-tuned, run {run.pk}) {run.public_id}"


@pytest.mark.services
def test_a_point_that_comes_again_replaces_itself(make_training: TrainingMaker) -> None:
    run = make_training()
    for loss in (2.5, 2.0):
        store_point(run_id=run.pk, point=LossPoint(3, 1.5, loss, None, 0.001))
    assert list(TrainingPoint.objects.values_list("step", "loss")) == [(3, 2.0)]


def test_a_canceled_training_stops_within_a_step_and_can_be_resumed(
    shared_database: str, make_training: TrainingMaker
) -> None:
    calm = train(make_training(epochs=20))
    run = make_training(epochs=20)
    worker = Thread(target=_work_aside, args=(run,))
    worker.start()
    wait_until(lambda: len(steps_of(run)) >= 5, seconds=300)
    cancel_run(run=run)
    at_cancel = max(steps_of(run))
    worker.join()
    assert max(steps_of(run)) <= at_cancel + 1
    assert at_cancel < 40
    run.refresh_from_db()
    assert run.status == RunStatus.CANCELED
    assert not LanguageModel.objects.filter(training_run=run.public_id).exists()
    shard = Shard.objects.get(run=run)
    assert (shard.status, shard.error) == (ShardStatus.PENDING, "")

    resume_run(run=run)
    train(run)
    assert weights_of(run) == weights_of(calm)
    assert steps_of(run) == list(range(1, 41))
    assert "An earlier worker had done" in " ".join(run.notices)


def _work_aside(run: Run) -> None:
    try:
        work(worker="aside", run=run)
    finally:
        connection.close()


def test_a_worker_that_is_told_to_stop_saves_and_gives_the_shard_back(
    make_training: TrainingMaker, request: pytest.FixtureRequest
) -> None:
    calm = train(make_training(checkpoint_every=None))
    run = make_training(checkpoint_every=None)
    shard = claim_shard(worker="w", run=run)
    assert shard is not None
    request.getfixturevalue("told_to_stop")
    assert compute_shard(shard) is ShardOutcome.RELEASED
    shard.refresh_from_db()
    assert (shard.status, shard.attempts) == (ShardStatus.PENDING, 0)
    assert len(list(workspace_of(run).glob("step-*.pt"))) == 1
    forget_order()
    train(run)
    assert weights_of(run) == weights_of(calm)


@pytest.mark.services
def test_a_training_whose_lease_went_to_another_worker_stops(
    make_training: TrainingMaker,
) -> None:
    run = make_training()
    shard = claim_shard(worker="late", run=run)
    assert shard is not None
    Shard.objects.filter(pk=shard.pk).update(worker="current")
    assert compute_shard(shard) is ShardOutcome.LOST
    assert steps_of(run) == []
    assert Shard.objects.get(pk=shard.pk).worker == "current"


@pytest.mark.services
def test_a_step_done_while_the_run_is_canceled_is_not_stored(
    make_training: TrainingMaker,
) -> None:
    run = make_training()
    shard = claim_shard(worker="w", run=run)
    assert shard is not None
    trainable = open_training(shard).lm
    cancel_run(run=run)
    point = LossPoint(step=1, epoch=0.5, loss=1.0, held_out_loss=None, learning_rate=0.1)
    with pytest.raises(TrainingStoppedError):
        trainable.report(point)
    assert steps_of(run) == []


def test_a_base_model_that_changed_meanwhile_is_not_trained_on_from_a_checkpoint(
    make_training: TrainingMaker, copier: LanguageModel, tmp_path: Path, told_to_stop: None
) -> None:
    import shutil

    folder = tmp_path / "own-copy"
    shutil.copytree(copier.location, folder)
    LanguageModel.objects.filter(pk=copier.pk).update(location=str(folder))
    run = make_training()
    shard = claim_shard(worker="w", run=run)
    assert shard is not None
    assert compute_shard(shard) is ShardOutcome.RELEASED
    forget_order()
    (folder / "added.txt").write_text("another revision")
    work(worker="w", run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.FAILED
    assert "belong to another training" in run.error


def test_the_trained_model_writes_counterparts_at_once(
    make_training: TrainingMaker, dialect: Corpus
) -> None:
    run = train(make_training(pairs=None, epochs=10))
    model = LanguageModel.objects.get(training_run=run.public_id)
    stimuli = load_text_stimuli(dialect, prompts=["rewrite"], limit=5)
    writing = create_run(
        measure="counterpart_generation",
        model=model,
        corpus=dialect,
        stimuli=stimuli,
        parameters={"max_new_tokens": 20},
        seed=0,
        created_by=None,
    )
    train(writing)
    written = {
        (found.text.slug, found.variety): found.body
        for found in Counterpart.objects.filter(run=writing.public_id)
    }
    # The rule has no exceptions, so a model that has learned it writes the pair's other text.
    assert written == {
        (read.slug, variety): wanted.body
        for pair in stimuli.pairs
        for read, wanted, variety in (
            (pair.source, pair.target, "STANDARD"),
            (pair.target, pair.source, "DIALECT"),
        )
    }


# --- Training and evaluation stay apart --------------------------------------------------------


def asked_for(corpus: Corpus, model: LanguageModel, **changes: Any) -> dict[str, Any]:
    stimuli = load_text_stimuli(corpus, prompts=["rewrite"], limit=4, split=Split.TRAINING)
    return {
        "measure": "fine_tuning",
        "model": model,
        "corpus": corpus,
        "stimuli": stimuli,
        "parameters": {},
        **changes,
    }


def test_training_pairs_alone_are_trained_on(dialect: Corpus, copier: LanguageModel) -> None:
    slugs = {
        pair.slug
        for pair in load_text_stimuli(dialect, prompts=["rewrite"], split=Split.TRAINING).pairs
    }
    evaluated = set(
        TextPair.objects.filter(source_text__split=Split.EVALUATION).values_list("slug", flat=True)
    )
    assert len(slugs) == 72
    assert not slugs & evaluated
    stimuli = load_text_stimuli(dialect, prompts=["rewrite"], limit=3)
    with pytest.raises(RunError, match=r"3 pairs .* are not in the training split") as caught:
        create_run(**asked_for(dialect, copier, stimuli=stimuli), seed=0, created_by=None)
    assert caught.value.problems[0].where == "corpus"
    assert not Run.objects.exists()


def test_a_training_text_that_is_evaluated_too_is_named(
    dialect: Corpus, copier: LanguageModel
) -> None:
    asked = asked_for(dialect, copier)
    trained = asked["stimuli"].pairs[0].source
    # In the other variety the database allows the same body; white space does not hide it.
    copy = Text.objects.create(
        corpus=dialect,
        slug="the-copy",
        variety="STANDARD",
        body=f" {trained.body} ",
        body_hash=_hash(trained.body),
        split=Split.EVALUATION,
    )
    (problem,) = training_problems(dialect, asked["stimuli"])
    assert problem.fatal
    assert f"1 training text ({trained.slug} (as {copy.slug})) is word for word" in problem.message
    assert problem in dry_run(**asked).problems
    with pytest.raises(RunError, match="word for word a text to evaluate"):
        create_run(**asked, seed=0, created_by=None)


def _hash(body: str) -> str:
    import hashlib

    return hashlib.sha256(body.encode()).hexdigest()


def test_a_trained_model_is_never_evaluated_on_its_training_texts(
    make_training: TrainingMaker, dialect: Corpus, copier: LanguageModel
) -> None:
    run = train(make_training())
    model = LanguageModel.objects.get(training_run=run.public_id)
    evaluated = load_text_stimuli(dialect, prompts=["rewrite"])
    assert evaluation_problems(model, evaluated) == []
    trained_on = load_text_stimuli(dialect, prompts=["rewrite"], limit=8, split=Split.TRAINING)
    assert evaluation_problems(copier, trained_on) == []
    (problem,) = evaluation_problems(model, trained_on)
    assert problem.fatal
    assert problem.message.startswith("16 texts (")
    # The same texts may come back in another corpus, where no split tells.
    tried = dry_run(
        measure="counterpart_generation",
        model=model,
        stimuli=trained_on,
        parameters={},
        corpus=dialect,
    )
    assert problem in tried.fatal


def test_one_prompt_is_needed_and_said_so(dialect: Corpus, copier: LanguageModel) -> None:
    stimuli = load_text_stimuli(dialect, limit=4, split=Split.TRAINING)
    tried = dry_run(**asked_for(dialect, copier, stimuli=stimuli))
    assert [problem.where for problem in tried.fatal] == ["prompts"]
    assert "0 prompts are chosen (none), expected one" in tried.fatal[0].message


def test_a_masked_model_cannot_be_trained_to_write(dialect: Corpus, checkpoints: Path) -> None:
    from probing.runs.language_models import register_model

    bert = register_model(location=str(checkpoints / "tiny-bert"))
    tried = dry_run(**asked_for(dialect, bert))
    assert [problem.where for problem in tried.fatal] == ["model"]


def test_the_dry_run_counts_the_passes(dialect: Corpus, copier: LanguageModel) -> None:
    tried = dry_run(**asked_for(dialect, copier, parameters={"epochs": 3}))
    assert tried.fatal == ()
    assert tried.cost is not None
    # By hand: 4 pairs in both directions, three times.
    assert (tried.cost.shards, tried.cost.forward_passes) == (1, 24)


def test_progress_costs_two_queries(
    make_training: TrainingMaker, django_assert_num_queries: Any
) -> None:
    run = make_training()
    with django_assert_num_queries(2):
        assert load_training(run).percent == 0
    train(run)
    with django_assert_num_queries(1):  # a closed run has no time left
        progress = load_training(run)
    assert (progress.percent, progress.epochs, progress.seconds_left) == (100, 2, None)
    assert progress.last is not None
    assert progress.last.step == STEPS
