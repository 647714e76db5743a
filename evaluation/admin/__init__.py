"""Registers the evaluation pages of the admin."""

from evaluation.admin.norm import NormAdmin
from evaluation.admin.report import ReportAdmin

__all__ = ["NormAdmin", "ReportAdmin"]
