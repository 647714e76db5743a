"""Quality flags: what is conspicuous about a submission. A flag proposes, it never decides."""

from annotation.studies.quality.assessment import (
    FlagCounts,
    StudyAssessor,
    assess_submissions,
    count_flags,
)
from annotation.studies.quality.flags import Assessment, Flag, FlagName, Severity, Undefined
