"""What was left out, in as few lines as it takes."""

from __future__ import annotations

from evaluation.reports.parts.missing import join_reasons


def test_reasons_that_differ_in_numbers_alone_are_one():
    entries = [
        ("a", "too long: 53 tokens and 12 to write, the model reads 64", 7),
        ("a", "too long: 58 tokens and 12 to write, the model reads 64", 2),
        ("b", "too long: 58 tokens and 12 to write, the model reads 64", 1),
        ("a", "the model refused", 3),
    ]
    assert join_reasons(entries) == [
        ("a", "too long: 53 to 58 tokens and 12 to write, the model reads 64", 9),
        ("b", "too long: 58 tokens and 12 to write, the model reads 64", 1),
        ("a", "the model refused", 3),
    ]


def test_nothing_left_out_needs_no_line():
    assert join_reasons([]) == []
