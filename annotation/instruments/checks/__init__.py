"""The attention checks: pure functions over names, words and ratings, and what a failure means."""

from annotation.instruments.checks.group_name import names_group
from annotation.instruments.checks.marked_traits import (
    MarkedRating,
    TraitChoices,
    WordOption,
    build_trait_choices,
)
from annotation.instruments.checks.repeat import RepeatOutcome, judge_repeat
from annotation.instruments.checks.rules import CHECK_RULES, CheckRule
from annotation.instruments.checks.self_agreement import (
    RankAgreement,
    SelfAgreement,
    measure_rank_agreement,
    measure_self_agreement,
)
from annotation.instruments.checks.typed_traits import TypedWord, is_marked
