"""Dates as every page writes them: 23 Nov 2026 20:40, not Nov. 23, 2026, 8:40 p.m."""

DATE_FORMAT = "j M Y"
DATETIME_FORMAT = "j M Y H:i"
TIME_FORMAT = "H:i"
