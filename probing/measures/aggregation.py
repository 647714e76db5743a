"""From the rows of the shards to pair scores.

Order (Cao et al. 2022): adjectives of a pole to the pole, low and high pole to pair score, then
templates to their mean. A pole is undefined where one of its adjectives is. The mean goes over the
templates in which the pair score is defined; `n` says how many those were, so that a reader can
leave out cells that rest on fewer. A cell without any is NaN, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from annotation.common.lazy import np, pd
from probing.measures.adjectives import ScoredWord, scored_words
from probing.measures.base import SCORE_COLUMNS, Frames
from probing.measures.stimuli import Stimuli

PAIR_SCORE = "pair_score"
_CELL = ["template", "group", "trait"]
_LONGEST_REASON = 200


def pair_scores(
    stimuli: Stimuli,
    shard_frames: Frames,
    *,
    words: Sequence[ScoredWord] | None = None,
    average: Literal["mean", "median"] = "mean",
) -> pd.DataFrame:
    """Return S(group, high) - S(group, low) by template, and the mean over templates.

    Parameters
    ----------
    stimuli : decides the order of the result; every cell must have rows for both poles.
    words : the adjectives of each pole; without them, the poles' own.
    average : how the adjectives of a pole become one score.
    shard_frames : the shards' rows in any order, with the columns template, group, trait, pole,
        word, value and reason.

    Returns
    -------
    One row per template and cell with ``n`` 1 or 0, then one per cell with an empty template,
    whose ``n`` counts the templates that went in. Columns of :data:`SCORE_COLUMNS`.

    Raises
    ------
    ValueError
        Rows are missing, doubled, or belong to no cell of the stimuli.
    """
    rows = _pole_rows(stimuli, shard_frames, words, average)
    low, high = rows.xs("low", level="pole"), rows.xs("high", level="pole")
    by_template = pd.DataFrame({"value": high["value"] - low["value"]})
    by_template["reason"] = [
        # Which of the adjectives have no value, and why.
        "" if defined else _shorten("; ".join(filter(None, reasons)))
        for defined, reasons in zip(
            by_template["value"].notna(),
            zip(low["reason"], high["reason"], strict=True),
            strict=True,
        )
    ]
    by_template["n"] = by_template["value"].notna().astype(np.int64)
    mean = _mean_over_templates(by_template)
    table = pd.concat([by_template.reset_index(), mean], ignore_index=True)
    table.insert(0, "name", PAIR_SCORE)
    return table[list(SCORE_COLUMNS)]


def cells_of_fewer_templates(stimuli: Stimuli, shard_frames: Frames) -> int:
    """Return how many cells of group and trait have a pair score in some templates, not in all."""
    rows = pd.concat(shard_frames, ignore_index=True)
    undefined = rows.loc[rows["value"].isna(), _CELL].drop_duplicates()
    lacking = undefined.groupby(["group", "trait"]).size()
    return int((lacking < len(stimuli.templates)).sum())


def pole_scores(
    stimuli: Stimuli,
    shard_frames: Frames,
    *,
    words: Sequence[ScoredWord] | None = None,
    average: Literal["mean", "median"] = "mean",
) -> pd.DataFrame:
    """Return S(group, pole) as the mean over the templates in which it is defined.

    Arguments and errors as of :func:`pair_scores`. One row per group, trait and pole, with the
    columns group, trait, pole, value (NaN where no template gives one) and n, the templates.
    """
    rows = _pole_rows(stimuli, shard_frames, words, average)
    cells = rows.groupby(level=["group", "trait", "pole"], sort=False)["value"]
    return pd.DataFrame({"value": cells.mean(), "n": cells.count()}).reset_index()


def _pole_rows(
    stimuli: Stimuli,
    shard_frames: Frames,
    words: Sequence[ScoredWord] | None,
    average: Literal["mean", "median"],
) -> pd.DataFrame:
    """Return value and reason of every pole by template, in the order of the stimuli."""
    scored = scored_words(stimuli) if words is None else words
    expected = [
        (template.slug, group.slug, entry.trait, entry.pole, entry.word)
        for template in stimuli.templates
        for group in stimuli.groups
        for entry in scored
    ]
    return _to_poles(complete_rows(shard_frames, [*_CELL, "pole", "word"], expected), average)


def complete_rows(
    frames: Sequence[pd.DataFrame], keys: list[str], cells: Iterable[tuple[Any, ...]]
) -> pd.DataFrame:
    """Return the shards' rows in the order of `cells`, indexed by `keys`.

    Raises ValueError where rows are missing, doubled, or belong to none of the cells.
    """
    if not frames:
        raise ValueError("there are no shards to aggregate")
    expected = pd.MultiIndex.from_tuples(list(cells), names=keys)
    rows = pd.concat(frames, ignore_index=True).set_index(keys)
    doubled = rows.index[rows.index.duplicated()]
    if len(doubled):
        raise ValueError(f"{len(doubled)} rows occur twice, the first for {doubled[0]}")
    missing = expected[~expected.isin(rows.index)]
    if len(missing):
        raise ValueError(f"{len(missing)} rows are missing, the first for {missing[0]}")
    if len(rows) != len(expected):
        raise ValueError(f"{len(rows) - len(expected)} rows belong to no cell of the stimuli")
    return rows.loc[expected]


def _to_poles(rows: pd.DataFrame, average: Literal["mean", "median"]) -> pd.DataFrame:
    """Return value and reason of each pole, in the order of the rows."""
    undefined = rows["value"].isna()
    poles = rows.assign(undefined=undefined).groupby(level=[*_CELL, "pole"], sort=False)
    table = pd.DataFrame({"value": poles["value"].agg(average)})
    table.loc[poles["undefined"].any(), "value"] = np.nan
    table["reason"] = ""
    # Most rows are defined: reasons are put together only where there are any.
    missing = rows[undefined]
    if len(missing):
        reasons = missing.index.get_level_values("word") + ": " + missing["reason"]
        joined = reasons.groupby(level=[*_CELL, "pole"], sort=False).agg("; ".join)
        table.loc[joined.index, "reason"] = joined
    return table


def _mean_over_templates(by_template: pd.DataFrame) -> pd.DataFrame:
    cells = by_template.groupby(level=["group", "trait"], sort=False)
    table = pd.DataFrame(
        {
            "value": cells["value"].mean(),  # leaves out NaN; NaN where nothing is left
            "n": cells["n"].sum(),
            "reason": cells["reason"].first(),
        }
    ).reset_index()
    templates = by_template.index.get_level_values("template").nunique()
    undefined = table["n"] == 0
    if templates > 1:
        table.loc[undefined, "reason"] = [
            _shorten(f"undefined in all {templates} templates: {reason}")
            for reason in table.loc[undefined, "reason"]
        ]
    table.loc[~undefined, "reason"] = ""
    table["template"] = ""
    return table


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST_REASON else text[: _LONGEST_REASON - 1] + "…"
