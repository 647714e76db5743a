"""Whole runs, from creation through a worker to stored scores, against golden values.

Expected: golden/expected/abc_paper_*.json, an independent float64 implementation of the published
definitions, and abc_released_*.json, the output of the released code; tolerances are those that
the files state.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from probing.measures.adjectives import both_poles
from probing.measures.stimuli import Stimuli
from probing.models import Run, RunStatus, Score
from probing.runs.creation import create_run
from probing.runs.language_models import register_model
from probing.runs.parameters import from_parquet
from probing.runs.worker import work
from tests.golden.abc_cases import (
    MODELS,
    AbcCase,
    assert_matches,
    load_case,
    unsafe_distances,
    values_by_word,
    with_lists,
)

pytestmark = [pytest.mark.slow, pytest.mark.django_db, pytest.mark.shared]

#: Measure, parameters, and the key of the golden values below ``prior_mask`` and ``prior_noun``.
PUBLISHED: list[tuple[str, dict[str, Any], str]] = [
    ("ilps", {}, "ilps"),
    ("ilps_star", {}, "ilps_star"),
    ("ilps_star", {"renorm": "class"}, "ilps_star_renormalised"),
    ("ilps_star", {"renorm": "released"}, "ilps_star_released_renorm"),
    ("set", {}, "set"),
]
RELEASED: list[tuple[str, dict[str, Any]]] = [
    ("ilps", {}),
    ("ilps_star", {"renorm": "released"}),
    ("set", {"variant": "released"}),
]


@pytest.fixture(params=MODELS)
def model_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def compute(
    case: AbcCase,
    measure: str,
    shared_dir: Path,
    *,
    stimuli: Stimuli | None = None,
    **parameters: Any,
) -> Run:
    folder = shared_dir / "golden" / Path(case.data["header"]["model"])
    run = create_run(
        measure=measure,
        model=register_model(location=str(folder)),
        stimuli=stimuli or case.stimuli,
        parameters={"groups_per_shard": 4, **parameters},
        seed=0,
        created_by=None,
    )
    work(worker="golden", run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED, run.error
    return run


def stored_rows(run: Run) -> pd.DataFrame:
    """The rows that the workers stored, one for each adjective."""
    blobs = run.shards.order_by("index").values_list("result", flat=True)
    return pd.concat([from_parquet(blob) for blob in blobs if blob is not None])


def stored_scores(run: Run) -> dict[tuple[str, str, str], Score]:
    found = Score.objects.filter(run=run, name="pair_score")
    return {(score.template, score.group, score.trait): score for score in found}


def assert_scores_match(run: Run, case: AbcCase, expected: pd.Series) -> None:
    """Every pair score is high minus low, and the value without a template their mean.

    Both subtract two values, each within the file's tolerance.
    """
    stored = stored_scores(run)
    allowed = {"atol": 2 * case.tolerance["atol"], "rtol": 2 * case.tolerance["rtol"]}
    compared = 0
    for trait in case.stimuli.traits:
        for group in case.stimuli.groups:
            pairs = np.array(
                [
                    expected[template.slug, group.slug, trait.high]
                    - expected[template.slug, group.slug, trait.low]
                    for template in case.stimuli.templates
                ]
            )
            cells = [stored[t.slug, group.slug, trait.slug] for t in case.stimuli.templates]
            found = np.array([np.nan if c.value is None else c.value for c in cells])
            np.testing.assert_allclose(found, pairs, **allowed)
            assert all(bool(cell.reason) == (cell.value is None) for cell in cells)
            mean = stored["", group.slug, trait.slug]
            defined = pairs[np.isfinite(pairs)]
            assert mean.n == len(defined)
            if len(defined):
                np.testing.assert_allclose(mean.value, defined.mean(), **allowed)
                compared += 1
            else:
                assert mean.value is None
    assert compared > 10


@pytest.mark.smoke
@pytest.mark.services
@pytest.mark.parametrize("prior", ["mask", "noun"])
@pytest.mark.parametrize(
    ("measure", "parameters", "key"), PUBLISHED, ids=[key for *_, key in PUBLISHED]
)
def test_a_run_gives_the_published_values(
    model_name: str,
    prior: str,
    measure: str,
    parameters: dict[str, Any],
    key: str,
    shared_dir: Path,
) -> None:
    case = load_case(shared_dir, "paper", model_name)
    run = compute(case, measure, shared_dir, prior=prior, **parameters)
    expected = case.expected((f"prior_{prior}", key))
    assert_matches(values_by_word(stored_rows(run)), expected, case.tolerance)
    assert_scores_match(run, case, expected)


@pytest.mark.parametrize(("measure", "parameters"), RELEASED, ids=[name for name, _ in RELEASED])
def test_a_run_gives_the_values_of_the_released_code(
    model_name: str, measure: str, parameters: dict[str, Any], shared_dir: Path
) -> None:
    """All adjectives of the file. Where the released SeT leaves its domain, it is undefined."""
    case = load_case(shared_dir, "released", model_name)
    run = compute(case, measure, shared_dir, prior="noun", **parameters)
    rows = stored_rows(run)
    expected = case.expected((measure, "per_adjective"))
    unsafe = unsafe_distances(case) if measure == "set" else {}
    safe = expected[[key for key in expected.index if key not in unsafe]]
    assert_matches(values_by_word(rows), safe, case.tolerance)
    found = values_by_word(rows)
    for key, distance in unsafe.items():
        if abs(distance - 1) > 1e-4:  # nearer, float32 decides on the side of 1
            assert np.isnan(found[key]) == (distance >= 1), key
    if measure == "set":
        # Scores follow from the stored rows; entries near the domain's edge are not comparable.
        expected = found
    assert_scores_match(run, case, expected)


@pytest.mark.parametrize("average", ["mean", "median"])
@pytest.mark.parametrize(("measure", "parameters"), RELEASED, ids=[name for name, _ in RELEASED])
def test_a_run_averages_lists_of_adjectives_as_released(
    model_name: str, measure: str, parameters: dict[str, Any], average: str, shared_dir: Path
) -> None:
    case = load_case(shared_dir, "released", model_name)
    stimuli = with_lists(case)
    run = compute(
        case,
        measure,
        shared_dir,
        stimuli=stimuli,
        prior="noun",
        adjectives="lists",
        list_average=average,
        **parameters,
    )
    stored = stored_scores(run)
    # The released SeT has no usable average where one of the list's words leaves its domain.
    unsafe = set(unsafe_distances(case)) if measure == "set" else set()
    found, expected = [], []
    for template, values in zip(stimuli.templates, case.data["templates"].values(), strict=True):
        lists = values[measure][f"{average}_over_list"]
        for group, name in zip(stimuli.groups, values["groups"], strict=True):
            for trait in stimuli.traits:
                words = both_poles(trait, "lists")
                if any((template.slug, group.slug, word) in unsafe for word in words):
                    continue
                found.append(stored[template.slug, group.slug, trait.slug].value)
                expected.append(lists[name][trait.high] - lists[name][trait.low])
    assert len(expected) > 100
    np.testing.assert_allclose(
        np.array(found, float),
        expected,
        atol=2 * case.tolerance["atol"],
        rtol=2 * case.tolerance["rtol"],
    )
