"""Comparison reports: published values, labels, parts, formats, refusals."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import call_command
from django.db.models import F

from annotation.models import Rating, SocialGroup
from evaluation.models import Report, ReportStatus
from evaluation.reports.building import build_report, find_differences
from evaluation.reports.parts.document import Table
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import Chosen
from evaluation.reports.parts.significance_marks import mark
from evaluation.reports.registry import get_kind
from evaluation.reports.requesting import request_report
from probing.models import Run, RunStatus
from tests.evaluation.reports.computing import compute
from tests.evaluation.reports.published import golden_cases, import_published

pytestmark = pytest.mark.django_db
KIND = "alignment_comparison"
FEW = {"resamples": 100, "splits": 100}


@pytest.fixture
def chosen(rated_study, scored_run) -> Chosen:
    return Chosen(study=rated_study(), runs=(scored_run(name="first"), scored_run(name="second")))


@pytest.mark.shared
def test_published_ratings_give_the_golden_values_of_every_run(shared_dir, scored_run):
    """Tables 6 and A11 to A13 in shape; source of the values: human_alignment.json."""
    cases = golden_cases(shared_dir)[:2]
    runs = tuple(
        scored_run(scores=case["scores"], name=f"model {i}") for i, case in enumerate(cases)
    )
    study = import_published(shared_dir)
    _, document = compute(KIND, Chosen(study=study, runs=runs), **FEW)
    overall = document.frames["overall"].set_index("run")
    groups = document.frames["groups"].set_index(["run", "group"])
    for run, case in zip(runs, cases, strict=True):
        close = {"abs": case["tolerance"], "rel": 0}
        row = overall.loc[run.public_id]
        expected = case["overall"]
        for column, name in (
            ("tau", "tau_b_pooled"), ("p_value", "p"), ("mean_group_tau", "mean_of_group_tau_b"),
            ("precision", "p_at_3"),
        ):  # fmt: skip
            assert row[column] == pytest.approx(expected[name], **close)
        for slug, values in case["per_group"].items():
            row = groups.loc[(run.public_id, slug)]
            for column, name in (
                ("tau", "tau_b"), ("p_value", "p"), ("precision_top", "p_at_3_top"),
                ("precision_bottom", "p_at_3_bottom"), ("precision", "p_at_3"),
            ):  # fmt: skip
                assert row[column] == pytest.approx(values[name], **close)
    (tau,) = document.frames["differences"].query("quantity == 'tau'").to_dict("records")
    first, second = (case["overall"]["tau_b_pooled"] for case in cases)
    assert tau["difference"] == pytest.approx(first - second, abs=1e-8)


def test_runs_are_told_apart_by_measure_model_and_number(rated_study, scored_run):
    runs = (scored_run(), scored_run(), scored_run(name="other"))
    _, document = compute(KIND, Chosen(study=rated_study(), runs=runs), **FEW)
    assert list(document.frames["overall"]["run_name"]) == [
        f"SeT, tiny (run {runs[0].pk})",
        f"SeT, tiny (run {runs[1].pk})",
        "SeT, other",
    ]


def test_test_groups_stand_apart_where_pilot_groups_are_named(chosen):
    _, document = compute(KIND, chosen, pilot_groups="man", **FEW)
    parts = document.frames["overall"].groupby("part")["n_groups"].max()
    assert dict(parts) == {"all": 3, "test": 2}
    headings = [key.label for key in document.keys]
    assert headings[:2] == ["Highest τ, all groups", "Highest τ, test groups"]
    assert any("Cite the test groups" in line for line in document.caveats)
    men = f"{SocialGroup.objects.get(slug='man').plural} (pilot)"
    tables = [block for block in document.blocks if isinstance(block, Table)]
    by_group = [table for table in tables if table.columns[0].head == "Group"]
    assert len(by_group) == 3
    assert all(men in [row.cells[0] for row in table.rows] for table in by_group)


@pytest.mark.parametrize(
    ("level", "expected"),
    [(0.95, ["‡", "†", "", ""]), (0.99, ["†", "", "", ""]), (0.8, ["‡", "‡", "‡", "†"])],
)
def test_marks_stand_for_the_level_of_the_report(level, expected):
    """p below 0.05, 0.01 or 0.2; 0.05 itself is not below 0.05."""
    pairs = ((0.005, 0.02), (0.03, 0.06), (0.05, 0.1), (0.1, 0.4))
    assert [mark(*pair, level) for pair in pairs] == expected


def test_a_report_of_99_percent_marks_tests_at_1_percent(chosen):
    _, document = compute(KIND, chosen, level=0.99, **FEW)
    groups = document.frames["groups"].set_index(["group", "run"])
    (table,) = (
        block for block in document.blocks if isinstance(block, Table) and "†" in block.caption
    )
    assert "† p < 0.01; ‡ p < 0.01 after Holm’s correction" in table.caption
    names = {group.plural: group.slug for group in SocialGroup.objects.all()}
    shown = {
        (names[row.cells[0]], run.public_id): cell.lstrip("−0123456789.")
        for row in table.rows
        for run, cell in zip(chosen.runs, row.cells[2:], strict=True)
    }
    assert shown == {
        key: mark(row["p_resampled"], row["p_resampled_holm"], 0.99)
        for key, row in groups.iterrows()
    }


def test_a_group_that_one_run_lacks_stays_for_the_others(rated_study, scored_run):
    scores = {
        group: {trait: float(i) for i, trait in enumerate(traits)}
        for group, traits in _all_scores(scored_run).items()
    }
    few = {slug: row for slug, row in scores.items() if slug != "elderly"}
    runs = (scored_run(scores=scores, name="whole"), scored_run(scores=few, name="part"))
    _, document = compute(KIND, Chosen(study=rated_study(), runs=runs), **FEW)
    overall = document.frames["overall"].set_index("run_name")
    assert (overall.loc["SeT, whole", "n_groups"], overall.loc["SeT, part", "n_groups"]) == (3, 2)
    assert set(document.frames["differences"]["n_groups"]) == {2}
    elderly = SocialGroup.objects.get(slug="elderly").plural
    assert [line for line in document.left_out if line.startswith("SeT, part")] == [
        f"SeT, part × {elderly}: the model has no score for it."
    ]


def _all_scores(scored_run) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for group, trait in (
        scored_run(name="template").scores.filter(template="").values_list("group", "trait")
    ):
        found.setdefault(group, []).append(trait)
    return found


def test_report_is_built_in_every_format_and_verified(chosen):
    asked = request_report(
        kind=KIND, study=chosen.study, runs=chosen.runs, parameters=FEW | {"pilot_groups": "man"}
    )
    report = build_report(report_id=asked.pk)
    assert report is not None
    assert report.status == ReportStatus.FINAL, report.error
    html = bytes(report.files.get(name="report.html").content).decode()
    for text in ("How closely do 2 runs follow people?", "Test groups", "SeT, first minus"):
        assert text in html
    stored = json.loads(bytes(report.files.get(name="report.json").content))
    assert stored
    assert bytes(report.files.get(name="report.pdf").content).startswith(b"%PDF")
    assert get_kind(KIND).headline(report.result).startswith("τ ")
    assert find_differences(report=report) == []


def test_command_line_takes_all_runs_that_score_groups(chosen, scored_run):
    text_run = scored_run(name="text")
    Run.objects.filter(pk=text_run.pk).update(measure="counterpart_generation")
    # People agree on half of the scales, so that their means are more than noise.
    Rating.objects.filter(scale__position__lt=9).update(value=F("value") / 5)
    out = io.StringIO()
    call_command("report", KIND, "--resamples", "100", "--splits", "100", stdout=out)
    assert Report.objects.get().runs.count() == 2
    printed = " ".join(out.getvalue().split())
    assert "SeT, first" in printed
    assert ": SeT, second. Noise taken out)" in printed  # sentences, none of them in mid-line
    # Both runs have the same scores.
    assert "Pairs that differ in τ: – (No pair could be tested.)" in printed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pilot_groups": "man, martian"}, "does not ask about the pilot group “martian”"),
        ({"pilot_groups": "man, man"}, "each of them once"),
        ({"pilot_groups": "man, woman, elderly"}, "none is left to test"),
    ],
)
def test_pilot_groups_that_cannot_be_used_are_named(chosen, options, message):
    with pytest.raises(ReportError, match=message):
        compute(KIND, chosen, **FEW, **options)


def test_one_run_is_too_few_and_an_unfinished_one_waits(rated_study, scored_run):
    study, run = rated_study(), scored_run()
    with pytest.raises(ReportError, match="1 run was chosen, expected at least 2"):
        request_report(kind=KIND, study=study, runs=[run])
    waiting = scored_run(name="slow", status=RunStatus.RUNNING)
    report = request_report(kind=KIND, study=study, runs=[run, waiting])
    assert build_report(report_id=report.pk) is None
