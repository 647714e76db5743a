"""Direct ratings on the form, the run's page, the command line, over HTTP, and beside people."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.models import DemographicAnswer, Study
from evaluation.reports.parts.kind import Chosen
from probing.models import LanguageModel, Run, RunStatus
from probing.runs.creation import create_run
from probing.runs.language_models import register_model
from probing.runs.stimuli_loading import StimuliChoice, run_request
from probing.runs.worker import work
from tests.evaluation.reports.computing import compute
from tests.evaluation.reports.surveys import make_rated_study, make_scored_run
from tests.probing.lm.tiny_chat import NUMBERS, make_tiny_chat
from tests.probing.runs.fixtures import one_thread  # noqa: F401

pytestmark = [pytest.mark.django_db, pytest.mark.shared]

ADD = reverse("admin:probing_run_add") + "?measure=direct_rating"
FEW = {"resamples": 100, "splits": 100}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    likely = dict.fromkeys(NUMBERS, 6.0)
    return make_tiny_chat(tmp_path_factory.mktemp("rating") / "tiny", likely=likely)


@pytest.fixture
def model(folder: Path) -> LanguageModel:
    return register_model(location=str(folder), name="tiny chat")


@pytest.fixture
def study() -> Study:
    return make_rated_study()


@pytest.fixture
def rated(model: LanguageModel, study: Study) -> Run:
    asked = run_request(
        measure="direct_rating",
        model=model,
        choice=StimuliChoice(study=study),
        seed=0,
        parameters={},
    )
    run = create_run(**asked, seed=0, created_by=None)
    work(worker="w", run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED, run.error
    return run


def asked(model: LanguageModel, study: Study | None, **changes: Any) -> dict[str, Any]:
    return {
        "model": model.pk,
        "study": study.pk if study else "",
        "seed": "0",
        "parameter_answers": "4",
        "parameter_prompting": "auto",
        "parameter_thinking_tokens": "0",
        "parameter_reading": "expected",
        "parameter_other_scales": "unread",
        "parameter_temperature": "1",
        "parameter_max_new_tokens": "8",
        "parameter_least_mass": "0.01",
        "parameter_system_message": "",
        "parameter_opening": "",
        "parameter_scale_text": "{first_number} is {first_word}, {second_number} {second_word}.",
        "parameter_answer_text": "Answer with a number.",
        "parameter_groups_per_shard": "1",
        **changes,
    }


def test_a_run_is_tried_created_and_read_on_its_pages(
    client: Client, study: Study, model: LanguageModel
) -> None:
    client.force_login(User.objects.create_superuser("alice"))
    assert "Its question, groups and scales are asked" in client.get(ADD).text
    tried = client.post(ADD, {**asked(model, study), "preview": ""}).text
    # 3 groups × 16 scales × 4 wordings, and one pass each: numbers are single tokens.
    assert "192" in tried
    assert "powerless" in tried
    assert not Run.objects.exists()
    chosen = asked(model, study, groups=["man", "woman"], traits=["cold-warm"])
    client.post(ADD, {**chosen, "create": ""})
    run = Run.objects.get()
    work(worker="w", run=run)
    page = client.get(reverse("admin:probing_run_change", args=[run.pk])).text
    for shown in (
        "How do people in America view {group}?",
        "2 groups, 1 trait pair",
        "cold – warm",
    ):
        assert shown in page
    file = client.get(reverse("admin:probing_run_scores", args=[run.pk]))
    rows = list(csv.DictReader(StringIO(file.getvalue().decode())))
    assert {row["access"] for row in rows} == {"full"}
    assert {row["name"] for row in rows} == {"pair_score", "rating", "wording_sd"}


def test_the_form_says_what_to_enter(client: Client, study: Study, model: LanguageModel) -> None:
    client.force_login(User.objects.create_superuser("alice"))
    for changes, message in (
        ({"study": ""}, "This field is required"),
        ({"parameter_scale_text": "0 to 100"}, "expected a text with {first_number}"),
        ({"study": "999999"}, "Select a valid choice"),
    ):
        assert message in client.post(ADD, {**asked(model, study), **changes, "create": ""}).text
    assert not Run.objects.exists()


def test_an_outsider_is_not_offered_the_study(
    client: Client, study: Study, model: LanguageModel
) -> None:
    from django.contrib.auth.models import Permission

    charlie = User.objects.create_user("charlie", is_staff=True)
    charlie.user_permissions.set(Permission.objects.filter(content_type__app_label="probing"))
    client.force_login(charlie)
    page = client.post(ADD, {**asked(model, study), "create": ""}).text
    assert "There is no study that you may use" in page
    body = {"measure": "direct_rating", "model": model.public_id, "study": study.public_id}
    answer = client.post("/api/v1/runs/", body, content_type="application/json")
    assert answer.status_code == 400
    assert "that you may see" in answer.text
    assert not Run.objects.exists()


def test_a_run_is_created_over_http(client: Client, study: Study, model: LanguageModel) -> None:
    client.force_login(User.objects.create_superuser("alice"))
    body = {
        "measure": "direct_rating",
        "model": model.public_id,
        "study": study.public_id,
        "groups": ["man"],
        "traits": ["cold-warm"],
        "parameters": {"answers": 4},
    }
    tried = client.post("/api/v1/runs/dry-run/", body, content_type="application/json").json()
    assert tried["cost"]["forward_passes"] == 4
    created = client.post("/api/v1/runs/", body, content_type="application/json")
    assert created.status_code == 201, created.content
    run = Run.objects.get()
    work(worker="w", run=run)
    scores = client.get(f"/api/v1/runs/{run.public_id}/scores/?name=rating").json()["results"]
    assert [(row["group"], row["trait"], row["access"]) for row in scores] == [
        ("man", "cold-warm", "full")
    ]
    assert 0 <= scores[0]["value"] <= 100


def test_the_command_asks_a_study(
    study: Study, model: LanguageModel, capsys: pytest.CaptureFixture[str]
) -> None:
    common = ("probe", "--measure", "direct_rating", "--model", "tiny chat", "--local")
    few = ("--groups", "man", "--traits", "cold-warm", "--param", "answers=4")
    call_command(*common, "--study", "Pilot", *few, "--dry-run")
    assert "1 group, 1 trait, the question of “Pilot”: 1 shard, 4" in capsys.readouterr().out
    call_command(*common, "--study", "Pilot", *few)
    out = capsys.readouterr().out
    assert "Access: full." in out
    assert "scores stored" in out
    with pytest.raises(CommandError, match="There is no study “None such”, expected one of"):
        call_command(*common, "--study", "None such")
    with pytest.raises(CommandError, match="Choose a study of group ratings"):
        call_command(*common)


def test_a_run_without_any_number_says_so_first_and_is_not_called_finished(
    study: Study, tmp_path: Path
) -> None:
    words = make_tiny_chat(tmp_path / "words", words=["never"], likely={" never": 60.0})
    out = StringIO()
    call_command(
        "probe",
        *("--measure", "direct_rating", "--model", str(words), "--study", "Pilot", "--local"),
        *("--groups", "man", "--traits", "cold-warm", "--param", "reading=answers"),
        stdout=out,
    )
    lines = out.getvalue().splitlines()
    said = next(n for n, line in enumerate(lines) if "No group has a score" in line)
    told = next(n for n, line in enumerate(lines) if "Note: Access: sampled" in line)
    assert said < told
    assert "for 1 of 1: " in lines[said]
    assert lines[-1].endswith("ended without a score.")


def test_every_report_on_alignment_sets_ratings_of_a_model_beside_people(
    study: Study, rated: Run
) -> None:
    """Also beside a run of SeT, whose scores have another scale."""
    other = make_scored_run(name="other")
    report, document = compute("alignment", Chosen(study=study, runs=(rated,)), **FEW)
    assert report.result is not None
    assert report.result["pooled"]["n_cells"] == 3 * 16
    method = " ".join(document.method)
    assert "asked a study’s own question up to 8 times" in method
    assert "[group]" in method
    assert any("Access: full" in caveat for caveat in document.caveats)
    _, compared = compute("alignment_comparison", Chosen(study=study, runs=(rated, other)), **FEW)
    assert any("direct rating" in fact for fact in map(str, compared.facts + compared.method))
    gender = study.instruments.get().questions.get(slug="gender")
    for number, submission in enumerate(study.submissions.order_by("pk")):
        value = ["Man"] if number < 6 else ["Woman"]
        DemographicAnswer.objects.create(submission=submission, question=gender, value=value)
    asked_both = Chosen(study=study, runs=(rated,))
    _, parts = compute("alignment_subgroups", asked_both, resamples=100, smallest=4)
    assert set(parts.frames["subgroups"]["answer"]) >= {"Man", "Woman"}
