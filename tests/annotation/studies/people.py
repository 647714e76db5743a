"""Simulated participants for tests of the researchers' side.

They write the rows that the survey writes, so that a test can say exactly what was answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser, Permission
from django.utils import timezone

from annotation.instruments.versions import current_instrument
from annotation.models import (
    CheckKind,
    CheckResponse,
    GroupAssignment,
    Outcome,
    PageEvent,
    Panel,
    PanelSettings,
    Participant,
    ParticipantIdentity,
    Rating,
    Study,
    StudyGroup,
    Submission,
    SubmissionState,
)
from annotation.studies.creation import create_study
from annotation.studies.lifecycle import launch_study


def make_user(name: str, **options: Any) -> AbstractBaseUser:
    return get_user_model().objects.create_user(
        username=name, password="a long pass phrase", is_staff=True, **options
    )


def make_creator(name: str, **options: Any) -> AbstractBaseUser:
    """Return a researcher whose account can create studies."""
    user = make_user(name, **options)
    user.user_permissions.add(Permission.objects.get(codename="add_study"))  # type: ignore[attr-defined]
    return user


def allow_unsigned_links(study: Study) -> None:
    """Let people in at a Prolific study by ids alone, as tests write them into links."""
    if study.panel == Panel.PROLIFIC:
        PanelSettings.objects.create(study=study, signed_links=False)


def make_study(*, launched: bool = True, **options: Any) -> Study:
    """Return a study that pays $2.00, launched unless told otherwise."""
    values = {"title": "Group ratings", "owner": None, "contact_email": "lab@example.org"}
    study = create_study(**{**values, "reward_cents": 200, **options})
    allow_unsigned_links(study)
    return launch_study(study=study) if launched else study


def make_submission(
    study: Study,
    *,
    state: str = SubmissionState.FINISHED,
    failed: Sequence[str] = (),
    value: float = 60.0,
    minutes: float = 11.0,
    groups: int = 4,
    first_group: int = 0,
    started: datetime | None = None,
    external_id: str = "",
    checks_passed: bool | str | None = "from checks",
) -> Submission:
    """Store a submission that rated ``groups`` groups, from ``first_group`` on, with ``value``.

    ``failed`` names the checks that it failed. Every page took the same time.
    """
    instrument = current_instrument(study)
    assert instrument is not None
    participant = Participant.objects.create()
    if external_id:
        ParticipantIdentity.objects.create(
            participant=participant, study=study, panel=study.panel, external_id=external_id
        )
    finished = state == SubmissionState.FINISHED
    started = started or timezone.now() - timedelta(minutes=minutes)
    if checks_passed == "from checks":
        checks_passed = not failed if finished else None
    submission = Submission.objects.create(
        study=study,
        instrument=instrument,
        participant=participant,
        state=state,
        outcome=(Outcome.FAILED_CHECK if failed else Outcome.COMPLETED) if finished else "",
        checks_passed=checks_passed,
        self_agreement=(0.5 if CheckKind.REPEATED_GROUP in failed else 0.875) if finished else None,
        step_index=len(instrument.flow) if finished else 3,
        consented_at=started,
        finished_at=started + timedelta(minutes=minutes) if finished else None,
        reserved_until=None if finished else timezone.now() + timedelta(minutes=40),
    )
    Submission.objects.filter(pk=submission.pk).update(started_at=started)
    submission.refresh_from_db()
    scales = list(instrument.scales.all())
    entries = list(instrument.groups.all())
    chosen = [entries[(first_group + place) % len(entries)] for place in range(groups)]
    rated = [(group, False) for group in chosen] + ([(chosen[0], True)] if finished else [])
    for position, (group, is_repeat) in enumerate(rated, start=1):
        assignment = GroupAssignment.objects.create(
            submission=submission, group=group, position=position, is_repeat=is_repeat
        )
        if not finished and position > 1:
            continue
        Rating.objects.bulk_create(
            Rating(
                assignment=assignment,
                scale=scale,
                value=value,
                position=place,
                flipped=False,
                first_touch_ms=900 + place,
                changes=1,
            )
            for place, scale in enumerate(scales, start=1)
        )
    steps = instrument.flow if finished else instrument.flow[:3]
    share = timedelta(minutes=minutes) / max(1, len(steps))
    PageEvent.objects.bulk_create(
        PageEvent(
            submission=submission,
            step_index=index,
            step_kind=step if isinstance(step, str) else step["kind"],
            opened_at=started + index * share,
            submitted_at=started + (index + 1) * share,
            client={"device": "phone"},
        )
        for index, step in enumerate(steps)
    )
    if finished:
        _store_checks(submission, chosen[0], scales[0].slug, failed)
    return submission


def _store_checks(
    submission: Submission, group: StudyGroup, scale: str, failed: Sequence[str]
) -> None:
    """Store the three checks as the survey does, each failed or passed."""
    instrument = submission.instrument
    near, far = [f"{scale}:high"], [f"{scale}:low"]
    failed_traits = CheckKind.MARKED_TRAITS in failed
    answers: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        CheckKind.GROUP_NAME: (
            {"text": "senior citizens" if CheckKind.GROUP_NAME in failed else group.plural},
            {"group": group.slug, "plural": group.plural},
        ),
        CheckKind.MARKED_TRAITS: (
            {"near": (far if failed_traits else near)[0], "far": far[0]},
            {"near": near, "far": far, "near_options": near + far, "far_options": far + near},
        ),
        CheckKind.REPEATED_GROUP: (
            {"matching": 8 if CheckKind.REPEATED_GROUP in failed else 14, "scales": 16},
            {"at_least": instrument.agreement_at_least, "within": instrument.agreement_within},
        ),
    }
    CheckResponse.objects.bulk_create(
        CheckResponse(
            submission=submission,
            kind=kind,
            step_index=index,
            answer=answer,
            expected=expected,
            passed=kind not in failed,
        )
        for index, (kind, (answer, expected)) in enumerate(answers.items())
    )
