"""Whole runs, from creation through a worker to stored scores, against golden values.

Expected: golden/expected/abc_paper_*.json, an independent float64 implementation of the
published definitions; tolerances are those that the files state.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from probing.models import Run, RunStatus, Score
from probing.runs.creation import create_run
from probing.runs.language_models import register_model
from probing.runs.results import from_parquet
from probing.runs.working import work
from tests.golden.abc_cases import MODELS, AbcCase, assert_matches, load_case, values_by_word

pytestmark = [pytest.mark.django_db, pytest.mark.shared, pytest.mark.services]


@pytest.fixture(params=MODELS)
def case(request: pytest.FixtureRequest, shared_dir: Path) -> AbcCase:
    return load_case(shared_dir, "paper", request.param)


def compute(case: AbcCase, measure: str, shared_dir: Path) -> Run:
    folder = shared_dir / "golden" / Path(case.data["header"]["model"])
    model = register_model(location=str(folder))
    run = create_run(
        measure=measure,
        model=model,
        stimuli=case.stimuli,
        parameters={"groups_per_shard": 4},
        seed=0,
        created_by=None,
    )
    work(worker="golden", run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED, run.error
    return run


@pytest.mark.parametrize("measure", ["ilps_star", "set"])
def test_a_whole_run_gives_the_golden_values(case: AbcCase, measure: str, shared_dir: Path) -> None:
    run = compute(case, measure, shared_dir)
    expected = case.expected(("prior_mask", measure))

    blobs = run.shards.order_by("index").values_list("result", flat=True)
    rows = pd.concat([from_parquet(blob) for blob in blobs if blob is not None])
    assert_matches(values_by_word(rows), expected, case.tolerance)

    # A pair score subtracts two values, each within the file's tolerance.
    stored = {
        (score.template, score.group, score.trait): score.value
        for score in Score.objects.filter(run=run, name="pair_score")
    }
    for trait in case.stimuli.traits:
        for group in case.stimuli.groups:
            pairs = [
                expected[template.slug, group.slug, trait.high]
                - expected[template.slug, group.slug, trait.low]
                for template in case.stimuli.templates
            ]
            found = [stored[t.slug, group.slug, trait.slug] for t in case.stimuli.templates]
            allowed = {"atol": 2 * case.tolerance["atol"], "rtol": 2 * case.tolerance["rtol"]}
            np.testing.assert_allclose(found, pairs, **allowed)
            mean = stored["", group.slug, trait.slug]
            np.testing.assert_allclose(mean, np.mean(pairs), **allowed)
