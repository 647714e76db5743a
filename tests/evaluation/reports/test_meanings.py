"""Every number at the head of every kind of report says what it means."""

from __future__ import annotations

from itertools import permutations
from statistics import fmean

import numpy as np
import pytest
from scipy.stats import kendalltau

from evaluation.analyses.noise_ceiling import noise_ceiling
from evaluation.metrics import precision_at_k
from evaluation.reports.parts.meanings import HALVES, PRECISION
from evaluation.reports.registry import KINDS
from tests.evaluation.reports import contracts
from tests.evaluation.reports.stored_cases import CASES

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_number_of_every_stored_report_says_what_it_means(kind: str) -> None:
    labels: list[str] = []
    for name in CASES:
        if not name.startswith(kind):
            continue
        report = contracts.from_stored(contracts.read_json(f"{name}.json"))
        if report.kind == kind:
            keys = KINDS[kind].document(report, {}).keys
            bare = [key.label for key in keys if len(key.meaning) < 40]
            assert not bare
            labels += [key.label for key in keys]
        report.delete()  # the next one has the same public id
    assert labels
    meanings = KINDS[kind].meanings
    seen = {KINDS[kind].meaning_of(label) for label in labels}
    assert len(seen) >= max(1, len(set(meanings.values())) - 1), set(meanings.values()) - seen


def test_precision_means_the_side_on_which_people_put_a_trait() -> None:
    """People put all of five traits above 50, in the reverse of the model's order: top 1, bottom 0.

    Over all orders of five traits of which three lie above 50 the top is right in 3/5, the bottom
    in 2/5: one half on average, whatever their number.
    """
    reverse = precision_at_k([5, 4, 3, 2, 1], [55, 60, 65, 70, 75])
    assert (reverse.top, reverse.bottom) == (1, 0)
    means = [60, 70, 80, 20, 30]
    orders = [precision_at_k(order, means) for order in permutations(range(5))]
    assert fmean(found.top for found in orders) == pytest.approx(3 / 5)
    assert fmean(found.mean for found in orders) == pytest.approx(1 / 2)
    assert "lies on that side" in PRECISION
    assert "chance gives one half" in PRECISION


def test_a_third_score_lies_beyond_two_others_in_two_thirds_by_chance() -> None:
    """Of the six orders of three scores the third is the highest in two, the lowest in two."""
    orders = list(permutations((1, 2, 3)))
    above = sum(third > max(first, second) for first, second, third in orders)
    below = sum(third < min(first, second) for first, second, third in orders)
    assert (above / len(orders), (above + below) / len(orders)) == pytest.approx((1 / 3, 2 / 3))
    for label in ("Scores beyond both components", "Scores above both components"):
        meaning = KINDS["intersectional"].meaning_of(label)
        assert "two thirds would lie beyond both, and one third above both" in meaning


def test_agreement_between_halves_is_no_limit() -> None:
    """A model with everybody's true means, and ten noisy raters: τ with their means is above
    τ between the means of five and five of them."""
    rng = np.random.default_rng(3)
    truth = rng.normal(50, 15, 60)
    values = truth + rng.normal(0, 20, (10, 60))
    ceiling = noise_ceiling(values, n_splits=200, share=0.8, rng=rng)
    assert kendalltau(truth, values.mean(axis=0)).statistic > ceiling.high
    assert "no limit" in HALVES


def test_the_first_label_that_fits_decides() -> None:
    kind = KINDS["guise_ratings"]
    assert kind.meaning_of("τ with people, GPT-2") == kind.meanings["τ with people, …"]
    assert kind.meaning_of("cold – warm") == kind.meanings["…"]
    assert KINDS["alignment"].meaning_of("Something else") == ""
