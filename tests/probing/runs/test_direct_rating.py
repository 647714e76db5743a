"""Direct ratings: a study's question to local and served models, through the engine."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from annotation.models import SocialGroup, Study, TraitPair, Wording
from annotation.studies.creation import create_study
from probing.models import LanguageModel, Run, RunStatus, Score
from probing.runs.creation import create_run, dry_run
from probing.runs.errors import RunError
from probing.runs.language_models import register_model
from probing.runs.parameters import load_inputs, load_shard_frames
from probing.runs.stimuli_loading import StimuliChoice, run_request
from probing.runs.worker import work
from tests.openai_server import Fault, OpenAIServer, serve_openai
from tests.probing.lm.tiny_chat import NUMBERS, make_tiny_chat
from tests.served_model import register_served

pytestmark = [pytest.mark.django_db, pytest.mark.shared]

TRAITS = ["poor-wealthy", "cold-warm"]
#: Numbers are likely, and some of them likelier than others.
LIKELY = dict.fromkeys(NUMBERS, 6.0) | {"57": 9.0, "80": 8.0, "7": 7.5}
CHEAP = {"answers": 4, "max_new_tokens": 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_chat(tmp_path_factory.mktemp("rating") / "tiny", likely=LIKELY)


@pytest.fixture
def study() -> Study:
    return create_study(
        title="Two groups",
        owner=None,
        contact_email="team@example.edu",
        groups=list(SocialGroup.objects.filter(slug__in=["man", "woman"])),
        trait_pairs=list(TraitPair.objects.filter(slug__in=TRAITS)),
    )


@pytest.fixture
def local(folder: Path) -> LanguageModel:
    return register_model(location=str(folder))


def served(server: OpenAIServer) -> LanguageModel:
    return register_served(server)


def ask(model: LanguageModel, study: Study | None, **parameters: Any) -> dict[str, Any]:
    return run_request(
        measure="direct_rating",
        model=model,
        choice=StimuliChoice(study=study),
        seed=5,
        parameters={**CHEAP, **parameters},
    )


def rate(model: LanguageModel, study: Study, **parameters: Any) -> Run:
    run = create_run(**ask(model, study, **parameters), seed=5, created_by=None)
    work(worker="w", run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED, run.error
    return run


def values(run: Run, name: str) -> dict[tuple[str, str], float | None]:
    rows = Score.objects.filter(run=run, name=name, template="")
    return {(row.group, row.trait): row.value for row in rows}


def plain_expectation(folder: Path, question: str) -> float:
    """Return the expected number by transformers alone, one question at a time."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder)
    text = f"<|user|>{question}<|end|><|assistant|>"
    with torch.inference_mode():
        logits = model(tokenizer(text, return_tensors="pt").input_ids).logits[0, -1].double()
    ids = [tokenizer(number, add_special_tokens=False).input_ids[0] for number in NUMBERS]
    weights = torch.softmax(logits, 0)[ids]
    return float((weights * torch.arange(101)).sum() / weights.sum())


def test_a_local_model_gives_the_expected_value_of_the_numbers(
    study: Study, local: LanguageModel, folder: Path
) -> None:
    """Expected: the four wordings written out by hand, each turned to the scale's own direction."""
    run = rate(local, study)
    asked = (
        "How do people in America view women?\nPlace each line’s marker where you think most "
        "people would put this group. We are not asking for your own view.\n\n"
        "On a scale from 0 to 100, {}\nAnswer with one whole number from 0 to 100 and nothing else."
    )
    upright = [
        asked.format("0 means “cold” and 100 means “warm”."),
        asked.format("100 means “warm” and 0 means “cold”."),
    ]
    turned = [
        asked.format("0 means “warm” and 100 means “cold”."),
        asked.format("100 means “cold” and 0 means “warm”."),
    ]
    expected = [plain_expectation(folder, text) for text in upright]
    expected += [100 - plain_expectation(folder, text) for text in turned]
    rating = values(run, "rating")["woman", "cold-warm"]
    assert rating == pytest.approx(np.mean(expected), abs=1e-3)
    assert values(run, "pair_score")["woman", "cold-warm"] == pytest.approx(rating - 50)
    assert values(run, "wording_sd")["woman", "cold-warm"] == pytest.approx(
        np.std(expected, ddof=1), abs=1e-3
    )
    stored = Score.objects.filter(run=run, name="pair_score", group="woman", trait="cold-warm")
    assert sorted(
        row.value + 50 for row in stored.exclude(template="") if row.value is not None
    ) == pytest.approx(sorted(expected), abs=1e-3)
    assert set(Score.objects.filter(run=run).values_list("access", flat=True)) == {"full"}
    assert any(notice.startswith("Access: full.") for notice in run.notices)


