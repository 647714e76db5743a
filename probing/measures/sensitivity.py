"""SeT, the sensitivity test: how little the output layer must change for a word to win.

Cao et al. (2022), §3.1:

    SeT(g, t) = ln Delta(prior, t) - ln Delta(g, t)

with Delta the smallest squared Frobenius change of the output layer that puts t on top. The
printed equation has the opposite sign; the text, which is followed here, says that SeT returns
the negative distance, so that a positive score means a stronger association.

Cao et al. (2022), §3.1, SeT. With logits a = A x and a margin gamma,

    Delta(A, x, t) = min ||A' - A||_F^2   s.t.   (A'x)_t >= (A'x)_i + gamma  for all i != t

Any useful change lies along x, so with rho = ||x||^2 and u_i = a_i - a_t + gamma

    rho Delta = min_{m >= 0}  m^2 + sum_{i != t} max(0, u_i - m)^2                        (*)

where m is how far logit t is raised, and every rival above is lowered to meet it. With the rivals
sorted by u descending and S_k the sum of the first k, the k-th rival is active as long as
k u_(k) > S_(k-1), which is as long as S_k / (k + 1) grows. The minimum of (*) is at

    m = max(0, max_k S_k / (k + 1))

The order of the rivals does not depend on t, so one sort of the logits serves every target read
at a position. Only rivals above m are active, as a rule a few dozen of tens of thousands: the
highest logits are sorted first, and more of them only where the lowest of these is active too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from annotation.common.lazy import np, npt, pd
from probing.lm.protocols import SlotContext, SlotModel
from probing.measures.base import Frames, in_words
from probing.measures.slot_measure import SlotMeasure, SlotParameters
from probing.measures.stimuli import Stimuli

# --- The smallest change of a linear layer that makes a token win: exact, by sorting --------------

Floats: TypeAlias = "npt.NDArray[np.float64]"

#: How many logits are surely among those that are sorted first, and how that grows.
_FIRST_LOOK, _GROWTH = 64, 8
#: Parts that the logits are dealt into, per logit that is looked for.
_PARTS = 8
#: Numbers that the targets of one position may fill at a time (32 MB).
_BLOCK = 1 << 22


def minimal_changes_by_row(
    logits: npt.ArrayLike,
    rows: npt.ArrayLike,
    targets: npt.ArrayLike,
    squared_norms: npt.ArrayLike,
    margin: float = 1.0,
) -> Floats:
    """Return Delta for many targets at many positions, with one sort per position.

    Parameters
    ----------
    logits : (n_positions, n_tokens) numbers.
    rows, targets : (n_targets,) the position of each target and its token there.
    squared_norms : (n_positions,) ||x||^2 > 0, where x is the layer's input, with a 1 appended if
        the bias may change too.
    margin : by how much a target has to win; 1 in the paper.

    Returns
    -------
    (n_targets,) squared Frobenius distances >= 0; exactly 0 where a target already wins by the
    margin; NaN at positions with a logit that is not finite. What is found at a position depends
    on nothing but that position.

    Raises
    ------
    ValueError
        Arguments of the wrong shape, an index out of range, or a norm that is not positive.
    """
    a = np.asarray(logits)
    if a.dtype != np.float32:  # comparing float32 is exact, and widening all of it is dear
        a = a.astype(np.float64, copy=False)
    row = np.asarray(rows, dtype=np.int64)
    token = np.asarray(targets, dtype=np.int64)
    rho = np.asarray(squared_norms, dtype=np.float64)
    _validate(a, row, token, rho, margin)

    changes = np.full(len(row), np.nan)
    left = np.flatnonzero(np.isfinite(a).all(axis=1)[row])
    width = _FIRST_LOOK
    while left.size:
        positions, place = np.unique(row[left], return_inverse=True)
        highest, lowest = _highest(a if len(positions) == len(a) else a[positions], width)
        enough = np.empty(left.size, dtype=bool)
        step = max(1, _BLOCK // highest.shape[1])
        for block in (slice(start, start + step) for start in range(0, left.size, step)):
            here, targets = place[block], a[row[left[block]], token[left[block]]]
            found, enough[block] = _changes_among(highest[here], lowest[here], targets, margin)
            changes[left[block]] = found / rho[row[left[block]]]
        width, left = width * _GROWTH, left[~enough]
    return changes


def _highest(a: npt.NDArray[np.floating], width: int) -> tuple[Floats, Floats]:
    """Return the highest logits of each position, `width` of them or more, in descending order.

    The logits are dealt into parts. Each part has a highest one, so that `width` logits at least
    reach the `width`-th highest of these.

    Returns
    -------
    (n_positions, most) with -inf after the last one; and the lowest of them, (n_positions,), or
    -inf where they are all the logits that there are.
    """
    n, size = a.shape
    parts = _PARTS * width
    rounds = size // parts
    if rounds < 2:
        return -np.sort(-a.astype(np.float64), axis=1), np.full(n, -np.inf)
    tops = a[:, : rounds * parts].reshape(n, rounds, parts).max(axis=1)
    lowest = np.partition(tops, -width, axis=1)[:, -width]
    kept = np.flatnonzero(a >= lowest[:, np.newaxis])  # few: counting them is cheaper than the mask
    count = np.bincount(kept // size, minlength=n)
    highest = np.full((n, count.max()), -np.inf)
    highest[np.arange(count.max()) < count[:, np.newaxis]] = a.take(kept)
    return -np.sort(-highest, axis=1), lowest.astype(np.float64)


def _changes_among(
    highest: Floats, lowest: Floats, targets: npt.NDArray[np.floating], margin: float
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return rho Delta for the logit of each target, as if there were no others than `highest`.

    Also returns whether that was enough: the `lowest` of them is not active, so that nothing
    further down is.
    """
    # Delta depends on differences only; with the top at 0 the sums lose no digits.
    top = highest[:, 0]
    s, a_t = highest - top[:, np.newaxis], targets - top
    u = s + (margin - a_t)[:, np.newaxis]
    # The target is no rival of itself. Any place among equal logits serves as its own.
    place, own = np.arange(s.shape[1]), (s > a_t[:, np.newaxis]).sum(axis=1, keepdims=True)
    rival = place != own
    S = np.cumsum(np.where(rival, u, 0.0), axis=1)
    k = place + 1 - (place >= own)
    m = np.maximum(0.0, (S / (k + 1)).max(axis=1))
    # As (*) has it: Q_K - S_K^2 / (K + 1) would be a difference of two large numbers. Added one
    # by one, so that the digits do not depend on how many logits another position has.
    above = np.where(rival, np.maximum(0.0, u - m[:, np.newaxis]), 0.0)
    change = m * m + np.cumsum(np.square(above), axis=1)[:, -1]
    return change, lowest - top + margin - a_t <= m


