"""Intersectional: what a model makes of people who belong to two groups at once."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.common.lazy import pd
from evaluation.analyses.emergence_norms import (
    Association,
    NormAgreement,
    compare_with_norms,
    predict_associations,
)
from evaluation.analyses.intersectional import analyze_intersections
from evaluation.analyses.intersectional_result import (
    Emergence,
    IntersectionalOptions,
    IntersectionalResult,
)
from evaluation.analyses.norm_curve import NormCurve, trace_norms
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.models import Report
from evaluation.reports.intersectional import prose, tables
from evaluation.reports.intersectional.inputs import (
    REMEDY,
    IntersectionalInputs,
    has_paired_groups,
    load_intersections,
    split_pole_column,
)
from evaluation.reports.intersectional.norms import read_norms
from evaluation.reports.parts.corpus_inputs import hash_rows, run_record
from evaluation.reports.parts.document import Document, Figure, Section, Table
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import number, percent
from evaluation.reports.parts.kind import Chosen, Loaded, ReportKind, RunsInput
from evaluation.reports.parts.mention import MENTION, mention_caveat, summarize_mention
from evaluation.reports.parts.options import IntervalParameters
from evaluation.reports.parts.provenance import run_key
from evaluation.reports.parts.score_inputs import TraitName, run_groups
from evaluation.reports.parts.score_words import remarks

#: Where the curve stands in a report's result.
CURVE = "norm_curve"


class IntersectionalParameters(IntervalParameters):
    """The options of an intersectional report."""

    threshold: float = Field(
        0.1,
        ge=0,
        le=2,
        title="Margin of dominance",
        description="A domain dominates another where its mean τ is higher by this or more.",
    )
    traits: Literal["pairs", "poles"] = Field(
        "pairs",
        description="What a score is of: a trait pair, right adjective minus left (pairs), or "
        "every adjective by itself (poles), as in Table A10 of Cao et al. (2022).",
    )
    top: int = Field(
        50, ge=1, le=1000, title="Length of the list", description="Emergent associations listed."
    )
    least_excess: float = Field(
        0.0,
        ge=0,
        allow_inf_nan=False,
        description="By how much an association must exceed both components to emerge, in the "
        "measure’s unit; 0 as published.",
    )
    norms: str | None = Field(
        None,
        max_length=1_000_000,
        title="Expected traits",
        description="Expected emergent traits as CSV with the columns first, second, dimension, "
        "pole: two groups’ slugs, a dimension of the ABC model, low or high.",
        json_schema_extra={"format": "csv"},
    )


class Intersectional(ReportKind):
    name = "intersectional"
    title = _("Intersectional groups")
    question = _("What does a model make of people who belong to two groups at once?")
    meanings = prose.MEANINGS
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
            least_excess=parameters.least_excess,
            **parameters.bootstrap,
        )
        # Norms are compared with all emergent traits, not with the listed ones alone, and their
        # curve runs through every excess.
        everything = 2 * len(inputs.pairs) * inputs.table.shape[1]
        whole = analyze_intersections(
            inputs.table,
            inputs.pairs,
            inputs.domains,
            replace(options, top=everything, least_excess=0.0),
        )
        vanishing: list[Emergence] = []
        if parameters.traits == "poles":
            whole, vanishing = _split_poles(whole)
        vanishing = _beyond(vanishing, parameters.least_excess)
        emergent = _beyond(whole.emergent, parameters.least_excess)
        listed = {
            "n": len(vanishing),
            "entries": [to_plain(entry) for entry in vanishing[: parameters.top]],
        }
        agreement, curve = None, None
        if norms is not None:
            dimensions = {trait.slug: trait.dimension for trait in inputs.scores.traits}
            agreement = compare_with_norms(
                predict_associations(emergent, dimensions),
                norms,
                dimensions={entry.dimension for entry in norms},
                level=parameters.level,
            )
            curve = trace_norms(whole.emergent, norms, dimensions, **parameters.bootstrap)
        return {
            "analysis": to_plain(
                replace(
                    whole,
                    options=options,
                    emergent=tuple(emergent[: parameters.top]),
                    n_emergent=len(emergent),
                )
            ),
            "norms": None if agreement is None else to_plain(agreement),
            CURVE: None if curve is None else to_plain(curve),
            MENTION: summarize_mention(
                inputs.scores.by_template,
                sorted(inputs.domains),
                parameters.bootstrap,
            ),
            **({"vanishing": listed} if vanishing else {}),
        }

    def document(self, report: Report, view: Mapping[str, str]) -> Document:
        record: dict[str, Any] = report.inputs
        stored: dict[str, Any] = report.result or {}
        run, names, domains = record["run"], record["groups"], record["domains"]
        by_poles = record["by_poles"]
        result = from_plain(IntersectionalResult, stored["analysis"])
        norms = from_plain(NormAgreement, stored["norms"]) if stored["norms"] else None
        curve = from_plain(NormCurve, stored[CURVE]) if stored[CURVE] else None
        vanishing = stored.get("vanishing") or {"n": 0, "entries": []}
        level = percent(result.options.level)
        traits = {entry["slug"]: TraitName(**entry) for entry in record["traits"]}
        summary = tables.summary_table(result, level)
        of_all = tables.summary_of_all_table(result, level)
        orders = tables.order_table(result, names)
        relations = tables.relation_table(result, domains)
        pairs = tables.domain_table(result, domains, level)
        entries = {"emergent": result.emergent}
        if by_poles:
            entries["vanishing"] = tuple(from_plain(Emergence, row) for row in vanishing["entries"])
        emergence = [
            tables.emergence_table(name, some, names, traits, by_poles=by_poles)
            for name, some in entries.items()
        ]
        emerging = tables.emergence_blocks(emergence, result.n_emergent, vanishing["n"])
        sections = [
            Section(
                "Does the order matter?",
                tables.order_blocks(result, summary, of_all, orders),
                prose.WHY_ORDER,
            ),
            Section(
                "Which domain prevails?",
                tables.domain_blocks(result, relations, pairs),
                prose.WHY_DOMAINS,
            ),
            Section("What emerges?", emerging, prose.WHY_EMERGENCE),
        ]
        downloads = [summary, of_all, orders, relations, pairs, *emergence]
        if norms:
            against = tables.norm_table(norms, level)
            blocks: list[Figure | Table] = [tables.norms_printed(against, norms)]
            downloads.append(against)
            if curve:
                precision = tables.curve_table(curve, level)
                points = tables.curve_points_table(curve)
                blocks += tables.curve_blocks(precision, points, curve)
                downloads += [precision, points]
            sections.append(Section("Against a published list", tuple(blocks), prose.WHY_NORMS))
        laid_out = Document(
            question=prose.question(record, result),
            keys=tables.key_numbers(result, summary, of_all, norms, by_poles=by_poles),
            sections=tuple(sections),
            tables=tuple(downloads),
            method=prose.method(record, result, norms=norms, curve=curve),
            caveats=(
                *prose.CAVEATS,
                *remarks([run]),
                *([mention_caveat(stored[MENTION])] if stored[MENTION] else []),
            ),
            left_out=prose.left_out(record, result),
        )
        return self.complete(report, laid_out)

    def headline(self, result: dict[str, Any]) -> str:
        analysis = result["analysis"]
        return f"τ {number(analysis['summary_of_all']['best']['value'])}"


def _beyond(found: Sequence[Emergence], least: float) -> list[Emergence]:
    return [entry for entry in found if entry.excess > least]


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


def _hash_table(table: pd.DataFrame) -> str:
    return hash_rows(
        [str(group), *(None if math.isnan(value) else value for value in row)]
        for group, row in zip(table.index, table.to_numpy(dtype=float).tolist(), strict=True)
    )
