"""Why a number does not exist, in words that a page can show and translate."""

from __future__ import annotations

from enum import StrEnum


class Undefined(StrEnum):
    """A reason for a missing number; the value is the sentence that stands in its place."""

    NONE = ""
    TOO_FEW = "fewer than three scales have both a rating and a score"
    FEW_SCORES = "fewer than three traits have a score of both groups"
    CONSTANT_FIRST = "all values of the first list are equal"
    CONSTANT_SECOND = "all values of the second list are equal"
    CONSTANT_HUMAN = "people's mean ratings are all equal"
    CONSTANT_MODEL = "the model's scores are all equal"
    FEWER_THAN_K = "there are fewer scales than places to fill"
    NO_RATINGS = "nobody rated it"
    NO_SCORES = "the model has no score for it"
    NO_GROUP = "no group has a value"
    ONE_RATER = "only one person rated it"
    ONE_COMPLETE_RATER = "fewer than two people rated it on every scale"
    ONE_RATING = "a spread needs at least two ratings"
    NO_ESTIMATE = "there is no estimate to put an interval round"
    FEW_RESAMPLES = "fewer than half of the resamples could be computed"
    NOT_REQUESTED = "it was not asked for"
    FEW_SPLITS = "fewer than half of the split halves could be compared"
    NO_TOXICITY = "no input holds a word of the list"
    NO_TEXT_TWICE = "no text was annotated twice"
    ONE_ITEM = "chance agreement needs annotations of two different texts"
    NO_VARIATION = "all annotations are equal, so that chance agreement is complete"
    NO_UNIT_TWICE = "nothing was rated by two people"
    ONE_UNIT = "an interval needs at least two units"
    NO_VALUES = "there is no value"
    NO_PAIR = "no pair has both values"
    ONE_TEXT = "an interval needs values of at least two texts"
    NO_WORDS = "there are no words"
    FEW_FOR_TEST = "a test needs at least two values on either side"
    NO_SPREAD = "a test needs values that differ"
    ONE_TRIAL = "a spread needs at least two trials"
    NO_PERCENTAGE = "a percentage of nothing, or of zero, is not defined"
    NO_HARMONIC_MEAN = "precision and recall add up to zero"
