"""Flags of submissions and of whole studies: computed when asked for, never stored as such."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from annotation.models import Study, Submission, SubmissionState
from annotation.studies.quality.flags import Assessment, FlagName
from annotation.studies.quality.record import Usual
from annotation.studies.quality.record_loader import load_records, load_usual
from annotation.studies.quality.rules import assess_record


@dataclass(frozen=True)
class FlagCounts:
    """``finished`` submissions, ``flagged`` of them with a warning; ``by_name``: flags."""

    finished: int
    flagged: int
    by_name: dict[FlagName, int]


class StudyAssessor:
    """Assesses submissions of one study part by part; reads once what is usual there."""

    def __init__(self, study: Study) -> None:
        self.study = study

    @cached_property
    def usual(self) -> Usual:
        return load_usual(self.study)

    def assess(self, submissions: Sequence[Submission]) -> dict[int, Assessment]:
        """Return what is conspicuous about submissions, by key. Six queries, four more at first.

        At most 20,000 submissions at a time.
        """
        thresholds = self.study.thresholds
        return {
            key: assess_record(record, self.usual, thresholds)
            for key, record in load_records(self.study, submissions).items()
        }


def assess_submissions(submissions: Iterable[Submission]) -> dict[int, Assessment]:
    """Return what is conspicuous about submissions, by key.

    One query, and ten for each study, however many submissions it has.
    """
    by_study: dict[int, list[Submission]] = {}
    for submission in submissions:
        by_study.setdefault(submission.study_id, []).append(submission)
    found: dict[int, Assessment] = {}
    for study in Study.objects.filter(pk__in=by_study):
        found |= StudyAssessor(study).assess(by_study[study.pk])
    return found


def count_flags(study: Study) -> FlagCounts:
    """Return how many finished submissions of a study have which flags. Eleven queries."""
    finished = list(Submission.objects.in_scope(study).filter(state=SubmissionState.FINISHED))
    found = StudyAssessor(study).assess(finished).values()
    names = Counter(flag.name for one in found for flag in one.flags)
    return FlagCounts(
        finished=len(finished),
        flagged=sum(one.has_warning for one in found),
        by_name={name: names[name] for name in FlagName},
    )
