"""Registers the evaluation pages of the admin."""

from evaluation.admin.report import ReportAdmin

__all__ = ["ReportAdmin"]
