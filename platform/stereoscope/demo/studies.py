"""The demo's two studies: one to take oneself, one with simulated people."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction

from annotation.instruments.flow import DEFAULT_FLOW
from annotation.instruments.languages.language_service import add_known_language
from annotation.instruments.presets import with_practice
from annotation.models import Origin, Study
from annotation.studies.creation import create_study
from annotation.studies.lifecycle import close_study, launch_study
from stereoscope.demo.names import PEOPLE_ID, SURVEY_ID
from stereoscope.demo.simulation import fill_with_simulated_people

CONTACT = "demo@example.org"
SEED = 20220710
RATINGS_PER_GROUP = 20


@transaction.atomic
def ensure_survey(*, owner: User) -> Study:
    """Return the live study that a visitor can take at once, created on the first call."""
    if existing := Study.objects.filter(public_id=SURVEY_ID).first():
        return existing
    study = create_study(
        title="How groups of people are seen (demo)",
        owner=owner,
        contact_email=CONTACT,
        public_id=SURVEY_ID,
        quota_per_group=1000,
        decide_by_checks=True,
        reward_cents=0,
        flow=with_practice(DEFAULT_FLOW),
    )
    add_known_language(instrument=study.instruments.get(), language="es")
    return launch_study(study=study)


@transaction.atomic
def ensure_simulated_people(*, owner: User) -> Study:
    """Return the closed study with simulated submissions, created and filled on the first call."""
    if existing := Study.objects.filter(public_id=PEOPLE_ID).first():
        return existing
    study = create_study(
        title="Simulated ratings, drawn at random (demo, not a finding)",
        owner=owner,
        contact_email=CONTACT,
        public_id=PEOPLE_ID,
        origin=Origin.SIMULATED,
        source=(
            "Simulated by Stereoscope: a profile drawn at random for every group, and simulated "
            f"people scattered around it (seed {SEED}). No person answered anything."
        ),
        quota_per_group=RATINGS_PER_GROUP,
        decide_by_checks=True,
        reward_cents=0,
    )
    study = launch_study(study=study)
    fill_with_simulated_people(study=study, seed=SEED)
    return close_study(study=study)
