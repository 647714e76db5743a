"""Guises and controls: whether an effect is that of the variety."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.corpora.words import split_words
from evaluation.analyses.guise_cells import GuiseOptions
from evaluation.analyses.guise_controls import ControlAnalysis, ControlRun, analyze_controls
from evaluation.models import NormKind, Report
from evaluation.reports.guise_controls import prose, tables
from evaluation.reports.parts.document import Document, Section
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import MISSING, number, percent
from evaluation.reports.parts.guise_inputs import (
    LoadedGuise,
    StrengthParameters,
    common_attributes,
    load_guise_run,
    norm_record,
    stereotypical_attributes,
)
from evaluation.reports.parts.guise_kind import GuiseKind, gather, guise_runs
from evaluation.reports.parts.kind import Chosen, Loaded
from evaluation.reports.parts.perplexity_inputs import (
    PERPLEXITY,
    LoadedPerplexity,
    load_perplexity,
    split_runs,
)
from probing.measures.guise_library import TRAITS
from probing.models import Run


class GuiseControlParameters(StrengthParameters):
    """The options of a report on controls."""

    subject: str | None = Field(
        None,
        max_length=60,
        title="First variety",
        description="The first variety that the others are controls of; without one, that of the "
        "first run.",
    )


class GuiseControls(GuiseKind[ControlAnalysis]):
    name = "guise_controls"
    title = _("Guises and controls")
    question = _("Is the effect of a guise that of its variety, or of anything that deviates?")
    meanings = prose.MEANINGS
    Parameters = GuiseControlParameters
    Result = ControlAnalysis
    asks = "Is what {models} associates with a guise that of its variety?"
    purposes = (TRAITS,)
    remedy = "Choose runs with prompts on traits."
    norms = {"study": NormKind.PERCENT}
    runs = guise_runs(
        _(
            "Runs of matched guise probing on traits with one list of attributes: on the variety, "
            "and on other varieties or on noise; and runs on perplexity of the same texts."
        ),
        PERPLEXITY,
    )

    def check(self, chosen: Chosen, parameters: GuiseControlParameters) -> None:
        super().check(chosen, parameters)
        _subject(split_runs(chosen.runs)[0], parameters.subject)

    def load(self, chosen: Chosen, parameters: GuiseControlParameters) -> Loaded:
        """Two queries a run, and one for the norm."""
        guises, perplexities = split_runs(chosen.runs)
        loaded = [load_guise_run(run, run.model.name) for run in guises]
        known = [load_perplexity(run) for run in perplexities]
        attributes = common_attributes(loaded)
        norm, stereotype = stereotypical_attributes(
            parameters.study, parameters.stereotypical, attributes
        )
        data = (
            [_control_run(*each, known) for each in zip(guises, loaded, strict=True)],
            attributes,
            stereotype,
            _subject(guises, parameters.subject),
        )
        return gather(chosen, [*loaded, *known], [norm], data, study=norm_record(norm))

    def analyze(self, loaded: Loaded, parameters: GuiseControlParameters) -> ControlAnalysis:
        runs, attributes, chosen, subject = loaded.data
        options = GuiseOptions(**parameters.bootstrap)
        return analyze_controls(runs, attributes, chosen, subject, options)

    def lay_out(self, report: Report, result: ControlAnalysis, view: Mapping[str, str]) -> Document:
        record: dict[str, Any] = report.inputs
        level = percent(result.options.level)
        controls = tables.control_table(result, level)
        nulls = tables.null_table(result, level)
        adjusted = tables.adjusted_table(result, level)
        sections = (
            Section("Other guises", tables.control_blocks(controls), prose.WHY),
            Section("What chance does", nulls.printed_if_any(prose.NULLS), prose.WHY_NULLS),
            Section(
                "Length and familiarity",
                tables.adjusted_blocks(adjusted, result),
                prose.WHY_ADJUSTED,
            ),
        )
        return Document(
            question=prose.question(result, record),
            banners=prose.banners(result),
            keys=tables.key_numbers(controls),
            sections=sections,
            tables=(controls, nulls, adjusted),
            method=prose.method(result, record),
            caveats=prose.CAVEATS,
        )

    def headline(self, result: dict[str, Any]) -> str:
        rows = [row for row in result["lines"] if row["kind"] == "subject"]
        return f"δ {number(rows[0]['strength']['value'], 3, signed=True)}" if rows else MISSING


def _guise(run: Run) -> str:
    return str(run.stimuli["first_variety"])


def _subject(runs: Sequence[Run], wanted: str | None) -> str:
    """Return the subject; `ReportError` where no run has it as its first variety."""
    known = list(dict.fromkeys(map(_guise, runs)))
    if wanted and wanted not in known:
        raise ReportError(f"No run has “{wanted}” as its first variety: {', '.join(known)}.")
    return wanted or known[0]


def _control_run(
    run: Run, loaded: LoadedGuise, perplexities: Sequence[LoadedPerplexity]
) -> ControlRun:
    """Return a run with what its pairs differ in; perplexities are of its model and corpus."""
    stimuli = run.stimuli
    first, second = (
        np.array([len(split_words(text["body"])) for text in stimuli[side]], dtype=float)
        for side in ("first", "second")
    )
    paired = bool(stimuli["paired"])
    found = next(
        (
            one.values
            for one in perplexities
            if paired and (one.run.model_id, one.run.corpus_id) == (run.model_id, run.corpus_id)
        ),
        None,
    )
    surprisal = tokens = None
    missing = (np.nan, 0)
    if found is not None:
        sides = [
            [found.get((text["slug"], stimuli[name]), missing) for text in stimuli["first"]]
            for name in ("first_variety", "second_variety")
        ]
        values, numbers = (
            np.array([[entry[place] for entry in side] for side in sides], dtype=float)
            for place in (0, 1)
        )
        surprisal = np.log(values[0]) - np.log(values[1])
        tokens = numbers[0] - numbers[1]
    return ControlRun(
        loaded.run,
        _guise(run),
        str(stimuli["second_variety"]),
        first - second if paired else np.zeros(len(first)),
        surprisal if surprisal is not None and not np.isnan(surprisal).all() else None,
        tokens,
    )
