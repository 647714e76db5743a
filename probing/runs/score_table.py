"""Selector: the scores of a finished run as a table of groups and traits."""

from __future__ import annotations

from dataclasses import dataclass

from probing.models import Run, Score
from probing.runs.inputs import load_inputs

PAIR_SCORE = "pair_score"


@dataclass(frozen=True)
class ScoreColumn:
    """A trait pair as a column: positive scores lean to ``high``."""

    slug: str
    low: str
    high: str
    dimension: str


@dataclass(frozen=True)
class ScoreCell:
    """One score, or the reason why there is none; ``n`` values went in."""

    value: float | None
    reason: str
    n: int


@dataclass(frozen=True)
class ScoreRow:
    """A group with one cell for each column."""

    slug: str
    name: str
    cells: tuple[ScoreCell, ...]


@dataclass(frozen=True)
class ScoreTable:
    """Pair scores of all groups and traits, as means over the templates."""

    columns: tuple[ScoreColumn, ...]
    rows: tuple[ScoreRow, ...]


def load_score_table(run: Run) -> ScoreTable:
    """Return the mean pair scores of ``run`` in the order of its stimuli. Two queries at most."""
    stimuli = load_inputs(run).stimuli
    found = {
        (score.group, score.trait): ScoreCell(score.value, score.reason, score.n)
        for score in Score.objects.filter(run_id=run.pk, name=PAIR_SCORE, template="")
    }
    missing = ScoreCell(None, "not stored", 0)
    return ScoreTable(
        columns=tuple(
            ScoreColumn(trait.slug, trait.low, trait.high, trait.dimension)
            for trait in stimuli.traits
        ),
        rows=tuple(
            ScoreRow(
                slug=group.slug,
                name=group.plural,
                cells=tuple(
                    found.get((group.slug, trait.slug), missing) for trait in stimuli.traits
                ),
            )
            for group in stimuli.groups
        ),
    )
