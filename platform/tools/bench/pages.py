"""The pages of researchers on a large installation: one huge study, two hundred beside it.

A few simulated visits go through the survey's own services; the rest are copies of their rows, with
names of their own. Each page is seen twice: first as after a change, then again.
"""

from __future__ import annotations

import gc
import os
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.bench.measuring import Meter, Row
from tools.researcher_pages import list_pages

if TYPE_CHECKING:
    from django.db.models import Model
    from django.test import Client

    from annotation.models import Study, Submission
    from probing.models import Run

SUBMISSIONS = 15_000
STUDIES_BESIDE = 200
RATINGS_PER_GROUP = 4  # of the study whose visits are copied
SEED = 20221101
REFUSED = (400, 403, 404, 405, 422)
BATCH = 2_000
FIRST_LIMIT, SECOND_LIMIT = 0.8, 0.3  # seconds of CPU
REPORT_LIMIT, REPORT_MEMORY_LIMIT = 20.0, 600.0  # seconds, MB


def run() -> list[Row]:
    """Return a row per page and view; `figures` counts its queries. Runs on DATABASE_URL or SQLite.

    An existing database is never touched: without BENCH_PAGES_FOLDER the file is temporary, with it
    the file stays there and the next run measures the same rows.
    """
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(os.environ.get("BENCH_PAGES_FOLDER", temporary))
        folder.mkdir(parents=True, exist_ok=True)
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "stereoscope.settings",
            "VAR_DIR": str(folder),
            "SECRET_KEY": "only-for-this-measurement",
            "ALLOWED_HOSTS": "testserver",
        }
        os.environ.pop("CELERY_BROKER_URL", None)
        import django

        django.setup()
        return list(_measure())


def _measure() -> Iterator[Row]:
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.test import Client

    from annotation.models import Study

    call_command("migrate", verbosity=0)
    owner, is_new = User.objects.get_or_create(
        username="bench", defaults={"is_staff": True, "is_superuser": True}
    )
    if is_new:
        fill(owner)
    large = Study.objects.get(title="Large study")
    client = Client()
    client.force_login(owner)
    addresses = list(list_addresses(large))
    yield measure_report(large, owner)  # first: the memory is the largest so far, of all
    _settle()
    for name, address in addresses:
        yield from measure_page(client, name, address)
    yield measure_flags(large)


def _settle() -> None:
    """Leave what is loaded by now out of garbage collection, as the web server does.

    Otherwise a search of all of it strikes one page or another, for as long as the slowest takes.
    """
    gc.collect()
    gc.freeze()


