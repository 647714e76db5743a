"""The difference of two log probabilities, which both ILPS and ILPS* are."""

from __future__ import annotations

import numpy as np
import pandas as pd


def compare_logprobs(group: np.ndarray, prior: np.ndarray) -> pd.DataFrame:
    """Return value, reason, logprob_group and logprob_prior for each word.

    group, prior : (n_words,) ln P of the words in the group's sentence and in the prior, in nats
    """
    defined = np.isfinite(group) & np.isfinite(prior)
    with np.errstate(invalid="ignore"):  # -inf minus -inf, which is not defined
        difference = group - prior
    return pd.DataFrame(
        {
            "value": np.where(defined, difference, np.nan),
            "reason": np.where(defined, "", "the model gives no finite probability"),
            "logprob_group": group,
            "logprob_prior": prior,
        }
    )
