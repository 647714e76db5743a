"""What the run monitor shows."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from probing.admin import wording
from probing.admin.run_drawing import draw_rate, draw_shards
from probing.admin.run_results import results_context
from probing.admin.run_sentence_facts import (
    is_read_in_sentences,
    sentence_supply,
    sentence_words,
)
from probing.admin.run_training import training_context
from probing.admin.score_heat import heat
from probing.measures.base import ResultKind
from probing.measures.registry import MEASURES
from probing.measures.text_stimuli import TextStimuli
from probing.models import Run, RunStatus
from probing.runs.inputs import load_inputs
from probing.runs.progress import load_progress
from probing.runs.score_table import load_score_table


def page_context(run: Run) -> dict[str, Any]:
    """Return the whole page. Queries of :func:`live_context` and one more at most."""
    stimuli = load_inputs(run).stimuli
    return {
        **live_context(run),
        "stimuli": stimuli,
        "supply": sentence_supply(stimuli) if is_read_in_sentences(stimuli) else [],
        "parameters": sorted(run.parameters.items()),
        "parameter_count": wording.parameter_count(run.model),
        "versions": sorted(run.library_versions.items()),
    }


def live_context(run: Run) -> dict[str, Any]:
    """Return the part that changes while the run is open. Queries of the progress, plus scores."""
    progress = load_progress(run)
    run.refresh_from_db(fields=["status", "started_at", "finished_at", "error", "notices"])
    finished = run.status == RunStatus.FINISHED
    stimuli = load_inputs(run).stimuli
    scores = MEASURES[run.measure].result is ResultKind.SCORES
    until = timezone.now() if progress.is_open else run.finished_at or timezone.now()
    return {
        "run": run,
        "progress": progress,
        "badge": wording.BADGES[RunStatus(run.status)],
        "measure": MEASURES[run.measure],
        "contents": _contents(stimuli),
        "rate": wording.rate(progress.rate) if progress.rate else None,
        "left": None if progress.seconds_left is None else wording.duration(progress.seconds_left),
        "took": _took(run),
        "drawing": draw_shards(progress.cells),
        "chart": draw_rate(progress.stored_times, until),
        "workers": [
            (worker, wording.rate(worker.rate) if worker.rate else "–")
            for worker in progress.workers
        ],
        "heat": heat(load_score_table(run)) if finished and scores else None,
        "training": training_context(run),
        "results": results_context(run),
        "template_count": len(getattr(stimuli, "templates", ())),
        "sentences": sentence_words(run, stimuli) if is_read_in_sentences(stimuli) else None,
        "last_error_line": run.error.strip().splitlines()[-1] if run.error.strip() else "",
    }


def _contents(stimuli: Any) -> str:
    if isinstance(stimuli, TextStimuli):
        return wording.text_contents(pairs=len(stimuli.pairs), prompts=len(stimuli.prompts))
    if is_read_in_sentences(stimuli):
        return wording.sentence_contents(
            groups=len(stimuli.groups), traits=len(stimuli.traits), sentences=stimuli.n_drawn
        )
    return wording.contents(
        groups=len(stimuli.groups),
        traits=len(stimuli.traits),
        templates=len(stimuli.templates),
    )


def _took(run: Run) -> tuple[str, str] | None:
    if run.started_at is None or run.finished_at is None:
        return None
    return wording.duration((run.finished_at - run.started_at).total_seconds())
