"""Matched guises with a served model, in every tier of access, through the engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from scipy import stats

from annotation.models import Corpus
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import Chosen
from probing.measures.guise_logprobs import read_logprobs
from probing.measures.missing_mass import wilson_bounds
from probing.models import LanguageModel, Run, RunStatus, Score, WordList
from probing.runs.creation import create_run, dry_run
from probing.runs.errors import RunError
from probing.runs.language_models import register_model
from probing.runs.parameters import load_inputs, load_shard_frames
from probing.runs.stimuli_loading import StimuliChoice, run_request
from probing.runs.worker import work
from tests.evaluation.reports.computing import compute
from tests.openai_server import Fault, OpenAIServer
from tests.probing.lm.tiny_chat import make_tiny_chat
from tests.probing.runs.text_fixtures import make_corpus
from tests.served_model import register_served

pytestmark = [pytest.mark.slow, pytest.mark.django_db, pytest.mark.shared]

WORDS = ("lazy", "kind", "loud", "rude")
#: “A person who says …” has last words for an opening; make_corpus has four pairs.
PROMPT = "guise-traits-a-person"
READINGS = 2 * 4 + 1


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    likely = {f"{space}{word}": 4.5 for word in WORDS[:3] for space in ("", " ")}
    spelt = [form for word in WORDS for form in (word, word.capitalize())]
    return make_tiny_chat(tmp_path_factory.mktemp("guises") / "tiny", words=spelt, likely=likely)


@pytest.fixture
def corpus() -> Corpus:
    WordList.objects.create(
        slug="few", title="Few", words=list(WORDS), license="none", purpose="traits"
    )
    WordList.objects.create(
        slug="long", title="Long", words=["lazy", "usually late"], license="none", purpose="traits"
    )
    return make_corpus()


@pytest.fixture
def local(folder: Path) -> LanguageModel:
    return register_model(location=str(folder))


def served(server: OpenAIServer) -> LanguageModel:
    return register_served(server)


def ask(
    model: LanguageModel, corpus: Corpus, attributes: str = "few", **parameters: Any
) -> dict[str, Any]:
    return run_request(
        measure="matched_guise",
        model=model,
        choice=StimuliChoice(corpus=corpus, attributes=attributes, prompts=[PROMPT]),
        seed=3,
        parameters=parameters,
    )


def start(model: LanguageModel, corpus: Corpus, attributes: str = "few", **parameters: Any) -> Run:
    run = create_run(**ask(model, corpus, attributes, **parameters), seed=3, created_by=None)
    work(worker="w", run=run)
    run.refresh_from_db()
    return run


def probe(model: LanguageModel, corpus: Corpus, attributes: str = "few", **parameters: Any) -> Run:
    run = start(model, corpus, attributes, **parameters)
    assert run.status == RunStatus.FINISHED, run.error
    return run


def scores(run: Run, name: str) -> dict[str, float | None]:
    rows = Score.objects.filter(run=run, name=name, template=PROMPT)
    return {row.trait: row.value for row in rows}


def tiers(run: Run) -> set[str]:
    return set(Score.objects.filter(run=run).values_list("access", flat=True))


def test_echoed_completions_give_the_scores_of_the_checkpoint(
    corpus: Corpus, local: LanguageModel, server: OpenAIServer
) -> None:
    here, there = (probe(model, corpus, prompting="raw") for model in (local, served(server)))
    assert tiers(here) == tiers(there) == {"full"}
    for name in ("meaning_matched", "pooled"):
        assert scores(there, name) == pytest.approx(scores(here, name), abs=1e-5)
    assert len(server.requests) == READINGS


def test_attributes_of_several_tokens_take_the_chain_rule_or_are_refused(
    corpus: Corpus, local: LanguageModel, server: OpenAIServer
) -> None:
    here, there = (
        probe(model, corpus, "long", attribute_tokens="chain", prompting="raw")
        for model in (local, served(server))
    )
    assert scores(there, "pooled") == pytest.approx(scores(here, "pooled"), abs=1e-5)
    refused = start(served(server), corpus, "long", attribute_tokens="one")
    assert refused.status == RunStatus.FAILED
    assert "several tokens for the served model: usually late" in refused.error


@pytest.mark.parametrize("opening", [True, False])
def test_bounds_of_likeliest_tokens_hold_what_the_checkpoint_says(
    corpus: Corpus, local: LanguageModel, server: OpenAIServer, opening: bool
) -> None:
    """Expected: the same questions to the checkpoint itself, over its whole vocabulary."""
    exact = probe(local, corpus, prompting="chat", opening=opening)
    run = probe(served(server), corpus, prompting="chat", opening=opening)
    assert (tiers(exact), tiers(run)) == ({"full"}, {"top_k"})
    names = set(Score.objects.filter(run=run).values_list("name", flat=True))
    assert {"pooled", "pooled_low", "pooled_high", "refused"} <= names
    wanted, low, high = (
        scores(exact, "pooled"),
        scores(run, "pooled_low"),
        scores(run, "pooled_high"),
    )
    held = 0
    for word, value in wanted.items():
        assert value is not None
        assert low[word] is None or low[word] <= value + 1e-5
        assert high[word] is None or value <= high[word] + 1e-5
        held += low[word] is not None and high[word] is not None
    assert held >= 2
    read = read_logprobs(load_inputs(run).stimuli, load_shard_frames(run))
    there = read_logprobs(load_inputs(exact).stimuli, load_shard_frames(exact))
    assert read.low is not None
    assert read.high is not None
    for side, value in enumerate((there.first, there.second)):
        assert (read.low[side] <= value + 1e-5).all()
        assert (value <= read.high[side] + 1e-5).all()


@pytest.mark.parametrize("opening", [True, False])
def test_raised_attributes_are_known_exactly(
    corpus: Corpus, local: LanguageModel, server: OpenAIServer, opening: bool
) -> None:
    exact = probe(local, corpus, prompting="chat", opening=opening)
    run = probe(served(server), corpus, prompting="chat", opening=opening, bias=True)
    assert tiers(run) == {"top_k"}
    for name in ("meaning_matched", "pooled"):
        assert scores(run, name) == pytest.approx(scores(exact, name), abs=1e-4)
    assert scores(run, "pooled_low") == pytest.approx(scores(exact, "pooled"), abs=1e-4)


@pytest.mark.parametrize("lacking", ["tokenize", "raw"])
def test_where_raising_does_not_help_bounds_remain(
    corpus: Corpus, server: OpenAIServer, lacking: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that tells no token ids, and one whose log-probabilities leave the bias out."""
    monkeypatch.setattr("probing.lm.served_token_ids.ServedTokenIds._known", {})
    if lacking == "raw":
        server.raw_logprobs = True
    else:
        server.refuses.add(lacking)
    run = probe(served(server), corpus, prompting="chat", opening=True, bias=True)
    plain = probe(served(server), corpus, prompting="chat", opening=True)
    assert scores(run, "pooled_low") == scores(plain, "pooled_low")