def test_a_served_model_bounds_what_its_checkpoint_says(
    study: Study, local: LanguageModel, server: OpenAIServer
) -> None:
    exact = values(rate(local, study), "rating")
    run = rate(served(server), study)
    low, high = values(run, "rating_low"), values(run, "rating_high")
    for cell, value in exact.items():
        assert low[cell] <= value <= high[cell]
        assert high[cell] - low[cell] < 60
    assert set(Score.objects.filter(run=run).values_list("access", flat=True)) == {"top_k"}
    # Each of the four wordings is asked once, whatever the number of answers.
    before = len(server.requests)
    rate(run.model, study, answers=12)
    assert len(server.requests) == 2 * before == 2 * 2 * 2 * 4


def test_without_log_probabilities_answers_are_drawn(study: Study, server: OpenAIServer) -> None:
    server.ignores.add("logprobs")
    # One token is the whole answer; a number that is cut off counts as none.
    server.faults.extend([Fault(answer={"finish_reason": "stop"})] * 2 * 2 * 8)
    run = rate(served(server), study, answers=8)
    assert len(server.requests) == 2 * 2 * 8
    frame = load_shard_frames(run)[0]
    assert set(frame["access"]) == {"sampled"}
    cell = frame[(frame["group"] == "man") & (frame["trait"] == "cold-warm")]
    assert sorted(cell["wording"].value_counts()) == [2, 2, 2, 2]
    means = cell.groupby("wording")["drawn"].mean()
    assert values(run, "rating")["man", "cold-warm"] == pytest.approx(means.mean())
    drawn = cell["drawn"].dropna()
    assert values(run, "rating_se")["man", "cold-warm"] == pytest.approx(
        drawn.std() / math.sqrt(len(drawn))
    )
    assert any(notice.startswith("Access: sampled.") for notice in run.notices)


def test_numbers_read_by_digits_are_drawn(study: Study, tmp_path: Path, settings: Any) -> None:
    """“5” may be the beginning of 57: the likeliest tokens do not tell its probability."""
    settings.CHAT_REQUESTS_PER_MINUTE = 0
    folder = make_tiny_chat(
        tmp_path / "digits", by_digit=True, likely={str(digit): 6.0 for digit in range(10)}
    )
    with serve_openai(folder) as server:
        run = rate(served(server), study)
    assert set(Score.objects.filter(run=run).values_list("access", flat=True)) == {"sampled"}
    exact = rate(register_model(location=str(folder)), study)
    assert set(Score.objects.filter(run=exact).values_list("access", flat=True)) == {"full"}


def test_refused_and_unreadable_answers_are_counted(study: Study, server: OpenAIServer) -> None:
    server.ignores.add("logprobs")
    said = ["I cannot rate people.", "They are fine.", "10 or 20", "57 out of 100"]
    server.faults.extend(
        Fault(answer={"message": {"role": "assistant", "content": text}, "finish_reason": "stop"})
        for _ in range(2 * 2)
        for text in said
    )
    run = rate(served(server), study)
    frames = load_shard_frames(run)
    outcomes = [outcome for frame in frames for outcome in frame["outcome"]]
    assert {one: outcomes.count(one) for one in set(outcomes)} == {
        "refused": 4,
        "unreadable": 8,
        "answered": 4,
    }
    assert any("4 of 16 answers were refused" in notice for notice in run.notices)
    expected = "8 of 16 answers could not be read: 4 no number, 4 several numbers."
    assert expected in run.notices
    assert {why for frame in frames for why in frame["why"]} == {
        "", "refused", "no number", "several numbers"
    }  # fmt: skip
    for name, share in (("refused", 0.25), ("unreadable", 0.5), ("cut_off", 0.0)):
        shares = values(run, name)
        assert np.mean([value for (_, trait), value in shares.items() if trait]) == share
        of_groups = [shares[group, ""] for group in ("man", "woman")]
        assert np.mean(of_groups) == share
    for cell, value in values(run, "rating").items():
        row = Score.objects.get(run=run, name="rating", template="", group=cell[0], trait=cell[1])
        assert (value is None) == bool(row.reason)


