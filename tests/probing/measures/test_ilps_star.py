"""ILPS*: what its golden tests do not cover."""

from __future__ import annotations

import numpy as np

from probing.lm.masked import MaskedLanguageModel
from probing.measures.ilps import IlpsStar, IlpsStarParameters
from probing.measures.stimuli import Stimuli

MEASURE = IlpsStar()


def test_the_score_is_the_difference_of_the_log_probabilities() -> None:
    rows = MEASURE.compare(
        np.array([-2.0, -7.5]), np.array([-3.0, -7.0]), ["poor", "rich"], IlpsStarParameters()
    )
    assert rows["value"].tolist() == [1.0, -0.5]
    assert rows["reason"].tolist() == ["", ""]


def test_probabilities_that_are_not_finite_give_nan_with_a_reason() -> None:
    group = np.array([-np.inf, np.nan, -1.0, -np.inf])
    prior = np.array([-1.0, -1.0, -np.inf, -np.inf])
    rows = MEASURE.compare(group, prior, ["a", "b", "c", "d"], IlpsStarParameters())
    assert rows["value"].isna().all()
    assert (rows["reason"] == "the model gives no finite probability").all()


def test_the_released_renormalization_remarks_on_hyphens_under_wordpiece_only(
    small_stimuli: Stimuli, tiny_bert: MaskedLanguageModel, tiny_roberta: MaskedLanguageModel
) -> None:
    released = IlpsStarParameters(renorm="released")
    (problem,) = MEASURE.problems(small_stimuli, released, tiny_bert)
    assert not problem.fatal
    assert "low-status, high-status" in problem.message
    assert MEASURE.problems(small_stimuli, released, tiny_roberta) == []
    assert MEASURE.problems(small_stimuli, IlpsStarParameters(), tiny_bert) == []
