"""The inputs of the stored reports, made of real rows that are the same on every call.

Stored reports were built on these inputs. Whoever changes what a case, or a
maker that it calls, puts into the database makes the contract fail for the wrong reason: give the
maker an option, or add a case. What the database would draw by chance and a report keeps (public
ids, numbers of runs, seeds, months of work) is fixed here.
"""

from tests.evaluation.reports.stored_cases import (
    alignment,
    guises,
    paired_groups,
    predictions,
    texts,
)
from tests.evaluation.reports.stored_cases.case import Case, Inputs, stopped_clock

__all__ = ["CASES", "Case", "Inputs", "stopped_clock"]

# The first case of a kind has its name; others say after a hyphen what they have besides.
CASES: dict[str, Case] = {
    **alignment.CASES,
    **paired_groups.CASES,
    **texts.CASES,
    **guises.CASES,
    **predictions.CASES,
}
