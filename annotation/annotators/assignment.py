"""Puts tasks into the queues of annotators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Max

from annotation.models import JudgmentTask, Study, TaskState, WritingTask

BATCH = 500


def give_tasks(
    study: Study,
    tasks: Sequence[WritingTask] | Sequence[JudgmentTask],
    *,
    of: str,
    renewed: Sequence[str] = (),
) -> None:
    """Store new tasks at the end of their annotators' queues, in the order given. Four queries.

    Nobody gets a task of the same ``of`` (its text or item) twice: who had one and lost it gets it
    back in its old position, with its draft; of the new one it takes the fields ``renewed``. A
    position is never given to another task, so that a page that was left open stores nothing in a
    wrong place.
    """
    if not tasks:
        return
    model: Any = type(tasks[0])
    stored = model.objects.filter(study=study)
    last = dict(stored.order_by().values_list("annotator").annotate(last=Max("position")))
    before = {
        (task.annotator_id, getattr(task, f"{of}_id")): task
        for task in stored.filter(state=TaskState.WITHDRAWN)
    }
    new, back = [], []
    for task in tasks:
        if old := before.get((task.annotator_id, getattr(task, f"{of}_id"))):
            old.state = TaskState.OPEN
            for name in renewed:
                setattr(old, name, getattr(task, name))
            back.append(old)
        else:
            task.position = last[task.annotator_id] = last.get(task.annotator_id, 0) + 1
            new.append(task)
    model.objects.bulk_create(new, batch_size=BATCH)
    model.objects.bulk_update(back, ["state", *renewed], batch_size=BATCH)
