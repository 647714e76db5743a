"""Matched guise probing through the engine, on tiny checkpoints of all three families."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from annotation.corpora.corpus_import import BadRowsError, import_corpus
from annotation.models import Corpus
from evaluation.metrics.decisions import decide
from probing.measures.guise_logprobs import read_logprobs
from probing.models import Prompt, PromptPurpose, Run, RunStatus, Score, WordList, WordPurpose
from probing.runs.creation import create_run, dry_run
from probing.runs.errors import RunError
from probing.runs.guise_stimuli import load_guise_stimuli
from probing.runs.language_models import register_model
from probing.runs.parameters import load_inputs, load_shard_frames
from probing.runs.stimuli_loading import StimuliChoice, run_request
from probing.runs.worker import work
from tests.golden.text_cases import load_expected, load_pairs
from tests.probing.runs.text_fixtures import add_pair

pytestmark = [pytest.mark.slow, pytest.mark.django_db, pytest.mark.shared]

FAMILIES = ("gpt2", "roberta", "t5")
GuiseMaker = Callable[..., Run]


@pytest.fixture
def pairs_corpus(shared_dir: Path) -> Corpus:
    """The 40 pairs of the golden files."""
    corpus = Corpus.objects.create(name="Golden pairs", license="made up", source_variety="AAE")
    for number, bodies in enumerate(zip(*load_pairs(shared_dir), strict=True)):
        add_pair(corpus, f"p{number:02d}", bodies)
    return corpus


@pytest.fixture
def make_guise_run(pairs_corpus: Corpus, shared_dir: Path) -> GuiseMaker:
    """Create and compute a run; attributes that are given make a list of their own."""

    def make(
        model: str,
        words: Sequence[str],
        *,
        purpose: str = WordPurpose.TRAITS,
        prompts: Sequence[str] = (),
        terms: Sequence[str] = (),
        **parameters: Any,
    ) -> Run:
        listed = WordList.objects.create(
            slug=f"list-{WordList.objects.count()}",
            title="Given words",
            words=list(words),
            license="none",
            purpose=purpose,
        )
        asked = run_request(
            measure="matched_guise",
            model=register_model(location=str(shared_dir / "golden" / "models" / f"tiny-{model}")),
            choice=StimuliChoice(
                corpus=None if terms else pairs_corpus,
                attributes=listed.slug,
                prompts=prompts,
                terms=terms,
            ),
            seed=0,
            parameters=parameters,
        )
        run = create_run(**asked, seed=0, created_by=None)
        work(worker="w", run=run)
        run.refresh_from_db()
        assert run.status == RunStatus.FINISHED, run.error
        return run

    return make


def golden(shared_dir: Path, model: str) -> dict[str, Any]:
    return load_expected(shared_dir, f"mgp_{model}")


def bare(prompt: str) -> str:
    """Return a golden prompt without the token that opens its end, with our placeholder."""
    return prompt.replace(" <mask>", "").replace(" <extra_id_0>", "").replace("{}", "{text}")


def scores(run: Run, name: str, expected: dict[str, dict[str, float]]) -> np.ndarray:
    """Return the stored scores in the order of the golden ones."""
    stored = {
        (score.template, score.trait): score.value
        for score in Score.objects.filter(run=run, name=name)
    }
    slugs = {prompt["text"]: prompt["slug"] for prompt in run.stimuli["prompts"]}
    return np.array(
        [
            stored[slugs[bare(prompt)], attribute]
            for prompt, values in expected.items()
            for attribute in values
        ]
    )


def values(expected: dict[str, dict[str, float]]) -> list[float]:
    return [value for row in expected.values() for value in row.values()]


@pytest.mark.parametrize("model", FAMILIES)
def test_covert_scores_are_those_of_the_released_code(
    make_guise_run: GuiseMaker, shared_dir: Path, model: str
) -> None:
    expected = golden(shared_dir, model)
    run = make_guise_run(model, expected["attributes"]["katz"], pairs_per_shard=15)
    assert run.shard_count == 3
    for name, key in (("meaning_matched", "q_meaning_matched"), ("pooled", "q_pooled")):
        wanted = expected["covert"][key]
        found = scores(run, name, wanted)
        assert len(found) == 9 * len(expected["attributes"]["katz"])
        np.testing.assert_allclose(found, values(wanted), atol=1e-4, rtol=0)


@pytest.mark.parametrize("model", FAMILIES)
def test_probabilities_are_those_of_the_released_code(
    make_guise_run: GuiseMaker, shared_dir: Path, model: str
) -> None:
    expected = golden(shared_dir, model)
    tolerance = expected["header"]["tolerance"]["probs"]
    run = make_guise_run(model, expected["attributes"]["katz"])
    read = read_logprobs(load_inputs(run).stimuli, load_shard_frames(run))
    places = {prompt["text"]: place for place, prompt in enumerate(run.stimuli["prompts"])}
    for prompt, rows in expected["covert"]["raw_probs"].items():
        place = places[bare(prompt)]
        for offset, side in ((0, read.first), (1, read.second)):
            np.testing.assert_allclose(
                np.exp(side[place]), rows[offset::2], atol=tolerance["abs"], rtol=tolerance["rel"]
            )
    for prompt, rows in expected["covert_calibrated"]["probs_minus_empty_text_probs"].items():
        place = places[bare(prompt)]
        first = np.exp(read.first[place]) - np.exp(read.empty[place])
        np.testing.assert_allclose(first[:4], rows[:8:2], atol=2e-6)


@pytest.mark.parametrize("model", FAMILIES)
def test_overt_scores_are_those_of_the_released_code(
    make_guise_run: GuiseMaker, shared_dir: Path, model: str
) -> None:
    expected = golden(shared_dir, model)
    run = make_guise_run(
        model, expected["attributes"]["katz"], terms=["Black/White", "black/white"]
    )
    assert run.corpus is None
    wanted = expected["overt"]["q"]
    found = scores(run, "meaning_matched", wanted)
    np.testing.assert_allclose(found, values(wanted), atol=1e-4, rtol=0)


@pytest.mark.parametrize("model", FAMILIES)
def test_occupations_count_where_the_article_agrees(
    make_guise_run: GuiseMaker, shared_dir: Path, model: str
) -> None:
    expected = golden(shared_dir, model)["occupations"]
    wanted = expected["q_meaning_matched_article_filtered"]
    words = golden(shared_dir, model)["attributes"]["occupations"]
    run = make_guise_run(model, words, purpose=WordPurpose.OCCUPATIONS)
    found = scores(run, "meaning_matched", wanted)
    np.testing.assert_allclose(found, values(wanted), atol=1e-4, rtol=0)
    single = Score.objects.filter(run=run, name="meaning_matched").exclude(template="")
    assert single.count() == len(values(wanted))
    means = Score.objects.filter(run=run, name="meaning_matched", template="")
    overall = expected["mean_over_prompts"]
    found_means = {score.trait: score.value for score in means}
    assert found_means == pytest.approx(overall, abs=1e-4)


@pytest.mark.parametrize("model", FAMILIES)
@pytest.mark.parametrize("purpose", ["guilt", "penalty"])
def test_decisions_are_those_of_the_released_code(
    make_guise_run: GuiseMaker, shared_dir: Path, model: str, purpose: str
) -> None:
    """Counts of both outcomes after every prompt; the released second outcome wins ties."""
    expected = golden(shared_dir, model)[purpose]
    detrimental, other = {"guilt": ("convicted", "acquitted"), "penalty": ("death", "life")}[
        purpose
    ]
    run = make_guise_run(model, (detrimental, other), purpose=purpose)
    read = read_logprobs(load_inputs(run).stimuli, load_shard_frames(run))
    places = {prompt["text"]: place for place, prompt in enumerate(run.stimuli["prompts"])}
    assert len(places) == 3
    for prompt, counts in expected["counts_by_prompt"].items():
        place = places[bare(prompt)]
        for side, name in ((read.first[place], "aave"), (read.second[place], "sae")):
            decisions = decide(
                side[:, 0],
                side[:, 1],
                *read.empty[place],
                ties="released",
                released_tie=1.0 if purpose == "guilt" else 0.0,
            )
            assert decisions.sum() == counts[name].get(detrimental, 0)
            assert (1 - decisions).sum() == counts[name].get(other, 0)


def test_attributes_of_several_tokens_take_the_chain_rule_on_demand(
    make_guise_run: GuiseMaker, pairs_corpus: Corpus, shared_dir: Path
) -> None:
    """The poles of the ABC model; the probabilities themselves are in the golden continuations."""
    model = register_model(location=str(shared_dir / "golden" / "models" / "tiny-gpt2"))
    asked = run_request(
        measure="matched_guise",
        model=model,
        choice=StimuliChoice(corpus=pairs_corpus, attributes="abc-poles"),
        seed=0,
        parameters={},
    )
    refused = dry_run(**asked)
    assert "several tokens" in refused.fatal[0].message
    assert "chain" in refused.fatal[0].message
    tried = dry_run(**{**asked, "parameters": {"attribute_tokens": "chain"}})
    assert tried.fatal == ()
    assert tried.cost is not None
    assert tried.cost.forward_passes > 9 * 81


def test_pooled_sets_need_no_pairs(make_guise_run: GuiseMaker) -> None:
    run = make_guise_run("gpt2", ["lazy", "kind"], matching="pooled", prompts=["traits"])
    assert not run.stimuli["paired"]
    assert set(Score.objects.filter(run=run).values_list("name", flat=True)) == {"pooled"}


def test_a_prompt_for_counterparts_is_not_offered(
    make_guise_run: GuiseMaker, shared_dir: Path
) -> None:
    with pytest.raises(RunError, match="no prompt about a speaker “translate-arrow-aave-sae”"):
        make_guise_run("gpt2", ["lazy"], prompts=["translate-arrow-aave-sae"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"corpus": None}, "Choose a corpus of texts in two varieties"),
        ({"attributes": "katz"}, "no list of attributes “katz”"),
        ({"terms": ["Black/White"]}, "Choose one of the two"),
        ({"corpus": None, "terms": ["Black"]}, "Write two with a slash"),
        ({"corpus": None, "terms": ["Black/black/White"]}, "Write two with a slash"),
        ({"corpus": None, "terms": ["Black/White", "Black/White"]}, "comes twice"),
        ({"corpus": None, "terms": ["Black/Black"]}, "texts in two varieties"),
        ({"prompts": ["guise-named"]}, "has {source}, but a guise is not named"),
        ({"limit": 0}, "expected at least 1"),
    ],
)
def test_bad_stimuli_are_refused_before_work_starts(
    pairs_corpus: Corpus, shared_dir: Path, changes: dict[str, Any], message: str
) -> None:
    Prompt.objects.create(
        slug="guise-named", text="{source}: {text} is", purpose=PromptPurpose.GUILT
    )
    model = register_model(location=str(shared_dir / "golden" / "models" / "tiny-gpt2"))
    with pytest.raises(RunError, match=message):
        run_request(
            measure="matched_guise",
            model=model,
            choice=StimuliChoice(**{"corpus": pairs_corpus, **changes}),
            seed=0,
            parameters={},
        )
    assert not Run.objects.exists()


@pytest.mark.parametrize("names", [(), ("traits",)])
def test_a_prompt_that_is_added_changes_no_default(
    pairs_corpus: Corpus, names: tuple[str, ...]
) -> None:
    def asked(prompts: tuple[str, ...]) -> list[str]:
        loaded = load_guise_stimuli(pairs_corpus, attributes="katz-braly-37", prompts=prompts)
        return [prompt.slug for prompt in loaded.prompts]

    before = asked(names)
    Prompt.objects.create(slug="added", text="{text}: the speaker is", purpose="traits")
    assert asked(names) == before
    assert len(before) == 9
    assert asked(("added",)) == ["added"]


def test_of_three_varieties_a_run_takes_the_two_that_are_chosen(
    pairs_corpus: Corpus, make_guise_run: GuiseMaker
) -> None:
    lines = "text,variety\nI reckon he is fixing supper,Appalachian English\n"
    file = {"content": lines.encode(), "file_name": "more.csv", "into": pairs_corpus}
    with pytest.raises(BadRowsError) as bad:
        import_corpus(**file)
    assert "expected “AAE” or “WME”" in str(bad.value.problems[0])
    import_corpus(**file, other_varieties=["Appalachian English"])
    with pytest.raises(RunError, match="texts in AAE, Appalachian English, WME; two of them"):
        make_guise_run("gpt2", ["lazy"], matching="pooled")

    def load(*varieties: str, paired: bool = False) -> Any:
        return load_guise_stimuli(
            pairs_corpus, attributes="katz-braly-37", varieties=varieties, paired=paired
        )

    found = load("Appalachian English", "WME")
    assert found.varieties == ("Appalachian English", "WME")
    assert [text.body for text in found.first] == ["I reckon he is fixing supper"]
    plain, turned = load(paired=True), load("WME", "AAE", paired=True)
    assert (turned.first, turned.second) == (plain.second, plain.first)
    for varieties, paired, problem in (
        (("AAE", "Appalachian English"), True, "pairs of .* are in AAE and WME"),
        (("AAE", "AAE"), False, "expected two different ones"),
        (("AAE", "Scots"), False, "and none in Scots"),
    ):
        with pytest.raises(RunError, match=problem):
            load(*varieties, paired=paired)


def test_a_text_that_does_not_fit_leaves_its_pair_out(
    pairs_corpus: Corpus, make_guise_run: GuiseMaker
) -> None:
    add_pair(pairs_corpus, "long", ("he be workin " * 60, "he is working"))
    run = make_guise_run("gpt2", ["lazy"], prompts=["guise-traits-a-person"])
    score = Score.objects.get(run=run, name="meaning_matched", template="guise-traits-a-person")
    assert score.n == 40
    assert any("longer than the model can read" in notice for notice in run.notices)
    assert any("1 readings are missing" in notice for notice in run.notices)


@pytest.mark.parametrize("model", FAMILIES)
def test_the_size_of_shards_and_neighbors_do_not_change_scores(
    make_guise_run: GuiseMaker, model: str
) -> None:
    small, large = (
        make_guise_run(model, ["lazy", "kind"], pairs_per_shard=size) for size in (3, 40)
    )
    found = [
        list(
            Score.objects.filter(run=run)
            .order_by("name", "template", "trait")
            .values_list("value", flat=True)
        )
        for run in (small, large)
    ]
    np.testing.assert_allclose(found[0], found[1], atol=2e-6)


def test_the_command_line_runs_from_pairs_to_scores(
    pairs_corpus: Corpus, shared_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    WordList.objects.create(
        slug="few", title="Few", words=["lazy", "kind", "loud"], license="none", purpose="traits"
    )
    common = (
        "probe", "--measure", "matched_guise", "--local", "--attributes", "few",
        "--model", str(shared_dir / "golden" / "models" / "tiny-gpt2"),
    )  # fmt: skip
    call_command(*common, "--corpus", "Golden pairs")
    out = capsys.readouterr().out
    assert "40 texts in AAE and 40 texts in WME, 9 prompts, 3 attributes" in out
    assert "scores stored" in out
    call_command(*common, "--terms", "Black/White")
    with pytest.raises(CommandError, match="no list of attributes"):
        call_command(*common, "--corpus", "Golden pairs", "--attributes", "none-such")


def test_noise_takes_the_place_of_the_first_guise(
    make_guise_run: GuiseMaker, pairs_corpus: Corpus
) -> None:
    """The second variety's texts, noisy and clean, pair by pair, the same ones for a seed."""
    runs = [
        make_guise_run(
            "gpt2", ["lazy", "kind"], prompts=["guise-traits-people"], first_guise="noise",
            noise_rate=0.2,
        )
        for _ in range(2)
    ]  # fmt: skip
    stimuli = [load_inputs(run).stimuli for run in runs]
    assert stimuli[0].texts == stimuli[1].texts
    assert stimuli[0].varieties == ("noise 20 %", "WME")
    clean = set(pairs_corpus.texts.filter(variety="WME").values_list("body", flat=True))
    for noisy, text in zip(stimuli[0].first, stimuli[0].second, strict=True):
        assert text.body in clean
        assert noisy.body != text.body
        assert len(noisy.body.split()) == len(text.body.split())
    with pytest.raises(RunError, match="Noise changes texts, and names of groups are given"):
        make_guise_run("gpt2", ["lazy"], terms=["Black/White"], first_guise="noise")
