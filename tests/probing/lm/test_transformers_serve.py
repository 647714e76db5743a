"""A server that nobody here wrote: `transformers serve`, from what it can do to what it answers."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from probing.models import LanguageModel, Score, WordList
from probing.runs.parameters import load_shard_frames
from probing.runs.result_tables import run_counterparts
from tests.ports import free_port
from tests.probing.lm.other_servers import import_pair, make_pilot, probe, register, run_server
from tests.probing.lm.tiny_chat import NUMBERS, make_tiny_chat

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
for needed in ("fastapi", "uvicorn"):
    pytest.importorskip(needed, reason="transformers serve needs it: make models")
TEXT = "he be workin late"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    likely = dict.fromkeys(NUMBERS, 6.0) | {"57": 9.0}
    return make_tiny_chat(tmp_path_factory.mktemp("served") / "tiny", likely=likely)


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    port = free_port()
    command = Path(sys.executable).with_name("transformers")
    where = ("--host", "127.0.0.1", "--port", str(port))
    with run_server([command, "serve", folder, *where], port=port, asked="/health") as address:
        yield address


@pytest.fixture
def model(address: str, folder: Path, settings: Any) -> LanguageModel:
    settings.CHAT_REQUESTS_PER_MINUTE = 0
    return register(address, str(folder), "Access: sampled", "Begun answers: no")


def likeliest(folder: Path, question: str, n_tokens: int) -> str:
    """What transformers itself finds likeliest, token by token."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    network = transformers.AutoModelForCausalLM.from_pretrained(folder)
    ids = list(tokenizer(f"<|user|>{question}<|end|><|assistant|>")["input_ids"])
    begun = len(ids)
    for _ in range(n_tokens):
        with torch.inference_mode():
            ids.append(int(network(torch.tensor([ids])).logits[0, -1].argmax()))
    return str(tokenizer.decode(ids[begun:])).strip()


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    return import_pair(tmp_path, TEXT, "he is usually working late")


def test_counterparts_are_what_its_model_finds_likeliest(
    model: LanguageModel, folder: Path, corpus: str
) -> None:
    run = probe(
        *("counterpart_generation", "--corpus", corpus, "--prompt", "translate-aal-wme"),
        *("--param", "temperature=0", "--param", "max_new_tokens=3"),
        *("--param", "directions=to_target"),
    )
    (counterpart,) = run_counterparts(run)
    asked = (
        f"Translate the following African American Language into White Mainstream English:\n{TEXT}"
    )
    assert counterpart.body == likeliest(folder, asked, 3)


def test_direct_ratings_are_drawn_and_every_answer_is_accounted_for(model: LanguageModel) -> None:
    make_pilot()
    run = probe(
        *("direct_rating", "--study", "Pilot", "--param", "answers=4"),
        *("--param", "max_new_tokens=4"),
    )
    stored = {
        one.name: one for one in Score.objects.filter(run=run, trait="cold-warm", template="")
    }
    # Without an end, its numbers go on: none of them is an answer, and each is counted.
    assert stored["rating"].value is None
    assert stored["rating"].reason
    shares = [stored[name].value or 0 for name in ("refused", "unreadable", "cut_off")]
    assert sum(shares) == pytest.approx(1)
    assert {one.access for one in stored.values()} == {"sampled"}


def test_matched_guises_are_drawn_and_every_answer_is_accounted_for(
    model: LanguageModel, corpus: str
) -> None:
    words = list(NUMBERS)  # what the model writes
    WordList.objects.create(slug="few", title="Few", words=words, license="none", purpose="traits")
    run = probe(
        *("matched_guise", "--corpus", corpus, "--attributes", "few"),
        *("--prompt", "guise-traits-a-person", "--param", "least_access=sampled"),
        *("--param", "draws=8", "--param", "max_new_tokens=1"),
    )
    (frame,) = load_shard_frames(run)
    read = frame[frame["text"] != ""].set_index("variety")
    assert set(read.index) == {"AAL", "WME"}
    assert (read["asked"] == 8).all()
    ended = read[["answered", "refused", "unreadable", "cut_off"]]
    assert (ended.sum(axis=1) == 8).all()
    assert (read["answered"] > 0).all()
    shares = read[[f"ln_p_{place}" for place in range(len(words))]].map(math.exp)
    assert shares.sum(axis=1).to_list() == pytest.approx([1, 1])
    stored = Score.objects.filter(run=run)
    assert set(stored.values_list("access", flat=True)) == {"sampled"}
    assert not stored.filter(value=None, reason="").exists()
