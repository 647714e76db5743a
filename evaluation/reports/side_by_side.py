"""Two reports of one kind beside each other: their key numbers, and what they rest on.

Nothing is inferred from two intervals. Where another kind of report tests the difference, its own
words are shown if it was built on the same data, and it is offered otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.urls import reverse

from evaluation.models import Report, ReportStatus
from evaluation.reports.parts.document import Document, KeyNumber
from evaluation.reports.registry import get_kind
from evaluation.reports.selectors import visible_reports

#: Kind of report → the kind that tests how two of its runs differ on the same data.
TESTED_BY = {"alignment": "alignment_comparison", "fpr_gaps": "fpr_comparison"}


@dataclass(frozen=True)
class KeyPair:
    """One key number of both reports; None where a report does not have it."""

    label: str
    sides: tuple[KeyNumber | None, KeyNumber | None]


@dataclass(frozen=True)
class Difference:
    """An option or an input that is not the same: its name, and both values as they are shown."""

    name: str
    sides: tuple[str, str]


@dataclass(frozen=True)
class Test:
    """The report that tests the difference: built with its key numbers, or where to ask for it."""

    report: Report | None
    keys: tuple[KeyNumber, ...] = ()
    address: str = ""


def pair_keys(first: Document, second: Document) -> list[KeyPair]:
    """Return the key numbers of both by their labels, in the order of the first."""
    left, right = ({key.label: key for key in document.keys} for document in (first, second))
    return [KeyPair(label, (left.get(label), right.get(label))) for label in left | right]


def find_differences(first: Report, second: Report) -> list[Difference]:
    """Return what the reports do not share: study, corpus, runs, options, code."""
    sides = [_describe(report) for report in (first, second)]
    return [
        Difference(name, (sides[0].get(name, "–"), sides[1].get(name, "–")))
        for name in sides[0] | sides[1]
        if sides[0].get(name) != sides[1].get(name)
    ]


def _describe(report: Report) -> dict[str, str]:
    runs = ", ".join(f"{run} ({run.model.name})" for run in report.runs.all())
    return {
        "Study": str(report.study or "–"),
        "Second study": str(report.second_study or "–"),
        "Corpus": str(report.corpus or "–"),
        "Runs": runs or "–",
        **{
            f"Option “{name}”": "none" if value is None else str(value)
            for name, value in report.parameters.items()
        },
        "Code": report.code_version,
    }


def find_test(first: Report, second: Report, user: AbstractBaseUser | AnonymousUser) -> Test | None:
    """Return the report that tests how the two differ, None where no kind does for these two.

    It rests on the runs of both and on the same study and corpus. Few queries.
    """
    kind = TESTED_BY.get(first.kind)
    runs = sorted({run.pk for report in (first, second) for run in report.runs.all()})
    same = (first.study_id, first.corpus_id) == (second.study_id, second.corpus_id)
    if kind is None or not same or len(runs) < 2:
        return None
    built = visible_reports(user).filter(
        kind=kind, study=first.study_id, corpus=first.corpus_id, status=ReportStatus.FINAL
    )
    for report in built.order_by("-pk"):
        if sorted(run.pk for run in report.runs.all()) == runs:
            return Test(report, get_kind(kind).document(report, {}).keys)
    query = [("kind", kind), *([("study", first.study_id)] if first.study_id else [])]
    query += [("runs", run) for run in runs]
    return Test(None, address=f"{reverse('admin:evaluation_report_add')}?{urlencode(query)}")
