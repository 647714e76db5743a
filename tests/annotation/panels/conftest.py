"""A running panel, a study that uses it, and people who have finished."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.utils import timezone

from annotation.models import (
    Instrument,
    Outcome,
    Panel,
    PanelSettings,
    Participant,
    ParticipantIdentity,
    PayDecision,
    Review,
    Study,
    StudyStatus,
    Submission,
    SubmissionState,
)
from tests.panels_server import TOKEN, PanelServer, serve_panel
from tests.probing.runs.fixtures import shared_database  # noqa: F401

VARIABLE = "PROLIFIC_TOKEN_OF_TESTS"
SECRET_VARIABLE = "PROLIFIC_SECRET_OF_TESTS"
SECRET = "a secret between two"
LONG_REASON = "You put every line of every page at the very same place. " * 3

SubmissionMaker = Callable[..., Submission]


@pytest.fixture
def panel(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[PanelServer]:
    """A panel on the local host, which the platform's settings point at; it never waits."""
    monkeypatch.setenv(VARIABLE, TOKEN)
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)
    with serve_panel() as server:
        settings.PROLIFIC_API_URL = server.api_url
        settings.PROLIFIC_JWKS_URL = server.jwks_url
        settings.PANEL_PAUSE_SECONDS = 0.0
        settings.PANEL_TIMEOUT_SECONDS = 60.0
        settings.PANEL_SETTLE_SECONDS = 0.0
        yield server


def make_panel_study(server: PanelServer, **options: Any) -> Study:
    """Store a launched study at the panel, without content: nobody looks at its pages here."""
    study = Study.objects.create(
        title="Paid study",
        contact_email="lab@example.org",
        status=StudyStatus.LIVE,
        panel=Panel.PROLIFIC,
        reward_cents=server.reward,
        **options,
    )
    Instrument.objects.create(
        study=study, flow=["rating"], frozen_at=timezone.now(), content_hash="0" * 64
    )
    PanelSettings.objects.create(
        study=study,
        panel_study_id=server.study_id,
        api_token_variable=VARIABLE,
        webhook_secret_variable=SECRET_VARIABLE,
    )
    return study


def make_paid(
    study: Study, server: PanelServer | None, reference: str, **options: Any
) -> Submission:
    """Store a finished submission, at the panel too where there is a server."""
    panel_status = options.pop("panel_status", "AWAITING REVIEW")
    ground, told = options.pop("ground", ""), options.pop("told", LONG_REASON)
    values = {
        "state": SubmissionState.FINISHED,
        "outcome": Outcome.COMPLETED,
        "finished_at": timezone.now(),
        "pay_decision": PayDecision.APPROVED,
        **options,
    }
    participant = Participant.objects.create()
    ParticipantIdentity.objects.create(
        participant=participant,
        study=study,
        panel=study.panel,
        external_id=f"person-{reference}",
        session_id=reference,
    )
    submission = Submission.objects.create(
        study=study, instrument=study.instruments.get(), participant=participant, **values
    )
    if ground:
        Review.objects.create(
            submission=submission,
            data_decision="excluded",
            pay_decision="rejected",
            pay_ground=ground,
            reason=told,
        )
    if server is not None:
        server.add(reference, panel_status)
    return submission


@pytest.fixture
def study(db: None, panel: PanelServer) -> Study:
    return make_panel_study(panel)


@pytest.fixture
def add(study: Study, panel: PanelServer) -> SubmissionMaker:
    """Return a maker of finished submissions, approved unless told otherwise."""

    def make(reference: str, **options: Any) -> Submission:
        return make_paid(study, panel, reference, **options)

    return make
