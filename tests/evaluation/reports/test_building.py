"""Building a report: once, completely, from the stored record, with plain messages."""

from __future__ import annotations

import pytest

from evaluation.models import Report, ReportStatus
from evaluation.reports import building
from evaluation.reports.building import build_report, wake_waiting_reports
from evaluation.reports.parts.document import Document, Table
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.registry import get_kind
from evaluation.reports.requesting import request_report, retry_report
from probing.models import RunStatus

FEW = {"resamples": 200, "splits": 100}

pytestmark = [pytest.mark.slow, pytest.mark.django_db]


def _build(study, run, **parameters) -> Report:
    report = request_report(
        kind="alignment", study=study, runs=[run], parameters={**FEW, **parameters}
    )
    built = build_report(report_id=report.pk)
    assert built is not None
    assert built.status == ReportStatus.FINAL, built.error
    return built


def _document(report: Report) -> Document:
    return get_kind("alignment").document(report, {})


def test_report_waits_for_its_run_and_is_woken_when_it_is_finished(
    rated_study, scored_run, monkeypatch
):
    # The message is recorded instead of sent, since no worker listens in this test.
    woken: list[int] = []
    monkeypatch.setattr(building, "wake_builder", lambda report: woken.append(report.pk))
    run = scored_run(status=RunStatus.RUNNING)
    report = request_report(kind="alignment", study=rated_study(), runs=[run], parameters=FEW)
    assert build_report(report_id=report.pk) is None
    assert wake_waiting_reports() == 0
    run.status = RunStatus.FINISHED
    run.save()
    assert wake_waiting_reports() == 1
    assert woken == [report.pk]


def test_report_of_a_killed_worker_is_freed_for_another(rated_study, scored_run, time_machine):
    report = request_report(
        kind="alignment", study=rated_study(), runs=[scored_run()], parameters=FEW
    )
    time_machine.move_to("2026-01-05 10:00Z")
    Report.objects.filter(pk=report.pk).update(
        status=ReportStatus.BUILDING, started_at="2026-01-05T09:55Z"
    )
    assert wake_waiting_reports() == 0
    time_machine.move_to("2026-01-05 10:06Z")
    assert wake_waiting_reports() == 1
    # Begun while the clock was ahead: nobody waits until that time has come.
    Report.objects.filter(pk=report.pk).update(
        status=ReportStatus.BUILDING, started_at="2026-01-05T13:00Z"
    )
    assert wake_waiting_reports() == 1


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({"resamples": 5}, "resamples"),
        ({"seed": -1}, "seed"),
        ({"color": "red"}, "color"),
        ({"level": 1.5}, "level"),
    ],
)
def test_bad_option_is_named_with_its_value(rated_study, scored_run, parameters, named):
    with pytest.raises(ReportError, match=named):
        request_report(
            kind="alignment", study=rated_study(), runs=[scored_run()], parameters=parameters
        )
    assert not Report.objects.exists()


def test_study_without_accepted_ratings_is_refused(rated_study, scored_run):
    with pytest.raises(ReportError, match="no accepted ratings"):
        request_report(kind="alignment", study=rated_study(submissions=0), runs=[scored_run()])
    assert not Report.objects.exists()


@pytest.mark.parametrize("status", [RunStatus.FAILED, RunStatus.CANCELED])
def test_run_that_will_not_finish_is_refused(rated_study, scored_run, status):
    with pytest.raises(ReportError, match=str(status.label).lower()):
        request_report(kind="alignment", study=rated_study(), runs=[scored_run(status=status)])


def test_study_and_run_without_a_common_group_fail_in_plain_words(rated_study, scored_run):
    run = scored_run(scores={"black": {"cold-warm": 0.1}})
    report = request_report(kind="alignment", study=rated_study(), runs=[run], parameters=FEW)
    built = build_report(report_id=report.pk)
    assert built is not None
    assert built.status == ReportStatus.FAILED
    assert "no group in common" in built.error
    assert not built.files.exists()
    retry_report(report=built)
    built.refresh_from_db()
    assert built.status == ReportStatus.WAITING
    retry_report(report=built)  # the same request twice
    built.refresh_from_db()
    assert built.status == ReportStatus.WAITING


def test_result_that_cannot_be_stored_fails_the_report_and_leaves_nothing(
    rated_study, scored_run, monkeypatch
):
    # No valid input leads there; the version is made longer than its column by hand.
    monkeypatch.setattr(building.settings, "CODE_VERSION", "9" * 61)
    report = Report.objects.create(
        kind="alignment", study=rated_study(), parameters=FEW, title="A question?"
    )
    report.runs.add(scored_run())
    built = build_report(report_id=report.pk)
    assert built is not None
    assert built.status == ReportStatus.FAILED
    assert "code_version" in built.error
    assert built.result is None
    assert not built.files.exists()


def test_longest_model_name_fits_the_title(rated_study, scored_run):
    name = "m" * 160  # the longest that a language model may have
    report = request_report(kind="alignment", study=rated_study(), runs=[scored_run(name=name)])
    assert name in report.title


def test_one_rater_gives_a_report_with_reasons_instead_of_intervals(rated_study, scored_run):
    document = _document(_build(rated_study(submissions=1), scored_run()))
    groups = next(
        block for block in document.blocks if isinstance(block, Table) and block.data == "groups"
    )
    heads = [column.head for column in groups.columns]
    for head in ("Halves", "95 % interval"):
        assert {row.cells[heads.index(head)] for row in groups.rows} == {"–"}
    assert all("one person" in row.note for row in groups.rows)


def test_missing_scores_are_left_out_with_their_reason(rated_study, scored_run):
    traits = ["cold-warm", "poor-wealthy", "dishonest-sincere", "traditional-modern"]
    scores = {"man": dict.fromkeys(traits, 0.5) | {"cold-warm": None}}
    scores["woman"] = {trait: float(place) for place, trait in enumerate(traits)}
    document = _document(_build(rated_study(), scored_run(scores=scores)))
    left_out = " ".join(document.left_out)
    assert "the tokenizer has no piece for it" in left_out or "all equal" in left_out
    assert "elderly" in left_out


def test_simulated_ratings_and_demo_models_are_labeled(rated_study, scored_run):
    study, run = rated_study(), scored_run()
    study.origin = "simulated"
    study.save()
    run.model.is_demo = True
    run.model.save()
    html = _read(_build(study, run), "report.html")
    assert "Simulated data" in html
    assert "Its output means nothing" in html


def test_texts_of_people_are_escaped(rated_study, scored_run):
    study = rated_study(title="<script>alert(1)</script>")
    html = _read(_build(study, scored_run()), "report.html")
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def _read(report: Report, name: str) -> str:
    return bytes(report.files.get(name=name).content).decode()
