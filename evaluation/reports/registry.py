"""All kinds of reports, by name. A new kind is a class and a line here."""

from __future__ import annotations

from annotation.common.lazy import LazyRegistry
from evaluation.models import Report
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import MISSING
from evaluation.reports.parts.kind import ReportKind

KINDS: LazyRegistry[ReportKind] = LazyRegistry(
    "evaluation.reports",
    {
        "alignment": "alignment.Alignment",
        "alignment_comparison": "alignment_comparison.AlignmentComparison",
        "alignment_subgroups": "alignment_subgroups.AlignmentSubgroups",
        "intersectional": "intersectional.Intersectional",
        "markedness": "markedness.MarkednessCheck",
        "template_selection": "template_selection.TemplateChoice",
        "rating_agreement": "rating_agreement.AgreementOfRaters",
        "dataset": "dataset.Dataset",
        "agreement": "agreement.Agreement",
        "counterparts": "counterparts.Counterparts",
        "judgments": "judgments.Judgments",
        "spans": "spans.Spans",
        "matched_guise": "matched_guise.MatchedGuise",
        "guise_occupations": "guise_occupations.GuiseOccupations",
        "guise_decisions": "guise_decisions.GuiseDecisions",
        "guise_features": "guise_features.GuiseFeatures",
        "guise_controls": "guise_controls.GuiseControls",
        "guise_models": "guise_models.GuiseModels",
        "guise_ratings": "guise_ratings.GuiseRatings",
        "guise_intelligence": "guise_intelligence.GuiseIntelligence",
        "covert_overt_human": "covert_overt_human.CovertOvertHuman",
        "fpr_gaps": "fpr_gaps.FprGapReport",
        "fpr_comparison": "fpr_comparison.FprComparisonReport",
    },
)


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
