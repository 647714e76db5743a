"""No printed interval and p-value of one question contradict each other, in any kind of report.

Random data sets of single analyses are in `test_true_tau`, `test_guise_questions`, and
`test_fpr_gaps`.
"""

from __future__ import annotations

import csv
import json

from evaluation.reports.registry import KINDS
from tests.evaluation.reports.contracts import STORED
from tools.coverage.registry import PUBLISHED

#: Lower end of an interval → the p-values that may answer the same question.
SAME_QUESTION = {
    "low": ("p", "p_value"),
    "tau_low": ("p_resampled",),
    "generalizing_low": ("p_generalizing",),
    "noise_free_low": ("p_noise_free",),
    "these_texts_low": ("p_these_texts",),
    "other_texts_low": ("p_other_texts",),
}
#: Tests by chance beside an interval of a value that chance does not put at 0.
OTHER_QUESTIONS = {"intersectional norm_curve p_value"}


def pairs() -> list[tuple[str, str, list[tuple[float, float, float, float]]]]:
    """Read (case, columns, rows of low, high, p, and level) from all stored downloads."""
    found = []
    for path in sorted(STORED.glob("*.expected.json")):
        stored = json.loads(path.with_name(path.name.replace(".expected", "")).read_text())
        kind, level = stored["kind"], float(stored["parameters"].get("level", 0.95))
        for name, table in json.loads(path.read_text())["downloads"].items():
            columns = table["columns"]
            for low, p_values in SAME_QUESTION.items():
                for p in p_values:
                    printed = f"{kind} {name} {p}"
                    if {low, p} <= set(columns) and printed not in PUBLISHED | OTHER_QUESTIONS:
                        rows = [
                            tuple(float(row[column]) for column in (low, f"{low[:-3]}high", p))
                            for row in csv.DictReader(table["csv"])
                            if row[low] and row[p]
                        ]
                        found.append((path.name, printed, [(*row, level) for row in rows]))
    return found


def test_intervals_leave_out_zero_exactly_where_p_is_small():
    tested = set()
    for case, printed, rows in pairs():
        for low, high, p_value, level in rows:
            tested.add(printed.split()[0])
            excluded = low > 0 or high < 0
            assert excluded == (p_value < 1 - level), f"{case}: {printed}: {low} to {high}"
    assert len(tested) > len(KINDS) / 3
