"""Numbers and hashes are the same whichever database keeps the rows."""

from __future__ import annotations

import pytest
from django.db import connection

from evaluation.reports.parts.rating_inputs import load_model_scores
from evaluation.reports.parts.score_inputs import load_run_scores
from evaluation.reports.parts.score_words import all_options
from probing.measures.registry import MEASURES
from probing.models import Score
from tests.evaluation.reports.surveys import make_scored_run

SLUGS = ["Zoo", "all", "is-on", "isnt"]


@pytest.mark.services
@pytest.mark.django_db
def test_texts_are_ordered_by_their_code_points() -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:  # where “all” comes before “Zoo”
            cursor.execute('ALTER TABLE probing_score ALTER template TYPE text COLLATE "en-x-icu"')
    run = make_scored_run(scores={"man": {"cold-warm": 1.0}})
    for place, slug in enumerate(reversed(SLUGS)):
        Score.objects.create(
            run=run,
            name="pair_score",
            group="man",
            trait="cold-warm",
            template=slug,
            value=place,
            n=1,
        )
    for frame in (load_model_scores(run).scores, load_run_scores(run).by_template):
        assert [slug for slug in frame["template"] if slug in SLUGS] == SLUGS


def test_options_are_listed_as_the_measure_declares_them() -> None:
    declared = MEASURES["set"].Parameters().model_dump()
    shuffled = dict(sorted(declared.items()))  # as PostgreSQL gives them back, more or less
    assert list(shuffled) != list(declared)
    listed = all_options({"measure": "set", "parameters": shuffled})
    assert listed == all_options({"measure": "set", "parameters": declared})
    kept = {"measure": "measure_of_old", "parameters": {"b": 1, "a": 2}}
    assert all_options(kept) == "b 1, a 2"
