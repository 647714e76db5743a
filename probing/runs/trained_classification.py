"""Creates a run of classification for every model that a fine-tuning has kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from probing.measures.base import ResultKind
from probing.measures.registry import MEASURES
from probing.models import LanguageModel, Run, RunStatus
from probing.runs.creation import create_run
from probing.runs.errors import RunError
from probing.runs.stimuli_loading import StimuliChoice, run_request
from probing.runs.trained_models import trained_models_of


def find_trained_classifiers(run: Run) -> list[LanguageModel]:
    """Return the classifiers that ``run`` has kept; RunError where there are none."""
    if MEASURES[run.measure].result is not ResultKind.TRAINED_CLASSIFIERS:
        raise RunError.at(
            "run",
            f"{run} trained no classifiers. Choose a run of “"
            f"{MEASURES['classifier_fine_tuning'].title}”.",
        )
    models = list(trained_models_of(run))
    if not models:
        state = (
            "its models are deleted" if run.status == RunStatus.FINISHED else f"it is {run.status}"
        )
        raise RunError.at("run", f"{run} has no trained classifiers: {state}.")
    return models


def classify_with_trained(
    *,
    run: Run,
    choice: StimuliChoice,
    parameters: Mapping[str, Any],
    seed: int,
    created_by: User | None,
    dtype: str = "",
) -> list[Run]:
    """Create one run of classification for each classifier that ``run`` has kept, all or none.

    Reports on false positive rates count them as runs of the model that all were trained from.
    Raises :class:`RunError` as `create_run` does.
    """
    with transaction.atomic():
        return [
            create_run(
                **run_request(
                    measure="classification",
                    model=model,
                    choice=choice,
                    seed=seed,
                    parameters=parameters,
                    dtype=dtype,
                ),
                seed=seed,
                created_by=created_by,
            )
            for model in find_trained_classifiers(run)
        ]
