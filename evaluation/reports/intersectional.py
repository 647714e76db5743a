"""Intersectional: what a model makes of people who belong to two groups at once."""

from __future__ import annotations

import csv
import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.common.lazy import pd
from annotation.models import Dimension, Domain, GroupComponent, SocialGroup
from evaluation.analyses.emergence_norms import (
    Association,
    NormAgreement,
    Pole,
    compare_with_norms,
    predict_associations,
)
from evaluation.analyses.intersectional import analyze_intersections
from evaluation.analyses.intersectional_result import (
    Emergence,
    IntersectionalOptions,
    IntersectionalResult,
    PairedGroup,
)
from evaluation.analyses.norm_curve import NormCurve, trace_norms
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.models import Report
from evaluation.reports import intersectional_tables as tables
from evaluation.reports.parts.corpus_inputs import hash_rows, run_record
from evaluation.reports.parts.document import Document, Figure, Section, Table
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import count, listing, number, percent
from evaluation.reports.parts.kind import Chosen, Loaded, ReportKind, RunsInput
from evaluation.reports.parts.mention import MENTION, mention_caveat, summarize_mention
from evaluation.reports.parts.options import IntervalParameters
from evaluation.reports.parts.provenance import run_key
from evaluation.reports.parts.score_inputs import RunScores, TraitName, load_run_scores, run_groups
from evaluation.reports.parts.score_words import (
    measure_title,
    options_in_words,
    quoted_templates,
    remarks,
    scored_over,
)
from probing.models import Run
from probing.runs.result_tables import load_pole_scores

# --- Loads what an intersectional report rests on: one run's single and paired groups -------------

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


# --- A list of expected emergent traits ---

COLUMNS = ("first", "second", "dimension", "pole")
POLES = ("low", "high")


def read_norms(text: str) -> frozenset[Association]:
    """Return the associations of a CSV with the columns first, second, dimension and pole.

    first, second : slugs of groups of the library, in either order
    pole : “high” or “low”, the end of the dimension that people expect

    Raises `ReportError` that names every bad line. One query.
    """
    lines = csv.reader(text.strip().splitlines())
    head = [cell.strip().lower() for cell in next(lines, [])]
    if head != list(COLUMNS):
        raise ReportError(
            f"The norms begin with “{','.join(head)}”, expected the columns {', '.join(COLUMNS)}."
        )
    rows = [
        (number, tuple(cell.strip() for cell in row))
        for number, row in enumerate(lines, start=2)
        if any(cell.strip() for cell in row)
    ]
    if not rows:
        raise ReportError("The norms hold no association below their head.")
    slugs = {cell for _, row in rows for cell in row[:2]}
    known = set(SocialGroup.objects.filter(slug__in=slugs).values_list("slug", flat=True))
    found: dict[Association, int] = {}
    problems = []
    for line, row in rows:
        problem = _judge(row, known)
        if problem:
            problems.append(f"Line {line}: {problem}")
            continue
        first, second, dimension, pole = row
        association = Association(
            frozenset((first, second)), dimension.lower(), cast("Pole", pole.lower())
        )
        if association in found:
            problems.append(f"Line {line}: the same as line {found[association]}.")
            continue
        found[association] = line
    if problems:
        raise ReportError(" ".join(["The norms cannot be used.", *problems]))
    return frozenset(found)


def _judge(row: tuple[str, ...], known: set[str]) -> str:
    """Return what is wrong with a line, nothing if it is right."""
    if len(row) != len(COLUMNS):
        return f"{len(row)} cells, expected {len(COLUMNS)}: {', '.join(COLUMNS)}."
    first, second, dimension, pole = row
    wrong = [
        f"the library has no group “{slug}”"
        for slug in dict.fromkeys((first, second))
        if slug not in known
    ]
    if first == second:
        wrong.append(f"“{first}” is paired with itself")
    if dimension.lower() not in Dimension.values:
        wrong.append(f"the dimension is “{dimension}”, expected {listing(Dimension.values)}")
    if pole.lower() not in POLES:
        wrong.append(f"the pole is “{pole}”, expected low or high")
    return f"{'; '.join(wrong)}." if wrong else ""


# --- The words of the intersectional report. They state what was done, never a verdict ------------

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "τ with the more similar component": (
        "How alike the traits of a paired group are to those of whichever of its two groups "
        "it resembles more. 1: the pair is nothing but that group."
    ),
    "τ between the two orders": (
        "How alike a paired group is to itself with the groups named the other way round. 1: "
        "the order of names does not matter."
    ),
    "Domain pairs in which one dominates": (
        "Pairs of domains, such as age and race, in which paired groups resemble the group of "
        "one domain more than that of the other."
    ),
    "Scores … both components": (
        "The share of scores in which the paired group goes beyond both of its groups: traits "
        "that neither has by itself. Were the three scores alike but for chance, two thirds would "
        "lie beyond both, and one third above both."
    ),
    "Precision against the list": (
        "Of the traits that emerge, the share that stands in the list of expected ones. "
        "Compare with what chance would give."
    ),
}


