"""From each page a link goes on: corpus to study, study to run, run to report."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.models import DataDecision, Submission
from probing.models import Run, RunStatus
from tests.annotation.researcher.conftest import log_in
from tests.annotation.studies.people import make_study, make_submission, make_user
from tests.annotation.survey.guises import make_pairs
from tests.composition.test_overview import allow
from tests.probing.conftest import checkpoints  # noqa: F401
from tests.probing.runs.fixtures import bert, make_run  # noqa: F401

pytestmark = pytest.mark.django_db
RUN_FORM, REPORT_FORM = "admin:probing_run_add", "admin:evaluation_report_add"


@pytest.fixture
def root(db: None) -> Client:
    return log_in(User.objects.create_superuser("root"))


def follow(client: Client, page: str, label: str) -> str:
    """Return the address behind a next step of a page."""
    steps = {step.label: step.address for step in client.get(page).context["next_steps"]}
    return steps[label]


def test_a_corpus_leads_to_studies_of_its_texts(root: Client) -> None:
    corpus = make_pairs(3)
    page = reverse("admin:annotation_corpus_overview", args=[corpus.pk])
    for label in (
        "Have counterparts written",
        "Have counterparts judged",
        "Ask people about the speakers",
    ):
        form = root.get(follow(root, page, label)).context["adminform"].form
        assert str(form["corpus"].value()) == str(corpus.pk), label
    run = root.get(follow(root, page, "Ask a language model about the speakers")).context["form"]
    assert run.measure.name == "matched_guise"
    assert str(run["corpus"].value()) == str(corpus.pk)


def test_a_study_leads_to_a_run_with_its_groups_and_scales(root: Client) -> None:
    draft = make_study(launched=False, title="Other")
    study = make_study()
    instrument = study.instruments.get()
    for group in instrument.groups.all()[3:]:
        group.delete()
    for scale in instrument.scales.all()[2:]:
        scale.delete()
    make_study(title="Newest")
    page = reverse("admin:annotation_study_overview", args=[study.pk])
    form = root.get(follow(root, page, "Ask a language model the same")).context["form"]
    assert form["groups"].value() == []
    assert set(form["single_groups"].value()) == set(
        instrument.groups.values_list("slug", flat=True)
    )
    assert form.traits_taken == "2 of 16 pairs"
    assert form.source == study
    of_draft = reverse("admin:annotation_study_overview", args=[draft.pk])
    assert root.get(of_draft).context["next_steps"] == []


def test_the_study_of_somebody_else_fills_in_nothing() -> None:
    study = make_study()
    pat = allow(make_user("pat"), "add_run", "view_run")  # type: ignore[arg-type]
    form = log_in(pat).get(f"{reverse(RUN_FORM)}?study={study.pk}").context["form"]
    assert form.source is None
    assert form["single_groups"].value() == []


def list_kinds(answer: Any) -> list[Any]:
    sections = answer.context["sections"]
    return [offered.kind for _subject, kinds in sections for offered in kinds]


def test_kinds_of_reports_are_those_that_fit_what_one_came_from(root: Client) -> None:
    study = make_study()
    corpus = make_pairs(3)
    make_submission(study)
    Submission.objects.update(data_decision=DataDecision.ACCEPTED)

    def kinds(query: str) -> set[str]:
        answer = root.get(f"{reverse(REPORT_FORM)}?{query}")
        assert answer.status_code == 200
        for kind in list_kinds(answer):
            assert f"{query}&amp;kind={kind.name}" in answer.content.decode()
        return {kind.name for kind in list_kinds(answer)}

    assert {"alignment", "rating_agreement"} <= kinds(f"study={study.pk}")
    assert "dataset" not in kinds(f"study={study.pk}")
    assert "dataset" in kinds(f"corpus={corpus.pk}")
    assert "rating_agreement" not in kinds(f"corpus={corpus.pk}")
    assert kinds("study=99999999") == set()


def test_a_finished_run_leads_to_the_reports_on_it(root: Client, make_run) -> None:  # type: ignore[no-untyped-def] # noqa: F811
    run = make_run()
    page = reverse("admin:probing_run_change", args=[run.pk])
    wanted = f"{reverse(REPORT_FORM)}?runs={run.pk}"
    assert wanted not in root.get(page).content.decode()
    Run.objects.update(status=RunStatus.FINISHED)
    assert wanted in root.get(page).content.decode()
    names = {kind.name for kind in list_kinds(root.get(wanted))}
    assert "alignment" in names
    assert "dataset" not in names
    viewer = log_in(allow(make_user("vera"), "view_run"))  # type: ignore[arg-type]
    assert wanted not in viewer.get(page).content.decode()
