"""How a field of a result is shown. Printed tables, downloads and codebooks derive from it.

    sd: Annotated[float, Shown("sd", 3, meaning="over prompts, ddof 1")]

A report has the table of such records by `evaluation.reports.parts.table.ReportTable.of_rows`.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any


@dataclass(frozen=True)
class Shown:
    """What a column says of its field; an `Estimate` is printed and downloaded with its interval.

    head : as it is printed, with “{…}” for what a report puts in; empty = downloaded only
    decimals : of a number, 0 for counts; None for texts
    name : in the download, by default that of the field; never changed once reports with it exist
    is_p : a p-value, which has three decimals
    effect : an effect or a difference, signed and strong
    n : the column after an estimate’s, of how many observations it rests on; named “n” by default
    reason : name of the column after that, of why an estimate has no value or interval
    no_interval : an estimate is printed and downloaded without its interval
    prefix : before the names of an interval’s ends, and of all that a record in the field shows

    The others are those of `evaluation.reports.parts.table.Column`.
    """

    head: str = ""
    decimals: int | None = None
    _: KW_ONLY
    name: str = ""
    is_p: bool = False
    effect: bool = False
    n: Shown | None = None
    reason: str = ""
    no_interval: bool = False
    interval_head: str = ""
    prefix: str = ""
    whole: bool = False
    signed: bool = False
    scale: float = 1.0
    style: str = ""
    wide: bool = False
    group: str = ""
    meaning: str = ""
    unit: str = ""


def statistic(head: str, decimals: int, n: str, **how: Any) -> Shown:
    """Return how the one estimate of a line is shown: as value, low, high, n and reason.

    n : head of the number of observations
    """
    return Shown(head, decimals, name="value", n=Shown(n), reason="reason", **how)