def test_an_even_share_is_that_of_the_released_code(corpus: Corpus, server: OpenAIServer) -> None:
    """(1 − sum of known) / (number missing), for every text (methods.md §10.4)."""
    run = probe(served(server), corpus, prompting="chat", opening=True)
    read = read_logprobs(load_inputs(run).stimuli, load_shard_frames(run))
    assert read.low is not None
    found = 0
    for values, low in zip(read.first[0], read.low[0][0], strict=True):
        known = np.exp(low)
        missing = known == 0
        if missing.any():
            found += 1
            expected = (1 - known.sum()) / missing.sum()
            np.testing.assert_allclose(np.exp(values[missing]), expected, rtol=1e-4)
        np.testing.assert_allclose(np.exp(values[~missing]), known[~missing], rtol=1e-4)
    assert found


def test_without_log_probabilities_only_what_is_allowed_is_done(
    corpus: Corpus, server: OpenAIServer
) -> None:
    server.refuses.update({"completions", "logprobs"})
    with pytest.raises(RunError) as raised:
        start(served(server), corpus, attribute_tokens="one")
    message = " ".join(raised.value.messages)
    assert "it has no completions" in message
    assert (
        "tells no log-probabilities in a chat (400: Unsupported parameter: 'logprobs')" in message
    )
    assert "Set least_access to “sampled” (--param least_access=sampled)" in message
    assert not Run.objects.exists()
    allowed = probe(served(server), corpus, least_access="sampled", opening=True, draws=6)
    assert tiers(allowed) == {"sampled"}
    assert any(notice.startswith("Access: sampled.") for notice in allowed.notices)
    assert any("The run falls back to the access “sampled”." in note for note in allowed.notices)
    with pytest.raises(RunError, match="allows no less than “full”"):
        start(served(server), corpus, least_access="full")


def test_shares_of_drawn_answers_come_with_wilson_bounds(
    corpus: Corpus, server: OpenAIServer
) -> None:
    """Expected: the answers counted by hand; the interval has a test of its own."""
    server.ignores.add("logprobs")
    run = probe(
        served(server), corpus, prompting="chat", opening=True, least_access="sampled", draws=10,
        max_new_tokens=1,
    )  # fmt: skip
    read = read_logprobs(load_inputs(run).stimuli, load_shard_frames(run))
    assert read.counts is not None
    word = WORDS.index("lazy")
    shares, bounds = [], []
    for variety, side in (("AAL", read.first), ("WME", read.second)):
        share = np.nanmean(np.exp(side[0, :, word]))
        answered = read.counts.loc[read.counts["variety"] == variety, "answered"].sum()
        shares.append(share)
        bounds.append(wilson_bounds(np.array(share), np.array(float(answered))))
    assert scores(run, "pooled")["lazy"] == pytest.approx(np.log10(shares[0] / shares[1]), abs=1e-5)
    assert scores(run, "pooled_low")["lazy"] == pytest.approx(
        np.log10(bounds[0][0] / bounds[1][1]), abs=1e-5
    )
    row = read.counts.iloc[0]
    ended = row[["answered", "refused", "unreadable", "cut_off"]]
    assert row["asked"] == ended.sum() == 10
    # One token of an answer that goes on names an attribute or is cut off.
    assert row["unreadable"] == 0


