"""Log probabilities of a run of matched guise probing, put together from its shards.

A shard keeps a row for every prompt and text, with one float32 column for every attribute: 2,000
pairs × 9 prompts × 37 attributes take 6 MB.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from annotation.common.lazy import np, npt, pd
from probing.lm.question_protocols import ACCESS_TIERS, Access
from probing.measures.guise_stimuli import GuiseStimuli

#: The variety and the text of rows that say what follows a prompt without any text.
NO_TEXT = ""
KEYS = ("prompt", "variety", "text")
#: How answers of a served model ended that named no attribute.
OUTCOMES = ("refused", "unreadable", "cut_off")
#: Bounds of a probability that are nearer to each other are one number.
EXACT = 1e-9

Floats: TypeAlias = "npt.NDArray[np.float64]"


@dataclass(frozen=True)
class GuiseLogprobs:
    """ln P(attribute | prompt with text) in nats; NaN where a text does not fit.

    first, second : (n_prompts, n_texts, n_attributes)
    empty : (n_prompts, n_attributes), of the prompts without a text
    agrees : (n_prompts, n_attributes), whether the article of the prompt fits the attribute
    reasons : why values are missing → how many rows
    access : how all of them were obtained
    low, high : bounds of both sides where likeliest tokens alone are told
    counts : prompt, variety, text, asked, answered, refused, unreadable and cut off answers of a
        served model; a row for each prompt with a text
    """

    first: Floats
    second: Floats
    empty: Floats
    agrees: npt.NDArray[np.bool_]
    reasons: dict[str, int]
    access: Access = "full"
    low: tuple[Floats, Floats] | None = None
    high: tuple[Floats, Floats] | None = None
    counts: pd.DataFrame | None = None

    @property
    def is_exact(self) -> bool:
        """Whether every probability that is there is known, so that pairs may be compared."""
        if self.access == "full":
            return True
        if self.low is None or self.high is None:
            return False
        return all(
            bool(np.all((np.exp(high) - np.exp(low) <= EXACT) & np.isfinite(low) | np.isnan(high)))
            for low, high in zip(self.low, self.high, strict=True)
        )


def to_frame(
    entries: Sequence[tuple[str, str, str]], reasons: Sequence[str], values: Floats
) -> pd.DataFrame:
    """Return a shard's rows: (prompt, variety, text) entries, reasons, (n_rows, n_attributes)."""
    keys = pd.DataFrame(list(entries), columns=list(KEYS)).assign(reason=list(reasons))
    columns = [column(index) for index in range(values.shape[1])]
    numbers = pd.DataFrame(values.astype(np.float32), columns=columns)
    return pd.concat([keys, numbers], axis=1)


def column(attribute: int) -> str:
    """Return the column of an attribute by its place in the list."""
    return f"ln_p_{attribute}"


def read_logprobs(stimuli: GuiseStimuli, frames: Sequence[pd.DataFrame]) -> GuiseLogprobs:
    """Return the rows of all shards by prompt and text.

    Raises ValueError where rows are missing, doubled, or belong to none of the texts.
    """
    rows, cells = _place_rows(stimuli, frames)
    names = [column(index) for index in range(len(stimuli.attributes))]
    first, second, empty = _sides(stimuli, rows, cells, names)
    bounds: list[tuple[Floats, Floats] | None] = []
    for side in ("low", "high"):
        columns = [f"ln_{side}_{index}" for index in range(len(stimuli.attributes))]
        told = columns[0] in rows
        bounds.append(_sides(stimuli, rows, cells, columns)[:2] if told else None)
    why = rows["reason"][rows["reason"] != ""].value_counts()
    return GuiseLogprobs(
        first=first,
        second=second,
        empty=empty,
        agrees=np.array(
            [
                [prompt.agrees_with(attribute) for attribute in stimuli.attributes]
                for prompt in stimuli.prompts
            ]
        ),
        reasons={str(reason): int(n) for reason, n in why.sort_index().items()},
        access=access_of(rows),
        low=bounds[0],
        high=bounds[1],
        counts=_counts(stimuli, rows),
    )


def access_of(rows: pd.DataFrame) -> Access:
    """Return the tier of all rows, of those that were obtained at all.

    Raises ValueError where they differ: scores of different tiers are never averaged.
    """
    if "access" not in rows:
        return "full"
    tiers = [tier for tier in ACCESS_TIERS if tier in set(rows["access"])]
    if not tiers:  # everything was refused
        return "top_k" if "ln_low_0" in rows else "sampled"
    if len(tiers) > 1:
        raise ValueError(
            f"the server told {' for some texts and '.join(tiers)} for others, and scores of "
            "different tiers are never averaged. Create a new run with form=chat, or with "
            "least_access as low as the server's least"
        )
    return tiers[0]


def _place_rows(
    stimuli: GuiseStimuli, frames: Sequence[pd.DataFrame]
) -> tuple[pd.DataFrame, npt.NDArray[np.int64]]:
    """Return all rows, and the cell (prompt, text) that each belongs to."""
    if not frames:
        raise ValueError("there are no shards to aggregate")
    rows = pd.concat(frames, ignore_index=True)
    prompts = {prompt.slug: place for place, prompt in enumerate(stimuli.prompts)}
    # All texts in one line: those of the first variety, those of the second, and none.
    names = [
        *((stimuli.first_variety, text.slug) for text in stimuli.first),
        *((stimuli.second_variety, text.slug) for text in stimuli.second),
        (NO_TEXT, NO_TEXT),
    ]
    texts = pd.MultiIndex.from_tuples(names).get_indexer(
        pd.MultiIndex.from_frame(rows[["variety", "text"]])
    )
    lines = rows["prompt"].map(prompts).fillna(-1).to_numpy(dtype=np.int64)
    if (texts < 0).any() or (lines < 0).any():
        raise ValueError("rows belong to no prompt or text of the stimuli")
    cells = lines * len(names) + texts
    counts = np.bincount(cells, minlength=len(prompts) * len(names))
    if (counts > 1).any():
        raise ValueError(f"{int((counts > 1).sum())} rows occur twice")
    if (counts == 0).any():
        raise ValueError(f"{int((counts == 0).sum())} rows are missing")
    return rows, cells


def _sides(
    stimuli: GuiseStimuli,
    rows: pd.DataFrame,
    cells: npt.NDArray[np.int64],
    columns: Sequence[str],
) -> tuple[Floats, Floats, Floats]:
    """Return columns of the rows by prompt and text: of both varieties, and without a text."""
    table = np.empty((len(rows), len(columns)))
    table[cells] = rows[list(columns)].to_numpy(dtype=np.float64)
    cube = table.reshape(len(stimuli.prompts), -1, len(columns))
    n_first = len(stimuli.first)
    return cube[:, :n_first], cube[:, n_first:-1], cube[:, -1]


def _counts(stimuli: GuiseStimuli, rows: pd.DataFrame) -> pd.DataFrame | None:
    """Return what happened to the answers after texts; None where the model is no served one."""
    if "asked" not in rows:
        return None
    names = ["prompt", "variety", "text", "asked", "answered", *OUTCOMES]
    # Runs that were stored before answers could be cut off have none of those.
    told = rows.assign(cut_off=rows.get("cut_off", 0))
    return told.loc[told["variety"] != NO_TEXT, names].reset_index(drop=True)
