"""The attention checks' rules: pure functions over names, words and ratings."""

from annotation.survey.checks.group_name import names_group
from annotation.survey.checks.marked_traits import (
    MarkedRating,
    TraitChoices,
    WordOption,
    build_trait_choices,
)
from annotation.survey.checks.self_agreement import SelfAgreement, measure_self_agreement

__all__ = [
    "MarkedRating",
    "SelfAgreement",
    "TraitChoices",
    "WordOption",
    "build_trait_choices",
    "measure_self_agreement",
    "names_group",
]
