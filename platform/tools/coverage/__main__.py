"""Run rows of the laboratory and write down what they show; see `python -m tools.coverage --help`.

Results are stored row by row; a row with results of this seed and size is not run again, so that an
interrupted run goes on where it was. After a change of a method its rows are run with `--again`.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict

from stereoscope.version import find_code_version
from tools.coverage import page
from tools.coverage.registry import MODULES, rows_of
from tools.coverage.rows import measure


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.coverage", description=__doc__)
    parser.add_argument("--data-sets", type=int, default=500, help="studies a row (500)")
    parser.add_argument("--seed", type=int, default=20261125)
    parser.add_argument("--only", default="", help="rows whose name or statistic contains this")
    parser.add_argument("--again", action="store_true", help="also rows that have results")
    parser.add_argument("--page", action="store_true", help="write docs/coverage.md alone")
    chosen = parser.parse_args()
    key = {"seed": chosen.seed, "data_sets": chosen.data_sets}
    version = {"version": find_code_version(page.ROOT)}
    for module in () if chosen.page else MODULES:
        stored = page.read_results(module)
        for row in rows_of(module):
            if not any(chosen.only in text for text in (row.name, *row.statistics)):
                continue
            known = [stored.get((name, row.name), {}) for name in row.statistics]
            if not chosen.again and all(one.items() >= key.items() for one in known):
                continue
            for found in measure(row, chosen.data_sets, chosen.seed):
                stored[found.statistic, row.name] = asdict(found) | key | version
                missed = found.misses(row.most_bias)
                line = f"{found.statistic}: {row.name}: {found.coverage} % {missed}"
                sys.stdout.write(f"{line.rstrip()}\n")
                sys.stdout.flush()
            page.write_results(module, stored)
    page.write()


if __name__ == "__main__":
    main()
