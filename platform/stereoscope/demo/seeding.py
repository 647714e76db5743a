"""Seeds the demo: studies of groups and of writers, a model, its run, reports. Idempotent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib.auth.models import User

from annotation.models import Study
from evaluation.models import Report
from evaluation.reports.parts.errors import ReportError
from probing.models import LanguageModel, Run
from probing.runs.errors import RunError
from probing.runs.language_models import find_model
from stereoscope.demo.names import PEOPLE_ID
from stereoscope.demo.probe import (
    ensure_demo_model,
    ensure_report,
    ensure_run,
    ensure_speakers_report,
)
from stereoscope.demo.speakers import ensure_simulated_speakers, ensure_speakers_survey
from stereoscope.demo.studies import ensure_simulated_people, ensure_survey


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
