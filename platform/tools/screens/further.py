"""What the demo lacks: a study of speakers, a training, reports of other kinds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.models import User
from django.db.models import F

from annotation.imports.import_kind import ImportRequest, import_file, import_kinds
from annotation.models import Study
from evaluation.models import Report
from probing.models import LanguageModel, Run
from probing.runs.creation import create_run
from probing.runs.stimuli_loading import StimuliChoice, run_request
from stereoscope.api_authentication import create_token
from tests.annotation.survey.guises import make_guise_study, make_pairs, rate_by_variety
from tests.evaluation.reports import contracts
from tests.probing.runs.tuning_fixtures import FAST, as_tsv
from tests.probing.training.made_up_texts import compose_texts

PEOPLE = 7
MINUTES_TAKEN = timedelta(minutes=8)
#: Stored reports of the tests: small, made up, and of every kind.
REPORTS = (
    "guise_ratings",
    "covert_overt_human-three",
    "matched_guise",
    "fpr_gaps",
    "fpr_comparison",
)


@dataclass(frozen=True)
class Further:
    speakers: Study
    training: Run
    reports: tuple[Report, ...]


def create_further(owner: User) -> Further:
    """Store what is pictured besides; the worker of the demo trains the classifiers."""
    speakers = make_guise_study(
        make_pairs(name="Everyday sentences (made up)"), owner=owner, quota_per_group=6
    )
    rate_by_variety(speakers, people=PEOPLE)
    # Nobody waited for a browser here.
    speakers.submissions.update(started_at=F("finished_at") - MINUTES_TAKEN)
    create_token(user=owner, name="Nightly export", scopes=["read"], days=30)
    return Further(speakers, create_training(owner), tuple(map(copy_report, REPORTS)))


def create_training(owner: User) -> Run:
    facts = {"slug": "made-up", "title": "Made-up texts", "license": "CC0"}
    request = ImportRequest(as_tsv(compose_texts()), "made-up.tsv", facts, owner)
    import_file(import_kinds()["labeled-texts"], request)
    asked = run_request(
        measure="classifier_fine_tuning",
        model=LanguageModel.objects.earliest("pk"),
        choice=StimuliChoice(texts="made-up"),
        seed=5,
        parameters=FAST,
    )
    return create_run(**asked, seed=5, created_by=owner)


def copy_report(name: str) -> Report:
    """Store a report of the tests under an address of its own."""
    row = contracts.read_json(f"{name}.json")
    public_id = name.replace("_", "").replace("-", "")[:12]
    return contracts.from_stored({**row, "public_id": public_id})
