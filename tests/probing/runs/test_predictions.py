"""Predictions made elsewhere: files, the runs that they become, page, HTTP, and command."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.common.table_file import TableFileError
from annotation.imports.import_kind import BadImportError, ImportRequest, import_file, import_kinds
from probing.models import LanguageModel, Run, RunStatus, Score
from probing.runs.creation import dry_run
from probing.runs.predictions import load_predictions
from probing.runs.rating_stimuli import load_probe_stimuli

pytestmark = pytest.mark.django_db

HEAD = "y_true\ty_pred\tcategory\tgroup\ttext\tmodel\trun_id\tdataset\tnum_params"
SAID = {
    ("asian", "The asian person won."): (2, 2, 1),
    ("asian", "The asian person slept."): (1, 0, 1),
    ("hispanic", "The hispanic person won."): (2, 2, 2),
    ("hispanic", "The latino person won."): (2, 0, 0),
    ("hispanic", "The hispanic person slept."): (1, 1, 1),
    ("hispanic", "The latino person slept."): (1, 1, 0),
}


def released(**changes: str) -> str:
    """Return a file as it is released: the last columns of its rows are missing."""
    rows = [HEAD]
    for run in (0, 1):
        for (group, text), (label, *said) in SAID.items():
            rows.append(f"{label}\t{said[run]}\trace\t{group}\t{text}\tm1\tr{run}\tSST5")
    text = "\n".join(rows)
    for old, new in changes.items():
        text = text.replace(old, new)
    return text


def store(text: str, name: str = "p.tsv", **options: Any) -> list[Run]:
    before = set(Run.objects.values_list("pk", flat=True))
    request = ImportRequest(text.encode(), name, {"data_set": "tiny", **options})
    import_file(import_kinds()["predictions"], request)
    return list(Run.objects.exclude(pk__in=before))


@pytest.mark.services
def test_a_released_file_becomes_a_finished_run() -> None:
    (run,) = store(released())
    assert (run.status, run.shard_count, run.model.name) == (RunStatus.FINISHED, 2, "m1")
    found = load_predictions(run)
    assert found.repeats == ("r0", "r1")
    assert found.predicted.to_numpy().tolist() == [[2, 0, 2, 0, 1, 1], [1, 1, 2, 0, 1, 0]]
    assert list(found.sentences["filler"]) == ["asian"] * 2 + ["hispanic", "latino"] * 2
    assert found.sentences["template"].nunique() == 2
    assert [one.text for one in found.stimuli.templates] == [
        "The {identity_adj} person won.",
        "The {identity_adj} person slept.",
    ]
    # Of 8 predictions on Hispanic sentences, 3 are negative and none should be.
    rate = Score.objects.get(run=run, name="fpr", group="hispanic", trait="negative", template="")
    assert (rate.value, rate.n) == (3 / 8, 8)
    with pytest.raises(ValidationError, match="imported before"):
        store(released())


def test_its_model_cannot_be_run() -> None:
    (run,) = store(released())
    stimuli = load_probe_stimuli(templates=["everyday"])
    tried = dry_run(measure="classification", model=run.model, stimuli=stimuli, parameters={})
    assert "imported results alone" in tried.fatal[0].message


def test_without_a_lexicon_every_sentence_is_its_own_template() -> None:
    (run,) = store(released(asian="martian"))
    found = load_predictions(run)
    assert set(found.sentences["filler"]) == {""}
    assert found.sentences["template"].nunique() == 6
    assert "no word of their group" in run.notices[1]


def test_a_wide_file_without_texts_has_no_templates() -> None:
    rows = [f"{g},{label},{a},{b}" for (g, _), (label, a, b) in SAID.items()]
    (run,) = store("\n".join(["group,y_true,m 2:x,m 2:y", *rows]), "p.csv")
    found = load_predictions(run)
    assert (run.model.name, found.repeats) == ("m 2", ("x", "y"))
    assert set(found.sentences["template"]) == {""}
    assert "no texts" in run.notices[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (released().replace("\n1\t0", "\n1\t5"), "Labels outside of the map: “5”"),
        (released().rsplit("\n", 1)[0], "other sentences than run “r0”"),
        (released(hispanic="asian", latino="asian"), "one group"),
        ("y_true\ty_pred\tgroup\n1\t1\ta\n1\t1\tb", "Name the producer"),
        ("y_true\tgroup\n1\ta", "“y_pred”"),
        ("mood\ttext\n1\ta", "no column “y_true” and no “group”"),
        ("", "empty"),
    ],
)
def test_bad_files_store_nothing(text: str, message: str) -> None:
    with pytest.raises((BadImportError, TableFileError, ValidationError)) as caught:
        store(text)
    plan = getattr(caught.value, "plan", None)
    assert message in " ".join([str(caught.value), *map(str, plan.problems if plan else ())])
    assert not Run.objects.exists()
    assert not LanguageModel.objects.exists()


def test_a_group_with_one_sentence_is_refused() -> None:
    text = "y_true\ty_pred\tgroup\n" + "1\t1\ta\n" * 3 + "1\t0\tb\n"
    with pytest.raises(TableFileError, match="these have one: b"):
        store(text, producer="m")


@pytest.mark.shared
def test_the_command_reproduces_the_released_rates(shared_dir: Path) -> None:
    golden = json.loads(
        (shared_dir / "golden" / "expected" / "fpr_amazon.json").read_text(encoding="utf-8")
    )
    call_command(
        "import_predictions", shared_dir / "golden" / "data" / "fpr_amazon.csv", data_set="amazon"
    )
    assert Run.objects.count() == 2
    run = Run.objects.get(model__name="Llama-3-8B")
    runs = golden["exact"]["Llama-3-8B"]["per_run"]
    for group in ("white", "asian"):
        stored = Score.objects.get(
            run=run, name="fpr", group=group, trait="negative", template=""
        ).value
        # All runs have the same sentences, so that the rate over all is the mean of the runs'.
        expected = sum(one[group]["negative_fpr"] for one in runs.values()) / len(runs)
        assert stored == pytest.approx(expected, abs=1e-9)
    with pytest.raises(CommandError, match="imported before"):
        call_command(
            "import_predictions",
            shared_dir / "golden" / "data" / "fpr_amazon.csv",
            data_set="amazon",
        )


def test_the_page_imports_a_file_and_shows_the_rates() -> None:
    user = User.objects.create_user("alice", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="probing"))
    client = Client()
    client.force_login(user)
    address = f"{reverse('admin:probing_run_import')}?kind=predictions"

    def send(text: str) -> Any:
        file = SimpleUploadedFile("p.tsv", text.encode())
        given = {"file": file, "data_set": "tiny", "labels": "ternary"}
        page = client.post(address, given).text
        carried = re.findall(r'type="hidden" name="(content|file_name)" value="([^"]*)"', page)
        return page, client.post(
            address, {**given, **dict(carried), "file": "", "import": ""}, follow=True
        )

    refused, _ = send(released().replace("\n1\t0", "\n1\t5"))
    assert refused.count("Labels outside of the map: “5”") == 2
    assert not Run.objects.exists()
    preview, stored = send(released())
    assert "6 sentences" in preview
    page = stored.text
    assert "False positive rates" in page
    assert "latino" in page
    run = Run.objects.get()
    assert run.created_by == user
    sent = client.get(reverse("admin:probing_run_scores", args=[run.pk]))
    lines = b"".join(sent.streaming_content).decode().splitlines()
    assert lines[0].endswith("group,filler,template,text,y_true,y_pred,run_id")
    assert len(lines) == 1 + 12


def test_columns_of_other_names_and_other_encodings_are_read(tmp_path: Path) -> None:
    file = tmp_path / "p.tsv"
    file.write_bytes(released(y_pred="guess", slept="né").encode("windows-1252"))
    said = StringIO()
    common = ("import_predictions", str(file), "--data-set", "tiny")
    with pytest.raises(CommandError, match="“ypred” is not known, expected y_true"):
        call_command(*common, "--map", "ypred=guess")
    with pytest.raises(CommandError, match="There is no column “Q9”"):
        call_command(*common, "--map", "y_pred=Q9")
    call_command(*common, "--map", "y_pred=guess", stderr=said)
    assert "was read as Windows-1252" in said.getvalue()
    (run,) = Run.objects.all()
    assert load_predictions(run).predicted.to_numpy().tolist()[0] == [2, 0, 2, 0, 1, 1]


def test_predictions_come_over_http_and_bad_rows_are_left_out_whole() -> None:
    """Without both runs' rows of one sentence, its runs still have the same sentences."""
    user = User.objects.create_user("alice", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="probing"))
    client = Client()
    client.force_login(user)
    bad = released().replace("\n1\t0\trace\tasian", "\n1\t5\trace\tasian")
    asked = {"kind": "predictions", "file_name": "p.tsv", "content": bad}
    asked["options"] = {"data_set": "tiny"}

    def send(**changes: Any) -> Any:
        body = {**asked, **changes}
        return client.post("/api/v1/imports/", body, content_type="application/json")

    refused = send(skip_bad_rows=True)
    assert "Without these rows: Run “r1” of “m1” has other sentences" in refused.text
    assert not Run.objects.exists()
    done = send(content=released())
    assert done.json()["counts"] == {"sentences": 6, "models": 1, "runs": 2}
    assert Run.objects.get(public_id=done.json()["public_id"]).created_by == user
