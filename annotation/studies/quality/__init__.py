"""Quality flags: what is conspicuous about a submission. A flag proposes, it never decides."""

from annotation.studies.quality.assessing import (
    FlagCounts,
    StudyAssessor,
    assess_submissions,
    count_flags,
)
from annotation.studies.quality.flags import Assessment, Flag, FlagName, Severity, Undefined
from annotation.studies.quality.thresholds import Thresholds, load_thresholds

__all__ = [
    "Assessment",
    "Flag",
    "FlagCounts",
    "FlagName",
    "Severity",
    "StudyAssessor",
    "Thresholds",
    "Undefined",
    "assess_submissions",
    "count_flags",
    "load_thresholds",
]
