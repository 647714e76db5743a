"""All kinds of reports, by name. A new kind is a class and a line here."""

from __future__ import annotations

from evaluation.models import Report
from evaluation.reports.errors import ReportError
from evaluation.reports.formatting import MISSING
from evaluation.reports.kinds.agreement import Agreement
from evaluation.reports.kinds.alignment import Alignment
from evaluation.reports.kinds.alignment_comparison import AlignmentComparison
from evaluation.reports.kinds.alignment_subgroups import AlignmentSubgroups
from evaluation.reports.kinds.base import ReportKind
from evaluation.reports.kinds.counterparts import Counterparts
from evaluation.reports.kinds.dataset import Dataset
from evaluation.reports.kinds.intersectional import Intersectional
from evaluation.reports.kinds.judgments import Judgments
from evaluation.reports.kinds.markedness import MarkednessCheck
from evaluation.reports.kinds.rating_agreement import AgreementOfRaters
from evaluation.reports.kinds.spans import Spans
from evaluation.reports.kinds.template_selection import TemplateChoice

KINDS: dict[str, ReportKind] = {
    kind.name: kind
    for kind in (
        Alignment(),
        AlignmentComparison(),
        AlignmentSubgroups(),
        Intersectional(),
        MarkednessCheck(),
        TemplateChoice(),
        AgreementOfRaters(),
        Dataset(),
        Agreement(),
        Counterparts(),
        Judgments(),
        Spans(),
    )
}


def get_kind(name: str) -> ReportKind:
    """Return the kind of that name; `ReportError` names those that exist."""
    try:
        return KINDS[name]
    except KeyError:
        known = ", ".join(KINDS)
        raise ReportError(
            f"There is no kind of report “{name}”, expected one of: {known}."
        ) from None


def title_of(report: Report) -> str:
    """Return the title of a report's kind, or its name where it is no longer registered."""
    kind = KINDS.get(report.kind)
    return str(kind.title) if kind else report.kind


def headline(report: Report) -> str:
    """Return the number that lists show beside a report, a dash where there is none."""
    kind = KINDS.get(report.kind)
    return (kind.headline(report.result) if kind and report.result else "") or MISSING
