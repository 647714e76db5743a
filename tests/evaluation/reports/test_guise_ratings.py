"""Ratings of guises as a report: people alone, and beside models under the same guises."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from annotation.models import Study
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import Chosen
from evaluation.reports.registry import get_kind
from evaluation.reports.requesting import check_request
from probing.measures.guise_stimuli import GuiseText
from tests.annotation.survey.guises import make_guise_study, make_pairs, rate_by_variety
from tests.evaluation.reports.computing import compute
from tests.evaluation.reports.guises import guise_stimuli, made_up_logs, store_guise_run

pytestmark = pytest.mark.django_db

# What writers of AAL are rated above writers of WME, who have 50 on every scale.
ABOVE = {"cold-warm": 20, "poor-wealthy": -20, "traditional-modern": 10, "powerless-powerful": -5}
POLES = [pole for scale in ABOVE for pole in scale.split("-")]


@pytest.fixture
def study(db: None) -> Study:
    """Ten people about six texts each; the odd ones rate both guises two points higher."""
    study = make_guise_study(
        make_pairs(7),
        scales=tuple(ABOVE),
        flow=["rating"] * 6,
        decide_by_checks=True,
    )
    rate_by_variety(
        study,
        people=10,
        rate=lambda number, variety, scale: (
            50 + 2 * (number % 2) + (ABOVE[scale] if variety == "AAL" else 0)
        ),
    )
    return study


def make_run(study: Study, effects: dict[str, float], **options):  # type: ignore[no-untyped-def]
    """Store a run on the study's pairs and two that nobody rated."""
    items = [f"p{number}" for number in range(1, 8)]
    names = [*items, "other-1", "other-2"]
    varieties = options.pop("varieties", ("AAL", "WME"))
    attributes = options.pop("attributes", POLES)
    first, second = (tuple(GuiseText(name, f"{v} {name}") for name in names) for v in varieties)
    stimuli = replace(
        guise_stimuli(attributes, len(names), varieties=varieties), first=first, second=second
    )
    logs = made_up_logs(attributes, len(names), effects, noise=0.01)
    corpus = study.instruments.get().groups.first().text.corpus
    return store_guise_run(stimuli, *logs, corpus=corpus, **options)


def test_people_alone(study: Study) -> None:
    """Both guises of a pair have the same number of odd people or not: at most two points off."""
    report, document = compute("guise_ratings", Chosen(study=study), resamples=200, splits=50)
    table = document.frames["scales"].set_index("scale")
    for scale, above in ABOVE.items():
        row = table.loc[scale]
        assert row.difference == pytest.approx(above, abs=2)
        assert row.low <= row.difference <= row.high
        assert row.difference == pytest.approx(row["first"] - row["second"])
        assert row.n_people == 10
        assert np.sign(row.low) == np.sign(row.high) == np.sign(above)
        assert row.p_holm < 0.05
    assert set(document.frames) == {"scales", "pairs"}
    pairs = document.frames["pairs"]
    mean = pairs[pairs.scale == "cold-warm"].difference.mean()
    assert mean == pytest.approx(table.loc["cold-warm"].difference)
    # Halves of the people agree completely about four scales that lie ten points apart.
    assert report.result["ceiling"]["mean"] == 1
    assert "AAL rather than WME" in document.question


def test_a_model_that_says_the_same_and_one_that_says_the_opposite(study: Study) -> None:
    same = {scale.split("-")[1]: above / 10 for scale, above in ABOVE.items()}
    runs = (
        make_run(study, same, name="same"),
        make_run(study, {pole: -effect for pole, effect in same.items()}, name="opposite"),
    )
    chosen = Chosen(study=study, runs=runs)
    report, document = compute("guise_ratings", chosen, resamples=200, splits=50)
    models = document.frames["models"].set_index("model")
    assert models.tau.to_dict() == {"same": 1, "opposite": -1}
    for without_noise in (models.tau_these_texts, models.tau_other_texts):
        assert without_noise.to_dict() == pytest.approx({"same": 1, "opposite": -1})
    scores = document.frames["model_scales"].set_index(["model", "scale"])
    for scale, above in ABOVE.items():
        # An effect of 1 on ln P is log10(e) on q; 0.01 of noise over 7 pairs and 3 prompts.
        wanted = above / 10 * np.log10(np.e)
        assert scores.score["same", scale] == pytest.approx(wanted, abs=0.01)
        assert scores.score["opposite", scale] == pytest.approx(-wanted, abs=0.01)
    assert any("2 pairs nobody rated" in text for text in document.left_out)
    assert len(report.result["models"]) == 2


def test_a_run_whose_varieties_stand_the_other_way_round(study: Study) -> None:
    same = {scale.split("-")[1]: above / 10 for scale, above in ABOVE.items()}
    run = make_run(study, {p: -e for p, e in same.items()}, varieties=("WME", "AAL"))
    _, document = compute(
        "guise_ratings", Chosen(study=study, runs=(run,)), resamples=100, splits=0
    )
    assert document.frames["models"].tau.tolist() == [1]


def test_scales_without_poles_are_named(study: Study) -> None:
    run = make_run(study, {"warm": 1}, attributes=POLES[:6])
    _, document = compute(
        "guise_ratings", Chosen(study=study, runs=(run,)), resamples=100, splits=0
    )
    assert document.frames["models"].n_scales.tolist() == [3]
    assert any("powerless – powerful has no score" in text for text in document.left_out)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"varieties": ("AAE", "SAE")}, "AAE and SAE.* expected pairs in AAL and WME"),
        ({"attributes": ["kind", "rude"]}, "hold both poles of no scale"),
    ],
)
def test_runs_that_do_not_fit_are_refused(study: Study, options, said: str) -> None:  # type: ignore[no-untyped-def]
    run = make_run(study, {}, **options)
    with pytest.raises(ReportError, match=said):
        compute("guise_ratings", Chosen(study=study, runs=(run,)), resamples=100, splits=0)


def test_a_study_without_accepted_ratings_is_refused(db: None) -> None:
    kind = get_kind("guise_ratings")
    with pytest.raises(ReportError, match="no accepted ratings"):
        check_request(kind, Chosen(study=make_guise_study()), kind.Parameters())
