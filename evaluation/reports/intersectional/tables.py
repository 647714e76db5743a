"""The intersectional report's tables as data: numbers as computed, stable names of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import pandas as pd

from evaluation.analyses.emergence_norms import NormAgreement
from evaluation.analyses.intersectional_result import Emergence, IntersectionalResult
from evaluation.reports.cells import to_frame
from evaluation.reports.document import DataTable
from evaluation.reports.intersectional.words import TITLES
from evaluation.reports.score_inputs import TraitName

ORDERS = (
    "pair", "pair_name", "first", "second", "tau_first", "tau_second", "tau_best",
    "tau_reversed", "n_traits", "reason", "reversed_reason",
)  # fmt: skip
SUMMARY = ("component", "mean_tau", "low", "high", "n", "reason", "interval_reason")
DOMAIN_PAIRS = (
    "first_domain", "second_domain", "tau_first", "tau_second", "difference", "low", "high", "n",
    "dominant", "reason", "interval_reason",
)  # fmt: skip
RELATIONS = ("domain", "dominates", "dominated_by")
EMERGENT = (
    "pair", "pair_name", "first", "second", "trait", "dimension", "pole", "adjective", "excess",
    "score", "first_score", "second_score",
)  # fmt: skip


def data_tables(
    result: IntersectionalResult,
    norms: NormAgreement | None,
    names: Mapping[str, str],
    traits: Mapping[str, TraitName],
    *,
    vanishing: Sequence[Emergence] | None = None,
) -> tuple[DataTable, ...]:
    """Return all tables; `emergent` has the scores of the trait pair, positive to its right.

    With `vanishing`, both it and `emergent` have the scores of single adjectives.
    """

    def emergence(entries: Sequence[Emergence]) -> pd.DataFrame:
        return to_frame(
            (
                asdict(entry)
                | {
                    "pair_name": names.get(entry.pair, entry.pair),
                    "dimension": traits[entry.trait].dimension,
                    "adjective": traits[entry.trait].high
                    if entry.pole == "high"
                    else traits[entry.trait].low,
                }
                for entry in entries
            ),
            EMERGENT,
        )

    frames = {
        "order_summary": to_frame(
            (
                {"component": name, "mean_tau": mean.pop("value")} | mean
                for name, mean in asdict(result.summary).items()
            ),
            SUMMARY,
        ),
        "orders": to_frame(
            (asdict(row) | {"pair_name": names.get(row.pair, row.pair)} for row in result.orders),
            ORDERS,
        ),
        "domain_relations": to_frame(
            (
                {
                    "domain": row.domain,
                    "dominates": " ".join(row.dominates),
                    "dominated_by": " ".join(row.dominated_by),
                }
                for row in result.relations
            ),
            RELATIONS,
        ),
        "domain_pairs": to_frame((asdict(row) for row in result.domain_pairs), DOMAIN_PAIRS),
        "emergent": emergence(result.emergent),
    }
    if vanishing is not None:
        frames["vanishing"] = emergence(vanishing)
    if norms is not None:
        row = asdict(norms)
        frames["norms"] = to_frame([row], tuple(row))
    return tuple(DataTable(name, TITLES[name], frame) for name, frame in frames.items())
