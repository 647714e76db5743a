"""Guises and intelligence: whether a variety makes its speaker less intelligent to a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from evaluation.analyses.guise_cells import GuiseOptions
from evaluation.analyses.guise_intelligence import IntelligenceAnalysis, analyze_intelligence
from evaluation.models import Report
from evaluation.reports.guise_intelligence import prose, tables
from evaluation.reports.parts.document import Document, Section
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import MISSING, number, percent
from evaluation.reports.parts.guise_inputs import (
    common_attributes,
    load_guise_run,
    prompt_purposes,
    require_one_access,
)
from evaluation.reports.parts.guise_kind import GuiseKind, gather, guise_runs, prompt_wordings
from evaluation.reports.parts.kind import Chosen, Loaded
from evaluation.reports.parts.options import IntervalParameters
from probing.measures.guise_library import INTELLIGENCE, INTELLIGENT, TRAITS, UNINTELLIGENT
from probing.models import Run


class GuiseIntelligenceParameters(IntervalParameters):
    """The options of a report on intelligence."""


class GuiseIntelligence(GuiseKind[IntelligenceAnalysis]):
    name = "guise_intelligence"
    title = _("Guises and intelligence")
    question = _("Do models take speakers of a variety for less intelligent?")
    meanings = prose.MEANINGS
    Parameters = GuiseIntelligenceParameters
    Result = IntelligenceAnalysis
    asks = "Does {models} take a guise for less intelligent?"
    purposes = (TRAITS, INTELLIGENCE)
    remedy = "Choose runs with prompts on traits or the IQ."
    only_pairs = True
    runs = guise_runs(
        _(
            "Runs of matched guise probing on pairs: on traits with adjectives on intelligence, or "
            "with prompts on the IQ and two values."
        )
    )

    def check(self, chosen: Chosen, parameters: GuiseIntelligenceParameters) -> None:
        super().check(chosen, parameters)
        for run in chosen.runs:
            _high_and_low(run)

    def load(self, chosen: Chosen, parameters: GuiseIntelligenceParameters) -> Loaded:
        """Two queries a run."""
        loaded = {run.pk: load_guise_run(run, run.model.name) for run in chosen.runs}
        require_one_access(list(loaded.values()))
        parts: dict[bool, list[Run]] = {True: [], False: []}
        for run in chosen.runs:
            parts[INTELLIGENCE in prompt_purposes(run)].append(run)
        data = []
        for runs in (parts[False], parts[True]):
            some = [loaded[run.pk] for run in runs]
            attributes = common_attributes(some) if some else ()
            high, low = _high_and_low(runs[0]) if runs else ((), ())
            data.append((some, attributes, high, low))
        (adjectives, attributes, high, low), (values, numbers, *iq) = data
        order = [numbers.index(value) for value in (*iq[0], *iq[1])] if values else []
        read = (
            [one.run for one in adjectives],
            attributes,
            high,
            low,
            [one.run.of_attributes(order) for one in values],
            (*iq[0], *iq[1]),
        )
        return gather(chosen, list(loaded.values()), [], read)

    def analyze(
        self, loaded: Loaded, parameters: GuiseIntelligenceParameters
    ) -> IntelligenceAnalysis:
        adjectives, attributes, high, low, values, iq = loaded.data
        options = GuiseOptions(**parameters.bootstrap)
        return analyze_intelligence(adjectives, attributes, high, low, values, iq, options)

    def lay_out(
        self, report: Report, result: IntelligenceAnalysis, view: Mapping[str, str]
    ) -> Document:
        record: dict[str, Any] = report.inputs
        runs, level = record["runs"], percent(result.options.level)
        varieties = runs[0]["varieties"]
        wordings = prompt_wordings(runs)
        effects = tables.effect_table(result, level)
        single = tables.attribute_table(result.attributes, level)
        shares = tables.share_table(result, varieties, wordings)
        blocks = (
            *single.printed_if_any("Every adjective by itself."),
            *shares.printed_if_any("Share on the higher IQ, prompt by prompt."),
        )
        return Document(
            question=prose.question(record),
            keys=tables.key_numbers(effects),
            sections=(
                Section("On the whole", tables.effect_blocks(effects, varieties), prose.WHY),
                Section("One by one", blocks, prose.WHY_SINGLE),
            ),
            tables=(effects, single, shares),
            method=prose.method(result),
            caveats=prose.CAVEATS,
        )

    def headline(self, result: dict[str, Any]) -> str:
        if not result["lines"]:
            return MISSING
        first = result["lines"][0]
        return f"{first['part']}: {number(first['estimate']['value'], 3, signed=True)}"


def _high_and_low(run: Run) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the attributes of a run that speak for intelligence, and those against it.

    `ReportError` where one side is empty, or where an IQ is no number.
    """
    attributes = list(run.stimuli["attributes"])
    if INTELLIGENCE in prompt_purposes(run):
        if len(attributes) != 2 or not all(name.isdecimal() for name in attributes):
            raise ReportError(
                f"{run} has the attributes {', '.join(attributes)}. Run it with a list of two IQ "
                "values, such as “iq-70-130”."
            )
        low, high = sorted(attributes, key=int)
        return (high,), (low,)
    sides = tuple(
        tuple(name for name in words if name in attributes)
        for words in (INTELLIGENT, UNINTELLIGENT)
    )
    if not all(sides):
        raise ReportError(
            f"{run} lacks adjectives on intelligence. Run it with a list that has some of "
            f"{', '.join(INTELLIGENT)} and of {', '.join(UNINTELLIGENT)}, such as "
            "“intelligence-8”."
        )
    return sides[0], sides[1]
