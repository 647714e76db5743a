"""What every case is: inputs made of real rows that are the same on every call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import time_machine

from annotation.models import Corpus, Study
from probing.models import Run
from tests.evaluation.reports.surveys import make_scored_run

# Data statements name months of work, reports the minute at which they were built.
NOW = "2026-01-05T10:00:00+00:00"
FEW = {"resamples": 100}
HALVES = {**FEW, "splits": 100}
STUDY_ID, CORPUS_ID = "study0000001", "corpus000001"
REMARK = "In 3 of 96 adjective scores a word already won by the margin."


@dataclass(frozen=True)
class Inputs:
    """What a report rests on."""

    study: Study | None = None
    corpus: Corpus | None = None
    runs: tuple[Run, ...] = ()
    second_study: Study | None = None


@dataclass(frozen=True)
class Case:
    """``make`` stores the inputs; with ``parameters`` they give the stored report of ``kind``."""

    kind: str
    make: Callable[[], Inputs]
    parameters: Mapping[str, Any] = field(default_factory=dict)


@contextmanager
def stopped_clock() -> Iterator[None]:
    """Inputs and reports are made at one moment."""
    with time_machine.travel(NOW, tick=False):
        yield


def in_order(study: Study) -> Study:
    """Give the submissions ids that sort as they were made, and the study its own."""
    for number, submission in enumerate(study.submissions.order_by("pk"), start=1):
        submission.public_id = f"submission{number:02d}"
        submission.save()
    return named(study)


def named(study: Study) -> Study:
    study.public_id = STUDY_ID
    study.save()
    return study


def scored_run(number: int = 1, **options: Any) -> Run:
    return make_scored_run(**names_of(number), **options)


def names_of(number: int) -> dict[str, Any]:
    """Return what the database would give a run by chance."""
    return {"id": 4000 + number, "public_id": f"run{number:09d}", "seed": number}


def renumber(model: Any, old: int, new: int) -> None:
    """Give a row another primary key, and those that point to it."""
    model.objects.filter(pk=old).update(**{model._meta.pk.attname: new})
    for relation in model._meta.related_objects:
        if relation.many_to_many:
            continue
        rows = relation.related_model.objects.filter(**{relation.field.attname: old})
        rows.update(**{relation.field.attname: new})
