"""How far the judges of a study are, for its researchers: here producers are named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.annotators.progress import AnnotatorProgress, median_seconds
from annotation.models import JudgmentItem, Study


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

    judges: Sequence[AnnotatorProgress]
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
        return median_seconds(seconds for judge in self.judges for seconds in judge.seconds)


def load_progress(study: Study) -> Progress:
    """Return how far a study is. Three queries, whatever its size."""
    judges = {
        annotator.pk: AnnotatorProgress(annotator)
        for annotator in study.annotators.order_by("number")
    }
    placed: dict[int, int] = {}
    done: dict[int, int] = {}
    tasks = study.judgment_tasks.held().order_by()
    for item, annotator, state, seconds, done_at in tasks.values_list(
        "item", "annotator", "state", "active_seconds", "done_at"
    ).iterator(chunk_size=2000):
        placed[item] = placed.get(item, 0) + 1
        if judges[annotator].count(state, seconds, done_at):
            done[item] = done.get(item, 0) + 1
    producers: dict[tuple[str, str, str], ProducerProgress] = {}
    items = list(
        JudgmentItem.objects.filter(study=study)
        .order_by("producer", "run", "-variety")
        .values_list("pk", "producer", "run", "variety", "judges_wanted")
    )
    for key, producer, run, variety, _wanted in items:
        found = producers.setdefault(
            (producer, run, variety), ProducerProgress(producer, run, variety)
        )
        found.items += 1
        found.judged += key in done
        found.judgments += done.get(key, 0)
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
