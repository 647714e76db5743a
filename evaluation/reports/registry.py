"""All kinds of reports, by name. A new kind is a class and a line here."""

from __future__ import annotations

from evaluation.models import Report
from evaluation.reports.agreement.kind import Agreement
from evaluation.reports.alignment.kind import Alignment
from evaluation.reports.alignment_comparison.kind import AlignmentComparison
from evaluation.reports.alignment_subgroups.kind import AlignmentSubgroups
from evaluation.reports.counterparts.kind import Counterparts
from evaluation.reports.covert_overt_human.kind import CovertOvertHuman
from evaluation.reports.dataset.kind import Dataset
from evaluation.reports.fpr_comparison.kind import FprComparisonReport
from evaluation.reports.fpr_gaps.kind import FprGapReport
from evaluation.reports.guise_controls.kind import GuiseControls
from evaluation.reports.guise_decisions.kind import GuiseDecisions
from evaluation.reports.guise_features.kind import GuiseFeatures
from evaluation.reports.guise_intelligence.kind import GuiseIntelligence
from evaluation.reports.guise_models.kind import GuiseModels
from evaluation.reports.guise_occupations.kind import GuiseOccupations
from evaluation.reports.guise_ratings.kind import GuiseRatings
from evaluation.reports.intersectional.kind import Intersectional
from evaluation.reports.judgments.kind import Judgments
from evaluation.reports.markedness.kind import MarkednessCheck
from evaluation.reports.matched_guise.kind import MatchedGuise
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import MISSING
from evaluation.reports.parts.kind import ReportKind
from evaluation.reports.rating_agreement.kind import AgreementOfRaters
from evaluation.reports.spans.kind import Spans
from evaluation.reports.template_selection.kind import TemplateChoice

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
        MatchedGuise(),
        GuiseOccupations(),
        GuiseDecisions(),
        GuiseFeatures(),
        GuiseControls(),
        GuiseModels(),
        GuiseRatings(),
        GuiseIntelligence(),
        CovertOvertHuman(),
        FprGapReport(),
        FprComparisonReport(),
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