def test_wilson_bounds_are_those_of_scipy() -> None:
    for k, n in ((0, 10), (3, 10), (10, 10), (40, 200)):
        low, high = wilson_bounds(np.array(k / n), np.array(float(n)))
        expected = stats.binomtest(k, n).proportion_ci(method="wilson")
        assert (float(low), float(high)) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_refusals_are_counted_by_guise(corpus: Corpus, server: OpenAIServer) -> None:
    refused = Fault(answer={"message": {"role": "assistant", "refusal": "No.", "content": ""}})
    server.faults.extend([refused, refused])
    run = probe(served(server), corpus, prompting="chat", opening=True, pairs_per_shard=1)
    shares = {
        row.group: (row.value, row.n)
        for row in Score.objects.filter(run=run, name="refused", template="")
    }
    assert shares == {"AAL": (0.25, 4), "WME": (0.25, 4)}
    assert any("Refused answers: 1 of 4 after AAL and 1 of 4 after WME" in n for n in run.notices)


@pytest.mark.parametrize("fault", [Fault(close=True), Fault(status=429), Fault(status=500)])
@pytest.mark.parametrize("prompting", ["raw", "chat"])
def test_a_passing_failure_changes_no_score(
    corpus: Corpus, server: OpenAIServer, fault: Fault, prompting: str
) -> None:
    calm = scores(probe(served(server), corpus, prompting=prompting), "pooled")
    server.faults.append(fault)
    assert scores(probe(served(server), corpus, prompting=prompting), "pooled") == calm


def test_a_dry_run_counts_requests_and_a_cap_ends_the_run(
    corpus: Corpus, server: OpenAIServer, settings: Any
) -> None:
    tried = dry_run(**ask(served(server), corpus, prompting="chat"))
    assert tried.cost is not None
    assert tried.cost.forward_passes == READINGS
    server.refuses.update({"completions", "logprobs"})
    drawn = dry_run(**ask(served(server), corpus, least_access="sampled", draws=5))
    assert drawn.cost is not None
    assert drawn.cost.forward_passes == READINGS * 6
    server.refuses.clear()
    settings.CHAT_TOKENS_PER_RUN = 50
    run = start(served(server), corpus, prompting="chat")
    assert run.status == RunStatus.FAILED
    assert "CHAT_TOKENS_PER_RUN" in run.error


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"instruction": "Say a word."}, "expected a text with {attributes}"),
        ({"prompting": "chat", "least_access": "full"}, "least_access is “full”"),
    ],
)
def test_bad_parameters_are_refused_before_work_starts(
    corpus: Corpus, server: OpenAIServer, parameters: dict[str, Any], message: str
) -> None:
    tried = dry_run(**{**ask(served(server), corpus), "parameters": parameters})
    assert message in tried.fatal[0].message


def test_a_masked_model_answers_no_questions(corpus: Corpus, checkpoints: Path) -> None:
    model = register_model(location=str(checkpoints / "tiny-roberta"))
    tried = dry_run(**ask(model, corpus, prompting="chat"))
    assert any("answers no questions" in problem.message for problem in tried.fatal)


def test_reports_average_no_different_tiers(corpus: Corpus, server: OpenAIServer) -> None:
    model = served(server)
    top, full = probe(model, corpus, prompting="chat", opening=True), probe(model, corpus)
    few = {"resamples": 100, "permutations": 100}
    _, document = compute("matched_guise", Chosen(runs=(top,)), **few)
    assert "(access: top_k)" in " ".join(document.method)
    with pytest.raises(ReportError, match="Scores of different tiers are never averaged"):
        compute("matched_guise", Chosen(runs=(top, full)), **few)
    server.ignores.add("logprobs")
    drawn = probe(model, corpus, prompting="chat", least_access="sampled", draws=2)
    with pytest.raises(ReportError, match="has the access “sampled”"):
        compute("matched_guise", Chosen(runs=(drawn,)), **few)


def test_the_page_shows_bounds_and_how_they_came_about(
    client: Client, corpus: Corpus, server: OpenAIServer
) -> None:
    run = probe(served(server), corpus, prompting="chat", opening=True)
    client.force_login(User.objects.create_superuser("alice"))
    page = client.get(reverse("admin:probing_run_change", args=[run.pk])).text
    assert "From … to" in page
    assert "bounds hold whatever the missing probability does" in page