def _validate(
    a: npt.NDArray[np.floating],
    row: npt.NDArray[np.int64],
    token: npt.NDArray[np.int64],
    rho: Floats,
    margin: float,
) -> None:
    if a.ndim != 2 or a.shape[1] == 0:
        raise ValueError(f"logits must be (n_positions, n_tokens), not {a.shape}")
    if row.ndim != 1 or row.shape != token.shape:
        raise ValueError("rows and targets must be one-dimensional and of equal length")
    if rho.shape != a.shape[:1] or not np.all(rho > 0):
        raise ValueError("squared_norms must hold one positive number per position")
    if not np.isfinite(margin):
        raise ValueError(f"margin must be a finite number, not {margin}")
    for name, index, size in (("rows", row, a.shape[0]), ("targets", token, a.shape[1])):
        if index.size and (index.min() < 0 or index.max() >= size):
            raise ValueError(f"{name} must lie between 0 and {size - 1}")


#: A change of zero (the word already wins by the margin) has no logarithm; it is raised to this.
CHANGE_FLOOR = 1e-12

Bias = Literal["append", "fixed"]


class SensitivityParameters(SlotParameters):
    """Parameters of SeT."""

    gamma: float = Field(
        1.0,
        gt=0,
        allow_inf_nan=False,
        title="Margin",
        description="By how much the word's logit has to exceed every other one; 1 in the paper.",
    )
    bias: Bias = Field(
        "append",
        title="Bias of the output layer",
        description="Whether the bias may change along with the weights, as one more column "
        "(append, as in the released code), or stays as it is (fixed). Models without one have no "
        "choice.",
        json_schema_extra=in_words({"append": "may change as well", "fixed": "stays as it is"}),
    )
    subword: Literal["max_change", "max_score"] = Field(
        "max_change",
        title="Words of several subwords",
        description="Take the largest change that a subword needs, for the group and for the "
        "prior, and compare the two (largest change), or compare subword by subword and take the "
        "largest of their scores (largest score).",
        json_schema_extra=in_words({"max_change": "largest change", "max_score": "largest score"}),
    )
    variant: Literal["paper", "released"] = Field(
        "paper",
        description="The published log ratio of squared distances (paper), or the released "
        "difference of ln(1 - distance), which is undefined for distances of 1 or more "
        "(released). The released code pairs it with the prior noun.",
        json_schema_extra=in_words({"paper": "as published", "released": "as released"}),
    )

    @model_validator(mode="after")
    def _released_has_its_own_subword_rule(self) -> Self:
        if self.variant == "released" and self.subword != "max_change":
            raise ValueError(
                "The released variant always takes the subword that needs the largest change. "
                "Leave subword at max_change, or choose the variant paper."
            )
        return self


