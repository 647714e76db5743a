"""Pure measures of agreement between two pictures; every function names its source."""

from annotation.common.holm import holm_correction
from evaluation.metrics.interval import (
    Interval,
    bias_corrected_interval,
    no_interval,
    recentered_interval,
)
from evaluation.metrics.precision_at_k import (
    PrecisionAtK,
    PrecisionBatch,
    precision_at_k,
    precision_at_k_batch,
)
from evaluation.metrics.rank_correlation import (
    RankCorrelation,
    kendall_tau_b,
    kendall_tau_b_batch,
    tau_over_scales,
)
from evaluation.metrics.undefined import UndefinedReason

__all__ = [
    "Interval",
    "PrecisionAtK",
    "PrecisionBatch",
    "RankCorrelation",
    "UndefinedReason",
    "bias_corrected_interval",
    "holm_correction",
    "kendall_tau_b",
    "kendall_tau_b_batch",
    "no_interval",
    "precision_at_k",
    "precision_at_k_batch",
    "recentered_interval",
    "tau_over_scales",
]
