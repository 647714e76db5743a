"""What people left out, by group, in the report on the agreement of raters."""

from __future__ import annotations

import pytest

from annotation.models import GroupAssignment, MissingRating, Rating, TraitScale
from evaluation.reports.parts.kind import Chosen
from evaluation.reports.parts.rating_inputs import left_out_in_review
from tests.evaluation.reports.computing import compute, rows_of
from tests.evaluation.reports.surveys import make_rated_study

pytestmark = pytest.mark.django_db


def test_report_gives_the_share_of_people_who_left_out_a_group_with_its_interval() -> None:
    study = make_rated_study(submissions=10)
    chosen = Chosen(study=study, corpus=None, runs=())
    _report, document = compute("rating_agreement", chosen, resamples=100, splits=0)
    assert "What people left out" not in [section.heading for section in document.sections]
    asked = GroupAssignment.objects.filter(submission__study=study, group__slug="woman")
    first, second = asked.order_by("pk")[:2]
    Rating.objects.filter(assignment=first).delete()
    GroupAssignment.objects.filter(pk=first.pk).update(skipped="declined")
    for scale in TraitScale.objects.filter(instrument__study=study):
        MissingRating.objects.create(assignment=first, scale=scale, kind="declined")
    single = second.ratings.order_by("pk")[0]
    single.delete()
    MissingRating.objects.create(assignment=second, scale=single.scale, kind="unknown")
    _report, document = compute("rating_agreement", chosen, resamples=100, splits=0)
    assert document.sections[0].heading == "What people left out"
    (row,) = rows_of(document, "left_out")
    assert (row["group"], row["asked"], row["lines"]) == ("woman", "10", "1")
    assert (float(row["declined"]), float(row["unknown"])) == (0.1, 0)
    # Wilson (1927) at 0 of n: the upper end is z^2 / (n + z^2), z = 1.959964 for 95 %.
    assert float(row["unknown_high"]) == pytest.approx(1.959964**2 / (10 + 1.959964**2), abs=1e-6)


@pytest.mark.parametrize(
    ("finished", "accepted", "excluded", "line"),
    [
        (9, 9, 0, ()),
        (9, 6, 3, ("3 of 9 finished submissions: 3 excluded in the review. The rest counts.",)),
        (
            9, 5, 3,
            ("4 of 9 finished submissions: 3 excluded in the review and 1 not accepted. "
             "The rest counts.",),
        ),
        (9, 8, 0, ("1 of 9 finished submissions: 1 not accepted. The rest counts.",)),
    ],
)  # fmt: skip
def test_reports_on_ratings_say_who_was_left_out_by_which_rule(finished, accepted, excluded, line):
    study = {"finished": finished, "accepted": accepted, "excluded": excluded}
    assert left_out_in_review(study) == line