class SensitivityTest(SlotMeasure[SensitivityParameters]):
    """How much less the output layer must change for a group than for the prior."""

    name = "set"
    title = "SeT, sensitivity test"
    citation = (
        "Cao, Sotnikova, Daumé III, Rudinger and Zou (2022), Theory-Grounded Measurement of U.S. "
        "Social Stereotypes in English Language Models, §3.1-3.2"
    )
    abilities = frozenset({"slot"})
    Parameters = SensitivityParameters

    def evidence_key(self, parameters: SensitivityParameters) -> tuple[Any, ...]:
        """Changes depend on the margin and on what may change."""
        return (parameters.gamma, parameters.bias)

    def evidence(
        self,
        lm: SlotModel,
        contexts: Sequence[SlotContext],
        words: Sequence[str],
        parameters: SensitivityParameters,
    ) -> Floats:
        """Return Delta per subword; see :func:`subword_changes`."""
        return subword_changes(lm, contexts, words, gamma=parameters.gamma, bias=parameters.bias)

    def compare(
        self, group: Floats, prior: Floats, words: Sequence[str], parameters: SensitivityParameters
    ) -> pd.DataFrame:
        """Return value, reason, delta_group, delta_prior and floored for each word.

        The deltas are the largest of the word's subwords; `floored` counts the changes of
        zero, of group and prior together, that had to be raised to the floor.
        """
        if parameters.variant == "released":
            value, reason = _released_scores(group, prior)
            floored = np.zeros(len(words), dtype=np.int64)
        else:
            value, reason, floored = _paper_scores(group, prior, parameters.subword)
        return pd.DataFrame(
            {
                "value": value,
                "reason": reason,
                "delta_group": _largest(group),
                "delta_prior": _largest(prior),
                "floored": floored,
            }
        )

    def remarks(
        self, stimuli: Stimuli, parameters: SensitivityParameters, shard_frames: Frames
    ) -> list[str]:
        """Say how many scores rest on the floor, and how many means on fewer templates."""
        found = super().remarks(stimuli, parameters, shard_frames)
        touched = sum(int((frame["floored"] > 0).sum()) for frame in shard_frames)
        total = sum(len(frame) for frame in shard_frames)
        if not touched:
            return found
        return [
            *found,
            f"In {touched:,} of {total:,} adjective scores a word already won by the margin, so "
            f"its change of zero was raised to the floor {CHANGE_FLOOR:g} before the logarithm.",
        ]


