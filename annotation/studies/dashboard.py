"""What the study's page shows beside the overview: where people leave, devices, recent events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q, TextChoices
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.instruments.flow import FlowError, Step, parse_flow
from annotation.models import (
    DataDecision,
    Instrument,
    PageEvent,
    Rating,
    Review,
    Study,
    Submission,
    SubmissionState,
)
from annotation.models.submission import in_scope
from annotation.studies.quality.crowd import CrowdKey, KeptOfCrowd, keeps_answers

EVENTS_SHOWN = 8


class EventKind(TextChoices):
    """What happened to somebody; withdrawals are decisions without a person who decided."""

    STARTED = "started", _("Somebody started")
    FINISHED = "finished", _("Somebody finished")
    ACCEPTED = "accepted", _("Data accepted")
    EXCLUDED = "excluded", _("Data excluded")
    WAITING = "waiting", _("A decision was taken back")
    WITHDRAWN = "withdrawn", _("Somebody withdrew")


@dataclass(frozen=True)
class Event:
    """One thing that happened, without who it happened to."""

    at: datetime
    kind: EventKind


@dataclass(frozen=True)
class PageLeft:
    """One page of the flow, in all versions that have it.

    kind, number : the page is the ``number``-th of its kind, from 1
    is_only : whether the newest version has one page of this kind
    came : submissions that came to it or beyond
    left : of these, the ones whose visit stopped at this page
    ended : of these, the ones that the survey ended: no consent, screened out, no place
    """

    kind: str
    number: int
    is_only: bool
    came: int
    left: int
    ended: int


@dataclass(frozen=True)
class Dashboard:
    """``begun`` : group → people who have rated it and whose visit goes on."""

    pages: tuple[PageLeft, ...]
    begun: dict[str, int]
    devices: tuple[tuple[str, int], ...]
    languages: tuple[tuple[str, int], ...]
    events: tuple[Event, ...]


def load_dashboard(study: Study, instruments: Sequence[Instrument], crowd: CrowdKey) -> Dashboard:
    """Return the rest of the page. Seven queries, whatever the size of the study, and one more
    where others are finished than this process has seen.

    instruments : all versions of the study, the newest first
    crowd : stands for its finished submissions
    """
    return Dashboard(
        pages=count_leaving(study, instruments),
        begun=count_begun(study),
        devices=count_devices(study, crowd),
        languages=count_languages(study),
        events=list_events(study),
    )


def count_leaving(study: Study, instruments: Sequence[Instrument]) -> tuple[PageLeft, ...]:
    """Return every page of the newest version, with those of others that people left at.

    A visit has stopped where it was ended, withdrawn before its end, or its reservation lapsed.
    One query.
    """
    state = SubmissionState
    stopped = Q(finished_at__isnull=True) & (
        Q(state__in=[state.ENDED, state.WITHDRAWN])
        | Q(state=state.IN_PROGRESS, reserved_until__lte=timezone.now())
    )
    rows = (
        Submission.objects.in_scope(study)
        .values("instrument_id", "step_index")
        .annotate(
            came=Count("pk"),
            left=Count("pk", filter=stopped),
            ended=Count("pk", filter=Q(state=state.ENDED)),
        )
        .order_by()
    )
    names = {instrument.pk: _name_pages(instrument) for instrument in instruments}
    came: Counter[tuple[str, int]] = Counter()
    left: Counter[tuple[str, int]] = Counter()
    ended: Counter[tuple[str, int]] = Counter()
    for row in rows:
        pages, at = names[row["instrument_id"]], row["step_index"]
        for page in pages[: at + 1]:
            came[page] += row["came"]
        if at < len(pages):
            left[pages[at]] += row["left"]
            ended[pages[at]] += row["ended"]
    order = dict.fromkeys(names[instruments[0].pk]) if instruments else {}
    newest = Counter(kind for kind, _number in order)
    order |= dict.fromkeys(page for page, n in left.items() if n)
    return tuple(
        PageLeft(kind, number, newest[kind] == 1, came[page], left[page], ended[page])
        for page in order
        for kind, number in [page]
    )


def _name_pages(instrument: Instrument) -> list[tuple[str, int]]:
    """Return (kind, number among its kind) of each step; none of a draft that cannot be read."""
    try:
        steps: Sequence[Step] = parse_flow(instrument.flow)
    except FlowError:
        return []
    seen: Counter[str] = Counter()
    names = []
    for step in steps:
        seen[step.kind] += 1
        names.append((step.kind, seen[step.kind]))
    return names


def count_begun(study: Study) -> dict[str, int]:
    """Return how many of those whose places are held have rated each group. One query."""
    rows = (
        Rating.objects.filter(
            in_scope(study, of="assignment__submission__"),
            assignment__submission__state=SubmissionState.IN_PROGRESS,
            assignment__submission__reserved_until__gt=timezone.now(),
            assignment__is_repeat=False,
        )
        .values("assignment__group__slug")
        .annotate(n=Count("assignment", distinct=True))
        .order_by()
    )
    return {row["assignment__group__slug"]: row["n"] for row in rows}


def count_devices(study: Study, crowd: CrowdKey) -> tuple[tuple[str, int], ...]:
    """Return the devices on which people sent their first page, the commonest first.

    "" stands for those whose browser said nothing of it. One query, and one more where this process
    does not know those of the finished submissions ``crowd``.
    """
    finished = _finished_on.get(study, crowd) if keeps_answers(study) else _count_finished_on(study)
    devices = finished + _count_devices(study, ~_FINISHED)
    return tuple(sorted(devices.items(), key=lambda row: (-row[1], row[0])))


def _count_finished_on(study: Study) -> Counter[str]:
    return _count_devices(study, _FINISHED)


def _count_devices(study: Study, whose: Q) -> Counter[str]:
    rows = (
        PageEvent.objects.filter(in_scope(study, of="submission__"), whose, step_index=0)
        .values_list("client__device")
        .annotate(n=Count("pk"))
        .order_by()
    )
    devices: Counter[str] = Counter()
    for device, n in rows:
        devices[device or ""] += n
    return devices


_FINISHED = Q(submission__state=SubmissionState.FINISHED)
_finished_on = KeptOfCrowd(64, _count_finished_on)


def count_languages(study: Study) -> tuple[tuple[str, int], ...]:
    """Return the languages of those who gave consent, the commonest first. One query."""
    rows = (
        Submission.objects.in_scope(study)
        .filter(consented_at__isnull=False)
        .values("language")
        .annotate(n=Count("pk"))
        .order_by("-n", "language")
    )
    return tuple((row["language"], row["n"]) for row in rows)


def list_events(study: Study) -> tuple[Event, ...]:
    """Return what happened last, the newest first, without who it happened to. Three queries."""
    submissions = Submission.objects.in_scope(study)
    started = submissions.order_by("-started_at").values_list("started_at", flat=True)
    finished = submissions.filter(finished_at__isnull=False).order_by("-finished_at")
    reviews = Review.objects.filter(in_scope(study, of="submission__")).order_by("-created_at")
    events = [Event(at, EventKind.STARTED) for at in started[:EVENTS_SHOWN]]
    events += [
        Event(at, EventKind.FINISHED)
        for at in finished.values_list("finished_at", flat=True)[:EVENTS_SHOWN]
        if at is not None
    ]
    events += [
        Event(at, _describe_review(decision, state, reviewer))
        for at, decision, state, reviewer in reviews.values_list(
            "created_at", "data_decision", "submission__state", "reviewer"
        )[:EVENTS_SHOWN]
    ]
    return tuple(sorted(events, key=lambda event: event.at, reverse=True)[:EVENTS_SHOWN])


def _describe_review(decision: str, state: str, reviewer: int | None) -> EventKind:
    if state == SubmissionState.WITHDRAWN and reviewer is None:
        return EventKind.WITHDRAWN
    return {
        DataDecision.ACCEPTED: EventKind.ACCEPTED,
        DataDecision.EXCLUDED: EventKind.EXCLUDED,
        DataDecision.WAITING: EventKind.WAITING,
    }[DataDecision(decision)]
