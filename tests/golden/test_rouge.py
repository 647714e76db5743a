"""Rouge against golden/expected/rouge.json, which rouge-score 0.1.2 produced."""

from __future__ import annotations

import json

import pytest

from evaluation.metrics.rouge import rouge_scores

pytestmark = pytest.mark.shared


@pytest.mark.parametrize(("stemming", "key"), [(False, "plain"), (True, "stemmed")])
def test_every_case_matches(shared_dir, stemming, key):
    golden = json.loads((shared_dir / "golden" / "expected" / "rouge.json").read_text())
    cases, tolerance = golden["cases"], golden["header"]["tolerance"]["abs"]
    found = rouge_scores(
        [case["hypothesis"] for case in cases],
        [case["reference"] for case in cases],
        stemming=stemming,
    )
    for i, case in enumerate(cases):
        for kind, expected in case[key].items():
            for name, value in expected.items():
                assert getattr(found[kind], name)[i] == pytest.approx(value, abs=tolerance)
