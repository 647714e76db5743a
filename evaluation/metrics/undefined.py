"""Why a number does not exist, in words that a page can show and translate."""

from __future__ import annotations

from enum import StrEnum


class UndefinedReason(StrEnum):
    """A reason for a missing number; the value is the sentence that stands in its place."""

    NONE = ""
    TOO_FEW = "fewer than three scales have both a rating and a score"
    FEW_SCALES = "an interval of one group's order needs at least ten scales"
    FEW_PLACES = "precision of one group rests on the few scales at either end"
    OBSERVED_MEAN = "means over groups have an interval only with the noise of ratings taken out"
    FEW_RATINGS = "an interval of a mean rating needs at least ten ratings"
    HALF_EQUAL = "more than half of the ratings are equal, too many for an interval"
    FEW_SCORES = "fewer than three traits have a score of both groups"
    CONSTANT_FIRST = "all values of the first list are equal"
    CONSTANT_SECOND = "all values of the second list are equal"
    CONSTANT_HUMAN = "people's mean ratings are all equal"
    CONSTANT_MODEL = "the model's scores are all equal"
    FEWER_THAN_K = "there are fewer scales than places to fill"
    NO_RATINGS = "nobody rated it"
    NO_SCORES = "the model has no score for it"
    NO_GROUP = "no group has a value"
    FEW_GROUPS = "an interval for groups like these needs at least five groups"
    NO_CELL_TWICE = "nobody rated the same as another person, so that noise cannot be told apart"
    ALL_NOISE = "people's mean ratings differ no more than chance would make them"
    FEW_PEOPLE_FOR_TAU = (
        "an interval of a value without noise needs at least ten people, and five for each mean"
    )
    MOSTLY_NOISE = (
        "more than half of how people's mean ratings differ is noise, too much for an interval"
    )
    NOISY_DIFFERENCE = "an interval needs mean ratings with a reliability of at least 0.85"
    UNEVEN_SPREAD = (
        "people agree far more on some scales than on others, some of which few people rated: too "
        "uneven for an interval"
    )
    TWO_HUMPS = (
        "people's mean ratings lie near two values with few between them, where no interval is "
        "known to hold"
    )
    UNSTABLE = "without one of the groups there is no value"
    NO_SPREAD_AT_ALL = "nothing varies that an interval could be computed from"
    AT_LIMIT = "a value is at its limit of 1 or -1, where there is no interval"
    NO_GROUP_SCORED = "no group has a score"
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
    FEW_TEXTS = "an interval needs at least 40 texts that two people annotated"
    NO_VARIATION = "all annotations are equal, so that chance agreement is complete"
    NO_UNIT_TWICE = "nothing was rated by two people"
    FEW_RATERS = "too few people for an interval: five for people like these, two for these people"
    FEW_UNITS = (
        "an interval of alpha needs at least 40 units, and of classes 40 outside the commonest"
    )
    FEW_IN_USE = "an interval of alpha of classes needs 80 units outside the commonest class"
    ONE_UNIT = "an interval needs at least two units"
    NO_VALUES = "there is no value"
    NO_PAIR = "no pair has both values"
    ONE_TEXT = "an interval needs values of at least two texts"
    FEW_RESAMPLED = "an interval needs values of at least 40 texts or pairs"
    FEW_FOR_INTERVAL = "an interval needs at least five values"
    NO_WORDS = "there are no words"
    FEW_FOR_TEST = "a test needs at least two values on either side"
    FEW_ON_A_SIDE = "a test of two groups of texts needs at least eight values on either side"
    NO_SPREAD = "a test needs values that differ"
    ONE_TRIAL = "a spread needs at least two trials"
    NO_PERCENTAGE = "a percentage of nothing, or of zero, is not defined"
    NO_NORM = "no attribute has a norm"
    WEIGHT_NOT_POSITIVE = "a weight is zero or below, so that the weighted mean says nothing"
    FEW_FOR_FIT = "a line needs at least three points"
    NO_COUNTS = "there is nothing to count"
    NO_DISCORDANT = "no pair was decided differently"
    NO_STUDY_ATTRIBUTE = "the study names none of the attributes"
    ONE_PROMPT = "a spread over prompts needs at least two of them"
    NO_HARMONIC_MEAN = "precision and recall add up to zero"
    FEW_FOR_SLOPE = "a slope needs at least three texts for each of its parameters"
    NO_SPREAD_OF_X = "a slope needs texts of different density"
    FEW_WITH_FEATURE = "fewer than five pairs have the feature, or fewer than five lack it"
    NO_GOLD_TOXICITY = "no gold counterpart holds a word of the list"
    NO_OUTPUT_TWICE = "no counterpart was coded by two people"
    FEW_CODED = "an interval of alpha needs at least 40 texts that two people coded"
    ALL_ALIKE = "an interval needs values that differ"
