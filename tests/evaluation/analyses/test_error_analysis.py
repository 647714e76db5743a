"""Coded errors of a handful of counterparts, every expected value worked out by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from evaluation.analyses.direction_gaps import DirectionOptions
from evaluation.analyses.error_analysis import ANY, Coding, ErrorResult, analyze_errors
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.metrics.undefined import UndefinedReason

CATEGORIES = ("neutralized", "misread")
#        012345678901234
BODY = "one two three 4"  # words at 0–3, 4–7, 8–13, 14–15
ITEMS = pd.DataFrame(
    [
        (1, "p1", "AAL", "m", BODY),
        (2, "p1", "WME", "m", BODY),
        (3, "p2", "AAL", "m", BODY),
        (4, "p2", "WME", "m", BODY),
        (5, "p1", "WME", "human", BODY),
    ],
    columns=["item", "pair", "variety", "producer", "body"],
)
CODINGS = [
    Coding(1, 1, (("misread", 0, 7),)),
    Coding(1, 2, (("misread", 4, 13), ("neutralized", 14, 15))),
    Coding(2, 1),
    Coding(2, 2, (("misread", 0, 3), ("misread", 8, 13))),
    Coding(3, 1, (("neutralized", 0, 3),)),
    Coding(4, 1),
    Coding(5, 1),
]


def analyze(codings=CODINGS, **options):
    return analyze_errors(
        ITEMS, codings, CATEGORIES, options=DirectionOptions(n_resamples=50), **options
    )


def find(records, **wanted):
    found = [r for r in records if all(getattr(r, name) == v for name, v in wanted.items())]
    assert len(found) == 1, wanted
    return found[0]


def test_a_counterpart_counts_by_the_share_of_its_judges():
    result = analyze()
    assert (result.n_items, result.n_codings) == (5, 7)
    misread = find(result.cells, producer="m", variety="AAL", metric="misread")
    assert (misread.estimate.value, misread.estimate.n) == (50, 2)  # 100 % and 0 %
    neutralized = find(result.cells, producer="m", variety="AAL", metric="neutralized")
    assert neutralized.estimate.value == 75  # 50 % and 100 %
    any_error = find(result.cells, producer="m", variety="WME", metric=ANY)
    assert any_error.estimate.value == 25  # 50 % and 0 %
    counts = [find(result.counts, producer="m", variety="WME", category=c).n for c in CATEGORIES]
    assert counts == [0, 2]


def test_gaps_and_contrasts_rest_on_the_same_pairs():
    result = analyze()
    # Any error: p1 100 − 50, p2 100 − 0.
    gap = find(result.gaps, producer="m", metric=ANY)
    assert (gap.estimate.value, gap.estimate.n, gap.test.kind) == (75, 2, "paired")
    contrast = find(result.contrasts, producer="m", variety="WME", metric="misread")
    assert (contrast.estimate.value, contrast.estimate.n) == (50, 1)


def test_counterparts_that_are_all_alike_are_no_certainty():
    """No error in 2 of 2: Wilson's interval is 0 to z² / (n + z²); a difference has none."""
    result = analyze()
    z2 = 1.959964**2
    none = find(result.cells, producer="m", variety="WME", metric="neutralized").estimate
    assert (none.value, none.low) == (0, 0)
    assert none.high == pytest.approx(100 * z2 / (2 + z2), rel=1e-5)
    alike = [
        Coding(item, 1, (("misread", 0, 3),) if item in (1, 3) else ()) for item in (1, 2, 3, 4)
    ]
    gap = find(analyze(alike).gaps, producer="m", metric="misread")
    assert gap.estimate.value == 100
    assert gap.estimate.interval_reason == UndefinedReason.NO_SPREAD


def test_judges_agree_over_the_words_of_what_both_coded():
    result = analyze()
    alpha = find(result.agreement, category="misread").alpha
    # Item 1: marks 1100 and 0110, item 2: 0000 and 1010. Disagreement 2 + 2 of 8 words; 6 marks of
    # 16 values: 1 − 15 · 4 / (6 · 10).
    assert alpha.estimate.value == pytest.approx(1 - 15 * 4 / 60)
    assert (alpha.estimate.n, alpha.n_units, alpha.n_marked) == (2, 8, 6)


def test_characters_weigh_words_by_their_length():
    alpha = find(analyze(unit="character").agreement, category="misread").alpha
    # Characters without blanks: 12 a text. Item 1: one, two against two, three: apart 3 + 5.
    # Item 2: none against one, three: apart 8. Marks 6 + 8 + 8 = 22 of 48 values.
    assert alpha.estimate.value == pytest.approx(1 - 47 * 16 / (22 * 26))
    assert alpha.n_units == 24


def test_coders_of_different_texts_have_no_agreement_but_a_reason():
    alpha = find(analyze(CODINGS[4:]).agreement, category=ANY).alpha
    assert alpha.estimate.reason == UndefinedReason.NO_OUTPUT_TWICE


def test_the_result_survives_storage():
    result = analyze()
    assert to_plain(from_plain(ErrorResult, to_plain(result))) == to_plain(result)


@pytest.mark.parametrize(
    ("codings", "message"),
    [
        ([], "no codings"),
        ([Coding(1, 1), Coding(1, 1)], "coded a counterpart twice"),
        ([Coding(9, 1)], r"no counterparts \[9\]"),
        ([Coding(1, 1, (("rude", 0, 3),))], "no category rude"),
    ],
)
def test_bad_input_is_refused(codings, message):
    with pytest.raises(ValueError, match=message):
        analyze(codings)
