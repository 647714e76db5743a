"""ILPS, ILPS* and SeT as released, against golden/expected/abc_released_*.json.

Those values were produced by running the released code of Cao et al. (2022) on the checkpoints.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from probing.measures.registry import get_measure
from tests.golden.abc_cases import (
    MODELS,
    AbcCase,
    assert_matches,
    compute_rows,
    load_case,
    unsafe_distances,
    values_by_word,
    with_lists,
)

pytestmark = pytest.mark.shared


@pytest.fixture(params=MODELS)
def case(request: pytest.FixtureRequest, shared_dir: Path) -> AbcCase:
    return load_case(shared_dir, "released", request.param)


def test_the_generic_nouns_are_those_of_the_released_code(case: AbcCase) -> None:
    for template, stored in zip(
        case.stimuli.templates, case.data["templates"].values(), strict=True
    ):
        assert template.generic_noun == stored["prior_group"]


def test_released_ilps_matches_for_all_adjectives(case: AbcCase) -> None:
    rows = compute_rows(case, "ilps", prior="noun")
    assert_matches(values_by_word(rows), case.expected(("ilps", "per_adjective")), case.tolerance)


def test_released_ilps_star_matches_for_all_adjectives(case: AbcCase) -> None:
    rows = compute_rows(case, "ilps_star", prior="noun", renorm="released")
    expected = case.expected(("ilps_star", "per_adjective"))
    assert_matches(values_by_word(rows), expected, case.tolerance)


def test_released_set_matches_inside_its_domain_and_is_undefined_outside(case: AbcCase) -> None:
    rows = compute_rows(case, "set", prior="noun", variant="released")
    found, expected = values_by_word(rows), case.expected(("set", "per_adjective"))
    reasons = rows.groupby(["template", "group", "word"])["reason"].first()
    unsafe = unsafe_distances(case)
    assert unsafe, "the files hold entries outside the domain; without them nothing is tested"

    safe = expected[[key for key in expected.index if key not in unsafe]]
    assert_matches(found, safe, case.tolerance)

    undefined = {key for key, distance in unsafe.items() if distance >= 1}
    assert undefined
    for key, distance in unsafe.items():
        if abs(distance - 1) < 1e-4:
            continue  # float32 decides on which side of 1 such an entry falls
        assert np.isnan(found[key]) == (key in undefined), key
        assert bool(reasons[key]) == (key in undefined), key


@pytest.mark.parametrize("average", ["mean", "median"])
@pytest.mark.parametrize(
    ("measure", "key", "parameters"),
    [("ilps", "ilps", {}), ("ilps_star", "ilps_star", {"renorm": "released"})],
)
def test_lists_of_adjectives_are_averaged_as_released(
    case: AbcCase, measure: str, key: str, parameters: dict, average: str
) -> None:
    """The files hold the average of every list; a pair score is the high list's minus the low's."""
    stimuli = with_lists(case)
    chosen = {"prior": "noun", "adjectives": "lists", "list_average": average, **parameters}
    found = get_measure(measure)
    options = found.Parameters(**chosen)
    frames = [
        found.compute(shard.payload, stimuli, options, case.lm)
        for shard in found.plan(stimuli, options)
    ]
    scores = found.aggregate(stimuli, options, frames)
    values = scores.set_index(["template", "group", "trait"])["value"]
    compared = 0
    for template, stored in zip(stimuli.templates, case.data["templates"].values(), strict=True):
        lists = stored[key][f"{average}_over_list"]
        for group, name in zip(stimuli.groups, stored["groups"], strict=True):
            for trait in stimuli.traits:
                expected = lists[name][trait.high] - lists[name][trait.low]
                assert values[template.slug, group.slug, trait.slug] == pytest.approx(
                    expected, abs=2 * case.tolerance["atol"], rel=case.tolerance["rtol"]
                )
                compared += 1
    assert compared > 100
