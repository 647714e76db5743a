"""How few units are too few for an interval: one rule for every statistic.

Percentiles of resamples of few units are too narrow: of 5 pairs they cover 65 to 79 times in 100
where 95 is meant, of 40 and more 90 to 95 (simulated). Student's t, Wilson's
interval, and jackknives with t hold from five units on; below, a value is printed with the reason
for having no interval.
"""

from __future__ import annotations

#: Units (groups, pairs, texts, prompts) that any interval needs.
LEAST_UNITS = 5
#: Units that percentiles of resamples need.
LEAST_RESAMPLED = 40
