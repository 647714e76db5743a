"""Association scores of a run of matched guise probing, by the tier in which they were obtained."""

from __future__ import annotations

from typing import TypeAlias

from annotation.common.lazy import np, npt, pd, stats
from probing.measures.association import log_mean_exp, paired_association, pooled_association
from probing.measures.base import SCORE_COLUMNS, Frames
from probing.measures.guise_logprobs import OUTCOMES, GuiseLogprobs, read_logprobs
from probing.measures.guise_parameters import MEANING_MATCHED, POOLED, MatchedGuiseParameters
from probing.measures.guise_stimuli import Base, GuiseStimuli
from probing.measures.missing_mass import wilson_bounds

Scored: TypeAlias = "tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]"
_NO_FINITE = "no finite ratio: nothing is known of it after one of the guises"


def association_rows(
    stimuli: GuiseStimuli, parameters: MatchedGuiseParameters, frames: Frames
) -> pd.DataFrame:
    """Return q of every attribute in every prompt, and its mean over prompts (template "").

    With bounds (``pooled_low``, ``pooled_high``) where not everything is told, and the share of
    ``refused`` and ``unreadable`` answers of a served model after either guise.
    """
    read = read_logprobs(stimuli, frames)
    tables = []
    for name, (q, n) in _forms(read, paired=stimuli.paired, base=parameters.base).items():
        table = _table(stimuli, np.where(np.isfinite(q), q, np.nan), n)[read.agrees.ravel()]
        mean = table.groupby("trait", sort=False)["value"].agg(["mean", "count", "size"])
        if name.endswith(("_low", "_high")):  # a mean of some prompts' bounds bounds nothing
            mean.loc[mean["count"] < mean["size"], "mean"] = np.nan
        overall = pd.DataFrame(
            {"trait": mean.index, "template": "", "value": mean["mean"], "n": mean["count"]}
        )
        tables.append(pd.concat([table, overall], ignore_index=True).assign(name=name))
    rows = pd.concat(tables, ignore_index=True).assign(group=stimuli.first_variety)
    missing = "no text fits" if read.access == "full" and read.counts is None else _NO_FINITE
    rows["reason"] = ["" if there else missing for there in rows["value"].notna()]
    rows = pd.concat([rows, *_outcomes(read)], ignore_index=True).assign(access=read.access)
    return rows[[*SCORE_COLUMNS, "access"]]


def _forms(read: GuiseLogprobs, *, paired: bool, base: Base) -> dict[str, Scored]:
    """Return q and n by name, each (n_prompts, n_attributes)."""
    with np.errstate(invalid="ignore"):  # nothing after either guise: no ratio
        pooled = pooled_association(read.first, read.second, base=base)
    if read.access == "full":
        pairs = paired_association(read.first, read.second, base=base) if paired else None
        return ({MEANING_MATCHED: pairs} if pairs else {}) | {POOLED: pooled}
    unit = np.log(10.0) if base == "10" else 1.0
    if read.access == "sampled":
        low, high = _wilson(read)
        (low_a, low_s), (high_a, high_s) = low, high
        with np.errstate(divide="ignore", invalid="ignore"):
            bounds = [(np.log(low_a / high_s)) / unit, (np.log(high_a / low_s)) / unit]
    else:
        if read.low is None or read.high is None:
            raise ValueError("rows of the tier top_k have no bounds")
        with np.errstate(invalid="ignore"):
            bounds = [
                pooled_association(read.low[0], read.high[1], base=base)[0],
                pooled_association(read.high[0], read.low[1], base=base)[0],
            ]
    found = {POOLED: pooled}
    for side, q in zip(("low", "high"), bounds, strict=True):
        found[f"{POOLED}_{side}"] = (q, pooled[1])
    if paired and read.is_exact:
        found = {MEANING_MATCHED: paired_association(read.first, read.second, base=base)} | found
    return found


