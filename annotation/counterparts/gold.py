"""Turns what a study decided into gold pairs of its corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from annotation.corpora.gold_pairs import GoldItem, GoldResult, add_gold_pairs
from annotation.counterparts.adjudication import Case, CaseState, load_cases
from annotation.models import Study, Text, WritingDesign
from annotation.studies.lifecycle import lock_study


@dataclass(frozen=True)
class Gold:
    """What can be published, and how many texts cannot, by why."""

    pairs: Sequence[tuple[Text, str]]
    not_interpretable: int
    undecided: int
    waiting: int


def collect_gold(cases: Sequence[Case]) -> Gold:
    """Return the gold counterparts as they stand: decided, identical, or one annotator's own."""
    states = Counter(case.state for case in cases)
    settled = [(case.text, case.body) for case in cases if case.body is not None]
    return Gold(
        pairs=[(text, body) for text, body in settled if body],
        not_interpretable=sum(not body for _text, body in settled),
        undecided=states[CaseState.DIFFERS],
        waiting=states[CaseState.WAITING],
    )


@transaction.atomic
def publish_gold(*, study: Study, published_by: AbstractBaseUser | None = None) -> GoldResult:
    """Store the gold counterparts as pairs of the corpus; returns what became of every text.

    Publishing again brings the pairs to where the study stands now: a pair whose decision was
    undone goes. Raises `ValidationError` where nothing is there to publish.
    """
    study = lock_study(study)
    cases = load_cases(study)
    if not collect_gold(cases).pairs:
        raise ValidationError(
            _("There is nothing to publish yet: no text has its gold counterpart.")
        )
    return add_gold_pairs(
        corpus=WritingDesign.objects.select_related("corpus").get(study=study).corpus,
        study=study,
        items=[GoldItem(case.text, case.body or "") for case in cases],
        user=published_by,
    )
