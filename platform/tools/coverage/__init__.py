"""The coverage laboratory: how often printed intervals hold what they are about.

A row is a design: it draws studies whose truth is known and computes what a report would print of
them. `registry` says which printed interval and p-value rests on which statistic, and which rows
the statistic has. `make coverage` runs the rows and writes `results.json` and docs/coverage.md;
a few small rows run among the tests.
"""
