"""What reports say where hardly anybody has rated: sentences, not counts of nothing."""

from __future__ import annotations

import pytest

from evaluation.reports.parts.document import Document, Figure
from evaluation.reports.parts.kind import Chosen
from tests.evaluation.reports.computing import compute

pytestmark = pytest.mark.django_db

FEW = {"resamples": 100, "splits": 100}


def keys(document: Document) -> dict[str, tuple[str, str, tuple[str, ...]]]:
    return {key.label: (key.value, key.small, key.lines) for key in document.keys}


def captions(document: Document) -> list[str]:
    blocks = [block for section in document.sections for block in section.blocks]
    return [block.caption for block in blocks if isinstance(block, Figure)]


def test_an_alignment_with_one_submission_says_what_cannot_be_said(rated_study, scored_run) -> None:
    study = rated_study(submissions=1)
    _, document = compute("alignment", Chosen(study=study, runs=(scored_run(),)), **FEW)
    found = keys(document)
    assert found["Groups with τ above zero"] == ("–", "", ("No group could be tested.",))
    value, _small, lines = found["Agreement in order, Kendall’s τ"]
    assert value == "–"
    assert lines[1].startswith("As observed ")
    people = (
        "The one finished submission was accepted, with 3 groups; repeated groups are left out."
    )
    assert people in document.method[0]
    assert not [caption for caption in captions(document) if "0 people" in caption]


def test_an_alignment_with_two_submissions_counts_as_people_do(rated_study, scored_run) -> None:
    study = rated_study(submissions=2)
    _, document = compute("alignment", Chosen(study=study, runs=(scored_run(),)), **FEW)
    assert (
        "2 submissions of 2 finished ones were accepted, most with 3 groups" in document.method[0]
    )
    assert [caption for caption in captions(document) if "(all cells: 1 person with 1)" in caption]


def test_a_comparison_with_one_submission_has_no_pair_to_test(rated_study, scored_run) -> None:
    runs = (scored_run(), scored_run(name="other"))
    _, document = compute(
        "alignment_comparison", Chosen(study=rated_study(submissions=1), runs=runs), **FEW
    )
    assert keys(document)["Pairs that differ in τ"] == ("–", "", ("No pair could be tested.",))
    assert "The one finished submission was accepted; repeated" in document.method[0]