def subword_changes(
    lm: SlotModel,
    contexts: Sequence[SlotContext],
    words: Sequence[str],
    *,
    gamma: float = 1.0,
    bias: Bias = "append",
) -> Floats:
    """Return Delta for every subword of every word in every context.

    Returns
    -------
    (n_contexts, n_words, most_subwords) squared Frobenius distances >= 0. Places beyond a word's
    own subwords are -inf, so that they never are the largest; NaN means that the model gave
    numbers that are not finite.
    """
    most = max(len(row) for opened in lm.open(contexts, words) for row in opened.pieces)
    changes = np.full((len(contexts), len(words), most), -np.inf)
    for batch in lm.slot(contexts, words):
        rho = np.square(batch.hidden.astype(np.float64)).sum(axis=1)
        if batch.has_bias and bias == "append":
            rho += 1.0  # x = [h; 1]
        # A hidden state of zeros or of NaN has no direction to change the layer along.
        usable = np.isfinite(rho) & (rho > 0)
        found = minimal_changes_by_row(
            batch.logits, batch.row, batch.target, np.where(usable, rho, 1.0), gamma
        )
        found = np.where(usable[batch.row], found, np.nan)
        changes[batch.context, batch.word, batch.subword] = found
    return changes


def _largest(changes: Floats) -> Floats:
    """Return the largest change of each word, (n_words,); NaN if any of them is."""
    return changes.max(axis=1)  # np.max carries NaN along, unlike Python's max


def _paper_scores(
    group: Floats, prior: Floats, subword: str
) -> tuple[Floats, list[str], npt.NDArray[np.int64]]:
    """Return ln Delta(prior) - ln Delta(group) per word, the reasons, and the floored changes."""
    if subword == "max_change":
        group, prior = _largest(group)[:, np.newaxis], _largest(prior)[:, np.newaxis]
    used = ~np.isneginf(group)
    below = (used & (group < CHANGE_FLOOR)).astype(np.int64) + (used & (prior < CHANGE_FLOOR))
    floored: npt.NDArray[np.int64] = np.atleast_1d(below.sum(axis=1))
    ratios = np.log(np.maximum(prior, CHANGE_FLOOR)) - np.log(np.maximum(group, CHANGE_FLOOR))
    value = np.where(used, ratios, -np.inf).max(axis=1)
    reason = [
        "" if np.isfinite(v) else "the model gives numbers that are not finite" for v in value
    ]
    return np.where(np.isfinite(value), value, np.nan), reason, floored


def _released_scores(group: Floats, prior: Floats) -> tuple[Floats, list[str]]:
    """score(c, t) = min_i ln(1 - d_i), d = ||A' - A||_F; SeT = score(g, t) - score(prior, t)."""
    distances = {"group": np.sqrt(_largest(group)), "prior": np.sqrt(_largest(prior))}
    values, reasons = [], []
    for d_group, d_prior in zip(distances["group"], distances["prior"], strict=True):
        value, reason = np.nan, ""
        if not (np.isfinite(d_group) and np.isfinite(d_prior)):
            reason = "the model gives numbers that are not finite"
        elif d_group >= 1 or d_prior >= 1:
            side = "group" if d_group >= 1 else "prior"
            distance = d_group if d_group >= 1 else d_prior
            reason = f"the {side}'s distance is {distance:.3g}; ln(1 - d) needs less than 1"
        else:
            value = np.log1p(-d_group) - np.log1p(-d_prior)
        values.append(value)
        reasons.append(reason)
    return np.array(values), reasons
