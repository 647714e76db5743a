"""The demo's machine side: a tiny model of its own, or a real one, with its run and report."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import QuerySet

from annotation.models import Study
from evaluation.models import Report, ReportStatus
from evaluation.reports.requesting import request_report
from probing.models import LanguageModel, Run, RunStatus
from probing.runs.creation import create_run
from probing.runs.language_models import register_model
from probing.runs.stimuli import DEFAULT_GROUPS, default_templates, load_stimuli
from stereoscope.demo.names import MODEL_REPORT

MEASURE = "set"
SEED = 0
TITLE_LENGTH = 200
MODEL_NAME = "Demo model (meaningless)"
# What the demo model learns its words from: all that a run of the demo may ask.
LIBRARY_TEMPLATES = "cao-2022-table-4"
GIVEN_UP = (RunStatus.FAILED, RunStatus.CANCELLED)


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
        seed=SEED,
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
        measure=MEASURE, model=model, stimuli=stimuli, parameters={}, seed=SEED, created_by=owner
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
