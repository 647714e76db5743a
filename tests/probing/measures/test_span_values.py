"""Perplexity and entropy of a hidden span."""

from __future__ import annotations

import math

import numpy as np
import pytest

from probing.lm.text_protocols import SpanScore
from probing.measures.span_prediction import span_perplexity, span_values, top_entropy


def test_perplexity_is_the_inverse_geometric_mean() -> None:
    # Probabilities 1/2 and 1/8: the geometric mean is 1/4.
    assert span_perplexity(np.log([0.5, 0.125])) == pytest.approx(4.0)
    assert math.isnan(span_perplexity(np.array([])))


def test_entropy_of_equal_spans_is_the_logarithm_of_their_number() -> None:
    assert top_entropy(np.log([0.01] * 5), normalize=True) == pytest.approx(math.log(5))
    # 5 x 0.01 x ln 100 without renormalizing.
    assert top_entropy(np.log([0.01] * 5), normalize=False) == pytest.approx(0.05 * math.log(100))


def test_entropy_by_hand() -> None:
    # 3:1 renormalized to 3/4 and 1/4: -(3/4 ln 3/4 + 1/4 ln 1/4) = 0.562335...
    expected = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    assert top_entropy(np.log([0.3, 0.1]), normalize=True) == pytest.approx(expected)


def test_spans_far_below_what_a_float_holds_have_an_entropy_all_the_same() -> None:
    assert top_entropy(np.array([-2000.0, -2000.0]), normalize=True) == pytest.approx(math.log(2))


def test_a_certain_span_has_no_entropy() -> None:
    assert top_entropy(np.array([0.0]), normalize=True) == 0.0
    assert top_entropy(np.array([0.0, -np.inf]), normalize=True) == 0.0
    assert math.isnan(top_entropy(np.array([]), normalize=True))


def test_what_has_no_value_says_why() -> None:
    nothing = SpanScore(np.array([]), np.array([]), ())
    assert [value[2] for value in span_values(nothing, True)] == [
        "the model scores no token of the span",
        "the model gives no span",
    ]
    impossible = SpanScore(np.array([-np.inf]), np.array([-1.0]), ("a",))
    (_, value, reason, n), _ = span_values(impossible, True)
    assert math.isnan(value)
    assert (reason, n) == ("the model gives no finite probability", 1)
    assert next(iter(span_values("too long", True)))[2:] == ("too long", 0)
