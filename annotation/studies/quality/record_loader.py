"""Reads from the database what the rules look at. No panel id leaves this file, only counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from annotation.common.durations import read_seconds
from annotation.instruments.flow import read_flow
from annotation.models import (
    Origin,
    PageEvent,
    ParticipantIdentity,
    Rating,
    StepAnswer,
    Study,
    Submission,
    SubmissionState,
)
from annotation.steps.kind import KINDS, name_kinds
from annotation.studies.quality.crowd import KeptOfCrowd, select_finished
from annotation.studies.quality.record import (
    LineAnswer,
    PageKey,
    PageRecord,
    Record,
    Usual,
    Visited,
)
from annotation.studies.quality.response_indices import (
    find_page_medians,
    normalize_text,
    shown_place,
)
from annotation.studies.quality.visit_cache import Shelf

# A query names this many rows at most; SQLite allows some more.
ROWS_PER_QUERY = 20_000


#: A finished submission: another one under the same number has another public id.
VisitKey = tuple[int, str, datetime]
_visits: Shelf[VisitKey, Visited] = Shelf(3_000)


def load_usual(study: Study) -> Usual:
    """Return what is usual among the finished submissions of a study. Four queries at most."""
    answers = StepAnswer.objects.filter(submission__in=select_finished(study))
    # The same text twice by one person is no copy.
    given = {
        (submission, text)
        for submission, texts in _read_texts(answers, _find_text_steps(study)).items()
        for text in texts
    }
    return Usual(_medians.get(study), Counter(text for _submission, text in given))


def _load_medians(study: Study) -> Mapping[PageKey, float]:
    """Return each page's median time, as `Usual` has it. One query."""
    finished = select_finished(study)
    events = PageEvent.objects.filter(submission__in=finished, opened_at__isnull=False)
    events = events.exclude(client__has_key="skipped").order_by()
    return find_page_medians(
        ((instrument, step), seconds / (answered or 1))
        for instrument, step, answered, seconds in read_seconds(
            events,
            "opened_at",
            "submitted_at",
            "submission__instrument",
            "step_index",
            "client__answered",
        )
    )


_medians: KeptOfCrowd[Mapping[PageKey, float]] = KeptOfCrowd(64, _load_medians)


def load_records(study: Study, submissions: Sequence[Submission]) -> dict[int, Record]:
    """Return the records of submissions of one study by key. Six queries, however many there are.

    At most 20,000 submissions.
    """
    keys = [submission.pk for submission in submissions]
    if len(keys) > ROWS_PER_QUERY:
        raise ValueError(f"{len(keys)} submissions, expected at most {ROWS_PER_QUERY}.")
    visited = _load_visited(submissions)
    texts = _read_texts(StepAnswer.objects.filter(submission__in=keys), _find_text_steps(study))
    people = _count_identities(study, {item.pk: item.participant_id for item in submissions})
    timed = study.origin != Origin.IMPORTED
    return {
        submission.pk: Record(
            started_at=submission.started_at,
            finished_at=submission.finished_at if timed else None,
            pages=visited[submission.pk].pages,
            lines=visited[submission.pk].lines,
            texts=tuple(texts.get(submission.pk, ())),
            same_identities=people.get(submission.pk, (None, None))[0],
            other_studies=people.get(submission.pk, (None, None))[1],
            is_timed=timed,
        )
        for submission in submissions
    }


def _load_visited(submissions: Sequence[Submission]) -> dict[int, Visited]:
    """Return the pages and lines of submissions by key. Two queries, none for those known here."""
    names = {
        submission.pk: name
        for submission in submissions
        if (name := _name_visit(submission)) is not None
    }
    known = _visits.find(names.values())
    found = {pk: known[name] for pk, name in names.items() if name in known}
    unread = {item.pk: item.instrument_id for item in submissions if item.pk not in found}
    if unread:
        pages, lines = _load_pages(unread), _load_lines(unread)
        read = {
            pk: Visited(tuple(pages.get(pk, ())), tuple(lines.get(pk, {}).values()))
            for pk in unread
        }
        _visits.keep({names[pk]: visited for pk, visited in read.items() if pk in names})
        found |= read
    return found


def forget_visit(submission: Submission) -> None:
    """Drop from this process's memory what was read of a visit, and medians that it is part of."""
    _visits.forget(lambda key: key[0] == submission.pk)
    _medians.forget(submission.study_id)


