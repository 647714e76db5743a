"""Agreement of annotators, overall and in parts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from evaluation.analyses.agreement import AgreementOptions, AgreementResult, analyze_agreement
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.metrics.undefined import UndefinedReason

ROWS = [
    # text, source, annotator, body, not interpretable
    ("t1", "tweets", 1, "aaaa", False),
    ("t1", "tweets", 2, "aaab", False),
    ("t1", "tweets", 3, "", True),
    ("t2", "tweets", 1, "bbbb", False),
    ("t2", "tweets", 3, "bbbb", False),
    ("t3", "songs", 2, "cccc", False),
    ("t3", "songs", 3, "ccdd", False),
    ("t4", "songs", 3, "", True),
    ("t4", "songs", 2, "", True),
]


def frame(rows=ROWS):
    return pd.DataFrame(rows, columns=["text", "source", "annotator", "body", "not_interpretable"])


@pytest.fixture(scope="module")
def result():
    return analyze_agreement(frame(), AgreementOptions(n_resamples=200, n_shuffles=50))


def test_overall_by_hand(result):
    # Same text: 1, 0, 2 → D_o = 1. Different texts: t1 × t2 has aaaa 4 and aaab 3 away from each
    # bbbb, twice: 14; t1 × t3 4 each, 16; t2 × t3 4 each, 16. D_e = 46/12.
    assert result.overall.observed == 1
    assert result.overall.expected == pytest.approx(46 / 12)
    assert result.overall.value == pytest.approx(1 - 12 / 46)
    assert (result.n_texts, result.n_counterparts, result.n_not_interpretable) == (4, 6, 3)


def test_each_pair_of_annotators_has_its_own_alpha(result):
    found = {(pair.first, pair.second): pair.alpha for pair in result.pairs}
    assert list(found) == [("1", "2"), ("1", "3"), ("2", "3")]
    # 1 and 3 share t2, where they agree; their other annotations differ from it and one another.
    assert (found["1", "3"].value, found["1", "3"].n_pairs) == (1, 1)
    # 2 and 3: D_o = 2 on t3. Different texts: aaab–cccc 4, aaab–ccdd 4, aaab–bbbb 3, bbbb–cccc 4,
    # bbbb–ccdd 4: D_e = 19/5.
    assert found["2", "3"].value == pytest.approx(1 - 2 * 5 / 19)


def test_each_source_has_its_own_alpha(result):
    found = {source.source: source.alpha for source in result.sources}
    # Tweets: D_o = (1 + 0)/2; D_e = 14/4. Songs: one text alone has no chance agreement.
    assert found["tweets"].value == pytest.approx(1 - 0.5 / 3.5)
    assert found["songs"].reason == UndefinedReason.ONE_ITEM


def test_not_interpretable_is_a_nominal_alpha(result):
    # t1 (0, 0, 1), t2 (0, 0), t3 (0, 0), t4 (1, 1): n_0 = 6, n_1 = 3. Disagreements of t1: two
    # pairs, both orders, weight 1/2: 2. D_o = 2/9, D_e = 2·6·3/(9·8) = 1/2: alpha = 5/9.
    assert result.not_interpretable.value == pytest.approx(5 / 9)


def test_all_definitions_and_the_simulation_are_stated(result):
    stated = {alpha.expected_by: alpha for alpha in result.by_definition}
    assert list(stated) == ["exact", "shuffle", "krippendorff"]
    assert stated["exact"] == result.overall
    # Each pair of annotators shares one text, so that a shuffle changes nothing: D_e = D_o.
    assert stated["shuffle"].value == pytest.approx(0)
    assert result.shuffled is not None
    assert (result.shuffled.mean, result.shuffled.standard_error) == (1, 0)


def test_the_result_survives_storage(result):
    assert to_plain(from_plain(AgreementResult, to_plain(result))) == to_plain(result)


@pytest.mark.parametrize("rows", [[], ROWS[:1]])
def test_too_little_to_agree_on_has_a_reason(rows):
    found = analyze_agreement(frame(rows))
    assert np.isnan(found.overall.value)
    assert found.overall.reason == UndefinedReason.NO_TEXT_TWICE
    assert found.not_interpretable.reason == UndefinedReason.NO_UNIT_TWICE
    assert from_plain(AgreementResult, to_plain(found)).n_texts == len(rows)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="lack the columns body"):
        analyze_agreement(frame().drop(columns="body"))
    with pytest.raises(ValueError, match="annotated a text twice"):
        analyze_agreement(frame([*ROWS, ROWS[0]]))