def _wilson(read: GuiseLogprobs) -> list[list[npt.NDArray[np.float64]]]:
    """Return the lower and the upper bounds of both sides' mean shares, (n_prompts, n_attributes).

    The answers of all texts count as independent, which they are not quite.
    """
    if read.counts is None:
        raise ValueError("rows of the tier sampled have no counts")
    bounds = []
    varieties = read.counts["variety"].drop_duplicates().tolist()
    prompts = read.counts["prompt"].drop_duplicates().tolist()
    answered = read.counts.groupby(["variety", "prompt"], sort=False)["answered"].sum()
    for variety, side in zip(varieties, (read.first, read.second), strict=True):
        n = np.array([[float(answered[variety, prompt])] for prompt in prompts])
        bounds.append(wilson_bounds(np.exp(log_mean_exp(side)), n))
    return [[low for low, _ in bounds], [high for _, high in bounds]]


def _outcomes(read: GuiseLogprobs) -> list[pd.DataFrame]:
    """Return shares of answers without an attribute after either guise, by prompt and over all.

    n: answers that were asked for.
    """
    if read.counts is None:
        return []
    tables = []
    for outcome in OUTCOMES if read.access == "sampled" else ("refused",):
        for keys in (["variety", "prompt"], ["variety"]):
            sums = read.counts.groupby(keys, sort=False)[[outcome, "asked"]].sum().reset_index()
            tables.append(
                pd.DataFrame(
                    {
                        "name": outcome,
                        "group": sums["variety"],
                        "trait": "",
                        "template": sums.get("prompt", ""),
                        "value": sums[outcome] / sums["asked"],
                        "reason": "",
                        "n": sums["asked"],
                    }
                )
            )
    return tables


def remarks_on_access(stimuli: GuiseStimuli, frames: Frames) -> list[str]:
    """Say how the scores were obtained, why texts are missing, and what was refused."""
    read = read_logprobs(stimuli, frames)
    found = [_HOW[read.access]]
    found += [f"{n} readings are missing: {why}." for why, n in read.reasons.items()]
    return found + _refusals(stimuli, read)


_HOW = {
    "full": "Access: full. Every probability is a softmax over the model's whole vocabulary.",
    "top_k": "Access: top_k. Probabilities are known of the likeliest tokens alone; pooled_low and "
    "pooled_high bound every score whatever the missing probability does.",
    "sampled": "Access: sampled. Probabilities are shares of drawn answers; pooled_low and "
    "pooled_high come from Wilson's 95 % intervals of both shares, which take all answers for "
    "independent.",
}


def _refusals(stimuli: GuiseStimuli, read: GuiseLogprobs) -> list[str]:
    """Return how much was refused after either guise, with a test over texts."""
    if read.counts is None:
        return []
    sums = read.counts.groupby("variety", sort=False)[["refused", "asked"]].sum()
    if not sums["refused"].sum():
        return []
    told = []
    for variety in stimuli.varieties:
        refused, asked = sums.loc[[variety]].to_numpy(dtype=np.int64)[0]
        told.append(f"{refused:,} of {asked:,} after {variety}")
    share = read.counts.groupby(["variety", "text"], sort=False)["refused"].sum().unstack("variety")
    first, second = (share[variety].dropna().to_numpy() for variety in stimuli.varieties)
    return [f"Refused answers: {' and '.join(told)}; {_test(first, second, stimuli.paired)}."]


def _test(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64], paired: bool) -> str:
    """Return the test of a difference, with texts as units: their answers hang together."""
    if paired:
        more, fewer = int((first > second).sum()), int((first < second).sum())
        if not more + fewer:
            return "as many after both texts of every pair"
        p = stats.binomtest(more, more + fewer).pvalue
        return f"more in {more} pairs, fewer in {fewer} (exact sign test, p = {p:.3g})"
    table = np.array([[(side > 0).sum(), (side == 0).sum()] for side in (first, second)])
    p = stats.fisher_exact(table).pvalue
    return (
        f"of {table[0][0]} and {table[1][0]} texts at least once (Fisher's exact test, p = {p:.3g})"
    )


def _table(
    stimuli: GuiseStimuli, q: npt.NDArray[np.float64], n: npt.NDArray[np.int64]
) -> pd.DataFrame:
    prompts = [prompt.slug for prompt in stimuli.prompts]
    return pd.DataFrame(
        {
            "trait": np.tile(np.array(stimuli.attributes, dtype=object), len(prompts)),
            "template": np.repeat(np.array(prompts, dtype=object), len(stimuli.attributes)),
            "value": q.ravel(),
            "n": n.ravel(),
        }
    )
