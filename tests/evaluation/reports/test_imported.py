"""What was made elsewhere gives the reports that our own runs give, bit for bit, and says so."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from annotation.common.tables import stream_csv
from annotation.exports.judgments import build_judgment_table
from annotation.imports.import_kind import ImportRequest, import_file, import_kinds
from annotation.judgments.error_coding import parse_scheme, write_scheme
from annotation.models import Origin, Study
from evaluation.reports.parts.kind import Chosen
from evaluation.reports.registry import get_kind
from evaluation.reports.requesting import parse_parameters
from probing.admin.run_downloads import stream_scores
from probing.models import Run
from tests.evaluation.reports import contracts
from tests.evaluation.reports.stored_cases import CASES, Case, Inputs, stopped_clock
from tests.evaluation.reports.stored_cases.texts import make_judgments

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

KINDS = {"counterpart_generation": "counterparts", "span_prediction": "spans"}
OBTAINED = "From the authors of Somebody (2020), on 3 March."


def compute(case: Case, inputs: Inputs) -> Any:
    kind = get_kind(case.kind)
    parameters = parse_parameters(kind, case.parameters)
    chosen = Chosen(study=inputs.study, corpus=inputs.corpus, runs=inputs.runs)
    with stopped_clock():
        return kind.compute(kind.load(chosen, parameters), parameters)


def again(run: Run) -> Run:
    """Return a run as it is exported and imported again."""
    content = b"".join(stream_scores(run).streaming_content)  # type: ignore[arg-type]
    options = {"obtained": OBTAINED, "revision": run.model_revision}
    if run.corpus:
        options["corpus"] = run.corpus.public_id
    request = ImportRequest(content, f"run-{run.pk}.csv", options)
    done, plan = import_file(import_kinds()[KINDS.get(run.measure, "scores")], request)
    assert plan.warnings == ()
    return Run.objects.get(public_id=done.public_id)


@pytest.mark.parametrize(
    "name",
    [
        "alignment",
        "alignment-mention",
        "alignment-missing",
        "alignment_comparison",
        "alignment_subgroups",
        "intersectional",
        "markedness",
        "markedness-missing",
        "template_selection",
        "spans",
        "counterparts-plain",
    ],
)
def test_a_run_that_is_exported_and_imported_gives_the_same_report(name):
    case = CASES[name]
    with stopped_clock():
        inputs = case.make()
    own = compute(case, inputs)
    runs = tuple(again(run) for run in inputs.runs)
    for run, origin in zip(runs, inputs.runs, strict=True):
        assert (run.is_imported, run.obtained) == (True, OBTAINED)
        assert (run.measure, run.model) == (origin.measure, origin.model)
        assert run.pk != origin.pk
    found = json.dumps(compute(case, Inputs(inputs.study, inputs.corpus, runs)), sort_keys=True)
    for run, origin in zip(runs, inputs.runs, strict=True):  # a comparison names its runs
        found = found.replace(run.public_id, origin.public_id)
    assert found == json.dumps(own, sort_keys=True)
    # The report says where its numbers come from, before the first of them.
    report = contracts.build(case, Inputs(inputs.study, inputs.corpus, runs), with_files=False)
    document = get_kind(case.kind).document(report, {})
    assert any("Imported" in text and OBTAINED in text for text in document.banners)


@pytest.mark.parametrize("name", ["judgments", "judgments-errors", "judgments-own-errors"])
def test_judgments_that_are_exported_and_imported_give_the_same_report(name):
    own_scheme = [{"slug": "misread", "name": "Misread", "meaning": "Misses it."}]
    case = CASES.get(name) or replace(
        CASES["judgments-errors"], make=lambda: make_judgments(overlap=100, error_scheme=own_scheme)
    )
    with stopped_clock():
        inputs = case.make()
    study = inputs.study
    assert study is not None
    own = compute(case, inputs)
    content = b"".join(stream_csv(build_judgment_table(study)))
    options = {
        "title": study.title,
        "corpus": study.judging.corpus.public_id,
        "obtained": OBTAINED,
        "scheme": write_scheme(parse_scheme(study.judging.error_scheme)) if "own" in name else "",
    }
    done, plan = import_file(
        import_kinds()["judgments"], ImportRequest(content, "judgments.csv", options)
    )
    assert (plan.problems, plan.warnings) == ((), ())
    imported = Study.objects.get(public_id=done.public_id)
    assert (imported.origin, imported.pk == study.pk) == (Origin.IMPORTED, False)
    assert compute(case, Inputs(imported)) == own
    report = contracts.build(case, Inputs(imported), with_files=False)
    document = get_kind(case.kind).document(report, {})
    assert any("Imported" in text and OBTAINED in text for text in document.banners)
