"""Analyses: from ratings and scores to estimates with their uncertainty."""

from evaluation.analyses.alignment import analyze_alignment
from evaluation.analyses.alignment_result import (
    AlignmentOptions,
    AlignmentResult,
    Cell,
    GroupAlignment,
    HumanCell,
    LeftOut,
    ModelCell,
    NoiseCeiling,
    PooledAlignment,
    ResampledValue,
    Resampling,
)
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.analyses.score_table import ScoreTable

__all__ = [
    "AlignmentOptions",
    "AlignmentResult",
    "Cell",
    "GroupAlignment",
    "HumanCell",
    "LeftOut",
    "ModelCell",
    "NoiseCeiling",
    "PooledAlignment",
    "ResampledValue",
    "Resampling",
    "ScoreTable",
    "analyze_alignment",
    "from_plain",
    "to_plain",
]
