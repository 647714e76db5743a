"""A model, people and guises on the same scales: what the report on three pictures rests on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from django.utils import timezone

from annotation.models import (
    DataDecision,
    GroupAssignment,
    Outcome,
    Participant,
    PayDecision,
    Rating,
    Skipping,
    Study,
    Submission,
    SubmissionState,
    TraitPair,
)
from probing.models import Run
from tests.annotation.survey.guises import make_guise_study, make_pairs
from tests.evaluation.reports.guises import guise_stimuli, made_up_logs, store_guise_run
from tests.evaluation.reports.surveys import make_rated_study, make_scored_run

MODEL = "two-faced"
#: By name men stand nearer the high word of the first scales, of speakers nearer the low one.
OPPOSITE = ("cold-warm", "powerless-powerful")


def all_scales() -> list[TraitPair]:
    return list(TraitPair.objects.order_by("slug"))


def planted(scales: list[TraitPair]) -> dict[str, float]:
    """Return a difference for every scale, from −1 to 1 and never 0, evenly spread."""
    return {
        scale.slug: value
        for scale, value in zip(scales, np.linspace(-1, 1, len(scales)).round(3), strict=True)
    }


def make_named_run(differences: Mapping[str, float], **options: Any) -> Run:
    """Return a run by name: men stand so far from women on every scale."""
    scores: dict[str, dict[str, float | None]] = {
        "man": dict(differences),
        "woman": dict.fromkeys(differences, 0.0),
    }
    run = make_scored_run(scores=scores, name=MODEL, **options)
    # Two templates that differ a little: they leave an interval.
    for score in run.scores.filter(group="man", template="all-groups-are-trait"):
        assert score.value is not None
        score.value += 0.02
        score.save()
    return run


def make_guise_run(differences: Mapping[str, float], *, n_pairs: int = 24, **options: Any) -> Run:
    """Return a run of matched guise probing: q of the high pole is raised so far, in log₁₀."""
    poles = [pole for scale in all_scales() for pole in (scale.low, scale.high)]
    effects = {
        scale.high: differences[scale.slug] * np.log(10)
        for scale in all_scales()
        if scale.slug in differences
    }
    logs = made_up_logs(poles, n_pairs, effects, noise=0.05)
    stimuli = guise_stimuli(poles, n_pairs, varieties=("AAL", "WME"))
    return store_guise_run(stimuli, *logs, name=MODEL, **options)


def make_rated_guises(
    differences: Mapping[str, float], *, people: int = 12, title: str = "Speakers of texts"
) -> Study:
    """Return a study in which speakers of AAL are rated so far above those of WME."""
    scales = tuple(scale.slug for scale in all_scales())
    study = make_guise_study(
        make_pairs(4, name=f"Pairs of {title}"),
        scales=scales,
        title=title,
        # As when the reports were stored: the hash of the instrument is part of them.
        instrument_options={"skipping": Skipping.NEVER},
    )
    instrument = study.instruments.get()
    texts = {(text.item, text.variety): text for text in instrument.groups.all()}
    items = sorted({item for item, _variety in texts})
    rng = np.random.default_rng(3)
    for number in range(people):
        submission = Submission.objects.create(
            study=study,
            instrument=instrument,
            participant=Participant.objects.create(),
            state=SubmissionState.FINISHED,
            outcome=Outcome.COMPLETED,
            finished_at=timezone.now(),
            data_decision=DataDecision.ACCEPTED,
            pay_decision=PayDecision.APPROVED,
            public_id=f"speaker{number:05d}",
        )
        for position, item in enumerate(items, start=1):
            variety = ("AAL", "WME")[(number + position) % 2]
            assignment = GroupAssignment.objects.create(
                submission=submission,
                group=texts[item, variety],
                item=item,
                position=position,
            )
            shift = 10 if variety == "AAL" else 0
            Rating.objects.bulk_create(
                Rating(
                    assignment=assignment,
                    scale=scale,
                    value=50 + shift * differences[scale.slug] + float(rng.integers(-2, 3)),
                )
                for scale in instrument.scales.all()
            )
    return study


def make_rated_groups(differences: Mapping[str, float], **options: Any) -> Study:
    """Return a study in which men are rated so far above women on every scale, times ten."""
    study = make_rated_study(**options)
    for rating in Rating.objects.filter(assignment__submission__study=study).select_related(
        "assignment__group", "scale"
    ):
        shift = 10 * differences[rating.scale.slug] * (rating.assignment.group.slug == "man")
        rating.value = 50 + shift + (rating.value - 50) / 50
        rating.save()
    return study
