"""Marks of tests beside a value; they stand for 1 − the level of the report's intervals."""

from __future__ import annotations

SIGN, SIGN_HOLM = "†", "‡"


def mark(p: float, p_holm: float, level: float) -> str:
    """Return the mark of a p-value and of its correction by Holm, empty for neither."""
    alpha = _alpha(level)
    if p_holm < alpha:
        return SIGN_HOLM
    return SIGN if p < alpha else ""


def explain_marks(level: float, family: str) -> str:
    """Return what the marks mean where p is corrected over the groups of ``family``."""
    p = f"p < {_alpha(level):g}"
    return f"{SIGN} {p}; {SIGN_HOLM} {p} after Holm’s correction over the groups of the {family}."


def _alpha(level: float) -> float:
    return round(1 - level, 9)  # 1 − 0.95 is more than 0.05
