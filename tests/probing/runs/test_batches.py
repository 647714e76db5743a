"""Runs whose server is asked in batches: half the price, resumed after a kill, paid for once."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation.models import SocialGroup, Study, TraitPair
from annotation.studies.creation import create_study
from probing.models import LanguageModel, Run, RunStatus, Score, Shard, ShardStatus, WordList
from probing.runs import shard_computation
from probing.runs.answers import load_answers
from probing.runs.creation import create_run, dry_run
from probing.runs.errors import RunError
from probing.runs.language_models import register_model
from probing.runs.leases import claim_shard
from probing.runs.prices import price_run
from probing.runs.stimuli_loading import StimuliChoice, run_request
from probing.runs.sweep import sweep
from probing.runs.worker import work
from tests.batch_endpoints import BatchEndpoints
from tests.openai_server import Fault, OpenAIServer
from tests.probing.lm.tiny_chat import NUMBERS, make_tiny_chat
from tests.probing.runs.text_fixtures import make_corpus
from tests.served_model import register_served

pytestmark = [pytest.mark.django_db, pytest.mark.shared]

ANSWERS = 4
#: Two groups on two scales.
N = 2 * 2 * ANSWERS
PRICES = {
    "input_price": Decimal("2"),
    "output_price": Decimal("8"),
    "price_currency": "USD",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    likely = dict.fromkeys(NUMBERS, 9.0)
    return make_tiny_chat(tmp_path_factory.mktemp("batches") / "tiny", likely=likely)


@pytest.fixture
def server(server: OpenAIServer, settings: Any, tmp_path: Path) -> OpenAIServer:
    settings.CHAT_ANSWERS_ROOT = tmp_path / "kept"
    return server


@pytest.fixture
def offered(server: OpenAIServer) -> BatchEndpoints:
    return server.offer_batches()


@pytest.fixture
def model(server: OpenAIServer, offered: BatchEndpoints) -> LanguageModel:
    return register_served(server, **PRICES)


@pytest.fixture
def study() -> Study:
    return create_study(
        title="Two groups",
        owner=None,
        contact_email="team@example.edu",
        groups=list(SocialGroup.objects.filter(slug__in=["man", "woman"])),
        trait_pairs=list(TraitPair.objects.filter(slug__in=["poor-wealthy", "cold-warm"])),
    )


def ask(model: LanguageModel, study: Study, **parameters: Any) -> dict[str, Any]:
    usual = {"answers": ANSWERS, "max_new_tokens": 1, "reading": "answers", "batches": True}
    return run_request(
        measure="direct_rating",
        model=model,
        choice=StimuliChoice(study=study),
        seed=5,
        parameters={**usual, **parameters},
    )


def start(model: LanguageModel, study: Study, **parameters: Any) -> Run:
    return create_run(**ask(model, study, **parameters), seed=5, created_by=None)


def go_on(run: Run) -> Run:
    """Work as if the pause were over."""
    Shard.objects.filter(run=run).exclude(lease_until=None).update(
        lease_until=timezone.now() - timedelta(seconds=1)
    )
    work(worker="w", run=run)
    run.refresh_from_db()
    return run


def ratings(run: Run) -> list[tuple[str, str, float | None]]:
    rows = Score.objects.filter(run=run, name="rating", template="")
    return sorted(rows.values_list("group", "trait", "value"))


def test_all_shards_wait_for_their_batches_and_then_have_the_same_ratings_at_half_the_price(
    model: LanguageModel, study: Study, server: OpenAIServer, offered: BatchEndpoints
) -> None:
    alone = go_on(start(model, study, batches=False))
    call = server.requests[:]
    call_command("served_answers", "--empty", stdout=StringIO())
    run = start(model, study)
    work(worker="w", run=run)
    assert run.shards.filter(status=ShardStatus.PENDING).count() == 2
    assert len(offered.batches) == 2  # the second does not wait for the first
    assert claim_shard(worker="v", run=run) is None
    assert sweep(idle=1).messages == 0
    events = list(run.events.filter(kind="batched").values_list("message", flat=True))
    assert any("batch_0" in one for one in events)
    go_on(run)
    assert run.status == RunStatus.RUNNING  # still not answered
    offered.is_done = True
    go_on(run)
    assert run.status == RunStatus.FINISHED, run.error
    assert len(server.requests) == len(call)  # nothing was asked outside of batches
    assert len(offered.asked) == N
    assert ratings(run) == ratings(alone)
    # The same tokens, by the server's own count, at half the price.
    assert (run.tokens_spent, run.tokens_written) == (alone.tokens_spent, alone.tokens_written)
    whole = price_run(alone)
    assert whole
    assert price_run(run) == whole / 2
    assert run.answers_reused == 0
    assert all(shard.attempts == 1 for shard in run.shards.all())


def test_a_dry_run_estimates_half_of_the_price(model: LanguageModel, study: Study) -> None:
    whole, half = (dry_run(**ask(model, study, batches=one)) for one in (False, True))
    assert whole.money
    assert half.money == whole.money / 2
    assert half.cost == whole.cost


@pytest.mark.parametrize("moment", ["before it is written down", "while answers are read"])
def test_a_killed_worker_pays_for_no_request_twice(
    model: LanguageModel,
    study: Study,
    offered: BatchEndpoints,
    monkeypatch: pytest.MonkeyPatch,
    moment: str,
) -> None:
    run = start(model, study, groups_per_shard=2)

    class KilledError(BaseException):
        pass

    def kill(*_: Any, **__: Any) -> Any:
        raise KilledError

    with monkeypatch.context() as patched:
        if moment == "before it is written down":
            patched.setattr("probing.runs.loaded_models.RunBatches.open", kill)
        else:
            work(worker="w", run=run)
            offered.is_done = True
            patched.setattr(shard_computation, "to_parquet", kill)
        patched.setattr(shard_computation, "release_shard", lambda _: None)
        with pytest.raises(KilledError):
            go_on(run)
    Shard.objects.filter(run=run).update(status=ShardStatus.PENDING, lease_until=None)
    offered.is_done = True
    go_on(run)
    assert run.status == RunStatus.FINISHED, run.error
    assert len(offered.batches) == 1
    assert len(offered.asked) == N
    read, written = (
        sum(one[name] for one in run.batches.values()) for name in ("tokens", "written")
    )
    assert (run.tokens_spent, run.tokens_written) == (read, written)


def test_requests_of_an_expired_batch_go_into_another(
    model: LanguageModel, study: Study, server: OpenAIServer, offered: BatchEndpoints
) -> None:
    run = start(model, study, groups_per_shard=2)
    offered.is_done, offered.answered_before_expiry = True, 10
    before = len(server.requests)
    go_on(run)
    assert run.status == RunStatus.FINISHED, run.error
    assert [len(offered._lines(one)) for one in offered.batches] == [N, N - 10]
    assert len(server.requests) == before


def test_what_a_batch_refuses_is_a_refusal_and_an_error_of_the_server_is_asked_again(
    model: LanguageModel, study: Study, server: OpenAIServer, offered: BatchEndpoints
) -> None:
    run = start(model, study, groups_per_shard=2)
    offered.is_done = True
    filtered = Fault(status=400, body={"code": "content_filter", "message": "no"})
    # One is refused in the batch, one fails; the refused one is asked by itself, and refused again.
    server.faults.extend([filtered, Fault(status=500), *[Fault()] * (N - 2), Fault(), filtered])
    go_on(run)
    assert run.status == RunStatus.FINISHED, run.error
    assert [len(offered._lines(one)) for one in offered.batches] == [N, 1]
    (said,) = load_answers(run)
    assert said["outcome"].value_counts()["refused"] == 1


def test_a_batch_that_is_not_accepted_fails_the_run_in_the_servers_words(
    model: LanguageModel, study: Study, offered: BatchEndpoints
) -> None:
    run = start(model, study, groups_per_shard=2)
    offered.is_done, offered.invalid = True, "The file has a wrong line."
    go_on(run)
    assert run.status == RunStatus.FAILED
    assert "The file has a wrong line." in run.error


def test_batches_are_refused_before_a_run_where_they_cannot_be(
    server: OpenAIServer, study: Study, folder: Path
) -> None:
    for model in (register_served(server), register_model(location=str(folder))):
        with pytest.raises(RunError, match="batches"):
            start(model, study)
        assert not Run.objects.exists()


def test_drawn_guises_are_one_batch(
    model: LanguageModel, server: OpenAIServer, offered: BatchEndpoints
) -> None:
    WordList.objects.create(
        slug="few", title="Few", words=["57", "70"], license="none", purpose="traits"
    )
    server.refuses |= {"logprobs", "echo"}
    model = register_served(server, name="drawn")
    before, offered.is_done = len(server.requests), True
    asked = run_request(
        measure="matched_guise",
        model=model,
        choice=StimuliChoice(
            corpus=make_corpus(), attributes="few", prompts=["guise-traits-a-person"]
        ),
        seed=3,
        parameters={"least_access": "sampled", "form": "chat", "draws": 3, "batches": True},
    )
    run = go_on(create_run(**asked, seed=3, created_by=None))
    assert run.status == RunStatus.FINISHED, run.error
    assert len(offered.asked) == 3 * (2 * 4 + 1)
    assert (len(offered.batches), len(server.requests)) == (1, before)