def fill(owner: Any, *, submissions: int = SUBMISSIONS, beside: int = STUDIES_BESIDE) -> None:
    """Store the large study with about ``submissions`` and empty ones ``beside`` it."""
    from django.db import transaction

    from annotation.studies.creation import create_study
    from annotation.studies.lifecycle import launch_study
    from stereoscope.demo.simulation import fill_with_simulated_people

    with transaction.atomic():
        options: dict[str, Any] = {
            "owner": owner,
            "contact_email": "bench@example.org",
            "reward_cents": 0,
        }
        for number in range(beside):
            create_study(title=f"Study {number}", **options)
        large = launch_study(
            study=create_study(title="Large study", quota_per_group=RATINGS_PER_GROUP, **options)
        )
        patterns = fill_with_simulated_people(study=large, seed=SEED)
        _copy_visits(patterns, submissions // len(patterns))
        large.quota_per_group = max(RATINGS_PER_GROUP, submissions // 5)
        large.save(update_fields=["quota_per_group"])
        _decide(large)


def _decide(study: Study) -> None:
    """Accept who passed every check, but for a tenth that waits for review."""
    from django.db.models import F

    from annotation.models import DataDecision, PayDecision

    passed = study.submissions.filter(checks_passed=True).annotate(place=F("pk") % 10)
    passed.exclude(place=0).update(
        data_decision=DataDecision.ACCEPTED, pay_decision=PayDecision.APPROVED
    )


def _copy_visits(patterns: list[Submission], times: int) -> None:
    """Store every visit ``times`` more: rows of all tables that hang on a submission."""
    from annotation.models import (
        CheckResponse,
        DemographicAnswer,
        GroupAssignment,
        PageEvent,
        Participant,
        Rating,
        Submission,
    )
    from annotation.models.tokens import new_public_id, new_token

    keys = [pattern.pk for pattern in patterns]
    own = {
        model: _by_key(model.objects.filter(submission__in=keys), "submission_id")
        for model in (CheckResponse, DemographicAnswer, PageEvent, GroupAssignment)
    }
    ratings = _by_key(Rating.objects.filter(assignment__submission__in=keys), "assignment_id")
    rows: dict[type[Model], list[Any]] = defaultdict(list)
    for _number in range(times):
        people = Participant.objects.bulk_create([Participant() for _ in patterns])
        copies = Submission.objects.bulk_create(
            _copy(pattern, participant=person, public_id=new_public_id(), token=new_token())
            for pattern, person in zip(patterns, people, strict=True)
        )
        for copy, key in zip(copies, keys, strict=True):
            assignments = own[GroupAssignment][key]
            stored = GroupAssignment.objects.bulk_create(
                _copy(assignment, submission=copy) for assignment in assignments
            )
            for assignment, pattern in zip(stored, assignments, strict=True):
                rows[Rating] += [
                    _copy(rating, assignment=assignment) for rating in ratings[pattern.pk]
                ]
            for model in (CheckResponse, DemographicAnswer, PageEvent):
                rows[model] += [_copy(row, submission=copy) for row in own[model][key]]
        for table, waiting in rows.items():
            table._default_manager.bulk_create(waiting, batch_size=BATCH)
        rows.clear()


def _by_key(rows: Any, name: str) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = defaultdict(list)
    for row in rows:
        found[getattr(row, name)].append(row)
    return found


def _copy(row: Any, **changes: Any) -> Any:
    """Return an unsaved copy of ``row`` with other values in some fields."""
    values = {
        field.attname: getattr(row, field.attname)
        for field in row._meta.concrete_fields
        if not field.primary_key and field.name not in changes
    }
    return type(row)(**values, **changes)


def list_addresses(study: Study) -> Iterator[tuple[str, str]]:
    """Yield the name and address of every page, and of the queue, which is about a whole study."""
    from django.urls import reverse

    yield from list_pages(find_rows(study))
    queue = "annotation_submission_queue"
    yield queue, reverse(f"admin:{queue}", args=[study.pk])


def find_rows(study: Study) -> dict[str, int]:
    """Return the rows that the pages show, by the name of their model: those of the large study."""
    from annotation.models import SocialGroup, TraitPair

    return {
        "study": study.pk,
        "instrument": study.instruments.get().pk,
        "submission": study.submissions.order_by("-pk")[0].pk,
        "socialgroup": SocialGroup.objects.earliest("pk").pk,
        "traitpair": TraitPair.objects.earliest("pk").pk,
    }


def measure_flags(study: Study) -> Row:
    """Return what a worker needs to count the flags of the study, which its page then shows."""
    from annotation.models import KeptFlagCounts
    from annotation.studies.flag_counts import keep_flags

    KeptFlagCounts.objects.all().delete()
    meter = Meter()
    with meter:
        keep_flags(study=study)
    return _in_the_background(meter, "flags, counted by a worker")


def measure_report(study: Study, owner: Any) -> Row:
    """Return what the alignment of a made-up run with the people of the study takes, once."""
    from evaluation.reports.building import build_report
    from evaluation.reports.requesting import request_report
    from probing.models import Run

    run = Run.objects.first() or store_run(study)
    report = request_report(kind="alignment", study=study, runs=[run], created_by=owner)
    meter = Meter()
    with meter:
        built = build_report(report_id=report.pk)
    if built is None or built.status != "final":
        raise RuntimeError(f"The report was not built: {built and built.error}")
    row = _in_the_background(meter, "alignment report, built by a worker")
    is_over = row.seconds > REPORT_LIMIT or row.peak_mb > REPORT_MEMORY_LIMIT
    row.figures["over the limit"] = float(is_over)
    return row


def store_run(study: Study) -> Run:
    """Store a finished run of a made-up model, with scores drawn at random."""
    from probing.models import LanguageModel, Run, RunStatus, Score

    instrument, rng = study.instruments.get(), random.Random(SEED)  # noqa: S311 - no secret
    model = LanguageModel.objects.create(name="Made up", location="/nowhere", is_demo=True)
    run = Run.objects.create(
        model=model,
        measure="set",
        status=RunStatus.FINISHED,
        parameters={},
        stimuli={"templates": [{"slug": "made-up", "text": "Made up."}]},
        stimuli_hash="0" * 64,
        code_version="bench",
    )
    Score.objects.bulk_create(
        Score(
            run=run,
            name="pair_score",
            group=group,
            trait=trait,
            template=template,
            n=1,
            value=rng.gauss(0, 1),
        )
        for group in instrument.groups.values_list("slug", flat=True)
        for trait in instrument.scales.values_list("slug", flat=True)
        for template in ("", "made-up")
    )
    return run


def _in_the_background(meter: Meter, name: str) -> Row:
    row = meter.row(name, "1 study")
    row.figures.update({"queries": 0, "over the limit": 0})
    return row


def measure_page(client: Client, name: str, address: str) -> Iterator[Row]:
    """Return the first and the second view of a page."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    for view, limit in (("first", FIRST_LIMIT), ("second", SECOND_LIMIT)):
        meter = Meter()
        with CaptureQueriesContext(connection) as queries, meter:
            answer = client.get(address, follow=True)
        if answer.status_code in REFUSED:  # only sent to, or not of this kind of row
            return
        if answer.status_code != 200:
            raise RuntimeError(f"{address} answered {answer.status_code}")
        row = meter.row(f"{name}, {view} view", "1 page")
        row.figures["queries"] = len(queries)
        row.figures["over the limit"] = float(row.cpu_seconds > limit)
        yield row
