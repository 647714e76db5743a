"""Template selection: chosen on pilot groups alone, tested on the others, told apart."""

from __future__ import annotations

import pytest
from django.db.models import Avg
from scipy import stats

from annotation.models import Rating
from evaluation.models import ReportStatus
from evaluation.reports.building import build_report, find_differences
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import Chosen
from evaluation.reports.requesting import request_report
from probing.models import Score
from tests.evaluation.reports.computing import compute

pytestmark = pytest.mark.django_db

GOOD, BAD = "that-group-is-trait", "all-groups-are-trait"
FEW = {"resamples": 100, "splits": 100, "pilot_groups": "man", "annotations": 12}


@pytest.fixture
def chosen(rated_study, scored_run) -> Chosen:
    """One template gives the people's means of men, the other the opposite of them."""
    study, run = rated_study(submissions=12), scored_run()
    scores = Score.objects.filter(run=run, group="man")
    for trait, mean in means(study, "man").items():
        scores.filter(trait=trait, template=GOOD).update(value=mean)
        scores.filter(trait=trait, template=BAD).update(value=-mean)
    return Chosen(study=study, runs=(run,))


def means(study, group) -> dict[str, float]:
    rows = Rating.objects.filter(assignment__submission__study=study, assignment__group__slug=group)
    found = rows.order_by().values("scale__slug").annotate(mean=Avg("value"))
    return {row["scale__slug"]: row["mean"] for row in found}


def expected_tau(chosen: Chosen, groups: list[str]) -> float:
    """Source: scipy.stats.kendalltau over the pooled cells, the good template alone."""
    people, model = [], []
    for group in groups:
        scores = Score.objects.filter(run=chosen.runs[0], group=group, template=GOOD)
        found = dict(scores.values_list("trait", "value"))
        for scale, mean in means(chosen.study, group).items():
            people.append(mean)
            model.append(found[scale])
    return stats.kendalltau(people, model).statistic


def test_best_template_on_the_pilot_is_tested_on_the_other_groups(chosen):
    report, document = compute("template_selection", chosen, **FEW)
    assert report.result["selection"]["chosen"] == [GOOD]
    candidates = document.frames["candidates"]
    assert list(candidates["tau"][:1]) == [1.0]
    # The two cancel each other: their mean is 0 everywhere and has no order.
    assert candidates["reason"].iloc[-1]
    parts = document.frames["alignments"].set_index("part")
    assert parts.loc["pilot", "tau"] == 1.0
    for part, groups in (
        ("test", ["woman", "elderly"]),
        ("overall", ["man", "woman", "elderly"]),
    ):
        assert parts.loc[part, "tau"] == pytest.approx(expected_tau(chosen, groups), abs=1e-12)
        assert parts.loc[part, "n_cells"] == 16 * len(groups)
    groups = document.frames["groups"].set_index("group")
    assert dict(groups["part"]) == {"man": "pilot", "woman": "test", "elderly": "test"}
    assert "[group]" in document.keys[0].lines[0]


def test_report_is_built_with_all_files_and_verified(chosen):
    asked = request_report(
        kind="template_selection", study=chosen.study, runs=chosen.runs, parameters=FEW
    )
    report = build_report(report_id=asked.pk)
    assert report is not None
    assert report.status == ReportStatus.FINAL, report.error
    html = bytes(report.files.get(name="report.html").content).decode()
    for text in ("Test groups", "Which templates suit tiny best?", "That [group] is [adjective]."):
        assert text in html
    assert find_differences(report=report) == []


@pytest.mark.parametrize(
    ("pilot", "named"),
    [
        ("man, martian", "does not ask about the pilot group “martian”"),
        (",", "expected at least one slug"),
        ("man, man", "each of them once"),
        ("man, woman, elderly", "none is left to test"),
    ],
)
def test_pilot_groups_that_cannot_be_used_are_named(chosen, pilot, named):
    with pytest.raises(ReportError, match=named):
        compute("template_selection", chosen, **{**FEW, "pilot_groups": pilot})


def test_run_with_one_template_leaves_nothing_to_choose(chosen):
    run = chosen.runs[0]
    run.stimuli["templates"] = run.stimuli["templates"][:1]
    run.save()
    with pytest.raises(ReportError, match="1 template, so there is nothing to choose"):
        compute("template_selection", chosen, **FEW)
