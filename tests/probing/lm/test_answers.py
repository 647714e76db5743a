"""Questions to chat models: the same answers and log-probabilities here and behind a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

from probing.lm import (
    ContextTooLongError,
    GenerationSettings,
    GenerationSettingsError,
    ServerError,
    load_text_model,
    load_text_tokenizer,
)
from probing.lm.chat import ChatModel
from probing.lm.chat_limits import ChatLimits
from probing.lm.echoed_endings import NoEchoError
from probing.lm.question_protocols import Question
from probing.measures.number_evidence import told_numbers
from tests.openai_server import SERVED_NAME, Fault, OpenAIServer, serve_openai
from tests.probing.lm.tiny_chat import NUMBERS, TEMPLATE, make_tiny_chat

pytestmark = pytest.mark.shared

WORDS = ("lazy", "kind", "loud")
SETTINGS = GenerationSettings(max_new_tokens=4, temperature=1.0)
QUESTIONS = [
    Question("How do people in America view nurses?", "You are terse.", "They are"),
    Question("How do people in America view teachers?", "You are terse.", "They are"),
]
QUICK = ChatLimits(requests_per_minute=0, attempts=3, first_wait=0.02, longest_wait=0.1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    likely = {"57": 6.0, "5": 5.0, "lazy": 3.0, " lazy": 4.0}
    return make_tiny_chat(tmp_path_factory.mktemp("chat") / "tiny", words=WORDS, likely=likely)


@pytest.fixture(scope="module")
def here(folder: Path) -> Any:
    return load_text_model(folder, threads=1)


@pytest.fixture(scope="module")
def running(folder: Path) -> Iterator[OpenAIServer]:
    with serve_openai(folder) as server:
        yield server


@pytest.fixture
def server(running: OpenAIServer) -> OpenAIServer:
    running.forget()
    return running


def connect(server: OpenAIServer) -> ChatModel:
    return ChatModel(server.base_url, SERVED_NAME, limits=QUICK)


def whole_softmax(folder: Path, text: str) -> dict[str, float]:
    return dict(all_tokens(folder, text))


def all_tokens(folder: Path, text: str) -> list[tuple[str, float]]:
    """Return ln P of every token after a text, by transformers alone."""
    model = AutoModelForCausalLM.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(text, return_tensors="pt").input_ids
    values = torch.log_softmax(model(ids).logits[0, -1].double(), 0).tolist()
    return [(tokenizer.decode([token]), value) for token, value in enumerate(values)]


def test_a_served_model_answers_what_its_checkpoint_answers(
    server: OpenAIServer, here: Any
) -> None:
    served = connect(server).answer(QUESTIONS, SETTINGS, seeds=[3, 4])
    local = here.answer(QUESTIONS, SETTINGS, seeds=[3, 4])
    assert [one.text for one in served] == [one.text for one in local]
    sent = sorted(server.requests, key=lambda body: body["seed"])[0]
    assert [turn["role"] for turn in sent["messages"]] == ["system", "user", "assistant"]


def test_a_question_goes_through_the_chat_template(here: Any, folder: Path) -> None:
    """Expected: the template of the checkpoint, written out by hand."""
    text = "<|system|>You are terse.<|end|><|user|>Why?<|end|><|assistant|>They are"
    tokenizer = AutoTokenizer.from_pretrained(folder)
    asked = here.encode_question(Question("Why?", "You are terse.", "They are"))
    assert list(asked) == tokenizer(text).input_ids


@pytest.mark.parametrize(
    ("more", "off", "on", "switch"),
    [
        ("", "", "", "none"),
        ("{% if enable_thinking %}<think>{% else %}<no>{% endif %}", "<no>", "<think>", "template"),
        ("{{ '<think>' if thinking }}", "", "<think>", "template"),
        ("{{ '<think>\n' }}", "<think>\n\n</think>\n\n", "<think>\n", "closed"),
    ],
)
def test_reasoning_is_off_unless_it_has_a_budget(
    tmp_path: Path, more: str, off: str, on: str, switch: str
) -> None:
    folder = make_tiny_chat(tmp_path / "x", template=TEMPLATE + more)
    tokenizer = load_text_tokenizer(folder)
    start = "<|user|>Why?<|end|><|assistant|>"
    assert tokenizer.question_text(Question("Why?")) == start + off
    assert tokenizer.question_text(Question("Why?", thinking=3)) == start + on
    assert tokenizer.reasoning_switch == switch


def test_reasoning_within_its_budget_is_kept_apart_from_the_answer(tmp_path: Path) -> None:
    """The model never closes the block, so that all it writes is reasoning."""
    folder = make_tiny_chat(tmp_path / "x", template=TEMPLATE + "<think>", likely={"<|end|>": -99})
    model = load_text_model(folder, threads=1)
    answer = model.answer([Question("Why?", thinking=5)], SETTINGS, seeds=[1])[0]  # type: ignore[union-attr]
    assert (answer.text, answer.finish, answer.n_tokens) == ("", "length", 9)
    assert answer.thought
    assert answer.reasoning > 0
    said = model.answer([Question("Why?")], SETTINGS, seeds=[1])[0]  # type: ignore[union-attr]
    assert (said.thought, said.n_tokens) == ("", 4)
    assert said.text


def test_log_probabilities_are_those_of_the_whole_softmax(
    server: OpenAIServer, folder: Path
) -> None:
    answer = connect(server).answer([Question("Why?")], SETTINGS, seeds=[1], top=20)[0]
    assert answer.tokens is not None
    expected = all_tokens(folder, "<|user|>Why?<|end|><|assistant|>")
    best = sorted(expected, key=lambda entry: -entry[1])[:20]
    told = answer.tokens[0].likeliest
    assert [token for token, _ in told] == [token for token, _ in best]
    np.testing.assert_allclose([v for _, v in told], [v for _, v in best], atol=1e-5)


def test_a_server_that_tells_fewer_or_none_is_asked_for_what_it_tells(
    server: OpenAIServer,
) -> None:
    server.most_top = 5
    chat = connect(server)
    answer = chat.answer([Question("Why?")], SETTINGS, seeds=[1], top=20)[0]
    assert answer.tokens is not None
    assert len(answer.tokens[0].likeliest) == 5
    server.refuses.add("logprobs")
    assert chat.answer([Question("Why?")], SETTINGS, seeds=[1], top=20)[0].tokens is None
    server.forget()
    server.ignores.add("logprobs")
    silent = connect(server).answer([Question("Why?")], SETTINGS, seeds=[1], top=20)[0]
    assert silent.tokens is None
    assert silent.text


def test_an_opening_that_the_server_does_not_take_is_said(server: OpenAIServer) -> None:
    server.refuses.add("opening")
    with pytest.raises(GenerationSettingsError, match="Ask without an opening"):
        connect(server).answer(QUESTIONS[:1], SETTINGS, seeds=[1])


def test_a_bias_that_the_server_does_not_take_is_said(server: OpenAIServer) -> None:
    server.refuses.add("logit_bias")
    with pytest.raises(ServerError, match="logit_bias"):
        connect(server).answer([Question("Why?")], SETTINGS, seeds=[1], bias={5: 100})


def test_refusals_and_faults_end_as_answers(server: OpenAIServer) -> None:
    server.faults.extend(
        [
            Fault(close=True),
            Fault(status=429),
            Fault(answer={"message": {"role": "assistant", "refusal": "I cannot.", "content": ""}}),
        ]
    )
    answer = connect(server).answer([Question("Why?")], SETTINGS, seeds=[1])[0]
    assert (answer.text, answer.finish) == ("I cannot.", "refused")


def test_probabilities_of_answers_are_those_of_the_whole_softmax(here: Any, folder: Path) -> None:
    assert told_numbers(here.tokenizer, Question("Why?")) == NUMBERS
    found = here.answer_logprobs([Question("Why?")], NUMBERS)[0]
    expected = whole_softmax(folder, "<|user|>Why?<|end|><|assistant|>")
    np.testing.assert_allclose(found, [expected[number] for number in NUMBERS], atol=1e-5)
    opened = here.answer_logprobs([Question("Why?", opening="They are")], WORDS)[0]
    after = whole_softmax(folder, "<|user|>Why?<|end|><|assistant|>They are")
    np.testing.assert_allclose(opened, [after[f" {word}"] for word in WORDS], atol=1e-5)


def test_a_number_read_by_digits_is_not_the_beginning_of_a_longer_one(tmp_path: Path) -> None:
    """Expected: a tree of digits walked by transformers alone; a node is what does not go on."""
    folder = make_tiny_chat(
        tmp_path / "digits", by_digit=True, likely={str(digit): 5.0 for digit in range(10)}
    )
    model: Any = load_text_model(folder, threads=1)
    asked = told_numbers(model.tokenizer, Question("Why?"))
    told = model.answer_logprobs([Question("Why?")], asked)[0]
    numbers = dict(zip(asked, told.tolist(), strict=True))
    start = "<|user|>Why?<|end|><|assistant|>"
    first, after = whole_softmax(folder, start), whole_softmax(folder, f"{start}5")

    def ends(text: str) -> float:
        """ln P that no digit follows."""
        read = whole_softmax(folder, start + text)
        return float(np.log1p(-sum(np.exp(read[str(digit)]) for digit in range(10))))

    assert numbers["57"] == pytest.approx(first["5"] + after["7"] + ends("57"), abs=1e-4)
    assert numbers["5"] == pytest.approx(first["5"] + ends("5"), abs=1e-4)
    assert numbers["0"] == pytest.approx(first["0"] + ends("0"), abs=1e-4)
    ten = whole_softmax(folder, f"{start}10")
    after_one = whole_softmax(folder, f"{start}1")
    begun = first["1"] + after_one["0"]
    assert numbers["10"] == pytest.approx(begun + ends("10"), abs=1e-4)
    assert numbers["100"] == pytest.approx(begun + ten["0"] + ends("100"), abs=1e-4)
    assert sum(np.exp(value) for value in numbers.values()) < 1


def test_questions_are_read_once_for_all_beginnings_of_numbers(tmp_path: Path) -> None:
    folder = make_tiny_chat(tmp_path / "digits", by_digit=True)
    model: Any = load_text_model(folder, threads=1)
    questions = [Question("Why?"), Question("Why? " * 5), Question("Why? Why?")]
    asked = told_numbers(model.tokenizer, questions[0])
    alone = [model.answer_logprobs([one], asked)[0] for one in questions]
    read: list[int] = []
    model._model.register_forward_pre_hook(
        lambda _, __, given: read.append(given["input_ids"].numel()), with_kwargs=True
    )
    np.testing.assert_allclose(model.answer_logprobs(questions, asked), alone, atol=1e-5)
    longest = max(len(model.encode_question(one)) for one in questions)
    # Ten beginnings of one digit, ninety of two and 100 take a token each.
    assert sum(read) <= len(questions) * (longest + 101)
    assert len(read) <= len(questions)  # and all of them are read together


@pytest.mark.parametrize("kind", ["causal", "seq2seq"])
def test_answers_read_together_are_those_read_one_by_one(
    kind: str, tmp_path: Path, checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = checkpoints / "tiny-t5"
    if kind == "causal":
        folder = make_tiny_chat(tmp_path / "digits", by_digit=True)
    model: Any = load_text_model(folder, threads=1)
    rows = [model.encode_question(Question(text)) for text in ("he be", "he be lazy", "You")]
    pieces = [(7,), (8,), (7, 9), (7, 8), (8, 7), (7, 9, 9)]
    read: list[int] = []
    encoder = model._model.get_encoder() if kind == "seq2seq" else model._model
    together = model.begin_logprobs(rows, pieces)
    encoder.register_forward_pre_hook(lambda *_: read.append(1))
    np.testing.assert_array_equal(model.begin_logprobs(rows, pieces), together)
    assert len(read) == 1
    monkeypatch.setattr(type(model), "_reads_trees", lambda *_: False, raising=False)
    np.testing.assert_allclose(model.begin_logprobs(rows, pieces), together, atol=1e-6)
    monkeypatch.setattr(type(model), "_decodes", lambda *_: False)
    read.clear()
    np.testing.assert_allclose(model.begin_logprobs(rows, pieces), together, atol=1e-6)
    assert len(read) == 4  # after nothing, after 7, after 8, and after 7, 9


def test_an_encoder_and_decoder_answers_in_its_decoder(checkpoints: Path) -> None:
    folder = checkpoints / "tiny-t5"
    found = load_text_model(folder, threads=1).answer_logprobs(  # type: ignore[union-attr]
        [Question("he be", "You")], ["lazy"]
    )
    model, tokenizer = (
        loader.from_pretrained(folder) for loader in (AutoModelForSeq2SeqLM, AutoTokenizer)
    )
    source = tokenizer("You\n\nhe be", return_tensors="pt").input_ids
    target = torch.tensor([tokenizer("lazy", add_special_tokens=False).input_ids])
    start = torch.tensor([[model.config.decoder_start_token_id]])
    logits = model(input_ids=source, decoder_input_ids=torch.cat([start, target[:, :-1]], 1)).logits
    picked = torch.log_softmax(logits[0].double(), -1).gather(1, target.T).sum()
    assert found[0, 0] == pytest.approx(picked.item(), abs=1e-5)
    with pytest.raises(GenerationSettingsError, match="takes no beginning"):
        load_text_model(folder, threads=1).answer_logprobs(  # type: ignore[union-attr]
            [Question("he be", opening="They")], ["lazy"]
        )


def test_a_question_that_does_not_fit_is_not_cut(here: Any) -> None:
    with pytest.raises(ContextTooLongError):
        here.answer([Question("why " * 600)], SETTINGS, seeds=[1])


def test_a_template_that_takes_no_system_message_says_so(tmp_path: Path) -> None:
    template = "{{ raise_exception('System role not supported') }}"
    model = load_text_model(make_tiny_chat(tmp_path / "x", template=template), threads=1)
    with pytest.raises(GenerationSettingsError, match="leave it out"):
        model.answer([Question("Why?", "Be brief.")], SETTINGS, seeds=[1])  # type: ignore[union-attr]


def test_echoed_words_have_the_probabilities_of_the_checkpoint(
    server: OpenAIServer, here: Any
) -> None:
    """Also of several tokens, by the chain rule."""
    words = [*WORDS, "workin late"]
    prompts = ["A person who says he be workin is", "They are"]
    found = connect(server).echoed_words(prompts, words)
    expected = here.end_logprobs(here.open_ends(prompts, words))
    for row, values in zip(found, expected, strict=True):
        assert all(word is not None for word in row)
        assert [word.total for word in row if word] == pytest.approx(values.tolist(), abs=1e-5)
    assert len(found[0][3].logprobs) > 1  # type: ignore[union-attr]


@pytest.mark.parametrize("lacking", ["completions", "echo", "logprobs"])
def test_a_server_without_echo_is_told_apart(server: OpenAIServer, lacking: str) -> None:
    server.refuses.add(lacking)
    with pytest.raises(NoEchoError, match="no log-probabilities of echoed completions"):
        connect(server).echoed_words(["They are"], WORDS)
    if lacking != "completions":
        server.forget()
        server.ignores.add(lacking)
        with pytest.raises(NoEchoError):
            connect(server).echoed_words(["They are"], WORDS)
