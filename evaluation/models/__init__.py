"""The tables of the evaluation app."""

from evaluation.models.norm import Norm, NormKind
from evaluation.models.report import (
    Report,
    ReportDrawing,
    ReportFile,
    ReportRun,
    ReportShare,
    ReportStatus,
)

__all__ = [
    "Norm",
    "NormKind",
    "Report",
    "ReportDrawing",
    "ReportFile",
    "ReportRun",
    "ReportShare",
    "ReportStatus",
]
