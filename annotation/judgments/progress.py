"""How far the judges of a study are, for its researchers: here producers are named."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from annotation.models import Annotator, JudgmentItem, JudgmentTask, Study, TaskState


@dataclass
class JudgeProgress:
    """One judge's numbers."""

    annotator: Annotator
    assigned: int = 0
    done: int = 0
    seconds: list[float] = field(default_factory=list)
    last_done: datetime | None = None

    @property
    def open(self) -> int:
        return self.assigned - self.done

    @property
    def median_seconds(self) -> float | None:
        """Of counterparts with a counted time: without scripts the browser counts none."""
        return _median(self.seconds)


@dataclass
class ProducerProgress:
    """One producer's counterparts in one variety."""

    producer: str
    run: str
    variety: str
    items: int = 0
    judged: int = 0
    judgments: int = 0


@dataclass(frozen=True)
class Progress:
    """The whole study.

    Attributes
    ----------
    items : counterparts; ``judged`` have one judgment or more.
    wanted : judgments that the design asks for; ``done`` are there.
    twice_wanted, twice : counterparts for two judges, and those that both have judged.
    unplaced : judgments that are wanted and in nobody's queue.
    """

    judges: Sequence[JudgeProgress]
    producers: Sequence[ProducerProgress]
    items: int
    judged: int
    wanted: int
    done: int
    twice_wanted: int
    twice: int
    unplaced: int

    @property
    def median_seconds(self) -> float | None:
        return _median([seconds for judge in self.judges for seconds in judge.seconds])


def load_progress(study: Study) -> Progress:
    """Return how far a study is. Three queries, whatever its size."""
    judges = {
        annotator.pk: JudgeProgress(annotator) for annotator in study.annotators.order_by("number")
    }
    placed: dict[int, int] = {}
    done: dict[int, int] = {}
    tasks = (
        JudgmentTask.objects.filter(study=study)
        .exclude(state=TaskState.WITHDRAWN)
        .values_list("item", "annotator", "state", "active_seconds", "done_at")
    )
    for item, annotator, state, seconds, done_at in tasks.iterator(chunk_size=2000):
        judge = judges[annotator]
        judge.assigned += 1
        placed[item] = placed.get(item, 0) + 1
        if state != TaskState.DONE:
            continue
        done[item] = done.get(item, 0) + 1
        judge.done += 1
        judge.seconds.append(seconds)
        if done_at is not None and (judge.last_done is None or done_at > judge.last_done):
            judge.last_done = done_at
    producers: dict[tuple[str, str, str], ProducerProgress] = {}
    items = list(
        JudgmentItem.objects.filter(study=study)
        .order_by("producer", "run", "-variety")
        .values_list("pk", "producer", "run", "variety", "judges_wanted")
    )
    for key, producer, run, variety, _wanted in items:
        line = producers.setdefault(
            (producer, run, variety), ProducerProgress(producer, run, variety)
        )
        line.items += 1
        line.judged += key in done
        line.judgments += done.get(key, 0)
    return Progress(
        judges=list(judges.values()),
        producers=list(producers.values()),
        items=len(items),
        judged=len(done),
        wanted=sum(row[4] for row in items),
        done=sum(done.values()),
        twice_wanted=sum(row[4] > 1 for row in items),
        twice=sum(row[4] > 1 and done.get(row[0], 0) > 1 for row in items),
        unplaced=sum(max(0, row[4] - placed.get(row[0], 0)) for row in items),
    )


def _median(seconds: Sequence[float]) -> float | None:
    counted = [one for one in seconds if one > 0]
    return statistics.median(counted) if counted else None
