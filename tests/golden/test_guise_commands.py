"""Every case of mgp_*.json and perplexity.json from a file of pairs to CSV, on the command line.

Expected values come from the released code of Hofmann et al. (2024), run on the tiny checkpoints.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from django.core.management import call_command

from evaluation.reports.rendering import PdfUnavailableError
from probing.models import Run, WordList
from tests.golden.text_cases import load_expected, load_pairs

pytestmark = [pytest.mark.slow, pytest.mark.django_db, pytest.mark.shared]

FAMILIES = ("gpt2", "roberta", "t5")
OVERT = ("Black/White", "black/white")


@pytest.fixture(autouse=True)
def no_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without Pango: paper takes most of the time, and has tests of its own."""

    def unavailable(*_: object) -> bytes:
        raise PdfUnavailableError("no Pango")

    monkeypatch.setattr("evaluation.reports.rendering.render_pdf", unavailable)


@pytest.fixture
def pairs(shared_dir: Path, tmp_path: Path) -> None:
    """The golden pairs, imported from a TSV file."""
    file = tmp_path / "pairs.tsv"
    rows = ["AAE\tSAE", *map("\t".join, zip(*load_pairs(shared_dir), strict=True))]
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    call_command(
        "import_corpus", str(file), "--name", "Golden", "--license", "made up",
        "--source-variety", "AAE", "--target-variety", "SAE",
    )  # fmt: skip


def probe(shared_dir: Path, model: str, *more: str, measure: str = "matched_guise") -> str:
    """Run the command and return the number of its run."""
    location = shared_dir / "golden" / "models" / f"tiny-{model}"
    call_command("probe", "--measure", measure, "--local", "--model", str(location), *more)
    return str(Run.objects.latest("pk").pk)


def report(tmp_path: Path, kind: str, *options: str) -> dict[str, pd.DataFrame]:
    """Run the command and return the tables that it writes as CSV."""
    folder = tmp_path / f"{kind}-{len(list(tmp_path.iterdir()))}"
    call_command("report", kind, "--resamples", "100", *options, "--output", str(folder))
    return {file.stem: pd.read_csv(file) for file in folder.glob("*.csv")}


def bare(prompt: str) -> str:
    """Return a golden prompt as ours are written."""
    return prompt.replace(" <mask>", "").replace(" <extra_id_0>", "").replace("{}", "{text}")


def words(slug: str, listed: list[str], purpose: str) -> tuple[str, str]:
    WordList.objects.create(slug=slug, title=slug, words=listed, license="none", purpose=purpose)
    return "--attributes", slug


def check_scores(table: pd.DataFrame, expected: dict[str, dict[str, float]], probe: str) -> None:
    found = table[table["probe"] == probe].set_index(["wording", "attribute"])["q"]
    wanted = {
        (bare(prompt), attribute): value
        for prompt, row in expected.items()
        for attribute, value in row.items()
    }
    assert len(found) == len(wanted)
    np.testing.assert_allclose(found[list(wanted)], list(wanted.values()), atol=1e-4, rtol=0)


@pytest.mark.parametrize("model", FAMILIES)
def test_golden_cases_pass_from_a_file_to_the_tables(
    pairs: None, shared_dir: Path, tmp_path: Path, model: str
) -> None:
    golden: dict[str, Any] = load_expected(shared_dir, f"mgp_{model}")
    traits = words("katz", golden["attributes"]["katz"], "traits")
    covert = probe(shared_dir, model, "--corpus", "Golden", *traits)
    overt = probe(shared_dir, model, "--terms", *OVERT, *traits)

    matched = report(tmp_path, "matched_guise", "--run", covert, "--run", overt)
    check_scores(matched["prompts"], golden["covert"]["q_meaning_matched"], "covert")
    check_scores(matched["prompts"], golden["overt"]["q"], "overt")
    pooled = Run.objects.get(pk=covert).scores.filter(name="pooled").exclude(template="")
    slugs = {line["prompt"]: line["wording"] for _, line in matched["prompts"].iterrows()}
    stored = [(slugs[row.template], row.trait, row.value, "covert") for row in pooled]
    columns = ["wording", "attribute", "q", "probe"]
    table = pd.DataFrame(stored, columns=columns)
    check_scores(table, golden["covert"]["q_pooled"], "covert")

    jobs = words("jobs", golden["attributes"]["occupations"], "occupations")
    run = probe(shared_dir, model, "--corpus", "Golden", *jobs)
    found = report(tmp_path, "guise_occupations", "--run", run)["occupations"]
    means = golden["occupations"]["mean_over_prompts"]
    scores = found.set_index("occupation")["q"]
    np.testing.assert_allclose(scores[list(means)], list(means.values()), atol=1e-4, rtol=0)

    outcomes = {"guilt": "convicted", "penalty": "death"}
    runs = []
    for purpose in outcomes:
        verdicts = words(f"{purpose}-2", golden[purpose]["calibrated_probs_column_order"], purpose)
        runs += ["--run", probe(shared_dir, model, "--corpus", "Golden", *verdicts)]
    rates = report(tmp_path, "guise_decisions", *runs, "--ties", "released")["rates"]
    rates = rates.set_index("wording")
    assert len(rates) == 6
    for purpose, detrimental in outcomes.items():
        for prompt, counts in golden[purpose]["counts_by_prompt"].items():
            line = rates.loc[bare(prompt)]
            for side, variety in (("first", "aave"), ("second", "sae")):
                share = counts[variety].get(detrimental, 0) / 40
                assert line[side] == pytest.approx(share), prompt


@pytest.mark.parametrize("model", FAMILIES)
def test_perplexities_are_those_of_the_released_code(
    pairs: None, shared_dir: Path, capsys: pytest.CaptureFixture[str], model: str
) -> None:
    golden = load_expected(shared_dir, "perplexity")
    number = probe(shared_dir, model, "--corpus", "Golden", measure="perplexity")
    assert "80 scores stored" in capsys.readouterr().out
    run = Run.objects.get(pk=number)
    stored = {(score.pair, score.variety): score.value for score in run.text_scores.order_by("pk")}
    slugs = list(dict.fromkeys(pair for pair, _ in stored))
    for side, variety in (("first_variety", "AAE"), ("second_variety", "SAE")):
        expected = golden["perplexity"][f"tiny-{model}"][side]
        found = [stored[slug, variety] for slug in slugs]
        np.testing.assert_allclose(found, expected, rtol=golden["header"]["tolerance"]["rel"])
    pseudo = any("Pseudo-perplexity" in notice for notice in run.notices)
    assert pseudo == (model != "gpt2")
