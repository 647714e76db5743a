"""Log probabilities of a run of matched guise probing, put together from its shards.

A shard keeps a row for every prompt and text, with one float32 column for every attribute: 2,000
pairs × 9 prompts × 37 attributes take 6 MB.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from probing.measures.guise_stimuli import GuiseStimuli

if TYPE_CHECKING:
    import pandas as pd

#: The variety and the text of rows that say what follows a prompt without any text.
NO_TEXT = ""
KEYS = ("prompt", "variety", "text")

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class GuiseLogprobs:
    """ln P(attribute | prompt with text) in nats; NaN where a text does not fit.

    first, second : (n_prompts, n_texts, n_attributes)
    empty : (n_prompts, n_attributes), of the prompts without a text
    agrees : (n_prompts, n_attributes), whether the article of the prompt fits the attribute
    reasons : why values are missing → how many rows
    """

    first: Floats
    second: Floats
    empty: Floats
    agrees: npt.NDArray[np.bool_]
    reasons: dict[str, int]


def to_frame(
    entries: Sequence[tuple[str, str, str]], reasons: Sequence[str], values: Floats
) -> pd.DataFrame:
    """Return a shard's rows: (prompt, variety, text) entries, reasons, (n_rows, n_attributes)."""
    import pandas as pd

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
    import pandas as pd

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
    n_attributes = len(stimuli.attributes)
    columns = [column(index) for index in range(n_attributes)]
    table = np.empty((len(prompts) * len(names), n_attributes))
    table[cells] = rows[columns].to_numpy(dtype=np.float64)
    cube = table.reshape(len(prompts), len(names), n_attributes)
    n_first = len(stimuli.first)
    why = rows["reason"][rows["reason"] != ""].value_counts()
    return GuiseLogprobs(
        first=cube[:, :n_first],
        second=cube[:, n_first:-1],
        empty=cube[:, -1],
        agrees=np.array(
            [
                [prompt.agrees_with(attribute) for attribute in stimuli.attributes]
                for prompt in stimuli.prompts
            ]
        ),
        reasons={str(reason): int(n) for reason, n in why.sort_index().items()},
    )
