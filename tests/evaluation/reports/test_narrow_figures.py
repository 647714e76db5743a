"""Figures of estimates have a drawing of their own for phones, with the numbers of the tables."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.reports.parts.document import Document, Figure
from evaluation.reports.parts.formatting import interval, number
from evaluation.reports.parts.kind import Chosen
from tests.evaluation.reports.computing import compute

pytestmark = pytest.mark.django_db


def figures(document: Document) -> dict[str, Figure]:
    blocks = [block for section in document.sections for block in section.blocks]
    return {block.name: block for block in blocks if isinstance(block, Figure)}


def texts(spec: dict[str, Any]) -> list[str]:
    layers = [layer for layer in spec["layer"] if layer["mark"]["type"] == "text"]
    return [row["text"] for layer in layers for row in layer["data"]["values"]]


def test_agreement_by_group_has_every_group_with_its_numbers(rated_study, scored_run):
    _, document = compute(
        "alignment", Chosen(study=rated_study(), runs=(scored_run(),)), resamples=100, splits=100
    )
    forest = figures(document)["forest"]
    assert forest.narrow_spec is not None
    assert forest.narrow_spec["width"] <= 320
    written = texts(forest.narrow_spec)
    rows = document.frames["groups"].sort_values("tau", ascending=False)
    names = {"man": "men", "woman": "women", "elderly": "elderly people"}
    assert [text for text in written if text in names.values()] == [
        names[slug] for slug in rows["group"]
    ]
    for row in rows.itertuples():
        told = f"{number(row.tau)}, {interval(row.tau_low, row.tau_high)}"
        ceiling = f"{number(row.ceiling_mean)}, {interval(row.ceiling_low, row.ceiling_high)}"
        assert told in written
        assert ceiling in written
    assert "all 48 cells pooled" in written


@pytest.mark.parametrize("figure", ["overall", "differences"])
def test_comparison_has_a_narrow_drawing(rated_study, scored_run, figure):
    runs = (scored_run(name="first"), scored_run(name="second"))
    _, document = compute(
        "alignment_comparison", Chosen(study=rated_study(), runs=runs), resamples=100, splits=100
    )
    narrow = figures(document)[figure].narrow_spec
    assert narrow is not None
    assert narrow["width"] <= 320
    assert any("SeT, second" in text for text in texts(narrow))
