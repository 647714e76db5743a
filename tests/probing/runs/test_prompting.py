"""How prompts are put to models: through the template of a chat, or as they stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from annotation.models import Corpus, Counterpart
from probing.measures.guise_parameters import MatchedGuiseParameters
from probing.measures.prompting import describe_prompting
from probing.models import LanguageModel, Run, RunStatus, WordList
from probing.runs.creation import create_run, dry_run
from probing.runs.errors import RunError
from probing.runs.language_models import register_model
from probing.runs.parameters import load_inputs, load_shard_frames
from probing.runs.stimuli_loading import StimuliChoice, run_request
from probing.runs.worker import work
from tests.probing.lm.tiny_chat import TEMPLATE, make_tiny_chat
from tests.probing.runs.text_fixtures import make_corpus

pytestmark = [pytest.mark.django_db, pytest.mark.shared]

WORDS = ("lazy", "kind", "loud")
PROMPT = "guise-traits-the-person"
SWITCH = "{% if not enable_thinking %}<no>{% endif %}"
INSTRUCTION = "translate-aave-sae"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("prompting") / "tiny"
    return make_tiny_chat(made, words=WORDS, likely={" lazy": 4.0}, template=TEMPLATE + SWITCH)


@pytest.fixture
def corpus() -> Corpus:
    WordList.objects.create(
        slug="few", title="Few", words=list(WORDS), license="none", purpose="traits"
    )
    return make_corpus()


@pytest.fixture
def model(folder: Path) -> LanguageModel:
    return register_model(location=str(folder))


def ask(measure: str, model: LanguageModel, corpus: Corpus | None, **parameters: Any) -> Any:
    choice = {
        "matched_guise": {"corpus": corpus, "attributes": "few", "prompts": [PROMPT]},
        "counterpart_generation": {"corpus": corpus, "prompts": [INSTRUCTION], "limit": 2},
        "label_likelihood": {"templates": ["everyday"], "groups": ["race"]},
        "prompted_classification": {"templates": ["everyday"], "groups": ["race"]},
    }[measure]
    return run_request(
        measure=measure,
        model=model,
        choice=StimuliChoice(**choice),
        seed=3,
        parameters=parameters,
    )


def run_it(measure: str, model: LanguageModel, corpus: Corpus | None, **parameters: Any) -> Run:
    run = create_run(**ask(measure, model, corpus, **parameters), seed=3, created_by=None)
    work(worker="w", run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED, run.error
    return run


def greedy(folder: Path, text: str, n: int) -> str:
    """Return what transformers alone writes after a text."""
    model, tokenizer = (
        loader.from_pretrained(folder) for loader in (AutoModelForCausalLM, AutoTokenizer)
    )
    ids = tokenizer(text, return_tensors="pt", add_special_tokens=False)
    made = model.generate(**ids, max_new_tokens=n, do_sample=False)[0, ids.input_ids.shape[1] :]
    return str(tokenizer.decode(made, skip_special_tokens=True)).strip()


@pytest.mark.parametrize(
    ("prompting", "expected"),
    [("auto", "rewrite-aave-sae"), ("raw", "translate-arrow-aave-sae")],
)
def test_without_a_choice_a_chat_asks_for_the_rewritten_text_alone(
    corpus: Corpus, model: LanguageModel, checkpoints: Path, prompting: str, expected: str
) -> None:
    def usual(one: LanguageModel) -> list[str]:
        asked = run_request(
            measure="counterpart_generation",
            model=one,
            choice=StimuliChoice(corpus=corpus),
            seed=3,
            parameters={"prompting": prompting},
        )
        return [prompt.slug for prompt in asked["stimuli"].prompts]

    assert usual(model) == [expected]
    # Those without a template keep the paper's.
    base = register_model(location=str(checkpoints / "tiny-gpt2"))
    assert usual(base) == ["translate-arrow-aave-sae"]


@pytest.mark.parametrize("prompting", ["auto", "raw"])
def test_a_counterpart_is_asked_for_through_the_template(
    corpus: Corpus, model: LanguageModel, folder: Path, prompting: str
) -> None:
    """Expected: transformers alone, after the template written out by hand."""
    asked = {"prompting": prompting, "temperature": 0, "max_new_tokens": 5}
    if prompting == "auto":
        asked["system_message"] = "You are terse."
    run = run_it("counterpart_generation", model, corpus, directions="to_target", **asked)
    stimuli = load_inputs(run).stimuli
    prompt = stimuli.prompts[0]
    for made in Counterpart.objects.filter(run=run.public_id).select_related("text"):
        names = prompt.variety_names
        text = prompt.text.format(
            text=made.text.body,
            source=names[stimuli.source_variety],
            target=names[stimuli.target_variety],
        )
        if prompting == "auto":
            text = f"<|system|>You are terse.<|end|><|user|>{text}<|end|><|assistant|><no>"
        assert made.body == greedy(folder, text, 5)
    assert run.parameters["prompting"] == ("chat" if prompting == "auto" else "raw")
    said = next(notice for notice in run.notices if notice.startswith("prompting: "))
    expected = "the system message “You are terse.”" if prompting == "auto" else "as they stand"
    assert expected in said
    assert ("switch for reasoning" in said) == (prompting == "auto")


def test_a_guise_is_read_where_the_last_words_of_the_prompt_begin_the_answer(
    corpus: Corpus, model: LanguageModel, folder: Path
) -> None:
    """Expected: the whole templated text, read by transformers alone."""
    run = run_it("matched_guise", model, corpus)
    assert (run.parameters["form"], run.parameters["opening"]) == ("chat", True)
    stimuli, frame = load_inputs(run).stimuli, load_shard_frames(run)[0]
    network, tokenizer = (
        loader.from_pretrained(folder) for loader in (AutoModelForCausalLM, AutoTokenizer)
    )
    row = frame[frame["variety"] == stimuli.first_variety].iloc[0]
    body = next(text.body for text in stimuli.first if text.slug == row["text"])
    before, _, after = stimuli.prompts[0].text.partition("{text}")
    user, opening = f'{before}{body} "', after.removeprefix(' "').strip()
    text = f"<|user|>{user}<|end|><|assistant|><no>{opening}"
    ids = tokenizer(text, return_tensors="pt", add_special_tokens=False).input_ids
    told = torch.log_softmax(network(ids).logits[0, -1].double(), 0)
    for place, word in enumerate(stimuli.attributes):
        (token,) = tokenizer.encode(f" {word}", add_special_tokens=False)
        assert row[f"ln_p_{place}"] == pytest.approx(told[token].item(), abs=1e-5)


def test_a_class_is_asked_for_where_the_last_line_begins_the_answer(
    model: LanguageModel, folder: Path
) -> None:
    """Expected: shares of the chain rule over each class's tokens, by transformers alone."""
    run = run_it("label_likelihood", model, None)
    stimuli, frame = load_inputs(run).stimuli, load_shard_frames(run)[0]
    network, tokenizer = (
        loader.from_pretrained(folder) for loader in (AutoModelForCausalLM, AutoTokenizer)
    )
    row = frame.iloc[0]
    text = stimuli.wordings[0].answer_prompt(
        stimuli.sentences[row["sentence"]].text, stimuli.classes
    )
    user, _, opening = text.rpartition("\n")
    whole = f"<|user|>{user}<|end|><|assistant|><no>{opening}"
    before = tokenizer.encode(whole, add_special_tokens=False)
    totals = []
    for name in stimuli.classes:
        ids = tokenizer.encode(f"{whole} {name}", add_special_tokens=False)
        told = torch.log_softmax(network(torch.tensor([ids])).logits[0].double(), -1)
        totals.append(
            sum(told[place - 1, ids[place]].item() for place in range(len(before), len(ids)))
        )
    expected = np.exp(totals) / np.exp(totals).sum()
    found = [row[f"p_{name}"] for name in stimuli.classes]
    assert found == pytest.approx(list(expected), abs=1e-5)


