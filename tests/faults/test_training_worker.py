"""Training in a real worker process: it learns a rule, and being killed changes no bit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from annotation.models import Corpus
from probing.models import LanguageModel, Run, RunEventKind, RunStatus, TrainingPoint
from probing.runs.worker import work
from tests.faults.conftest import WorkerProcess
from tests.probing.runs.training_fixtures import TrainingMaker, weights_of
from tests.probing.runs.tuning_fixtures import TuningMaker
from tests.probing.training.dialect import compose_sentences, mean_rouge, rouge_1

pytestmark = pytest.mark.slow

Wait = Callable[..., None]


def status(run: Run) -> str:
    return Run.objects.values_list("status", flat=True).get(pk=run.pk)


def test_a_model_fine_tuned_on_72_pairs_learns_the_rule_of_a_dialect(
    worker: WorkerProcess, make_training: TrainingMaker, copier: LanguageModel, wait_until: Wait
) -> None:
    """Rouge-1 F on 40 held-out pairs, into the dialect and into the standard.

    Before, the model repeats its input. By hand: a dialect sentence of n words has n − 1 in common
    with its standard one of n + 1 words, so F = 2 (n − 1) / (2 n + 1), which is 2/3, 8/11 and
    10/13 for the 4, 5 and 6 words that occur. A model that learned the rule reaches 1. Asked for:
    0.2 more than before, and 0.95 at least.
    """
    evaluation = compose_sentences().evaluation
    repeated = rouge_1([p.dialect for p in evaluation], [p.standard for p in evaluation])
    before = mean_rouge(Path(copier.location), evaluation)
    assert 2 / 3 < repeated < 10 / 13
    assert before == pytest.approx((repeated, repeated), abs=0.02), "the base model copies"

    run = make_training(pairs=None, epochs=10, checkpoint_every=None)
    worker.start()
    wait_until(lambda: status(run) in (RunStatus.FINISHED, RunStatus.FAILED))
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED, run.error
    # 144 examples, 18 steps of 8 an epoch.
    assert TrainingPoint.objects.filter(run=run).count() == 180
    trained = LanguageModel.objects.get(training_run=run.public_id)
    after = mean_rouge(Path(trained.location), evaluation)
    for old, new in zip(before, after, strict=True):
        assert new > old + 0.2
        assert new > 0.95


def test_a_worker_killed_while_it_trains_changes_no_bit_of_the_weights(
    worker: WorkerProcess, make_training: TrainingMaker, dialect: Corpus, wait_until: Wait
) -> None:
    undisturbed = make_training(epochs=40)
    work(worker="undisturbed", run=undisturbed)

    run = make_training(epochs=40)
    points = TrainingPoint.objects.filter(run=run)
    worker.start()
    wait_until(lambda: points.count() >= 7)
    worker.kill()
    done = points.count()
    assert done < 80, "the training was over before it could be disturbed"
    assert status(run) == RunStatus.RUNNING

    worker.start()
    wait_until(lambda: status(run) in (RunStatus.FINISHED, RunStatus.FAILED))
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED, run.error
    assert weights_of(run) == weights_of(undisturbed)
    curve = ("step", "epoch", "loss", "held_out_loss", "learning_rate")
    calm = TrainingPoint.objects.filter(run=undisturbed)
    assert list(points.values_list(*curve)) == list(calm.values_list(*curve))
    assert run.events.filter(kind=RunEventKind.LAPSED).count() == 1
    assert "An earlier worker had done" in " ".join(run.notices), "it did not begin anew"


@pytest.mark.services
def test_a_worker_killed_while_it_trains_classifiers_changes_no_bit_of_the_weights(
    worker: WorkerProcess,
    make_tuning: TuningMaker,
    wait_until: Wait,
) -> None:
    """Two trainings by adapters; the worker dies in the middle of the second one."""

    def files_of(run: Run) -> dict[str, bytes]:
        folders = LanguageModel.objects.filter(training_run=run.public_id)
        return {
            f"{Path(model.location).name}/{name}": (Path(model.location) / name).read_bytes()
            for model in folders
            for name in ("model.safetensors", "adapter/adapter_model.safetensors")
        }

    chosen = {"method": "lora", "kept": 2, "epochs": 40, "patience": 0}
    undisturbed = make_tuning(**chosen)
    work(worker="undisturbed", run=undisturbed)

    run = make_tuning(**chosen)
    second = TrainingPoint.objects.filter(run=run, training=2)
    worker.start()
    wait_until(lambda: second.count() >= 10)
    worker.kill()
    assert second.count() < 200, "the training was over before it could be disturbed"
    assert status(run) == RunStatus.RUNNING

    worker.start()
    wait_until(lambda: status(run) in (RunStatus.FINISHED, RunStatus.FAILED))
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED, run.error
    assert len(files_of(run)) == 4
    assert files_of(run) == files_of(undisturbed)
    assert "1 of the trainings were continued from a checkpoint." in " ".join(run.notices)
