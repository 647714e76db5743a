"""The attention checks: pure functions over names, words and ratings, and what a failure means."""

from annotation.survey.checks.group_name import names_group
from annotation.survey.checks.marked_traits import (
    MarkedRating,
    TraitChoices,
    WordOption,
    build_trait_choices,
)
from annotation.survey.checks.repeat import RepeatOutcome, judge_repeat
from annotation.survey.checks.rules import CHECK_RULES, CheckRule
from annotation.survey.checks.self_agreement import (
    RankAgreement,
    SelfAgreement,
    measure_rank_agreement,
    measure_self_agreement,
)

__all__ = [
    "CHECK_RULES",
    "CheckRule",
    "MarkedRating",
    "RankAgreement",
    "RepeatOutcome",
    "SelfAgreement",
    "TraitChoices",
    "WordOption",
    "build_trait_choices",
    "judge_repeat",
    "measure_rank_agreement",
    "measure_self_agreement",
    "names_group",
]