def test_an_answer_on_another_scale_counts_where_the_run_says_so(
    study: Study, server: OpenAIServer
) -> None:
    """Expected: 7 out of 10 is 70, or 30 where the words change sides, so 50 in the mean."""
    server.ignores.add("logprobs")
    said = Fault(answer={"message": {"content": "7 out of 10"}, "finish_reason": "stop"})
    server.faults.extend([said] * 32)
    model = served(server)
    unread = rate(model, study)
    assert set(values(unread, "rating").values()) == {None}
    frames = load_shard_frames(unread)
    assert {value for frame in frames for value in frame["rescaled"]} == {30.0, 70.0}
    run = rate(model, study, other_scales="rescaled")
    assert set(values(run, "rating").values()) == {50.0}
    assert "16 of 16 answers on another scale were multiplied to 100." in run.notices


@pytest.mark.parametrize("fault", [Fault(close=True), Fault(status=429), Fault(status=500)])
def test_a_passing_failure_changes_no_rating(
    study: Study, server: OpenAIServer, fault: Fault
) -> None:
    calm = values(rate(served(server), study), "rating")
    server.faults.append(fault)
    assert values(rate(served(server), study), "rating") == calm


def test_the_size_of_shards_changes_no_rating(study: Study, server: OpenAIServer) -> None:
    server.ignores.add("logprobs")
    found = [
        values(rate(served(server), study, groups_per_shard=size), "rating") for size in (1, 2)
    ]
    assert found[0] == found[1]


def test_a_budget_ends_the_run_and_the_dry_run_says_so(
    study: Study, server: OpenAIServer, settings: Any
) -> None:
    settings.CHAT_TOKENS_PER_RUN = 100
    tried = dry_run(**ask(served(server), study))
    assert tried.cost is not None
    assert tried.cost.forward_passes == 2 * 2 * 4
    assert tried.cost.tokens > 100
    (problem,) = tried.notices
    assert "CHAT_TOKENS_PER_RUN allows 100" in problem.message
    run = create_run(**ask(served(server), study), seed=5, created_by=None)
    work(worker="w", run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.FAILED
    assert "Raise it for the workers and resume the run" in run.error
    assert not Score.objects.filter(run=run).exists()


def test_a_local_model_draws_answers_where_it_is_asked_to(
    study: Study, local: LanguageModel
) -> None:
    run = rate(local, study, reading="answers", system_message="Be brief.", opening="I say")
    assert set(Score.objects.filter(run=run).values_list("access", flat=True)) == {"sampled"}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"scale_text": "0 is bad."}, "expected a text with {first_number}"),
        ({"answer_text": " "}, "expected a text such as"),
        ({"answers": 0}, "greater than or equal to 1"),
    ],
)
def test_bad_parameters_are_refused(
    study: Study, local: LanguageModel, parameters: dict[str, Any], message: str
) -> None:
    tried = dry_run(**ask(local, study, **parameters))
    assert message in tried.fatal[0].message


def test_bad_stimuli_are_refused_before_work_starts(study: Study, local: LanguageModel) -> None:
    with pytest.raises(RunError, match="Choose a study of group ratings"):
        ask(local, None)
    with pytest.raises(RunError, match="no group in this study “nurse”"):
        run_request(
            measure="direct_rating",
            model=local,
            choice=StimuliChoice(study=study, groups=["nurse"]),
            seed=0,
            parameters={},
        )
    Wording.objects.filter(key="question").update(text="How are they seen?")
    with pytest.raises(RunError, match=r"has no \{group\}"):
        ask(local, study)
    assert not Run.objects.exists()


def test_a_question_that_does_not_fit_keeps_the_run_from_starting(
    study: Study, checkpoints: Path
) -> None:
    model = register_model(location=str(checkpoints / "tiny-gpt2"))  # reads 64 tokens
    tried = dry_run(**ask(model, study))
    assert any("the model reads 64" in problem.message for problem in tried.fatal)
    assert any("no chat template" in problem.message for problem in tried.notices)


def test_a_lost_reading_is_no_rating_of_fewer(local: LanguageModel, study: Study) -> None:
    run = rate(local, study, reading="answers")
    inputs, frames = load_inputs(run), load_shard_frames(run)
    for lost in (frames[0].iloc[1:], frames[0][frames[0]["repeat"] > 1]):
        with pytest.raises(ValueError, match="readings are missing"):
            inputs.measure.aggregate(inputs.stimuli, inputs.parameters, [lost, *frames[1:]])
