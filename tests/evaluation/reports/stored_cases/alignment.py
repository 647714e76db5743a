"""Cases of people beside models on the same groups, and of what people agree on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.models import DemographicAnswer, Origin, Rating, Study, TraitPair
from probing.models import Run
from tests.evaluation.reports.pictures import (
    OPPOSITE,
    all_scales,
    make_guise_run,
    make_named_run,
    make_rated_groups,
    make_rated_guises,
    planted,
)
from tests.evaluation.reports.stored_cases.case import (
    FEW,
    HALVES,
    REMARK,
    Case,
    Inputs,
    in_order,
    names_of,
    scored_run,
)
from tests.evaluation.reports.surveys import make_rated_study

RELEASED = {
    "prior": "noun", "adjectives": "pole", "list_average": "mean", "groups_per_shard": 9,
    "gamma": 1.0, "bias": "append", "subword": "max_change", "variant": "released",
}  # fmt: skip
PUBLISHED = {**RELEASED, "prior": "mask", "variant": "paper"}

# man and woman deviate alike from the unmarked sentence: mention explains all of it.
ALIKE: dict[str, dict[str, float | None]] = {
    group: {"powerless-powerful": high, "poor-wealthy": high, "cold-warm": low}
    for group, (high, low) in {
        "man": (3.0, 1.0), "woman": (3.0, 1.0), "unmarked": (1.0, 2.0)
    }.items()
}  # fmt: skip
SOME_MISSING: dict[str, dict[str, float | None]] = {
    "man": {
        "cold-warm": None,
        "poor-wealthy": 0.5,
        "dishonest-sincere": 0.5,
        "traditional-modern": 0.5,
    },
    "woman": {
        "cold-warm": 0.0,
        "poor-wealthy": 1.0,
        "dishonest-sincere": 2.0,
        "traditional-modern": 3.0,
    },
}


def _study(**options: Any) -> Study:
    return in_order(make_rated_study(**options))


def _typical(group: str, trait: str) -> int:
    """A rating from 0 to 100 that differs from cell to cell."""
    slugs = list(TraitPair.objects.order_by("slug").values_list("slug", flat=True))
    return (37 * ("man", "woman", "elderly").index(group) + 23 * slugs.index(trait)) % 101


def _agreeing(study: Study) -> Study:
    """Move the ratings of a cell together: people agree, and numbers by chance do not."""
    for rating in Rating.objects.select_related("assignment__group", "scale"):
        typical = _typical(rating.assignment.group.slug, rating.scale.slug)
        rating.value = round(0.4 * rating.value + 0.6 * typical)
        rating.save()
    return study


def _following_run(number: int = 1, swing: int = 7, **options: Any) -> Run:
    """Return a run whose scores follow these ratings, the less the larger ``swing``."""
    traits = TraitPair.objects.values_list("slug", flat=True)
    scores = {
        group: {
            trait: _typical(group, trait) / 20 + float((13 * place + 5 * row) % swing)
            for place, trait in enumerate(sorted(traits))
        }
        for row, group in enumerate(("man", "woman", "elderly"))
    }
    return scored_run(number, scores=scores, **options)


def _described_study(submissions: int = 24, **options: Any) -> Study:
    """Half are men, a third women, the others describe themselves; half are 20, half 30."""
    study = _study(submissions=submissions, **options)
    questions = {question.slug: question for question in study.instruments.get().questions.all()}
    for i, submission in enumerate(study.submissions.order_by("pk")):
        share = i / submissions
        gender = "Man" if share < 1 / 2 else "Woman" if share < 5 / 6 else "I describe myself:"
        for slug, value in (("gender", [gender]), ("age", 20 if i % 2 else 30)):
            DemographicAnswer.objects.create(
                submission=submission, question=questions[slug], value=value
            )
    return study


def _simulated_study() -> Study:
    study = _described_study(12)
    study.origin = Origin.SIMULATED
    study.save()
    return study


def _demo_run() -> Run:
    run = scored_run(scores=ALIKE, parameters=RELEASED, notices=[REMARK])
    run.model.is_demo = True
    run.model.save()
    return run


def _without(scores: Mapping[str, dict[str, float | None]], group: str) -> dict[str, Any]:
    return {slug: row for slug, row in scores.items() if slug != group}


def _template_run(study: Study) -> Run:
    """One template orders the traits of men as they stand, the other the opposite way."""
    run = scored_run()
    for sign, template in ((1, "that-group-is-trait"), (-1, "all-groups-are-trait")):
        scores = run.scores.filter(group="man", template=template).order_by("trait")
        for place, score in enumerate(scores):
            score.value = sign * float(place)
            score.save()
    return run


def _pictures(*, with_speakers: bool) -> Inputs:
    spoken = planted(all_scales())
    named = spoken | {slug: 0.5 if spoken[slug] < 0 else -0.5 for slug in OPPOSITE}
    speakers = make_rated_guises(spoken) if with_speakers else None
    if speakers is not None:
        speakers.public_id = "study0000002"
        speakers.save()
    return Inputs(
        in_order(make_rated_groups(spoken)),
        runs=(
            make_named_run(named, **names_of(1)),
            make_guise_run(spoken, **names_of(2)),
        ),
        second_study=speakers,
    )


CASES: dict[str, Case] = {
    "alignment": Case(
        "alignment", lambda: Inputs(_agreeing(_study()), runs=(_following_run(),)), HALVES
    ),
    "alignment-mention": Case(
        "alignment",
        lambda: Inputs(_simulated_study(), runs=(_demo_run(),)),
        {**HALVES, "smallest": 3, "seed": 11, "level": 0.9},
    ),
    "alignment-missing": Case(
        "alignment", lambda: Inputs(_study(), runs=(scored_run(scores=SOME_MISSING),)), HALVES
    ),
    "alignment-one-rater": Case(
        "alignment",
        lambda: Inputs(_study(submissions=1), runs=(scored_run(scores=SOME_MISSING),)),
        HALVES,
    ),
    "covert_overt_human": Case(
        "covert_overt_human",
        lambda: _pictures(with_speakers=True),
        {**HALVES, "first_group": "man", "second_group": "woman"},
    ),
    "covert_overt_human-three": Case(
        "covert_overt_human",
        lambda: _pictures(with_speakers=False),
        {**HALVES, "first_group": "man", "second_group": "woman"},
    ),
    "alignment_comparison": Case(
        "alignment_comparison",
        lambda: Inputs(
            _agreeing(_study()),
            runs=(
                _following_run(1, name="close"),
                _following_run(2, swing=11, name="less close"),
                scored_run(3, name="by chance"),
            ),
        ),
        {**HALVES, "pilot_groups": "man"},
    ),
    "alignment_comparison-mention": Case(
        "alignment_comparison",
        lambda: Inputs(
            _study(),
            runs=(
                scored_run(1, scores=_without(ALIKE, "unmarked"), parameters=PUBLISHED),
                scored_run(2, scores=ALIKE, parameters=RELEASED, notices=[REMARK]),
                scored_run(3, scores=SOME_MISSING, name="third"),
            ),
        ),
        HALVES,
    ),
    "alignment_subgroups": Case(
        "alignment_subgroups",
        lambda: Inputs(_agreeing(_described_study()), runs=(_following_run(),)),
        {**FEW, "smallest": 4},
    ),
    "alignment_subgroups-crossed": Case(
        "alignment_subgroups",
        lambda: Inputs(_described_study(), runs=(scored_run(scores=SOME_MISSING),)),
        {
            **FEW,
            "questions": "age, gender",
            "crossings": "age*gender, race*gender",
            "smallest": 3,
        },
    ),
    "alignment_subgroups-too-few": Case(
        "alignment_subgroups",
        lambda: Inputs(_described_study(), runs=(scored_run(scores=ALIKE),)),
        {**FEW, "smallest": 30},
    ),
    "template_selection": Case(
        "template_selection",
        lambda: Inputs(_agreeing(_study()), runs=(_following_run(),)),
        {**HALVES, "pilot_groups": "man", "annotations": 3},
    ),
    "template_selection-mention": Case(
        "template_selection",
        lambda: Inputs(
            _study(), runs=(scored_run(scores=ALIKE, parameters=RELEASED, notices=[REMARK]),)
        ),
        {**HALVES, "pilot_groups": "man", "annotations": 3},
    ),
    "template_selection-opposite": Case(
        "template_selection",
        lambda: Inputs(study := _study(), runs=(_template_run(study),)),
        {**HALVES, "pilot_groups": "man", "annotations": 12},
    ),
    "rating_agreement": Case("rating_agreement", lambda: Inputs(_study()), HALVES),
    "rating_agreement-one-rater": Case(
        "rating_agreement",
        lambda: Inputs(_study(submissions=1)),
        {**FEW, "splits": 0, "measurement": "ordinal"},
    ),
}
