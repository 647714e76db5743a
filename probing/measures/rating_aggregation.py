"""From the readings of direct ratings to scores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from annotation.common.holm import holm_correction
from annotation.common.lazy import np, pd, stats
from annotation.common.proportions import estimate_proportion
from probing.measures.answer_reading import RESCALED
from probing.measures.base import SCORE_COLUMNS, Frames

if TYPE_CHECKING:
    from probing.measures.direct_rating import DirectRatingParameters
    from probing.measures.rating_stimuli import RatingStimuli

PAIR_SCORE, RATING = "pair_score", "rating"
#: A rating here leans to neither word, as a pair score of 0 does.
MIDDLE = 50.0
_CELL = ["group", "trait"]
#: What answers without a number ended as.
_OUTCOMES = {
    "refused": "were refused",
    "unreadable": "could not be read",
    "cut_off": "were cut off",
}
_ADVICE = {"cut_off": " Raise max_new_tokens."}


def aggregate_ratings(
    stimuli: RatingStimuli, parameters: DirectRatingParameters, frames: Frames
) -> pd.DataFrame:
    """Return the scores, with the access tier of each in a column ``access``.

    Raises ValueError where readings are missing or doubled.
    """
    readings, access = _readings(parameters, frames)
    _require_all(stimuli, readings)
    rows: list[dict[str, Any]] = []
    cells = dict(list(readings.groupby(_CELL, sort=False)))
    for group in stimuli.groups:
        for trait in stimuli.traits:
            key = {"group": group.slug, "trait": trait.slug}
            cell = cells[group.slug, trait.slug]
            rows += [{**key, **row} for row in _cell_rows(cell, access)]
    if (asked := readings[readings["outcome"] != ""]).size:
        groups = [group.slug for group in stimuli.groups]
        rows += group_outcomes(groups, parameters, asked, access)
    return pd.DataFrame(rows)[[*SCORE_COLUMNS, "access"]]


def remarks_on_ratings(
    stimuli: RatingStimuli, parameters: DirectRatingParameters, frames: Frames
) -> list[str]:
    """Return how ratings were obtained, and what came instead of a number."""
    readings, access = _readings(parameters, frames)
    n = len(readings)
    found = [_HOW[access].format(n=n)]
    if pd.concat(frames)["access"].nunique() > 1:
        found.append(
            "The server told log-probabilities of numbers for some groups alone. Tiers are never "
            "mixed, so all ratings rest on drawn answers, one for each wording at least."
        )
    for outcome, words in _OUTCOMES.items():
        why = readings.loc[readings["outcome"] == outcome, "why"].value_counts()
        if len(why):
            told = ", ".join(f"{count:,} {reason}" for reason, count in why.sort_index().items())
            more = "" if list(why.index) == ["refused"] else f": {told}"
            found.append(f"{why.sum():,} of {n:,} answers {words}{more}.{_ADVICE.get(outcome, '')}")
    if rescaled := int((readings["why"] == RESCALED).sum()):
        found.append(f"{rescaled:,} of {n:,} answers on another scale were multiplied to 100.")
    missing = int(readings["value"].isna().sum())
    if access != "sampled" and missing:
        found.append(
            f"{missing:,} of {n:,} readings have no expected value: less than "
            f"{parameters.least_mass:g} of the probability lies on numbers."
        )
    if access != "sampled":
        found.append(
            f"On average {readings['mass'].mean():.1%} of the probability lies on numbers that "
            "are told."
        )
    if reasoned := int(readings["reasoning"].sum()):
        found.append(f"The model wrote {reasoned / n:,.0f} tokens of reasoning for each answer.")
    return found


_HOW = {
    "full": "Access: full. Each of {n:,} ratings is the expected value over the numbers from 0 to "
    "100, from a softmax over the model's whole vocabulary.",
    "top_k": "Access: top_k. Each of {n:,} ratings is the expected value over those numbers that "
    "are among the likeliest tokens; rating_low and rating_high bound what the missing probability "
    "could change.",
    "sampled": "Access: sampled. {n:,} answers were drawn.",
}


def _readings(parameters: DirectRatingParameters, frames: Frames) -> tuple[pd.DataFrame, str]:
    """Return the readings with their `value`, and the one tier that they all have."""
    if not frames:
        raise ValueError("there are no shards to aggregate")
    readings = pd.concat(frames, ignore_index=True)
    tiers = set(readings["access"])
    access = tiers.pop() if len(tiers) == 1 else "sampled"
    if access == "sampled":
        return readings.assign(value=readings["drawn"], low=math.nan, high=math.nan), access
    told = readings["mass"] >= parameters.least_mass
    return readings.assign(value=readings["expected"].where(told)), access


def _require_all(stimuli: RatingStimuli, readings: pd.DataFrame) -> None:
    expected = pd.MultiIndex.from_product(
        [[one.slug for one in stimuli.groups], [one.slug for one in stimuli.traits]]
    )
    found = pd.MultiIndex.from_frame(readings[_CELL]).unique()
    if len(missing := expected.difference(found)):
        raise ValueError(f"{len(missing)} cells are missing, the first {missing[0]}")
    if len(strangers := found.difference(expected)):
        raise ValueError(f"{len(strangers)} cells belong to no group and scale of the stimuli")
    if readings.duplicated([*_CELL, "repeat"]).any():
        raise ValueError("some readings occur twice")


def _cell_rows(cell: pd.DataFrame, access: str) -> list[dict[str, Any]]:
    by_wording = cell.groupby("wording", sort=True)
    means, counts = by_wording["value"].mean(), by_wording["value"].count()
    n = int(counts.sum())
    reason = "" if n else _why(cell, access)
    value = float(means.mean())
    rows = [
        _row(PAIR_SCORE, str(wording), mean - MIDDLE, number, access, _why(part, access))
        for (wording, part), mean, number in zip(by_wording, means, counts, strict=True)
    ]
    rows += [
        _row(PAIR_SCORE, "", value - MIDDLE, n, access, reason),
        _row(RATING, "", value, n, access, reason),
    ]
    defined = means.dropna()
    few = f"only {len(defined)} wordings have a rating"
    spread = float(defined.std(ddof=1)) if len(defined) > 1 else math.nan
    rows.append(_row("wording_sd", "", spread, len(defined), access, reason or few))
    if access == "top_k":
        read = cell[cell["value"].notna()].groupby("wording")
        rows += [
            _row(f"{RATING}_{side}", "", float(read[side].mean().mean()), n, access, reason)
            for side in ("low", "high")
        ]
    if access == "sampled":
        drawn = cell["value"].dropna()
        error = float(drawn.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan
        rows.append(_row("rating_se", "", error, n, access, reason or "only one answer was read"))
    if (cell["outcome"] != "").any():
        rows += [
            _row(outcome, "", float((cell["outcome"] == outcome).mean()), len(cell), access, "")
            for outcome in _OUTCOMES
        ]
    return rows


def group_outcomes(
    groups: list[str], parameters: DirectRatingParameters, asked: pd.DataFrame, access: str
) -> list[dict[str, Any]]:
    """Return how often a group's answers ended otherwise, on all scales (trait "").

    ``…_low`` and ``…_high``: Wilson's 95 % interval. ``…_p``: Fisher's exact test against all
    other groups, by Holm over groups. Both are about this model's answers to these questions: the
    questions are fixed and answers are drawn one by one, so that unlike scales make the variance
    smaller than a binomial one, and both err to the safe side (Hoeffding 1956).
    """
    rows = []
    for outcome in _OUTCOMES:
        ended = (asked["outcome"] == outcome).groupby(asked["group"])
        counts, n = ended.sum().reindex(groups), ended.size().reindex(groups)
        rest, rest_n = counts.sum() - counts, n.sum() - n
        reason = "there are no other groups" if len(groups) < 2 else ""
        if parameters.temperature == 0:
            reason = "at temperature 0 nothing is drawn"
        p_values = holm_correction(
            [
                math.nan
                if reason
                else stats.fisher_exact(
                    np.array(
                        [[counts[one], n[one] - counts[one]], [rest[one], rest_n[one] - rest[one]]]
                    )
                ).pvalue
                for one in groups
            ]
        )
        for group, p in zip(groups, p_values, strict=True):
            share = estimate_proportion(int(counts[group]), int(n[group]))
            for name, value in (
                ("", share.share),
                ("_low", share.low),
                ("_high", share.high),
                ("_p", float(p)),
            ):
                row = _row(outcome + name, "", value, share.n, access, reason)
                rows.append({"group": group, "trait": "", **row})
    return rows


def _row(
    name: str, template: str, value: float, n: int, access: str, reason: str
) -> dict[str, Any]:
    return {
        "name": name,
        "template": template,
        "value": value,
        "reason": reason if math.isnan(value) else "",
        "n": int(n),
        "access": access,
    }


def _why(cell: pd.DataFrame, access: str) -> str:
    """Return why a cell has no rating."""
    if access != "sampled":
        return "too little probability lies on numbers"
    counts = {one: int((cell["outcome"] == one).sum()) for one in _OUTCOMES}
    told = [f"{n} {outcome.replace('_', ' ')}" for outcome, n in counts.items() if n]
    return f"of {len(cell)} answers {' and '.join(told)}"
