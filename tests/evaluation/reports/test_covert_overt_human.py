"""One model, three pictures: planted differences, what it refuses, and who may see it."""

from __future__ import annotations

import itertools
import json

import pytest
from django.contrib.auth.models import Permission
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from evaluation.models import Report, ReportStatus
from evaluation.reports.building import build_report, find_differences
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.registry import get_kind
from evaluation.reports.requesting import request_report
from evaluation.reports.selectors import visible_reports
from tests.annotation.studies.people import make_user
from tests.evaluation.reports.pictures import (
    OPPOSITE,
    all_scales,
    make_guise_run,
    make_named_run,
    make_rated_groups,
    make_rated_guises,
    planted,
)
from tests.evaluation.reports.surveys import make_scored_run

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

GROUPS = {"first_group": "man", "second_group": "woman", "resamples": 200, "splits": 100}


@pytest.fixture
def inputs():
    """Pictures that agree in order, but for two scales on which the model turns round by name."""
    spoken = planted(all_scales())
    named = spoken | {slug: 0.5 if spoken[slug] < 0 else -0.5 for slug in OPPOSITE}
    return {
        "study": make_rated_groups(spoken),
        "second_study": make_rated_guises(spoken),
        "runs": [make_named_run(named), make_guise_run(spoken)],
    }


def build(inputs, **changes) -> Report:
    asked = request_report(
        kind="covert_overt_human", parameters=GROUPS | changes.pop("parameters", {}),
        **(inputs | changes),
    )  # fmt: skip
    report = build_report(report_id=asked.pk)
    assert report is not None
    return report


def test_planted_differences_come_back_in_all_four_pictures(inputs) -> None:
    report = build(inputs)
    assert report.status == ReportStatus.FINAL, report.error
    tables = get_kind(report.kind).document(report, {}).frames
    spoken = planted(all_scales())
    rows = tables["scales"].set_index(["picture", "scale"])
    assert len(rows) == 4 * len(spoken)
    covered = 0
    for slug, value in spoken.items():
        covert = rows.loc["model_speakers", slug]
        covered += covert["low"] < value < covert["high"]
        assert covert["difference"] == pytest.approx(value, abs=0.05)
        for picture in ("people_groups", "people_speakers"):
            assert rows.loc[picture, slug]["difference"] == pytest.approx(10 * value, abs=2)
        if slug not in OPPOSITE:
            # Scores are the mean of what the two templates say.
            named = rows.loc["model_groups", slug]["difference"]
            assert named == pytest.approx(value + 0.01, abs=1e-9)
    assert covered >= 13
    top = max(spoken, key=spoken.__getitem__)
    assert rows.loc["model_speakers", top]["rank"] == 1
    assert sorted(rows.loc["people_groups"]["n"].unique()) == [12]
    assert set(tables["covert_tests"].query("opposite")["scale"]) == set(OPPOSITE)
    pairs = tables["pairs"].set_index(["first", "second"])
    asked = pairs.loc["model_groups", "model_speakers"]
    named = spoken | {slug: 0.5 if spoken[slug] < 0 else -0.5 for slug in OPPOSITE}
    slugs = list(spoken)
    agree = sum(
        1 if (named[a] - named[b]) * (spoken[a] - spoken[b]) > 0 else -1
        for a, b in itertools.combinations(slugs, 2)
    )
    assert asked["tau"] == pytest.approx(agree / (len(slugs) * (len(slugs) - 1) / 2))
    assert asked["n_opposite"] == 2
    assert (asked["p"] < 0.05) == (not asked["low"] <= 0 <= asked["high"])
    people = pairs.loc["people_speakers", "model_speakers"]
    assert people["tau"] > 0.8
    assert people["ceiling"] > 0.7
    assert find_differences(report=report) == []
    assert {file.name for file in report.files.all()} >= {"report.html", "scales.csv", "pairs.csv"}


