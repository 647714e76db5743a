"""Studies with ratings and runs with scores, made of real rows, for the tests of reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from django.utils import timezone

from annotation.models import (
    DataDecision,
    GroupAssignment,
    GroupSet,
    Outcome,
    Participant,
    PayDecision,
    PoleSides,
    Rating,
    Skipping,
    SocialGroup,
    Study,
    Submission,
    SubmissionState,
    TraitPair,
)
from annotation.studies.creation import create_study
from annotation.studies.lifecycle import launch_study
from probing.models import LanguageModel, ModelSource, Run, RunStatus, Score
from probing.runs.stimuli import DEFAULT_GROUPS

Scores = Mapping[str, Mapping[str, float | None]]

TEMPLATES = [
    {"slug": "that-group-is-trait", "text": "That {singular} is {trait}."},
    {"slug": "all-groups-are-trait", "text": "All {plural} are {trait}."},
]
# What participants read when the reports were stored: the hash of the instrument is part of them.
WORDING_OF_THEN = {
    "consent_body": (
        "This study asks how groups of people are seen in America. You will rate several groups "
        "on lines between two words, answer a few short checks, and tell us a little about "
        "yourself if you like.\n\n"
        "Taking part is voluntary. You can stop on any page, and you can have your answers erased "
        "afterwards with your own link. We store your answers under a random name. Your panel id "
        "is kept apart from them and is used only for payment.\n\n"
        "Some of the words are unkind. They are stereotypes that we study, not facts about anyone."
    ),
    "instructions_body": (
        "Some groups are seen as powerful and confident, others as the opposite, powerless and "
        "unconfident. On each of the following pages you see one group and a list of word pairs. "
        "Mark where on the line between two words people in America would put that group.\n\n"
        "We are not interested in your personal beliefs, but in how you think people in America "
        "view these groups.\n\n"
        "There are short checks in between. Your payment does not depend on them. You cannot go "
        "back to a page that you have sent."
    ),
}


def make_rated_study(
    *, submissions: int = 12, seed: int = 0, owner: Any = None, title: str = "Pilot"
) -> Study:
    """Store a live study of three groups with accepted submissions."""
    rng = np.random.default_rng(seed)
    groups = [SocialGroup.objects.get(slug=slug) for slug in ("man", "woman", "elderly")]
    study = create_study(
        title=title,
        owner=owner,
        contact_email="team@example.edu",
        groups=groups,
        flow=["consent", "instructions", "rating", "rating", "rating"],
        instrument_options={"pole_sides": PoleSides.COUNTERBALANCED, "skipping": Skipping.NEVER},
    )
    for key, text in WORDING_OF_THEN.items():
        study.instruments.get().wordings.filter(key=key).update(text=text)
    launch_study(study=study)
    instrument = study.instruments.get()
    scales = list(instrument.scales.all())
    for _ in range(submissions):
        submission = Submission.objects.create(
            study=study,
            instrument=instrument,
            participant=Participant.objects.create(),
            state=SubmissionState.FINISHED,
            outcome=Outcome.COMPLETED,
            finished_at=timezone.now(),
            data_decision=DataDecision.ACCEPTED,
            pay_decision=PayDecision.APPROVED,
        )
        for position, group in enumerate(instrument.groups.all(), start=1):
            assignment = GroupAssignment.objects.create(
                submission=submission, group=group, position=position
            )
            Rating.objects.bulk_create(
                Rating(assignment=assignment, scale=scale, value=float(value))
                for scale, value in zip(scales, rng.integers(0, 101, len(scales)), strict=True)
            )
    return study


def make_scored_run(
    *,
    scores: Scores | None = None,
    status: str = RunStatus.FINISHED,
    name: str = "tiny",
    **options: Any,
) -> Run:
    """Store a run, finished if not said otherwise, with pair scores for both templates."""
    model, _ = LanguageModel.objects.get_or_create(
        name=name, defaults={"source": ModelSource.PATH, "location": f"/models/{name}"}
    )
    values: dict[str, Any] = {
        "measure": "set",
        "parameters": {},
        "stimuli": {"templates": TEMPLATES},
        "stimuli_hash": "0" * 64,
        "code_version": "test",
    }
    run = Run.objects.create(model=model, status=status, **{**values, **options})
    if scores is None:
        rng = np.random.default_rng(7)
        traits = TraitPair.objects.values_list("slug", flat=True)
        groups = GroupSet.objects.get(slug=DEFAULT_GROUPS).groups.values_list("slug", flat=True)
        scores = {group: {trait: float(rng.normal()) for trait in traits} for group in groups}
    Score.objects.bulk_create(
        Score(
            run=run,
            name="pair_score",
            group=group,
            trait=trait,
            template=template,
            value=value,
            reason="" if value is not None else "the tokenizer has no piece for it",
            n=0 if value is None else 1,
        )
        for group, row in scores.items()
        for trait, value in row.items()
        for template in ("", *(entry["slug"] for entry in TEMPLATES))
    )
    return run
