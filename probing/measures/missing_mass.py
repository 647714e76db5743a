"""Attributes among the likeliest tokens of an answer, with bounds for what is not told.

Hofmann et al. (2024), Methods; methods.md §10.4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from annotation.common.lazy import np, npt
from probing.measures.guise_parameters import Missing

Floats: TypeAlias = "npt.NDArray[np.float64]"
#: How tokenizers write the space before a word, where a server tells raw tokens.
_SPACES = str.maketrans({"Ġ": " ", "▁": " "})


def plain_token(token: str) -> str:
    """Return a token with its spaces as spaces."""
    return token.translate(_SPACES)


@dataclass(frozen=True)
class ToldAttributes:
    """Probabilities of attributes, each (n_attributes,); NaN for those that were not asked for.

    value : with what is missing filled in
    low, high : whatever the missing probability does
    """

    value: Floats
    low: Floats
    high: Floats


def read_told(
    likeliest: Sequence[tuple[str, float]],
    spellings: Sequence[Sequence[str]],
    *,
    missing: Missing,
    resolved: Mapping[str, float] | None = None,
) -> ToldAttributes:
    """Return the attributes' probabilities from the (token, ln P) of the likeliest tokens.

    Parameters
    ----------
    spellings : the tokens that stand for each attribute; none for one that is not asked for.
    resolved : ln P of spellings that further requests told, which are all that are single tokens;
        None where only the likeliest tokens are known.

    Of a spelling that is not told nobody knows more than that it has at most the k-th probability
    and at most what all told tokens leave of one, R. A token that begins the word, such as
    “straight” for “straightforward”, may be that word's beginning: its probability counts above.
    """
    told: dict[str, float] = {}
    for token, logprob in likeliest:
        text = plain_token(token)
        told[text] = told.get(text, 0.0) + math.exp(logprob)
    rest = max(0.0, 1.0 - math.fsum(told.values()))
    kth = min((math.exp(logprob) for _, logprob in likeliest), default=1.0)
    n = len(spellings)
    low, high = np.full(n, np.nan), np.full(n, np.nan)
    for place, forms in enumerate(spellings):
        if not forms:
            continue
        if resolved is not None:
            known = {form: math.exp(resolved[form]) for form in forms if form in resolved}
            low[place] = high[place] = min(1.0, math.fsum(known.values()))
            continue
        known = {form: told[form] for form in forms if form in told}
        begun = math.fsum(
            mass
            for token, mass in told.items()
            if token.strip() and any(form != token and form.startswith(token) for form in forms)
        )
        open_forms = len(forms) - len(known)
        low[place] = math.fsum(known.values())
        high[place] = min(1.0, low[place] + min(rest, open_forms * kth) + begun)
    if missing == "middle":
        return ToldAttributes((low + high) / 2, low, high)
    value: Floats = low.copy()
    unknown = np.asarray((low == 0) & (high > 0))
    if unknown.any():
        # As released: all that the listed attributes leave, in even shares.
        value[unknown] = max(0.0, 1.0 - float(np.nansum(low))) / int(unknown.sum())
    return ToldAttributes(value, low, high)


def wilson_bounds(
    share: Floats, n: Floats, *, z: float = 1.959963984540054
) -> tuple[Floats, Floats]:
    """Return Wilson's (1927) 95 % interval of shares of `n` answers; NaN where n is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        center = (share + z**2 / (2 * n)) / (1 + z**2 / n)
        half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return np.maximum(center - half, 0.0), np.minimum(center + half, 1.0)
