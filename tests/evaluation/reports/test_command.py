"""``manage.py report``: the same path without a browser, against independent golden values."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.imports.abc_file import build_vocabulary
from annotation.imports.abc_ratings import import_abc_ratings
from annotation.models import SocialGroup, TraitPair
from evaluation.management.commands.report import join_lines
from evaluation.models import Report
from evaluation.reports.parts.kind import Chosen
from tests.evaluation.reports.computing import compute

pytestmark = [pytest.mark.slow, pytest.mark.django_db]


def _run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("report", *arguments, stdout=out)
    return out.getvalue()


@pytest.mark.smoke
@pytest.mark.shared
def test_report_on_published_ratings_matches_golden_alignment(shared_dir, scored_run):
    """Source: human_alignment.json, made with scipy on the published ratings; own scores."""
    golden = json.loads((shared_dir / "golden/expected/human_alignment.json").read_text())
    vocabulary = build_vocabulary(
        [
            (group.slug, (group.singular, group.plural, group.plural_capitalised))
            for group in SocialGroup.objects.all()
        ],
        TraitPair.objects.values_list("slug", "low", "high"),
    )
    traits = [vocabulary.find_scale(name) for name in golden["trait_pairs"]]
    published = shared_dir / "data/us_stereotypes/data_full.json"
    study = import_abc_ratings(content=published.read_bytes(), file_name=published.name).study
    tolerance = golden["header"]["tolerance"]["abs"]
    assert len(golden["cases"]) == 4
    for expected in golden["cases"]:
        slugs = {name: vocabulary.find_group(name) for name in expected["scores"]}
        scores = {
            slugs[name]: dict(zip(traits, values, strict=True))
            for name, values in expected["scores"].items()
        }
        chosen = Chosen(study=study, corpus=None, runs=(scored_run(scores=scores),))
        report, _document = compute("alignment", chosen, resamples=100, splits=100)
        check_alignment(report.result, expected, slugs, tolerance)


def check_alignment(
    result: dict[str, Any], expected: dict[str, Any], slugs: dict[str, str], tolerance: float
) -> None:
    pooled, overall = result["pooled"], expected["overall"]
    for found, wanted in (
        (pooled["tau"]["value"], overall["tau_b_pooled"]),
        (pooled["p_value"], overall["p"]),
        (pooled["group_tau"]["value"], overall["mean_of_group_tau_b"]),
        (pooled["precision"]["value"], overall["p_at_3"]),
    ):
        assert found == pytest.approx(wanted, abs=tolerance)
    by_group = {row["group"]: row for row in result["by_group"]}
    assert len(by_group) == len(expected["per_group"])
    for name, wanted in expected["per_group"].items():
        row = by_group[slugs[name]]
        assert row["tau"]["value"] == pytest.approx(wanted["tau_b"], abs=tolerance)
        assert row["p_value"] == pytest.approx(wanted["p"], abs=tolerance)
        for ours, theirs in (
            ("precision_top", "p_at_3_top"),
            ("precision_bottom", "p_at_3_bottom"),
            ("precision", "p_at_3"),
        ):
            assert row[ours]["value"] == pytest.approx(wanted[theirs], abs=tolerance)


def test_alignment_prints_tau_and_precision_of_every_group(rated_study, scored_run, tmp_path):
    rated_study()
    scored_run()
    printed = _run(
        "alignment", "--resamples", "100", "--splits", "100", "--output", str(tmp_path / "out")
    )
    for text in (
        "men",
        "women",
        "elderly people",
        "P@3",
        "Kendall’s τ",
        "Agreement between halves of the raters",
        "On groups like these",
    ):
        assert text in printed
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "cells.csv",
        "groups.csv",
        "left_out.csv",
        "overall.csv",
        "questions.csv",
        "report.html",
        "report.json",
        "report.pdf",
        "report.xlsx",
    ]


def test_stored_report_can_be_verified(rated_study, scored_run):
    rated_study()
    scored_run()
    _run("alignment", "--resamples", "100", "--splits", "100")
    assert "every number is the same" in _run("verify", Report.objects.get().public_id)


def test_missing_pieces_are_named_with_the_remedy(rated_study, scored_run, tmp_path):
    with pytest.raises(CommandError, match="import_abc_ratings"):
        _run("alignment")
    rated_study()
    with pytest.raises(CommandError, match=r"manage\.py probe"):
        _run("alignment")
    run = scored_run()
    with pytest.raises(CommandError, match="no run “99999”"):
        _run("alignment", "--run", "99999")
    with pytest.raises(CommandError, match="no study “elsewhere”"):
        _run("alignment", "--run", str(run.pk), "--study", "elsewhere")
    file = Path(tmp_path / "file")
    file.write_text("")
    with pytest.raises(CommandError, match="expected a folder"):
        _run("alignment", "--output", str(file))
    with pytest.raises(CommandError, match="no report"):
        _run("verify", "nothing")
    assert not Report.objects.exists()


def test_lines_of_a_number_are_joined_as_one_sentence() -> None:
    lines = ("People’s means differ no more than by chance.", "As observed −0.22", "8 cells")
    told = "People’s means differ no more than by chance. As observed −0.22. 8 cells"
    assert join_lines(lines) == told
    assert join_lines(("p < 0.05 after correction", "for 2 tests")) == (
        "p < 0.05 after correction for 2 tests"
    )
    assert join_lines(()) == ""
