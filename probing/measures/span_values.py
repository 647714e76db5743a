"""What is made of a model's answer to one hidden span: perplexity and entropy.

Deas et al. (2023), §4.2: perplexity of the reference span, entropy of the five likeliest spans.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from probing.lm.text_protocols import SpanScore

SPAN_PERPLEXITY = "span_perplexity"
TOP_ENTROPY = "top5_entropy"
NAMES = (SPAN_PERPLEXITY, TOP_ENTROPY)
TOP = 5


def span_perplexity(token_logprobs: npt.NDArray[np.float64]) -> float:
    """Return exp(-mean ln P) of the tokens; NaN for none."""
    if len(token_logprobs) == 0:
        return float("nan")
    with np.errstate(over="ignore"):
        return float(np.exp(-np.mean(token_logprobs)))


def top_entropy(best_logprobs: npt.NDArray[np.float64], *, normalise: bool) -> float:
    """Return -sum p ln p of the likeliest spans in nats; NaN for none.

    With `normalise`, p are renormalised over them and the entropy is between 0 and ln n.
    """
    logs = np.asarray(best_logprobs, dtype=np.float64)
    if len(logs) == 0 or not np.isfinite(logs).any():
        return float("nan")
    logs = logs[np.isfinite(logs)]  # p ln p is 0 where p is 0
    if normalise:
        logs = logs - np.logaddexp.reduce(logs)
    return float(-np.sum(np.exp(logs) * logs)) + 0.0


def span_values(score: SpanScore | str, normalise: bool) -> list[tuple[str, float, str, int]]:
    """Return (name, value, reason, n) of both quantities."""
    if isinstance(score, str):
        return [(name, float("nan"), score, 0) for name in NAMES]
    found = []
    for name, value, n, nothing in (
        (
            SPAN_PERPLEXITY,
            span_perplexity(score.token_logprobs),
            len(score.token_logprobs),
            "the model scores no token of the span",
        ),
        (
            TOP_ENTROPY,
            top_entropy(score.best_logprobs, normalise=normalise),
            len(score.best_logprobs),
            "the model gives no span",
        ),
    ):
        if n and not np.isfinite(value):
            found.append((name, float("nan"), "the model gives no finite probability", n))
        else:
            found.append((name, value, "" if n else nothing, n))
    return found