def test_hidden_reasoning_is_kept_beside_the_answer(tmp_path: Path) -> None:
    thinking = register_model(
        location=str(
            make_tiny_chat(tmp_path / "x", template=TEMPLATE + "<think>", likely={"<|end|>": -99})
        )
    )
    run = run_it(
        "prompted_classification", thinking, None, repeats=1, thinking_tokens=4, opening=False
    )
    frame = load_shard_frames(run)[0]
    assert set(frame["answer"]) == {""}
    assert frame["thought"].str.len().gt(0).all()
    assert not frame["matched"].any()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"prompting": "raw", "system_message": "Be terse."}, "takes no system_message"),
        ({"prompting": "raw", "thinking_tokens": 5}, "takes no thinking_tokens"),
        ({"opening": "It is", "thinking_tokens": 5}, "Leave one of the two out"),
    ],
)
def test_what_does_not_go_together_is_refused(
    corpus: Corpus, model: LanguageModel, parameters: dict[str, Any], message: str
) -> None:
    asked = ask("counterpart_generation", model, corpus, **parameters)
    with pytest.raises(RunError, match=message):
        create_run(**asked, seed=3, created_by=None)
    assert any(message in problem.message for problem in dry_run(**asked).fatal)


def test_a_model_without_a_template_is_asked_as_before(corpus: Corpus, tmp_path: Path) -> None:
    plain = register_model(location=str(make_tiny_chat(tmp_path / "x", template="")))
    run = create_run(**ask("counterpart_generation", plain, corpus), seed=3, created_by=None)
    assert run.parameters["prompting"] == "raw"
    assert not any(notice.startswith("prompting") for notice in run.notices)
    with pytest.raises(RunError, match="has no chat template"):
        create_run(
            **ask("counterpart_generation", plain, corpus, prompting="chat"),
            seed=3,
            created_by=None,
        )


@pytest.mark.parametrize("measure", ["counterpart_generation", "label_likelihood"])
def test_a_run_that_was_stored_before_is_asked_as_it_was(
    corpus: Corpus, model: LanguageModel, measure: str
) -> None:
    run = create_run(**ask(measure, model, corpus), seed=3, created_by=None)
    for name in ("prompting", "system_message", "opening", "thinking_tokens"):
        run.parameters.pop(name, None)
    assert load_inputs(run).parameters.prompting == "raw"  # type: ignore[attr-defined]


def test_a_guise_takes_either_name_of_its_form() -> None:
    for form, prompting in (("completion", "raw"), ("chat", "chat"), ("auto", "auto")):
        for values in ({"form": form}, {"prompting": prompting}):
            read = MatchedGuiseParameters.model_validate(values)
            assert (read.form, read.prompting) == (form, prompting)


def test_a_record_says_how_prompts_were_put() -> None:
    assert describe_prompting({"base": "10"}) == ""
    assert "without a chat template" in describe_prompting({"prompting": "raw"})
    said = describe_prompting({"prompting": "chat", "opening": "It is", "thinking_tokens": 64})
    assert "no system message" in said
    assert "begun with “It is”" in said
    assert "at most 64 tokens of reasoning" in said
