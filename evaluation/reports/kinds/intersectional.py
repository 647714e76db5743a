"""Intersectional: what a model makes of people who belong to two groups at once."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import pandas as pd
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from evaluation.analyses import to_plain
from evaluation.analyses.emergence_norms import (
    Association,
    compare_with_norms,
    predict_associations,
)
from evaluation.analyses.intersectional import analyse_intersections
from evaluation.analyses.intersectional_result import (
    Emergence,
    IntersectionalOptions,
    IntersectionalResult,
)
from evaluation.models import Report
from evaluation.reports.corpus_inputs import hash_rows, run_record
from evaluation.reports.document import Document
from evaluation.reports.errors import ReportError
from evaluation.reports.formatting import number
from evaluation.reports.intersectional.document import lay_out_intersectional
from evaluation.reports.intersectional.inputs import (
    REMEDY,
    IntersectionalInputs,
    has_paired_groups,
    load_intersections,
    split_pole_column,
)
from evaluation.reports.intersectional.norms import read_norms
from evaluation.reports.kinds.base import Chosen, Loaded, ReportKind, RunsInput
from evaluation.reports.kinds.options import IntervalParameters
from evaluation.reports.mention import summarise_mention
from evaluation.reports.provenance import run_key
from evaluation.reports.score_inputs import run_groups


class IntersectionalParameters(IntervalParameters):
    """The options of an intersectional report."""

    threshold: float = Field(
        0.1,
        ge=0,
        le=2,
        description="A domain dominates another where its mean τ is higher by this or more.",
    )
    traits: Literal["pairs", "poles"] = Field(
        "pairs",
        description="What a score is of: a trait pair, right adjective minus left (pairs), or "
        "every adjective by itself (poles), as in Table A10 of Cao et al. (2022).",
    )
    top: int = Field(50, ge=1, le=1000, description="Emergent associations listed.")
    norms: str | None = Field(
        None,
        max_length=1_000_000,
        description="Expected emergent traits as CSV with the columns first, second, dimension, "
        "pole: two groups’ slugs, a dimension of the ABC model, low or high.",
        json_schema_extra={"format": "csv"},
    )


class Intersectional(ReportKind):
    name = "intersectional"
    title = _("Intersectional groups")
    question = _("What does a model make of people who belong to two groups at once?")
    Parameters = IntersectionalParameters
    runs = RunsInput(_("A run that scores paired groups and their components."))

    def check(self, chosen: Chosen, parameters: IntersectionalParameters) -> None:
        """Two queries."""
        run = chosen.runs[0]
        groups = run_groups(run)
        if groups and not has_paired_groups(groups):
            raise ReportError(f"{run} scores no paired group. {REMEDY}")
        if parameters.norms is not None:
            read_norms(parameters.norms)

    def default_title(self, chosen: Chosen) -> str:
        return f"What does {chosen.runs[0].model.name} make of intersectional groups?"

    def load(self, chosen: Chosen, parameters: IntersectionalParameters) -> Loaded:
        run = chosen.runs[0]
        by_poles = parameters.traits == "poles"
        inputs = load_intersections(run, by_poles=by_poles)
        hashes = {run_key(run_record(run)): inputs.scores.digest}
        if by_poles:
            hashes["poles"] = _hash_table(inputs.table)
        norms: frozenset[Association] | None = None
        record = inputs.record | {"norms": None}
        if parameters.norms is not None:
            norms = read_norms(parameters.norms)
            paired = {frozenset((pair.first, pair.second)) for pair in inputs.pairs}
            used = frozenset(entry for entry in norms if entry.components in paired)
            hashes["norms"] = hashlib.sha256(parameters.norms.encode()).hexdigest()
            record["norms"] = {
                "n_given": len(norms),
                "n_used": len(used),
                "not_scored": sorted(
                    {" + ".join(sorted(e.components)) for e in norms if e not in used}
                ),
            }
            norms = used
        return Loaded(record=record, data=(inputs, norms), hashes=hashes)

    def compute(self, loaded: Loaded, parameters: IntersectionalParameters) -> dict[str, Any]:
        inputs: IntersectionalInputs
        norms: frozenset[Association] | None
        inputs, norms = loaded.data
        options = IntersectionalOptions(
            dominance_threshold=parameters.threshold,
            top=parameters.top,
            seed=parameters.seed,
            n_resamples=parameters.resamples,
            level=parameters.level,
        )
        # Norms are compared with all emergent traits, not with the listed ones alone.
        everything = 2 * len(inputs.pairs) * inputs.table.shape[1]
        whole = analyse_intersections(
            inputs.table, inputs.pairs, inputs.domains, replace(options, top=everything)
        )
        vanishing: list[Emergence] = []
        if parameters.traits == "poles":
            whole, vanishing = _split_poles(whole)
        return {
            "analysis": to_plain(
                replace(whole, options=options, emergent=whole.emergent[: parameters.top])
            ),
            "norms": None if norms is None else to_plain(_agree(whole, norms, inputs, parameters)),
            "mention": summarise_mention(
                inputs.table,
                sorted(inputs.domains),
                seed=parameters.seed,
                resamples=parameters.resamples,
                level=parameters.level,
            ),
            **({"vanishing": _to_record(vanishing, parameters.top)} if vanishing else {}),
        }

    def document(self, report: Report, view: Mapping[str, str]) -> Document:
        return lay_out_intersectional(report)

    def headline(self, result: dict[str, Any]) -> str:
        return f"τ {number(result['analysis']['summary']['best']['value'])}"


def _split_poles(
    found: IntersectionalResult,
) -> tuple[IntersectionalResult, list[Emergence]]:
    """Return the result with the adjectives that emerge, and apart from it those that vanish.

    The analysis took every adjective for a trait with two poles of its own: its high one is the
    adjective, its low one the lack of it.
    """
    emergent: list[Emergence] = []
    vanishing: list[Emergence] = []
    for entry in found.emergent:
        trait, pole = split_pole_column(entry.trait)
        kept = emergent if entry.pole == "high" else vanishing
        kept.append(replace(entry, trait=trait, pole=pole))
    return replace(found, emergent=tuple(emergent), n_emergent=len(emergent)), vanishing


def _to_record(vanishing: list[Emergence], top: int) -> dict[str, Any]:
    return {"n": len(vanishing), "entries": [to_plain(entry) for entry in vanishing[:top]]}


def _hash_table(table: pd.DataFrame) -> str:
    return hash_rows(
        [str(group), *(None if math.isnan(value) else value for value in row)]
        for group, row in zip(table.index, table.to_numpy(dtype=float).tolist(), strict=True)
    )


def _agree(
    result: IntersectionalResult,
    norms: frozenset[Association],
    inputs: IntersectionalInputs,
    parameters: IntersectionalParameters,
) -> Any:
    dimensions = {trait.slug: trait.dimension for trait in inputs.scores.traits}
    return compare_with_norms(
        predict_associations(result.emergent, dimensions),
        norms,
        dimensions={entry.dimension for entry in norms},
        level=parameters.level,
    )
