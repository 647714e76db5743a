"""The report on intelligence, with contrasts and shares by hand."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import Chosen
from tests.evaluation.reports.computing import compute
from tests.evaluation.reports.guises import guise_stimuli, made_up_logs, store_guise_run

pytestmark = pytest.mark.django_db

FEW = {"resamples": 200}
WORDS = ("intelligent", "smart", "stupid", "kind")


def test_adjectives_and_the_iq_are_set_against_each_other():
    """By hand: half of the effects on intelligent and smart less that on stupid, in base 10; the
    share of 130 is P(130) / (P(70) + P(130)).
    """
    logs = made_up_logs(WORDS, 20, {"stupid": 0.6, "smart": -0.2}, noise=0.05)
    traits = store_guise_run(guise_stimuli(WORDS, 20), *logs)
    values = made_up_logs(("70", "130"), 20, {"70": 0.5}, noise=0.05)
    iq = store_guise_run(guise_stimuli(("70", "130"), 20, purpose="intelligence"), *values)
    _, document = compute("guise_intelligence", Chosen(runs=(traits, iq)), **FEW)
    lines = document.frames["intelligence"].set_index("part")
    assert lines.loc["adjectives", "effect"] == pytest.approx(-0.7 / np.log(10), abs=0.02)
    assert lines.loc["adjectives", "high"] < 0
    shares = [1 / (1 + np.exp(side[..., 0] - side[..., 1])) for side in values]
    expected = (shares[0] - shares[1]).mean()
    assert lines.loc["IQ", "effect"] == pytest.approx(expected, abs=1e-5)
    assert lines.loc["IQ", "name"] == "share on 130 rather than 70"
    assert lines.loc["IQ", "p"] < 0.05
    by_prompt = document.frames["shares"]
    np.testing.assert_allclose(by_prompt["first"], shares[0].mean(axis=1), atol=1e-5)
    assert set(document.frames["crossed_effects"]["name"]) == {"intelligent", "smart", "stupid"}


def test_runs_without_such_attributes_are_refused():
    kind = store_guise_run(guise_stimuli(("kind", "lazy"), 4), *made_up_logs(("a", "b"), 4, {}))
    with pytest.raises(ReportError, match="lacks adjectives on intelligence"):
        compute("guise_intelligence", Chosen(runs=(kind,)), **FEW)
    words = guise_stimuli(("low", "high"), 4, purpose="intelligence")
    iq = store_guise_run(words, *made_up_logs(("low", "high"), 4, {}))
    with pytest.raises(ReportError, match="such as “iq-70-130”"):
        compute("guise_intelligence", Chosen(runs=(iq,)), **FEW)
