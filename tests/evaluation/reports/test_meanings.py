"""Every number at the head of every kind of report says what it means."""

from __future__ import annotations

import pytest

from evaluation.reports.registry import KINDS
from tests.evaluation.reports import contracts
from tests.evaluation.reports.stored_cases import CASES

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_number_of_every_stored_report_says_what_it_means(kind: str) -> None:
    labels: list[str] = []
    for name in CASES:
        if not name.startswith(kind):
            continue
        report = contracts.from_stored(contracts.read_json(f"{name}.json"))
        if report.kind == kind:
            keys = KINDS[kind].document(report, {}).keys
            bare = [key.label for key in keys if len(key.meaning) < 40]
            assert not bare
            labels += [key.label for key in keys]
        report.delete()  # the next one has the same public id
    assert labels
    meanings = KINDS[kind].meanings
    seen = {KINDS[kind].meaning_of(label) for label in labels}
    assert len(seen) >= max(1, len(set(meanings.values())) - 1), set(meanings.values()) - seen


def test_the_first_label_that_fits_decides() -> None:
    kind = KINDS["guise_ratings"]
    assert kind.meaning_of("τ with people, GPT-2") == kind.meanings["τ with people, …"]
    assert kind.meaning_of("cold – warm") == kind.meanings["…"]
    assert KINDS["alignment"].meaning_of("Something else") == ""