WHY_ORDER = (
    "If only one of two identities reached the model, a paired group would rank the traits as that "
    "component does. If the wording ruled, the two orders would differ."
)
WHY_DOMAINS = (
    "A domain prevails over another where paired groups rank the traits more as their component "
    "of that domain does."
)
WHY_EMERGENCE = (
    "What a paired group has beyond both of its components is what neither identity shows alone."
)
WHY_NORMS = (
    "The list says which associations people expect of these groups. Chance draws as many "
    "associations at random as emerged."
)
CAVEATS = (
    "They describe one model under stated prompts. They say nothing about the people in a group.",
    "An emergent score is the model’s for a phrase. That neither component has it does not make it "
    "a stereotype that people hold.",
    "The list of emergent associations shows the largest of many differences: some are large by "
    "chance, and single entries have no interval. Compare them over other templates before you "
    "rely on one.",
    "Some paired phrases are rare or sound odd. What the model makes of them rests on little text.",
    "Intervals are for component groups like these: they say what other groups of these domains "
    "would give, not what other models or templates would.",
)


def question(record: dict[str, Any], result: IntersectionalResult) -> str:
    """Return the lead: what is compared with what."""
    return (
        f"{count(len(result.orders), 'paired group')} of two identities each, such as “Asian "
        f"teenager”, beside the {count(record['n_components'], 'single group')} that they are made "
        "of: does the order of the two matter to the model, which domain prevails, and what "
        "emerges that neither has alone?"
    )


def method(
    record: dict[str, Any],
    result: IntersectionalResult,
    *,
    norms: NormAgreement | None,
    curve: NormCurve | None,
) -> tuple[str, ...]:
    """Return the method in words."""
    options, run = result.options, record["run"]
    n_traits, by_poles = len(record["traits"]), record["by_poles"]
    score = (
        "A score is that of one adjective by itself"
        if by_poles
        else "A score is that of a trait pair’s right adjective minus that of its left"
    )
    over = count(2 * n_traits, "adjective") if by_poles else count(n_traits, "trait pair")
    below = (
        "; an adjective vanishes by the smaller of theirs minus its own"
        if by_poles
        else ", and the smaller of theirs minus its own"
    )
    beyond = (
        f"; it counts above {options.least_excess:g} in the measure’s unit"
        if options.least_excess
        else ""
    )
    found = [
        f"After Cao et al. (2022), section 5.2. {score}; the measure is {measure_title(run)}, "
        f"{options_in_words(run)}, {scored_over(run)}{quoted_templates(run)} τ is "
        f"Kendall’s tau-b over {over}.",
        "Order: τ of a paired group with its first and second component and with itself in the "
        "other order, averaged over all paired groups, as in the paper, and over the paired groups "
        "that exist in both orders. Domains: mean τ "
        "with the component of either domain over all paired groups of the two, both orders; one "
        f"dominates where its mean is higher by {options.dominance_threshold:g} or more. A group "
        "belongs to the first domain that the library names. Emergence: the paired group’s score "
        f"minus the larger of its components’{below}{beyond}.",
        "Intervals leave out one component group at a time (jackknife, Student’s t), since paired "
        "groups that share a component are not independent; what is particular to one paired group "
        "enters with both of its components and is taken out once (Fafchamps and Gubert 2007).",
    ]
    if norms:
        found.append(
            "Against the list: all associations that emerge, not only those shown here, sorted "
            "into group, dimension and pole; both orders are one group, and groups and dimensions "
            "that the list does not name are left out. Chance is hypergeometric, p one-sided."
        )
    if curve:
        found.append(
            "Average precision runs through every excess above zero, whatever the least one; "
            f"chance and p come from {curve.n_shuffles} shuffles of the excesses."
        )
    return tuple(found)


def left_out(record: dict[str, Any], result: IntersectionalResult) -> tuple[str, ...]:
    """Return what did not enter, with the reason."""
    names, norms = record["groups"], record["norms"] or {"not_scored": ()}
    return (
        *record["left_out"],
        *(f"{names.get(row.pair, row.pair)}: {row.reason}." for row in result.orders if row.reason),
        *(
            f"Expected of {pair}: the run has no paired group of these two."
            for pair in norms["not_scored"]
        ),
    )


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
    meanings = MEANINGS
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
                WHY_ORDER,
            ),
            Section(
                "Which domain prevails?",
                tables.domain_blocks(result, relations, pairs),
                WHY_DOMAINS,
            ),
            Section("What emerges?", emerging, WHY_EMERGENCE),
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
            sections.append(Section("Against a published list", tuple(blocks), WHY_NORMS))
        laid_out = Document(
            question=question(record, result),
            keys=tables.key_numbers(result, summary, of_all, norms, by_poles=by_poles),
            sections=tuple(sections),
            tables=tuple(downloads),
            method=method(record, result, norms=norms, curve=curve),
            caveats=(
                *CAVEATS,
                *remarks([run]),
                *([mention_caveat(stored[MENTION])] if stored[MENTION] else []),
            ),
            left_out=left_out(record, result),
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
