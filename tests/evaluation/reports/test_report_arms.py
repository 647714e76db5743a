"""Arms in reports: one more filter, and one more dimension that subgroups are compared on."""

from __future__ import annotations

import pytest

from annotation.models import Rating, Study
from evaluation.models import ReportStatus
from evaluation.reports.building import build_report
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import Chosen
from evaluation.reports.parts.rating_inputs import load_people
from evaluation.reports.registry import KINDS, get_kind
from evaluation.reports.requesting import request_report
from tests.evaluation.reports.computing import compute

pytestmark = pytest.mark.django_db
FEW = {"resamples": 100}
ARMS = [
    {"name": "plain", "label": "Plain question"},
    {"name": "asked-twice", "label": "Asked twice"},
]
IN_PLAIN, IN_TWICE = 14, 10


@pytest.fixture
def chosen(rated_study, scored_run) -> Chosen:
    """24 people in two arms, who answered nothing about themselves."""
    study: Study = rated_study(submissions=IN_PLAIN + IN_TWICE)
    study.instruments.update(arms=ARMS)
    for i, submission in enumerate(study.submissions.order_by("pk")):
        submission.arm = "plain" if i < IN_PLAIN else "asked-twice"
        submission.save(update_fields=["arm"])
    return Chosen(study=study, runs=(scored_run(),))


def stored_mean(study: Study, group: str, scale: str, arm: str) -> float:
    values = Rating.objects.filter(
        assignment__submission__study=study,
        assignment__submission__arm=arm,
        assignment__group__slug=group,
        scale__slug=scale,
    ).values_list("value", flat=True)
    return sum(values) / len(values)


def test_subgroup_report_compares_the_arms(chosen):
    """Source of the means: the stored ratings, asked of the database."""
    assert get_kind("alignment_subgroups").fitting_studies(Study.objects.all()).exists()
    _, document = compute("alignment_subgroups", chosen, questions="arm", **FEW)
    found = document.frames["subgroups"].set_index(["question", "answer"])["n_people"]
    assert dict(found) == {
        ("", ""): IN_PLAIN + IN_TWICE,
        ("arm", "Plain question"): IN_PLAIN,
        ("arm", "Asked twice"): IN_TWICE,
    }
    pairs = document.frames["differences"]
    assert [*pairs["quantity"]] == ["tau", "precision"]
    assert {*zip(pairs["first"], pairs["second"], strict=True)} == {
        ("Plain question", "Asked twice")
    }
    means = document.frames["means"].query("question == 'arm' and answer == 'Asked twice'")
    assert len(means) == 3 * 16
    for row in means.to_dict("records"):
        expected = stored_mean(chosen.the_study, row["group"], row["scale"], "asked-twice")
        assert row["n"] == IN_TWICE
        assert row["mean"] == pytest.approx(expected)


def test_who_took_part_counts_the_arms(chosen):
    _, document = compute("alignment", chosen, **FEW)
    table = document.frames["participants"].query("question == 'arm'").set_index("answer")["n"]
    assert dict(table)["Plain question"] == IN_PLAIN


def test_a_report_is_limited_to_one_arm(chosen, django_assert_max_num_queries):
    study = chosen.the_study
    with django_assert_max_num_queries(10):
        people = load_people(study, arm="plain")
    assert people.ratings["submission"].nunique() == IN_PLAIN
    assert people.record["title"] == "Pilot, arm “Plain question”"
    assert people.record["accepted"] == IN_PLAIN
    assert len(load_people(study).ratings) > len(people.ratings)
    for kind in ("alignment", "rating_agreement"):
        runs = chosen.runs if KINDS[kind].runs else ()
        asked = request_report(
            kind=kind, study=study, runs=runs, parameters={"arm": "asked-twice", **FEW}
        )
        report = build_report(report_id=asked.pk)
        assert report is not None
        assert report.status == ReportStatus.FINAL, report.error
        assert report.inputs["study"]["arm"] == "asked-twice"
        assert report.inputs["study"]["ratings"] == IN_TWICE * 3 * 16


def test_without_an_arm_nothing_is_recorded_of_it(chosen):
    record = load_people(chosen.the_study).record
    assert "arm" not in record
    assert record["title"] == "Pilot"


def test_every_kind_on_ratings_takes_an_arm_and_refuses_one_that_is_not_there(chosen):
    taking = [kind.name for kind in KINDS.values() if "arm" in kind.Parameters.model_fields]
    assert set(taking) == {
        "alignment",
        "alignment_comparison",
        "alignment_subgroups",
        "covert_overt_human",
        "guise_ratings",
        "rating_agreement",
        "template_selection",
    }
    with pytest.raises(ReportError, match=r"no arm “none-such”\. Arms: “plain”, “asked-twice”"):
        request_report(
            kind="alignment", study=chosen.study, runs=chosen.runs, parameters={"arm": "none-such"}
        )
