"""Intersectional: what a model makes of people who belong to two groups at once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from evaluation.analyses import to_plain
from evaluation.analyses.emergence_norms import (
    Association,
    compare_with_norms,
    predict_associations,
)
from evaluation.analyses.intersectional import analyse_intersections
from evaluation.analyses.intersectional_result import IntersectionalOptions, IntersectionalResult
from evaluation.models import Report
from evaluation.reports.corpus_inputs import run_record
from evaluation.reports.document import Document
from evaluation.reports.errors import ReportError
from evaluation.reports.formatting import number
from evaluation.reports.intersectional.document import lay_out_intersectional
from evaluation.reports.intersectional.inputs import (
    REMEDY,
    IntersectionalInputs,
    has_paired_groups,
    load_intersections,
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
        inputs = load_intersections(run)
        hashes = {run_key(run_record(run)): inputs.scores.digest}
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
        everything = 2 * len(inputs.pairs) * len(inputs.scores.traits)
        whole = analyse_intersections(
            inputs.scores.table, inputs.pairs, inputs.domains, replace(options, top=everything)
        )
        return {
            "analysis": to_plain(
                replace(whole, options=options, emergent=whole.emergent[: parameters.top])
            ),
            "norms": None if norms is None else to_plain(_agree(whole, norms, inputs, parameters)),
            "mention": summarise_mention(
                inputs.scores.table,
                sorted(inputs.domains),
                seed=parameters.seed,
                resamples=parameters.resamples,
                level=parameters.level,
            ),
        }

    def document(self, report: Report, view: Mapping[str, str]) -> Document:
        return lay_out_intersectional(report)

    def headline(self, result: dict[str, Any]) -> str:
        return f"τ {number(result['analysis']['summary']['best']['value'])}"


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
