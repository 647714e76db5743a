"""Settles texts that several annotators wrote in the same words: nobody has to decide these."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _

from annotation.models import Adjudication, Counterpart, Study, TaskState, Text, WritingTask


def are_identical(counterparts: Sequence[Counterpart]) -> bool:
    """Whether all say the same: the same words, white space aside, or all not interpretable."""
    first = counterparts[0]
    return all(
        one.not_interpretable == first.not_interpretable and one.body.split() == first.body.split()
        for one in counterparts
    )


def settle_text(*, study: Study, text: Text) -> None:
    """Record the gold counterpart where all annotators of a text agree, and take it back where they
    no longer do. A person's decision is never touched. Called within the transaction of a change;
    three queries.
    """
    tasks = list(
        WritingTask.objects.filter(study=study, text=text)
        .exclude(state=TaskState.WITHDRAWN)
        .select_related("counterpart")
        .order_by("annotator__number")
    )
    written = [task.counterpart for task in tasks if task.counterpart is not None]
    decided = Adjudication.objects.filter(study=study, text=text).first()
    if decided is not None and not decided.is_automatic:
        return
    complete = len(written) == len(tasks) and all(task.state == TaskState.DONE for task in tasks)
    if len(written) < 2 or not complete or not are_identical(written):
        if decided is not None:
            decided.delete()
        return
    decided = decided or Adjudication(study=study, text=text, is_automatic=True)
    decided.chosen, decided.body = written[0], written[0].body
    decided.not_interpretable = written[0].not_interpretable
    decided.note = _("All annotators wrote the same.")
    decided.save()
