"""ILPS, ILPS* and SeT by the published definitions, against golden/expected/abc_paper_*.json.

Those values come from an independent float64 implementation (see the header of each file).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from probing.measures.registry import get_measure
from probing.measures.sensitivity import subword_changes
from probing.measures.slot_measure import distinct_words, group_context, prior_context
from tests.golden.abc_cases import (
    MODELS,
    AbcCase,
    assert_matches,
    compute_frames,
    compute_rows,
    load_case,
    values_by_word,
)

pytestmark = pytest.mark.shared

PRIORS = ("mask", "noun")
ILPS_STAR_KEYS = {
    None: "ilps_star",
    "class": "ilps_star_renormalised",
    "released": "ilps_star_released_renorm",
}


@pytest.fixture(params=MODELS)
def case(request: pytest.FixtureRequest, shared_dir: Path) -> AbcCase:
    return load_case(shared_dir, "paper", request.param)


def test_adjectives_are_cut_into_the_stored_subwords(case: AbcCase) -> None:
    for word, tokens in case.data["subwords"].items():
        assert list(case.lm.split(word).tokens) == tokens


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("renorm", ILPS_STAR_KEYS)
def test_ilps_star_matches(case: AbcCase, prior: str, renorm: str | None) -> None:
    rows = compute_rows(case, "ilps_star", prior=prior, renorm=renorm)
    expected = case.expected((f"prior_{prior}", ILPS_STAR_KEYS[renorm]))
    assert_matches(values_by_word(rows), expected, case.tolerance)


@pytest.mark.parametrize("prior", PRIORS)
def test_ilps_matches(case: AbcCase, prior: str) -> None:
    rows = compute_rows(case, "ilps", prior=prior)
    assert_matches(values_by_word(rows), case.expected((f"prior_{prior}", "ilps")), case.tolerance)


@pytest.mark.parametrize("prior", PRIORS)
def test_set_matches(case: AbcCase, prior: str) -> None:
    rows = compute_rows(case, "set", prior=prior)
    assert_matches(values_by_word(rows), case.expected((f"prior_{prior}", "set")), case.tolerance)


@pytest.mark.parametrize("measure", ["ilps", "ilps_star", "set"])
def test_pair_scores_are_high_minus_low_and_average_over_templates(
    case: AbcCase, measure: str
) -> None:
    scores = get_measure(measure).aggregate(
        case.stimuli,
        get_measure(measure).Parameters(),
        compute_frames(case, measure, groups_per_shard=4),
    )
    expected = case.expected(("prior_mask", measure))
    found = scores.set_index(["template", "group", "trait"])["value"]
    for trait in case.stimuli.traits:
        for group in case.stimuli.groups:
            pairs = [
                expected[t.slug, group.slug, trait.high] - expected[t.slug, group.slug, trait.low]
                for t in case.stimuli.templates
            ]
            by_template = [found[t.slug, group.slug, trait.slug] for t in case.stimuli.templates]
            np.testing.assert_allclose(by_template, pairs, atol=1e-4, rtol=1e-4)
            mean = found["", group.slug, trait.slug]
            np.testing.assert_allclose(mean, np.mean(pairs), atol=1e-4, rtol=1e-4)
    assert (scores["reason"] == "").all()
    assert set(scores.loc[scores["template"] == "", "n"]) == {len(case.stimuli.templates)}


def test_changes_match_subword_by_subword(case: AbcCase) -> None:
    words = distinct_words(case.stimuli)
    for template, stored in zip(
        case.stimuli.templates, case.data["templates"].values(), strict=True
    ):
        contexts = [group_context(template, group) for group in case.stimuli.groups]
        by_name = dict(
            zip(stored["groups"], subword_changes(case.lm, contexts, words), strict=True)
        )
        for name, expected in stored["delta_group"].items():
            _assert_changes(by_name[name], words, expected, case.tolerance)
        for prior in PRIORS:
            context = prior_context(template, prior, case.lm)
            found = subword_changes(case.lm, [context], words)[0]
            _assert_changes(found, words, stored[f"delta_prior_{prior}"], case.tolerance)


def test_max_score_takes_the_largest_score_of_a_subword(case: AbcCase) -> None:
    """The expected scores follow from the stored changes of each subword."""
    rows = compute_rows(case, "set", subword="max_score")
    expected = {}
    for template, stored in zip(
        case.stimuli.templates, case.data["templates"].values(), strict=True
    ):
        for group, name in zip(case.stimuli.groups, stored["groups"], strict=True):
            for word, changes in stored["delta_group"][name].items():
                # a stored change of zero stands for the floor 1e-12
                ratio = np.log(np.maximum(stored["delta_prior_mask"][word], 1e-12)) - np.log(
                    np.maximum(changes, 1e-12)
                )
                expected[template.slug, group.slug, word] = ratio.max()
    # The logarithm of small changes magnifies float32 noise, hence a wider tolerance.
    assert_matches(values_by_word(rows), pd.Series(expected), {"atol": 1e-3, "rtol": 1e-3})


def _assert_changes(
    found: np.ndarray, words: tuple[str, ...], expected: dict[str, list[float]], tolerance: dict
) -> None:
    for word, changes in expected.items():
        row = found[words.index(word)]
        np.testing.assert_allclose(row[: len(changes)], changes, **tolerance)
        assert np.isneginf(row[len(changes) :]).all()