def test_without_people_of_speakers_three_pictures_remain(inputs) -> None:
    report = build(inputs, second_study=None)
    assert report.status == ReportStatus.FINAL, report.error
    document = get_kind(report.kind).document(report, {})
    assert set(document.frames["scales"]["picture"]) == {
        "model_groups", "model_speakers", "people_groups",
    }  # fmt: skip
    assert "no study of speakers" in " ".join(document.left_out)


def test_a_scale_without_its_poles_is_left_out_by_name(inputs) -> None:
    spoken = planted(all_scales())
    named = {slug: value for slug, value in spoken.items() if slug != "cold-warm"}
    report = build(inputs, runs=[make_named_run(named), inputs["runs"][1]])
    document = get_kind(report.kind).document(report, {})
    assert len(document.frames["covert_tests"]) == len(spoken) - 1
    assert "cold-warm: the run by name has no score for it" in " ".join(document.left_out)


def test_what_cannot_be_compared_is_refused(inputs) -> None:
    named, guised = inputs["runs"]
    for changes, message in (
        ({"runs": [named]}, "1 run was chosen, expected at least 2"),
        ({"runs": [named, make_named_run(planted(all_scales()))]}, "expected one of each"),
        ({"runs": [make_scored_run(name="other"), guised]}, "expected one model"),
        ({"second_study": inputs["study"]}, "expected “guise_rating”"),
        ({"study": inputs["second_study"]}, "expected “abc_survey”"),
        ({"study": None}, "A study is missing"),
        ({"parameters": {"second_group": "man"}}, "compared with itself"),
    ):
        with pytest.raises(ReportError, match=message):
            build(inputs, **changes)
    assert not Report.objects.exists()
    strange = build(inputs, parameters={"second_group": "teenager"})
    assert strange.status == ReportStatus.FAILED
    assert "no group “teenager” in common. They share: man and woman" in strange.error
    with pytest.raises(ReportError, match="takes no second study"):
        request_report(
            kind="alignment", study=inputs["study"], second_study=inputs["second_study"],
            runs=[named],
        )  # fmt: skip


def test_who_may_not_see_the_second_study_does_not_see_the_report(inputs) -> None:
    owner = make_user("olga")
    inputs["study"].owner = owner
    inputs["study"].save()
    report = build(inputs)
    assert report not in visible_reports(owner)
    inputs["second_study"].owner = owner
    inputs["second_study"].save()
    assert report in visible_reports(owner)


def test_page_command_and_interface_ask_for_it(inputs, capsys) -> None:
    boss = make_user("boss", is_superuser=True)
    boss.user_permissions.set(Permission.objects.filter(content_type__app_label="evaluation"))
    client = Client()
    client.force_login(boss)
    form = client.get(reverse("admin:evaluation_report_add") + "?kind=covert_overt_human")
    for words in ("Study of groups", "Study of speakers of texts", inputs["second_study"].title):
        assert words in form.content.decode()
    asked = client.post(
        "/api/v1/reports/",
        json.dumps(
            {
                "kind": "covert_overt_human",
                "study": inputs["study"].public_id,
                "second_study": inputs["second_study"].public_id,
                "runs": [run.public_id for run in inputs["runs"]],
                "parameters": GROUPS,
            }
        ),
        content_type="application/json",
    )
    assert asked.status_code == 201, asked.content
    assert asked.json()["second_study"] == inputs["second_study"].public_id
    given = [f"--{name.replace('_', '-')}={value}" for name, value in GROUPS.items()]
    runs = [f"--run={run.pk}" for run in inputs["runs"]]
    second = f"--second-study={inputs['second_study'].public_id}"
    call_command("report", "covert_overt_human", second, *runs, *given)
    assert "Scales on opposite sides: 2 of 16" in capsys.readouterr().out
    with pytest.raises(CommandError, match="There is no study “nowhere”"):
        call_command("report", "covert_overt_human", "--second-study=nowhere", *runs, *given)
