"""The page on adding a kind of step, followed word for word in an app of its own."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from django.template.loader import get_template
from django.urls import reverse

from annotation.models import Study
from annotation.researcher.instruments.flow_editor import describe_kinds
from annotation.steps.kind import KINDS, Extent, describe_controls
from annotation.steps.question import Question
from annotation.steps.texts import text_in
from tests.annotation.survey.flows import free_text, texts
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "adding-a-step.md"
BLOCK = re.compile(r"^```python\n# my_lab/steps\.py\n(.*?)^```$", re.MULTILINE | re.DOTALL)
(CODE,) = BLOCK.findall(PAGE.read_text())
SPAN = {"kind": "time_span", "key": "way", "question": texts("How long?"), "most_hours": 3}
FLOW = [
    "rating",
    SPAN,
    free_text("why", show_if={"step": "way", "at_least": 60}),
    free_text("never", show_if={"step": "way", "at_least": 100}),
]


@pytest.fixture
def my_lab(tmp_path: Path, monkeypatch, settings) -> Iterator[Path]:  # type: ignore[no-untyped-def]
    folder = tmp_path / "my_lab"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "steps.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, "my_lab"]
    yield tmp_path
    del KINDS["time_span"]
    for name in ("my_lab", "my_lab.steps"):
        sys.modules.pop(name, None)


@pytest.mark.django_db
def test_a_step_of_one_file_is_designed_asked_told_and_exported(  # type: ignore[no-untyped-def]
    my_lab, make_study, person
) -> None:
    assert len(CODE.splitlines()) <= 120
    study: Study = make_study(flow=FLOW)
    described = describe_kinds(study.instruments.get(), ["en"])
    assert described["menu"][-1]["kinds"][-1] == "time_span"
    fields = {field["name"]: field["type"] for field in described["kinds"]["time_span"]["fields"]}
    assert fields["most_hours"] == "number"

    person.start(study.get_absolute_url())
    page = person.go_on(until=lambda page: "span" in page.inputs)
    for wrong in ("", "1:75", "3:01"):
        refused = person.send(page, span=wrong)
        assert (refused.status, "at most 3 hours" in refused.html) == (422, True)
    assert person.send(page, span="1:30").status == 302
    page = person.go_on(until=lambda page: page.heading == "What did you think?")
    assert person.send(page, text="The bus was late.").status == 302
    assert "Finished" in person.see().page.title
    answers = dict(study.submissions.get().step_answers.values_list("key", "value"))
    assert answers == {"way": 90, "why": "The bus was late."}
    own = person.connection.get(reverse("survey:own", args=[person.path.split("/")[-2]]))
    assert "1:30" in own.html

    call_command("export_study", study.public_id, table=["submissions", "answers"], output=my_lab)
    (submissions,) = my_lab.glob("*-submissions-2*.csv")
    (answers_file,) = my_lab.glob("*-answers-2*.csv")
    (row,) = read(submissions)
    assert row["step_way"] == "90"
    told = [(row["kind"], row["answer"], row["answer_text"]) for row in read(answers_file)]
    assert told[0] == ("time_span", "90", "1:30")
    (codebook,) = my_lab.glob("*-submissions-codebook-2*.csv")
    assert "0 to 180 minutes; empty: not answered" in codebook.read_text(encoding="utf-8-sig")


def read(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8-sig", newline="") as opened:
        return list(csv.DictReader(opened))


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_says_everything_without_a_database(name: str) -> None:
    kind = KINDS[name]
    assert get_template(kind.template)
    assert str(kind.label)
    assert str(kind.about)
    content = kind.model_validate(kind.new)
    extent = Extent(lines=16, questions=8, wording={}, say=lambda given: text_in(given, "en"))
    assert content.seconds(extent) >= 0
    controls = describe_controls(kind)
    marks = [control["mark"]["name"] for control in controls if "mark" in control]
    assert {*(control["name"] for control in controls), *marks} == set(kind.model_fields)
    columns = list(content.columns("step", extent.say)) if isinstance(content, Question) else []
    assert bool(columns) == kind.is_question
