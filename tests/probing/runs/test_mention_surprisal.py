"""Surprisal of the mention: against the model itself, through the engine, and in a report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import Chosen
from probing.lm import load_text_model
from probing.lm.loaders import load_slot_model
from probing.lm.protocols import SlotContext
from probing.measures.probe_stimuli import ProbeGroup, ProbeStimuli, ProbeTemplate
from probing.measures.probe_templates import locate
from probing.models import Run, RunStatus, Score
from probing.runs.creation import create_run
from probing.runs.language_models import register_model
from probing.runs.worker import work
from tests.evaluation.reports.computing import compute
from tests.evaluation.reports.predictions import GROUPS, NAMES, TEXTS, make_runs

pytestmark = [pytest.mark.django_db, pytest.mark.shared]


def surprise(folder: Path, stimuli: ProbeStimuli) -> Run:
    run = create_run(
        measure="mention_surprisal",
        model=register_model(location=str(folder)),
        stimuli=stimuli,
        parameters={"templates_per_shard": 2},
        seed=0,
        created_by=None,
    )
    work(worker="w", run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED, run.error
    return run


def test_the_first_mention_is_located() -> None:
    located = locate("An {adj} man met a {adj} man.", {"adj": "local"})
    assert located is not None
    assert located.sentence == "A local man met a local man."
    assert located.sentence[located.start : located.stop] == "local"
    bare = locate("A {adj} man.", {"adj": ""})
    assert bare == ("A man.", 0, 0)
    assert locate("{Adj} men won.", {"adj": ""}) == ("Men won.", 0, 0)
    # Without its name, “{name} won.” is no sentence.
    assert locate("{name} won.", {"name": ""}) is None


@pytest.mark.parametrize("name", ["tiny-gpt2", "tiny-bert"])
def test_values_are_those_of_the_model(checkpoints: Path, name: str) -> None:
    """Expected: of the causal model ln P(sentence start with the word) minus that without it."""
    texts = ("I saw a {adj} man.", "The {adj} boss won.", "We met {adj} men.")
    stimuli = ProbeStimuli(
        tuple(ProbeTemplate(str(n), text, 1) for n, text in enumerate(texts)),
        (
            ProbeGroup("old", "old", ({"adj": "old"}, {"adj": "elderly"})),
            ProbeGroup("black", "black", ({"adj": "african american"},)),
            ProbeGroup("none", "no mention", ({"adj": ""},), "unmarked"),
        ),
    )
    run = surprise(checkpoints / name, stimuli)
    stored = {(one.group, one.template): one for one in Score.objects.filter(run=run)}
    words = {("old", "old"), ("old", "elderly"), ("black", "african american")}
    assert set(stored) == {("old", ""), ("black", ""), *words}
    expected = []
    for before, after in (("I saw an ", " man."), ("The ", " boss won."), ("We met ", " men.")):
        if name == "tiny-gpt2":
            lm: Any = load_text_model(checkpoints / name, threads=1)
            whole, start = lm.token_logprobs([f"{before}elderly", before.rstrip()])
            expected.append(start.sum() - whole.sum())
        else:
            slots = load_slot_model(checkpoints / name, threads=1)
            context = SlotContext(before, after)
            expected.append(-slots.word_logprobs([context], ["elderly"])[0, 0])
    elderly = stored["old", "elderly"]
    assert elderly.value == pytest.approx(sum(expected) / 3, rel=1e-5)
    assert (elderly.n, stored["old", ""].n) == (3, 2)
    assert stored["old", ""].value == pytest.approx(
        (stored["old", "old"].value + elderly.value) / 2  # type: ignore[operator]
    )


def test_a_report_regresses_gaps_on_a_runs_surprisals(checkpoints: Path, capsys: Any) -> None:
    (run,) = make_runs()
    groups: dict[str, list[dict[str, str]]] = {}
    for word in NAMES:
        groups.setdefault(GROUPS.get(word, f"placebo-{word}"), []).append({"*": word})
    stimuli = ProbeStimuli(
        tuple(
            ProbeTemplate(str(n), text.replace("{}", "{adj}"), 1) for n, text in enumerate(TEXTS)
        ),
        tuple(ProbeGroup(slug, slug, tuple(words)) for slug, words in groups.items()),
    )
    read = surprise(checkpoints / "tiny-gpt2", stimuli)
    _, document = compute("fpr_gaps", Chosen(runs=(run, read)), resamples=100)
    fit = document.frames["mention"].set_index("side").loc["negative"]
    assert fit["n_words"] == len(NAMES)
    lines = ["group,word,surprisal"]
    scores = Score.objects.filter(run=read).exclude(template="")
    lines += [f"{score.group},{score.template},{score.value}" for score in scores]
    by_file = {"resamples": 100, "surprisals": "\n".join(lines)}
    _, same = compute("fpr_gaps", Chosen(runs=(run,)), **by_file)
    other = same.frames["mention"].set_index("side").loc["negative"]
    assert fit["slope"] == pytest.approx(other["slope"])
    with pytest.raises(ReportError, match="comes from several places"):
        compute("fpr_gaps", Chosen(runs=(run, read)), **by_file)
    with pytest.raises(ReportError, match="No run of classification"):
        compute("fpr_gaps", Chosen(runs=(read,)), resamples=100)
    call_command(
        *("probe", "--measure", "mention_surprisal", "--model", read.model.name, "--local"),
        *("--templates", "everyday", "--groups", "race", "--dry-run"),
    )
    assert "264 sentences" in capsys.readouterr().out
