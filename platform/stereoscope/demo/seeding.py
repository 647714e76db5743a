"""Seeds the demo: studies of groups and of writers, a model, its run, reports. Idempotent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from annotation.corpora.corpus_import import import_corpus
from annotation.instruments.flow import DEFAULT_FLOW
from annotation.instruments.languages.language_service import add_known_language
from annotation.instruments.presets import SPEAKERS, with_practice
from annotation.models import Corpus, Origin, Study
from annotation.studies.creation import create_guise_study, create_study
from annotation.studies.lifecycle import close_study, launch_study
from evaluation.models import Report, ReportStatus
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.requesting import request_report
from probing.models import LanguageModel, Run, RunStatus
from probing.runs.creation import create_run
from probing.runs.errors import RunError
from probing.runs.language_models import find_model, register_model
from probing.runs.stimuli import DEFAULT_GROUPS, default_templates, load_stimuli
from stereoscope.demo.names import (
    MODEL_REPORT,
    PEOPLE_ID,
    SPEAKERS_PEOPLE_ID,
    SPEAKERS_SURVEY_ID,
    SURVEY_ID,
)
from stereoscope.demo.simulation import fill_with_simulated_people

# --- The demo's machine side: a tiny model of its own, or a real one, with its run and report

MEASURE = "set"
MODEL_SEED = 0
TITLE_LENGTH = 200
MODEL_NAME = "Demo model (meaningless)"
# What the demo model learns its words from: all that a run of the demo may ask.
LIBRARY_TEMPLATES = "cao-2022-table-4"
GIVEN_UP = (RunStatus.FAILED, RunStatus.CANCELED)


def ensure_demo_model() -> LanguageModel:
    """Return the demo model, trained and registered on the first call (some twenty seconds)."""
    folder = settings.VAR_DIR / "models" / "demo"
    registered = LanguageModel.objects.filter(is_demo=True, location=str(folder)).first()
    if registered is not None and (folder / "config.json").exists():
        return registered
    from probing.training.demo.model import train_demo_model

    train_demo_model(
        folder,
        stimuli=load_stimuli(groups=DEFAULT_GROUPS, templates=LIBRARY_TEMPLATES),
        seed=MODEL_SEED,
    )
    return register_model(location=str(folder), name=MODEL_NAME, is_demo=True)


def ensure_run(*, model: LanguageModel, owner: User) -> Run:
    """Return the run of SeT with ``model`` on the library's groups, queued on the first call."""
    stimuli = load_stimuli(
        groups=DEFAULT_GROUPS, templates=default_templates(measure=MEASURE, model=model)
    )
    existing = (
        Run.objects.filter(model=model, measure=MEASURE, stimuli_hash=stimuli.content_hash())
        .exclude(status__in=GIVEN_UP)
        .first()
    )
    return existing or create_run(
        measure=MEASURE,
        model=model,
        stimuli=stimuli,
        parameters={},
        seed=MODEL_SEED,
        created_by=owner,
    )


def ensure_report(*, study: Study, run: Run, owner: User) -> Report:
    """Return the alignment report of ``study`` and ``run``, asked for on the first call.

    A worker builds it as soon as the run is finished.
    """
    existing = _find_report(study).filter(runs=run).first()
    return existing or request_report(
        kind="alignment",
        study=study,
        runs=[run],
        created_by=owner,
        title=f"{MODEL_REPORT}{run.model.name}"[:TITLE_LENGTH],
    )


def ensure_speakers_report(*, study: Study, owner: User) -> Report:
    """Return the report on the simulated people who rated writers, asked for on the first call."""
    return _find_report(study).first() or request_report(
        kind="guise_ratings",
        study=study,
        runs=[],
        created_by=owner,
        title="Demo: simulated people on the writers of notes",
    )


def _find_report(study: Study) -> QuerySet[Report]:
    return Report.objects.filter(study=study).exclude(status=ReportStatus.FAILED)


# --- The demo's study of speakers: invented notes in two styles, one study to take, one filled

CORPUS_ID = "demonotes001"
# --- The demo's two studies: one to take oneself, one with simulated people

CONTACT = "demo@example.org"
SPEAKERS_SEED = 20240828
RATINGS_PER_TEXT = 6
# Nobody wrote these: notes that say the same twice, in haste and with care.
NOTES = (
    ("gonna be late, start without me ok?", "I am going to be late. Please start without me."),
    ("no idea where the keys went lol", "I do not know where the keys have gone."),
    ("u coming tmrw or nah", "Are you coming tomorrow, or not?"),
    ("that soup was sooo good omg", "That soup was remarkably good."),
    ("cant talk now, in the library", "I cannot talk at the moment, as I am in the library."),
    ("thx for the ride yesterday!!", "Thank you very much for the ride yesterday."),
    ("bus broke down again, typical", "The bus has broken down again, as it often does."),
    ("wanna grab a bite after work?", "Would you like to have something to eat after work?"),
)
# Without the instructed lines, which nobody simulated reads.
FLOW = [step for step in SPEAKERS.flow if not isinstance(step, dict)]


