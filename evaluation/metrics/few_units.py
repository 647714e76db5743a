"""How few units are too few for an interval: one rule for every statistic.

Percentiles of resamples of few units are too narrow: of 5 pairs they cover 65 to 79 times in 100
where 95 is meant, of 40 and more 90 to 95 (simulated). Student's t, Wilson's
interval, and jackknives with t hold from five units on; below, a value is printed with the reason
for having no interval. A test of fewer pairs goes through all signs that they could have.
docs/methods/small-samples.md shows what the rule rests on.
"""

from __future__ import annotations

#: Units (groups, pairs, texts) that any interval needs.
LEAST_UNITS = 5
#: Scales that tau of one group, or of one list of scales, needs, left out in turn.
LEAST_SCALES = 10
#: People whose ratings a mean needs.
LEAST_RATINGS = 10
#: Component groups of either domain that a difference between two domains needs.
LEAST_OF_A_DOMAIN = 4
#: Values on either side of a test of two sides.
LEAST_ON_A_SIDE = 8
#: Units that percentiles of resamples need, and alpha.
LEAST_RESAMPLED = 40
#: Units outside the commonest class that alpha of classes needs.
LEAST_IN_USE = 80
#: Annotators that alpha needs to speak of these annotators, and of annotators like these.
LEAST_ANNOTATORS = {"units": 2, "annotators": 5}
#: Prompts with which an interval is for prompts like these; with fewer it is for these prompts.
LEAST_PROMPTS = 6
#: Templates of another label that the spread of a gap over templates needs.
LEAST_TEMPLATES = 10
#: The same for words, of which there are more than groups.
LEAST_TEMPLATES_OF_WORDS = 20
