"""The demo's study of speakers: invented notes in two styles, one study to take, one filled."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction

from annotation.corpora.corpus_import import import_corpus
from annotation.instruments.languages.language_service import add_known_language
from annotation.instruments.presets import SPEAKERS
from annotation.models import Corpus, Origin, Study
from annotation.studies.creation import create_guise_study
from annotation.studies.lifecycle import close_study, launch_study
from stereoscope.demo.names import SPEAKERS_PEOPLE_ID, SPEAKERS_SURVEY_ID
from stereoscope.demo.simulation import fill_with_simulated_people

CORPUS_ID = "demonotes001"
CONTACT = "demo@example.org"
SEED = 20240828
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
        licence="CC0, written for this demo",
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
            f"people scattered around it (seed {SEED}). No person answered anything."
        ),
        quota_per_group=RATINGS_PER_TEXT,
        decide_by_checks=True,
        reward_cents=0,
    )
    study = launch_study(study=study)
    fill_with_simulated_people(study=study, seed=SEED)
    return close_study(study=study)
