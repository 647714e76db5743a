"""The plain way of SeT and ILPS* is right, so that beating it means something."""

from __future__ import annotations

from pathlib import Path

import pytest

from probing.measures.slot_measure import distinct_words, group_context, prior_context
from tests.golden.abc_cases import load_case
from tools.bench.plain_slots import PlainModel, Sentence, squish
from tools.bench.slot_checkpoint import Size, make_stimuli
from tools.bench.slot_measures import run


@pytest.mark.parametrize(
    ("logits", "target", "expected"),
    [
        # u = (3, 1): m = 3/2 is above 1, so the second rival stays: 9/4 + 9/4.
        ([0.0, 2.0, 0.0], 0, 4.5),
        # u = (3, 2): m = 5/3 is below 2, both are lowered: 25/9 + 16/9 + 1/9.
        ([0.0, 2.0, 1.0], 0, 42 / 9),
        # Two that tie: one up by a half, the other down by a half.
        ([5.0, 5.0, 0.0], 1, 0.5),
        # Wins already.
        ([3.0, 1.0], 0, 0.0),
    ],
)
def test_column_squishing_by_hand(logits: list[float], target: int, expected: float) -> None:
    assert squish(logits, target) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.shared
def test_the_plain_way_gives_the_golden_values(shared_dir: Path) -> None:
    """Some cells of golden/expected/abc_paper_bert.json, from an independent implementation."""
    case = load_case(shared_dir, "paper", "bert")
    plain = PlainModel(case.lm._model, case.lm.tokenizer._tokenizer)
    golden = {name: case.expected(("prior_mask", name)).iloc[::23] for name in ("set", "ilps_star")}
    ways = {"set": plain.sensitivity, "ilps_star": plain.ilps_star}
    compared = 0
    for name, expected in golden.items():
        for (template_slug, group_slug, word), value in expected.items():
            template = case.stimuli.template(template_slug)
            if not template.parsed.group_first:
                continue  # the plain way knows priors before the adjective only
            group = group_context(template, case.stimuli.group(group_slug))
            prior = prior_context(template, "mask", case.lm)
            found = ways[name](
                Sentence(group.before, group.after), Sentence(prior.before, prior.after), word
            )
            assert found.value == pytest.approx(value, rel=1e-4, abs=1e-4)
            compared += 1
    assert compared > 20


def test_about_a_third_of_the_adjectives_take_several_pieces() -> None:
    from tools.bench.slot_checkpoint import PIECES

    words = distinct_words(make_stimuli(2))
    assert len(words) == 32
    assert set(PIECES) <= set(words)
    assert 0.3 < len(PIECES) / len(words) < 0.37


@pytest.mark.slow
def test_a_small_run_compares_every_way_and_they_agree() -> None:
    rows = run(Size(layers=2, hidden=32, heads=2, vocabulary=1_000, groups=2), threads=1)
    figures = {name: value for row in rows for name, value in row.figures.items()}
    assert len(rows) == 2 + 1 + 2 + 2 + 2
    for row in rows:
        assert row.seconds > 0
        assert 0 < row.measured <= row.of
    for numbers, limit in (("float32", 1e-4), ("float64", 1e-6)):
        for name in ("delta", "logprob"):
            assert figures[f"largest relative difference of {name}, {numbers}"] < limit
    assert figures["largest relative difference of a score, float64"] < 1e-6
    assert figures["share of the bare pass"] > 0
