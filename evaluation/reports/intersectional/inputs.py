"""Loads what an intersectional report rests on: one run's single and paired groups."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from annotation.common.lazy import pd
from annotation.models import Domain, GroupComponent, SocialGroup
from evaluation.analyses.intersectional_result import PairedGroup
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import count
from evaluation.reports.parts.score_inputs import RunScores, load_run_scores
from probing.models import Run
from probing.runs.result_tables import load_pole_scores

REMEDY = (
    "Create the paired groups of a set in the library or with “manage.py pair_groups SET”, then "
    "start a run with the set and its paired set."
)
COMPONENTS = 2


@dataclass(frozen=True)
class IntersectionalInputs:
    """``pairs`` have scores of their own and of both components; ``domains`` by component.

    ``table`` is what is analyzed: groups by trait pairs, or by single poles (`pole_column`).
    """

    scores: RunScores
    table: pd.DataFrame
    pairs: tuple[PairedGroup, ...]
    domains: dict[str, str]
    record: dict[str, Any]


def load_intersections(run: Run, *, by_poles: bool = False) -> IntersectionalInputs:
    """Return the paired groups of a finished run that can be analyzed.

    What cannot is counted in the record, under the reason. Raises `ReportError` where nothing can.
    Five queries, two more for single poles.
    """
    scores = load_run_scores(run)
    table = _load_poles(run, scores) if by_poles else scores.table
    scored = set(scores.table.index)
    components = _load_components(scored)
    if not components:
        raise ReportError(f"{run} scores no paired group. {REMEDY}")
    domains = _load_domains({slug for found in components.values() for slug in found})
    pairs: list[PairedGroup] = []
    left_out: Counter[str] = Counter()
    for slug, found in components.items():
        reason = _why_left_out(found, scored, domains)
        if reason:
            left_out[reason] += 1
        else:
            pairs.append(PairedGroup(slug, *found))
    reasons = [f"{count(n, 'paired group')}: {reason}." for reason, n in sorted(left_out.items())]
    if not pairs:
        raise ReportError(f"No paired group of {run} can be analyzed. {' '.join(reasons)} {REMEDY}")
    used = {slug for pair in pairs for slug in (pair.slug, pair.first, pair.second)}
    labels = dict(Domain.choices)
    record = scores.record | {
        "groups": {slug: name for slug, name in scores.names.items() if slug in used},
        "n_components": len({slug for pair in pairs for slug in (pair.first, pair.second)}),
        "domains": {name: str(labels[name]) for name in sorted(set(domains.values()))},
        "left_out": reasons,
        "by_poles": by_poles,
    }
    return IntersectionalInputs(
        scores=scores,
        table=table,
        pairs=tuple(pairs),
        domains={slug: name for slug, name in domains.items() if slug in used},
        record=record,
    )


def pole_column(trait: str, pole: str) -> str:
    """Return the name of a pole's column; `split_pole_column` takes it apart."""
    return f"{trait}:{pole}"


def split_pole_column(name: str) -> tuple[str, str]:
    trait, _, pole = name.rpartition(":")
    return trait, pole


def _load_poles(run: Run, scores: RunScores) -> pd.DataFrame:
    """Return groups by poles, the low one of each trait pair first."""
    found = load_pole_scores(run)
    if found is None:
        raise ReportError(
            f"{run} has no scores of single adjectives, only of trait pairs. Choose “pairs”."
        )
    columns = [pole_column(trait.slug, pole) for trait in scores.traits for pole in ("low", "high")]
    names = found["trait"] + ":" + found["pole"]
    table = found.assign(column=names).pivot(index="group", columns="column", values="value")
    return table[columns]


def has_paired_groups(slugs: set[str]) -> bool:
    """Return whether the library knows one of the groups as a paired one. One query."""
    return GroupComponent.objects.filter(group__slug__in=slugs).exists()


def _load_components(scored: set[str]) -> dict[str, tuple[str, ...]]:
    """Return paired group → its components in their order. One query."""
    found: dict[str, tuple[str, ...]] = {}
    rows = (
        GroupComponent.objects.filter(group__slug__in=scored)
        .order_by("group__slug", "position")
        .values_list("group__slug", "component__slug")
    )
    for group, component in rows:
        found[group] = (*found.get(group, ()), component)
    return found


def _load_domains(slugs: set[str]) -> dict[str, str]:
    """Return group → its first domain, as far as it has one. One query."""
    rows = SocialGroup.objects.filter(slug__in=slugs).values_list("slug", "domains")
    return {slug: domains[0] for slug, domains in rows if domains}


def _why_left_out(components: tuple[str, ...], scored: set[str], domains: dict[str, str]) -> str:
    if len(components) != COMPONENTS:
        return f"the library names {count(len(components), 'component')}, expected {COMPONENTS}"
    for slug in components:
        if slug not in scored:
            return f"their component “{slug}” has no scores in the run"
    for slug in components:
        if slug not in domains:
            return f"their component “{slug}” has no domain in the library"
    return ""
