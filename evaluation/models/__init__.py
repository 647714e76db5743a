"""The data model of evaluation."""

from evaluation.models.report import Report, ReportFile, ReportKind, ReportStatus

__all__ = ["Report", "ReportFile", "ReportKind", "ReportStatus"]