def ensure_notes(*, owner: User) -> Corpus:
    """Return the corpus of invented notes, stored on the first call."""
    if existing := Corpus.objects.filter(public_id=CORPUS_ID).first():
        return existing
    lines = ["Hasty\tCareful", *(f"{hasty}\t{careful}" for hasty, careful in NOTES)]
    corpus = import_corpus(
        content="\n".join(lines).encode(),
        file_name="notes.tsv",
        name="Invented notes (demo)",
        license="CC0, written for this demo",
        source_variety="Hasty",
        target_variety="Careful",
        owner=owner,
        public_id=CORPUS_ID,
    ).corpus
    assert corpus is not None  # only dry runs store none
    return corpus


@transaction.atomic
def ensure_speakers_survey(*, owner: User) -> Study:
    """Return the live study of the notes' writers, created on the first call."""
    if existing := Study.objects.filter(public_id=SPEAKERS_SURVEY_ID).first():
        return existing
    study = create_guise_study(
        title="Who wrote this note? (demo)",
        owner=owner,
        contact_email=CONTACT,
        corpus=ensure_notes(owner=owner),
        public_id=SPEAKERS_SURVEY_ID,
        quota_per_group=1000,
        decide_by_checks=True,
        reward_cents=0,
    )
    add_known_language(instrument=study.instruments.get(), language="es")
    return launch_study(study=study)


@transaction.atomic
def ensure_simulated_speakers(*, owner: User) -> Study:
    """Return the closed study of the same notes with simulated people, filled on the first call."""
    if existing := Study.objects.filter(public_id=SPEAKERS_PEOPLE_ID).first():
        return existing
    study = create_guise_study(
        title="Simulated ratings of writers, drawn at random (demo, not a finding)",
        owner=owner,
        contact_email=CONTACT,
        corpus=ensure_notes(owner=owner),
        flow=FLOW,
        public_id=SPEAKERS_PEOPLE_ID,
        origin=Origin.SIMULATED,
        source=(
            "Simulated by Stereoscope: a profile drawn at random for every note, and simulated "
            f"people scattered around it (seed {SPEAKERS_SEED}). No person answered anything."
        ),
        quota_per_group=RATINGS_PER_TEXT,
        decide_by_checks=True,
        reward_cents=0,
    )
    study = launch_study(study=study)
    fill_with_simulated_people(study=study, seed=SPEAKERS_SEED)
    return close_study(study=study)


SURVEY_SEED = 20220710
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
            f"people scattered around it (seed {SURVEY_SEED}). No person answered anything."
        ),
        quota_per_group=RATINGS_PER_GROUP,
        decide_by_checks=True,
        reward_cents=0,
    )
    study = launch_study(study=study)
    fill_with_simulated_people(study=study, seed=SURVEY_SEED)
    return close_study(study=study)


# --- Seeding


class DemoError(Exception):
    """Why there can be no demo, in one plain line."""


@dataclass(frozen=True)
class Demo:
    """``survey`` is open to everybody; ``people`` holds the simulated ratings of the report.

    ``speakers`` is the survey on the writers of texts, open too.
    """

    survey: Study
    people: Study
    run: Run
    report: Report
    speakers: Study


def seed_demo(*, owner: User, location: str = "", say: Callable[[str], None] | None = None) -> Demo:
    """Create what is missing of the demo; ``location`` names a model to probe instead of its own.

    ``say`` is told, in a line each, what takes a while. Raises `DemoError` if there is no masked
    model at ``location``.
    """
    tell = say or (lambda line: None)
    try:
        # First, so that a wrong name is known at once.
        model = find_model(wanted=location) if location else _demo_model(tell)
        survey = ensure_survey(owner=owner)
        if not Study.objects.filter(public_id=PEOPLE_ID).exists():
            tell("Simulating people who take the demo study.")
        people = ensure_simulated_people(owner=owner)
        run = ensure_run(model=model, owner=owner)
        report = ensure_report(study=people, run=run, owner=owner)
        speakers = ensure_speakers_survey(owner=owner)
        rated = ensure_simulated_speakers(owner=owner)
        ensure_speakers_report(study=rated, owner=owner)
    except (RunError, ReportError) as error:
        raise DemoError(" ".join(str(error).split())) from error
    return Demo(survey=survey, people=people, run=run, report=report, speakers=speakers)


def _demo_model(tell: Callable[[str], None]) -> LanguageModel:
    if not LanguageModel.objects.filter(is_demo=True).exists():
        tell("Training the demo model. It takes seconds and means nothing.")
    return ensure_demo_model()
