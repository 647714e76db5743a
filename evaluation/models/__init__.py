"""The tables of the evaluation app."""

from evaluation.models.report import Report, ReportFile, ReportRun, ReportStatus

__all__ = ["Report", "ReportFile", "ReportRun", "ReportStatus"]
