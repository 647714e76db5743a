"""No row of a report on guises has an interval and a p-value that come to different ends."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.reports.parts.document import Document
from evaluation.reports.parts.kind import Chosen
from tests.evaluation.reports import contracts
from tests.evaluation.reports.computing import compute
from tests.evaluation.reports.guises import guise_stimuli, store_guise_run, store_norms
from tests.evaluation.reports.stored_cases import CASES, stopped_clock

pytestmark = pytest.mark.django_db

#: Every kind whose rows have an interval and a p-value.
QUESTIONS = (
    "covert_overt_human",
    "matched_guise",
    "guise_occupations",
    "guise_decisions",
    "guise_features",
    "guise_controls",
    "guise_intelligence",
)
WORDS = ("loud", "lazy", "kind", "musical", "rude", "calm")


def contradictions(document: Document) -> list[str]:
    """Return the rows of all tables whose interval leaves out 0 with p from .05 on, or holds it."""
    found = []
    for name, frame in document.frames.items():
        p = next((column for column in ("p", "p_crossed") if column in frame), "")
        if p and "low" in frame:
            rows = frame.dropna(subset=["low", "high", p])
            apart = (rows["low"] > 0) | (rows["high"] < 0)
            found += [f"{name}: {row}" for row in rows[apart != (rows[p] < 0.05)].values.tolist()]
    return found


def noise(seed: int, n_prompts: int, n_words: int) -> tuple[np.ndarray, np.ndarray]:
    """Return log probabilities that texts, prompts and chance move; small effects of attributes."""
    rng = np.random.default_rng(seed)
    shift = (
        rng.normal(0, 0.15, n_words)
        + rng.normal(0, 0.4, (20, n_words))
        + rng.normal(0, 0.3, (n_prompts, 1, n_words))
        + rng.normal(0, 0.3, (n_prompts, 20, n_words))
    )
    second = np.full(shift.shape, -5.0)
    return second + shift, second


@pytest.mark.parametrize(("n_prompts", "question"), [(3, "these"), (9, "like these")])
@pytest.mark.parametrize("seed", range(3))
def test_interval_and_p_of_random_scores_agree_and_name_their_question(seed, n_prompts, question):
    store_norms()
    stimuli = guise_stimuli(WORDS, 20, n_prompts=n_prompts)
    run = store_guise_run(stimuli, *noise(seed, n_prompts, len(WORDS)))
    options = {"resamples": 200, "permutations": 200}
    _, document = compute("matched_guise", Chosen(runs=(run,)), **options)
    assert contradictions(document) == []
    scores, crossed = document.frames["scores"], document.frames["crossed_effects"]
    assert all(question in text for text in (*scores["question"], *crossed["question"]))
    # Both tables have the same interval and p of an attribute.
    columns = ["low", "high", "p", "p_holm"]
    both = scores.merge(crossed, left_on="attribute", right_on="name", suffixes=("", "_crossed"))
    assert len(both) == len(WORDS)
    left, right = both[columns], both[[f"{name}_crossed" for name in columns]]
    np.testing.assert_allclose(left, right.set_axis(columns, axis=1), rtol=1e-9)


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_kind_has_one_question_a_row(name):
    case = CASES[name]
    with stopped_clock():
        document = contracts.lay_out(contracts.build(case, case.make(), with_files=False))
    assert contradictions(document) == []
    if case.kind == "guise_decisions":  # the difference of rates stands in two tables
        tests, crossed = document.frames["tests"], document.frames["crossed_effects"]
        for column in ("low", "high", "p"):
            np.testing.assert_allclose(tests[column], crossed[column], rtol=1e-9)
    tables = [frame for frame in document.frames.values() if "question" in frame]
    assert tables or "covert_tests" in document.frames
    for frame in tables:
        known = frame.dropna(subset=["p"])
        assert set(known["question"]) <= {"prompts like these", "these prompts"}
