"""What the model of a run answered: every answer that was kept, and those that were not read."""

from __future__ import annotations

from collections.abc import Iterator

from annotation.common.lazy import pd
from annotation.common.tables import Table
from probing.measures.base import ANSWER_COLUMNS, Measure
from probing.measures.registry import MEASURES
from probing.models import Run
from probing.runs.parameters import from_parquet, load_inputs
from probing.runs.run_tables import HEAD, Rows, build_table, headed

READ = "answered"
#: The text of the reasoning, which is sent on request alone.
REASONING = "reasoning"


def keeps_answers(run: Run) -> bool:
    """Return whether the measure of a run asks a model in words."""
    measure = MEASURES.get(run.measure)
    return measure is not None and type(measure).said is not Measure.said and not run.is_imported


def load_answers(run: Run, *, unread: bool = False, outcome: str = "") -> Iterator[pd.DataFrame]:
    """Yield the answers in each stored shard, as `ANSWER_COLUMNS`.

    Parameters
    ----------
    unread : leaves out those that were read.
    outcome : leaves out all that ended otherwise.
    """
    inputs = load_inputs(run)
    blobs = run.shards.order_by("index").values_list("result", flat=True)
    for blob in blobs.iterator(chunk_size=20):
        said = None if blob is None else inputs.measure.said(inputs.stimuli, from_parquet(blob))
        if said is None:
            continue
        if unread:
            said = said[said["outcome"] != READ]
        yield said[said["outcome"] == outcome] if outcome else said


def count_answers(run: Run) -> list[tuple[str, str, int]]:
    """Return (outcome, why, number) of all answers of a run, the most frequent first."""
    counted = [one.groupby(["outcome", "why"]).size() for one in load_answers(run)]
    if not counted:
        return []
    total = pd.concat(counted).groupby(level=[0, 1]).sum().sort_values(ascending=False)
    counts = total.reset_index(name="n")
    return list(counts.itertuples(index=False, name=None))


def build_answer_table(
    run: Run, *, unread: bool = False, outcome: str = "", reasoning: bool = False
) -> Table:
    """Return a row for each answer; the text of the reasoning with `reasoning` alone."""
    columns = [one for one in ANSWER_COLUMNS if reasoning or one != REASONING]

    def rows() -> Rows:
        for said in load_answers(run, unread=unread, outcome=outcome):
            yield from said[columns].itertuples(index=False, name=None)

    return build_table("answers", (*HEAD, *columns), lambda: headed(run, rows()))
