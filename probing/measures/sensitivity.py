"""SeT, the sensitivity test: how little the output layer must change for a word to win.

Cao et al. (2022), §3.1:

    SeT(g, t) = ln Delta(prior, t) - ln Delta(g, t)

with Delta the smallest squared Frobenius change of the output layer that puts t on top. The
printed equation has the opposite sign; the text, which is followed here, says that SeT returns
the negative distance, so that a positive score means a stronger association.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, model_validator

from annotation.common.lazy import np, npt, pd
from probing.lm.protocols import SlotContext, SlotModel
from probing.measures.base import Frames, in_words
from probing.measures.sensitivity_solver import minimal_changes_by_row
from probing.measures.slot_measure import SlotMeasure, SlotParameters
from probing.measures.stimuli import Stimuli

if TYPE_CHECKING:
    Floats = npt.NDArray[np.float64]

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
