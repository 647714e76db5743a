"""Cases of groups that are named together, and of mention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from django.db.models import F

from annotation.library.paired_groups import create_paired_groups
from annotation.models import GroupSet, SocialGroup
from probing.measures.stimuli import Group, Stimuli, Template, Trait
from probing.models import ShardStatus
from probing.runs.parameters import to_parquet
from tests.evaluation.reports.stored_cases.case import (
    FEW,
    REMARK,
    Case,
    Inputs,
    scored_run,
)


def _pair_groups(*slugs: str) -> None:
    group_set = GroupSet.objects.create(slug="few", title="Few")
    group_set.groups.set(SocialGroup.objects.filter(slug__in=slugs))
    create_paired_groups(group_set=group_set)


# Two traits of agency, one of beliefs, one of communion.
FOUR = ("powerless-powerful", "poor-wealthy", "conservative-liberal", "cold-warm")
RISING, FALLING = (1.0, 2.0, 3.0, 4.0), (4.0, 3.0, 2.0, 1.0)

PAIRED = {
    "teenager": RISING,
    "elderly": RISING,
    "wealthy": FALLING,
    "veteran": FALLING,
    "teenager--wealthy": (1.5, 2.5, 3.5, 9.0),
    "wealthy--teenager": (0.0, 2.5, 2.75, 4.0),
    "elderly--veteran": RISING,
}
NORMS = (
    "first,second,dimension,pole\n"
    "wealthy,teenager,communion,high\nteenager,wealthy,agency,high\nblack,woman,agency,low\n"
)


def _table(values: Mapping[str, Sequence[float | None]], traits: Sequence[str]) -> dict[str, Any]:
    return {group: dict(zip(traits, row, strict=True)) for group, row in values.items()}


def _intersectional(extra: Mapping[str, Sequence[float | None]]) -> Inputs:
    _pair_groups("teenager", "elderly", "wealthy", "veteran", "black")
    return Inputs(runs=(scored_run(scores=_table({**PAIRED, **extra}, FOUR)),))


POLE_TRAITS = (
    Trait("cold-warm", "cold", "warm", "communion"),
    Trait("powerless-powerful", "powerless", "powerful", "agency"),
    Trait("poor-wealthy", "poor", "wealthy", "agency"),
)
POLE_TEMPLATES = (
    Template("that-group-is-trait", "That {singular} is {trait}."),
    Template("all-groups-are-trait", "All {plural} are {trait}."),
)
# Scores of cold, warm; powerless, powerful; poor, wealthy.
POLES = {
    "teenager": (1.0, 2.0, 3.0, 4.0, 0.0, 0.0),
    "wealthy": (2.0, 1.0, 1.0, 3.0, 0.0, 0.0),
    "teenager--wealthy": (5.0, 4.0, 0.5, 3.5, 0.0, 0.0),
}


def _poles() -> Inputs:
    _pair_groups("teenager", "wealthy")
    slugs = [trait.slug for trait in POLE_TRAITS]
    scores = {group: tuple(v[2 * i + 1] - v[2 * i] for i in range(3)) for group, v in POLES.items()}
    run = scored_run(scores=_table(scores, slugs))
    stimuli = Stimuli(
        groups=tuple(Group(slug, slug, f"{slug}s", slug.capitalize()) for slug in POLES),
        traits=POLE_TRAITS,
        templates=POLE_TEMPLATES,
    )
    run.stimuli, run.stimuli_hash = stimuli.to_dict(), stimuli.content_hash()
    run.save()
    for index, (template, shift) in enumerate(zip(POLE_TEMPLATES, (-0.25, 0.25), strict=True)):
        rows = [
            (template.slug, group, trait.slug, pole, word, values[2 * i + j] + shift, "")
            for group, values in POLES.items()
            for i, trait in enumerate(POLE_TRAITS)
            for j, (pole, word) in enumerate((("low", trait.low), ("high", trait.high)))
        ]
        columns = ["template", "group", "trait", "pole", "word", "value", "reason"]
        run.shards.create(
            index=index,
            title=template.text,
            payload={},
            status=ShardStatus.STORED,
            result=to_parquet(pd.DataFrame(rows, columns=columns)),
        )
    return Inputs(runs=(run,))


MARKED = {"unmarked": (1.0, 1.0), "white": (3.0, 1.0), "black": (3.0, 1.0), "asian": (1.0, 5.0)}


def _markedness(extra: Mapping[str, Sequence[float | None]], *, by_template: float = 0.0) -> Inputs:
    """``by_template``: what the unmarked sentence has more in the first template than it should."""
    _pair_groups("white", "teenager")
    scores = _table({**MARKED, **extra}, ("powerless-powerful", "cold-warm"))
    run = scored_run(scores=scores, notices=[REMARK])
    first = run.scores.exclude(template="").order_by("template").values("template")[:1]
    run.scores.filter(group="unmarked", template=first).update(value=F("value") + by_template)
    return Inputs(runs=(run,))


CASES: dict[str, Case] = {
    "intersectional": Case(
        "intersectional",
        lambda: _intersectional({}),
        {**FEW, "norms": NORMS, "top": 5, "least_excess": 0.5},
    ),
    "intersectional-mention": Case(
        "intersectional",
        lambda: _intersectional(
            {"unmarked": (1.0, 1.0, 2.0, 2.0), "veteran--elderly": (1.0, None, None, 2.0)}
        ),
        {**FEW, "threshold": 0.7},
    ),
    "intersectional-poles": Case(
        "intersectional", _poles, {**FEW, "traits": "poles", "norms": NORMS}
    ),
    "markedness": Case(
        "markedness",
        lambda: _markedness({"white--teenager": (9.0, 9.0)}),
        {**FEW, "level": 0.9},
    ),
    "markedness-missing": Case(
        "markedness",
        lambda: _markedness({"black": (3.0, None), "asian": (1.0, 1.0)}, by_template=1.0),
        FEW,
    ),
}
