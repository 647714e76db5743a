"""The tables of the evaluation app."""

from evaluation.models.norm import Norm, NormKind
from evaluation.models.report import Report, ReportFile, ReportRun, ReportStatus

__all__ = ["Norm", "NormKind", "Report", "ReportFile", "ReportRun", "ReportStatus"]
