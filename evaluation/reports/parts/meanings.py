"""What key numbers mean that several kinds of reports show, in words for newcomers."""

from __future__ import annotations

ORDER = (
    "How alike two orders are, from −1 (opposite) over 0 (no relation) to 1 (the same). Here: "
    "whether the model puts groups and traits in the order in which people put them. Noise in "
    "people’s means is taken out where the line below says so."
)
PRECISION = (
    "Of the traits at either end of the model’s order for a group, the share whose mean rating "
    "lies on that side of the middle of the line, averaged over both ends. 1 is perfect, chance "
    "gives one half."
)
CEILING = (
    "What τ as observed would be if the model knew the true means: these ratings are noisy, so it "
    "is below 1. τ without noise has no such ceiling."
)
HALVES = (
    "How well one half of the people agree with the other half. It is no limit: both halves are "
    "noisy, and a model that knew everybody’s mean would pass it."
)
HOLM_PAIRS = (
    "How many pairs differ by more than chance explains, after correction for the number of "
    "pairs (Holm). The others may differ, but these data do not show it."
)
ALPHA = (
    "Agreement beyond chance: 1 if all agree, 0 if they agree as often as chance would make "
    "them, below 0 if less. On questions of opinion low values are usual."
)
SPAN = (
    "The distance between the largest and the smallest gap of any group: 0.05 means that the "
    "most and the least affected group are five errors in a hundred apart. It is that of the "
    "estimates, noise included: never below 0, and above 0 even where no group differs."
)
BEYOND = (
    "Gaps that are larger than those of words which name no group with a history, such as "
    "“left-handed”. Some lie beyond by chance: compare with the number expected."
)
DELTA = (
    "Strength: the mean score of the attributes that a study found to be the stereotype, "
    "minus that of all other attributes. Above 0 the stereotype goes with the first guise."
)
