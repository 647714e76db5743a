"""Servers that nobody here wrote: `transformers serve` and llama.cpp's, in the tier they allow.

``make servers`` builds llama.cpp's and fetches its model; without them these tests are skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Corpus, Counterpart, SocialGroup, TraitPair
from annotation.studies.creation import create_study
from probing.models import LanguageModel, Run, Score
from probing.runs.creation import create_run
from probing.runs.errors import RunError
from probing.runs.language_models import register_model
from probing.runs.stimuli_loading import StimuliChoice, run_request
from probing.runs.worker import work
from tests.ports import free_port
from tests.probing.lm.tiny_chat import make_tiny_chat
from tests.probing.runs.text_fixtures import make_corpus
from tests.waiting import wait_until
from tools.real_servers import llama_python, smollm_file

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

PROMPT = "guise-traits-a-person"


@contextmanager
def serving(program: list[str], port: int, log: Path) -> Iterator[str]:
    """Run a server until the test ends; yields its base URL once it answers."""
    with log.open("w") as out:
        environment = os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
        process = subprocess.Popen(program, stdout=out, stderr=out, env=environment)

    def is_up() -> bool:
        assert process.poll() is None, log.read_text()[-3000:]
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=5).read()
        except OSError as error:
            return getattr(error, "code", None) is not None  # it answers, if only by a refusal
        return True

    try:
        wait_until(is_up, explain=lambda: log.read_text()[-3000:])
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    likely = {"70": 9.0, "smart": 9.0, "<|end|>": 10.0}
    words = ["smart", "clever", "lazy"]
    return make_tiny_chat(tmp_path_factory.mktemp("served") / "tiny", words=words, likely=likely)


@pytest.fixture(scope="module")
def transformers_server(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("fastapi", reason="`transformers serve` needs fastapi and uvicorn")
    port = free_port()
    program = [str(Path(sys.executable).parent / "transformers"), "serve", "--port", str(port),
               "--device", "cpu", "--host", "127.0.0.1"]  # fmt: skip
    with serving(program, port, tmp_path_factory.mktemp("logs") / "transformers.log") as url:
        yield url


@pytest.fixture(scope="module")
def llama_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    python, model = llama_python(), smollm_file()
    if python is None or model is None:
        pytest.skip("llama.cpp's server or SmolLM2 is not in the cache: run `make servers`")
    port = free_port()
    program = [str(python), "-m", "llama_cpp.server", "--model", str(model), "--port", str(port),
               "--host", "127.0.0.1", "--n_ctx", "1024", "--n_threads", "2",
               "--model_alias", "smollm2", "--logits_all", "true"]  # fmt: skip
    with serving(program, port, tmp_path_factory.mktemp("logs") / "llama.log") as url:
        yield url


@pytest.fixture(autouse=True)
def unpaced(settings: Any) -> None:
    settings.CHAT_REQUESTS_PER_MINUTE = 0
    settings.CHAT_CONCURRENCY = 1
    settings.MODEL_SERVER_HOSTS = ["127.0.0.1"]


def finish(measure: str, model: LanguageModel, choice: StimuliChoice, **parameters: Any) -> Run:
    asked = run_request(measure=measure, model=model, choice=choice, seed=3, parameters=parameters)
    run = create_run(**asked, seed=3, created_by=None)
    work(worker="w", run=run)
    run.refresh_from_db()
    assert run.status == "finished", run.error
    assert run.tokens_spent > 0
    return run


def rate(model: LanguageModel, **parameters: Any) -> Run:
    study = create_study(
        title="One group",
        owner=None,
        contact_email="team@example.edu",
        groups=list(SocialGroup.objects.filter(slug="man")),
        trait_pairs=list(TraitPair.objects.filter(slug="cold-warm")),
    )
    return finish("direct_rating", model, StimuliChoice(study=study), **parameters)


def corpus_of_one() -> Corpus:
    corpus = make_corpus()
    corpus.pairs.exclude(pk=corpus.pairs.order_by("pk").values("pk")[:1]).delete()
    return corpus


def counterparts(model: LanguageModel) -> list[str]:
    corpus = Corpus.objects.first() or corpus_of_one()
    run = finish(
        "counterpart_generation", model, StimuliChoice(corpus=corpus),
        directions="to_target", max_new_tokens=20,
    )  # fmt: skip
    written = Counterpart.objects.filter(run=run)
    assert written.exists()
    assert all(one.body or one.reason for one in written)
    return [one.body for one in written]


def guise_choice() -> StimuliChoice:
    corpus = Corpus.objects.first() or corpus_of_one()
    return StimuliChoice(corpus=corpus, attributes="intelligence-8", prompts=[PROMPT])


def test_transformers_serve_gives_drawn_answers(transformers_server: str, tiny: Path) -> None:
    """It refuses prompts in lists and begun answers, and leaves log-probabilities out."""
    model = register_model(location=transformers_server, served_name=str(tiny), name="tiny")
    seen = model.server_abilities
    assert (seen["chat"]["works"], seen["logprobs"]["works"]) == (True, False)
    assert "prompt must be a string" in seen["echo"]["said"]
    assert seen["prefill"]["works"] is False

    rated = rate(model, answers=24, max_new_tokens=8)
    assert Score.objects.filter(run=rated).exclude(access="sampled").count() == 0
    assert Score.objects.filter(run=rated, name="rating", value__isnull=False).exists()
    assert any("falls back to the access “sampled”" in note for note in rated.notices)

    with pytest.raises(RunError, match="least_access=sampled"):
        finish("matched_guise", model, guise_choice())
    guise = finish(
        "matched_guise", model, guise_choice(), least_access="sampled", draws=8, max_new_tokens=4
    )
    assert set(guise.scores.values_list("access", flat=True)) == {"sampled"}
    assert counterparts(model)


def test_llama_cpp_gives_full_access(llama_server: str) -> None:
    """Its completions take one prompt at a time, and none without a written token.

    Expected: the log-probabilities of the server itself, asked here without the platform.
    """
    model = register_model(location=llama_server, served_name="smollm2", name="SmolLM2")
    seen = model.server_abilities
    assert (seen["echo"]["works"], seen["per_request"], seen["least_written"]) == (True, 1, 1)

    rated = rate(model, answers=4, max_new_tokens=16)
    assert set(Score.objects.filter(run=rated).values_list("access", flat=True)) == {"top_k"}
    assert Score.objects.filter(run=rated, name="rating", value__isnull=False).exists()

    choice = guise_choice()
    guise = finish("matched_guise", model, choice, attribute_tokens="chain")
    assert set(guise.scores.values_list("access", flat=True)) == {"full"}
    stimuli = guise.stimuli
    first, second = (
        told(llama_server, stimuli["prompts"][0]["text"].replace("{text}", text["body"]), "smart")
        for text in (stimuli["first"][0], stimuli["second"][0])
    )
    score = guise.scores.get(name="meaning_matched", trait="smart", template=PROMPT)
    assert score.value == pytest.approx((first - second) / 2.302585, abs=1e-3)
    assert len(counterparts(model)[0].split()) > 2


def told(url: str, prompt: str, word: str) -> float:
    """Return ln P of a word of one token after a prompt."""
    body = {"model": "smollm2", "prompt": f"{prompt} {word}", "max_tokens": 1, "echo": True,
            "logprobs": 1, "temperature": 0}  # fmt: skip
    request = urllib.request.Request(
        f"{url}/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:
        logprobs = json.load(answer)["choices"][0]["logprobs"]
    return float(logprobs["token_logprobs"][logprobs["tokens"].index(f" {word}")])