def _name_visit(submission: Submission) -> VisitKey | None:
    """None for a visit that goes on, or whose answers may have been erased."""
    if submission.state != SubmissionState.FINISHED or submission.finished_at is None:
        return None
    return submission.pk, submission.public_id, submission.finished_at


def _load_pages(instruments: Mapping[int, int]) -> dict[int, list[PageRecord]]:
    rows = (
        PageEvent.objects.filter(submission__in=list(instruments))
        .order_by("submission", "step_index")
        .values_list("submission", "step_index", "step_kind", "opened_at", "submitted_at", "client")
    )
    rating_pages = name_kinds(lambda kind: kind.has_group)
    pages: dict[int, list[PageRecord]] = {}
    for submission, step, kind, opened, sent, client in rows:
        pages.setdefault(submission, []).append(
            PageRecord(
                key=(instruments[submission], step),
                seconds=(sent - opened).total_seconds() if opened else None,
                open_seconds=_read_seconds(client, "open_ms"),
                visible_seconds=_read_seconds(client, "visible_ms"),
                restored=bool(client.get("restored")),
                pastes=client.get("pastes"),
                filled_hidden_field=bool(client.get("hidden_field")),
                is_rating=kind in rating_pages,
                skipped=bool(client.get("skipped")),
                answered=client.get("answered", 1.0),
            )
        )
    return pages


def _read_seconds(client: Mapping[str, Any], name: str) -> float | None:
    milliseconds = client.get(name)
    return milliseconds / 1000 if isinstance(milliseconds, int) else None


def _load_lines(keys: Collection[int]) -> dict[int, dict[int, tuple[LineAnswer, ...]]]:
    """Return the lines of every rated page, pages and lines in the order of the visit."""
    rows = (
        Rating.objects.filter(assignment__submission__in=keys)
        .order_by("assignment__submission", "assignment__position", "position", "scale")
        .values_list("assignment__submission", "assignment", "value", "flipped", "changes")
    )
    found: dict[int, dict[int, list[LineAnswer]]] = {}
    for submission, assignment, value, flipped, changes in rows.iterator():
        found.setdefault(submission, {}).setdefault(assignment, []).append(
            LineAnswer(shown_place(value, flipped=flipped), changes)
        )
    return {
        submission: {assignment: tuple(lines) for assignment, lines in pages.items()}
        for submission, pages in found.items()
    }


def _find_text_steps(study: Study) -> set[PageKey]:
    """Return where people write freely, over all versions. One query."""
    return {
        (pk, step.index)
        for pk, flow in study.instruments.values_list("pk", "flow")
        for step in read_flow(flow)[0]
        if KINDS[step.kind].is_text
    }


def _read_texts(
    answers: QuerySet[StepAnswer], text_steps: Collection[PageKey]
) -> dict[int, list[str]]:
    """Return the normalized texts of each submission. One query, none where nobody writes."""
    texts: dict[int, list[str]] = {}
    if not text_steps:
        return texts
    for submission, instrument, step, value in answers.values_list(
        "submission", "submission__instrument", "step_index", "value"
    ):
        if (instrument, step) in text_steps and isinstance(value, str):
            texts.setdefault(submission, []).append(normalize_text(value))
    return texts


def _count_identities(study: Study, people: Mapping[int, int]) -> dict[int, tuple[int, int]]:
    """Return how often each submission's id came in this study and in how many others. Two queries.

    Within the study, ids that differ by case or blanks only are one id: people paste them.
    """
    own = list(
        ParticipantIdentity.objects.filter(study=study).values_list(
            "participant", "panel", "external_id"
        )
    )
    by_person = {person: (panel, external) for person, panel, external in own}
    here = Counter((panel, _fold(external)) for _person, panel, external in own)
    wanted = {by_person[person] for person in people.values() if person in by_person}
    elsewhere: dict[tuple[str, str], set[int]] = {}
    for panel, external, other in (
        ParticipantIdentity.objects.exclude(study=study)
        .filter(external_id__in={external for _panel, external in wanted})
        .values_list("panel", "external_id", "study")
    ):
        elsewhere.setdefault((panel, external), set()).add(other)
    return {
        submission: (
            here[by_person[person][0], _fold(by_person[person][1])] - 1,
            len(elsewhere.get(by_person[person], ())),
        )
        for submission, person in people.items()
        if person in by_person
    }


def _fold(external_id: str) -> str:
    return "".join(external_id.split()).casefold()
