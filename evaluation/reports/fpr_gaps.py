"""Gaps in false positive rates: whether a classifier errs more often when a group is named."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from evaluation.analyses.fpr_classifier import FprGaps, analyze_classifier
from evaluation.analyses.fpr_counts import GapOptions
from evaluation.analyses.fpr_gaps import MentionFit, ModelGaps
from evaluation.analyses.fpr_mixed import MixedEffect, MixedFit
from evaluation.analyses.fpr_prompting import FactorShare, FallbackBounds
from evaluation.metrics.estimate import no_estimate
from evaluation.models import Report
from evaluation.reports.parts import gap_tables as gaps_of
from evaluation.reports.parts.corpus_inputs import run_record
from evaluation.reports.parts.document import Block, Document, KeyNumber, Section
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import MISSING, count, number, percent
from evaluation.reports.parts.gap_tables import (
    OF_ALL,
    ROLE_NAMES,
    SIDES,
    beyond_key,
    gap_figure,
    span_key,
    unmarked_keys,
)
from evaluation.reports.parts.kind import (
    AnalysisKind,
    Chosen,
    Loaded,
    ReportParameters,
    RunsInput,
    Topic,
)
from evaluation.reports.parts.meanings import BEYOND, SPAN
from evaluation.reports.parts.prediction_inputs import (
    MEASURES,
    GapParameters,
    load_model_predictions,
    producer_of,
    sentences_hash,
)
from evaluation.reports.parts.provenance import run_key
from evaluation.reports.parts.table import Column, ReportTable, ranked
from probing.measures.mention_surprisal import SURPRISAL, MentionSurprisal
from probing.models import Run, Score

# --- The words of the report on one classifier's false positive rates -----------------------------

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Span, …": SPAN,
    "Gaps beyond the placebo band": BEYOND,
    "Without a mention, negative": (
        "How much more often the sentence that names nobody is wrongly called negative than "
        "sentences with a mention. Below 0: naming anybody at all makes errors more frequent."
    ),
}


WHY = {
    "negative": "Above zero, sentences that are neutral or positive are called negative more often "
    "when this group is named.",
    "positive": "Below zero, sentences that are neutral or negative are called positive less often "
    "when this group is named.",
}
WHY_WORDS = (
    "A group is as many words as a lexicon gives it. Where its words differ, the gap may be theirs."
)
WHY_SPANS = "How far the groups lie apart, beside words that name no group."
WHY_MENTION = (
    "If naming an unusual group surprises a model and errors follow, gaps rise with the surprisal "
    "of the mention. The adjusted gap is what is left."
)
WHY_FALLBACK = (
    "Where an answer names no class, one is drawn, the same way for all groups, which makes gaps "
    "smaller. The bounds say what those answers could make of a gap: counted as errors, counted as "
    "correct, and at the widest as one for this group and the other for all others."
)
WHY_FACTORS = (
    "Of the differences between runs, how much goes with the wording of the question, the order of "
    "its labels, and the seed of sampling and demonstrations. Near 0 is what chance gives."
)
WHY_MIXED = (
    "One mixed logistic regression of all errors, in which templates, words and runs have "
    "intercepts of their own. Effects are log odds of a false positive minus the mean over groups."
)
WAYS = {
    "random": ".",
    "drop": "; here these answers are left out.",
    "errors": "; here all of these count as errors.",
    "correct": "; here all of these count as correct.",
}


def question(result: FprGaps, record: dict[str, Any]) -> str:
    own, roles = result.result, list(record["roles"].values())
    placebos = roles.count("placebo")
    beside = f", beside {count(placebos, 'placebo word')}" if placebos else ""
    return (
        f"The same {own.n_templates or own.n_sentences} sentences with one word changed: false "
        f"positive rates of {own.model} for {count(roles.count('group'), 'group')} in "
        f"{count(own.n_runs, 'run')}{beside}."
    )


def method(result: FprGaps) -> tuple[str, ...]:
    """Return how what only some reports have was computed."""
    found = []
    if result.bounds:
        found.append(
            "Answers are read as published: the first of the classes’ names in it, whatever its "
            "case. Where there is none, a class is drawn with the run’s seed"
            + WAYS[result.options.fallback]
        )
    if result.mixed:
        found.append(
            "The mixed model is fitted by Laplace’s approximation, as lme4 does (Bates, Mächler, "
            "Bolker and Walker 2015). Its effects have no intervals, since it leaves out how a "
            "template moves one group more than others. Words have intercepts where a "
            "group has several, runs where there are several. Where it has no fit, the "
            "table of gaps stands alone."
        )
    return tuple(found)


# --- Surprisals of mentions: from a run, or as people bring them, one word of a group a line ------

COLUMNS = ("group", "word", "surprisal")

Surprisals = dict[tuple[str, str], float]


def read_surprisals(text: str, words: Mapping[str, Sequence[str]] | None = None) -> Surprisals:
    """Return the mean surprisal in nats of every word of a CSV with group, word and surprisal.

    A word may have a line for each sentence in which it was measured.

    words : the words that there are, by group; None where that is not known yet

    Raises `ReportError` that names every bad line.
    """
    lines = csv.reader(text.strip().splitlines())
    head = [cell.strip().lower() for cell in next(lines, [])]
    if head != list(COLUMNS):
        raise ReportError(
            f"The surprisals begin with “{','.join(head)}”. Give the columns {', '.join(COLUMNS)}."
        )
    found: dict[tuple[str, str], list[float]] = {}
    problems = []
    for at, row in enumerate(lines, start=2):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        value = _number(cells[2]) if len(cells) == len(COLUMNS) else math.nan
        if not value >= 0:
            problems.append(f"Line {at}: give a group, a word and a surprisal of 0 or more.")
        elif words is not None and cells[1] not in words.get(cells[0], ()):
            problems.append(
                f"Line {at}: the runs have no word “{cells[1]}” of the group “{cells[0]}”."
            )
        else:
            found.setdefault((cells[0], cells[1]), []).append(value)
    if problems or not found:
        raise ReportError(
            " ".join(["The surprisals cannot be used.", *(problems or ["There is no line."])])
        )
    return {key: statistics.fmean(values) for key, values in found.items()}


def stored_surprisals(run: Run, words: Mapping[str, Sequence[str]]) -> tuple[Surprisals, str]:
    """Return the mean surprisals of a run's words, and their hash. One query.

    Raises `ReportError` where the run has none of the words.
    """
    rows = Score.objects.filter(run=run, name=SURPRISAL).exclude(template="")
    known = {(row.group, row.template): row.value for row in rows if row.value is not None}
    found = {
        (group, word): known[group, word]
        for group, own in words.items()
        for word in own
        if (group, word) in known
    }
    if not found:
        raise ReportError(
            f"{run} has none of the words of the other runs. Choose one with the same lexicons."
        )
    text = json.dumps(sorted([*key, value] for key, value in known.items()))
    return found, hashlib.sha256(text.encode()).hexdigest()


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


# --- The tables of the report on one classifier's false positive rates ----------------------------

FACTOR_NAMES = {"wording": "wording", "order": "order of the labels", "seed": "seed"}
GROUP_COLUMNS = ("Words", "n", "fpr", "gap", "± released", "± t", "Beyond band", "equivalence_p")
WORD_COLUMNS = ("n", "fpr", "gap")


def mention_table(result: ModelGaps, level: str) -> ReportTable:
    """Return the fits of gaps on the surprisal of the mention; empty where it was not measured."""
    return ReportTable.of_rows(
        "mention",
        "Gaps on the surprisal of the mention",
        result.mention,
        MentionFit,
        *("side", "slope", "explained"),
        Column("Words", "n_words", "slope.n", 0),
        level=level,
        reason="slope.note",
    )


def fallback_table(result: FprGaps, names: Mapping[str, str], level: str) -> ReportTable:
    """Return the bounds of gaps for answers without a class."""
    return ReportTable.of_rows(
        "fallback",
        "Answers that named no class",
        result.bounds,
        FallbackBounds,
        *("side", "group"),
        Column("Group", "group_name", lambda row: names.get(row.group, row.group)),
        *("share", "n_answers", "n_without", "errors", "correct", "low", "high"),
        level=level,
    )


def factor_table(result: FprGaps) -> ReportTable:
    return ReportTable.of_rows(
        "prompts",
        "What prompts explain of the gaps",
        result.factors,
        FactorShare,
        *("side", "factor"),
        Column("Factor", value=lambda row: FACTOR_NAMES[row.factor]),
        *("n_levels", "share"),
        reason="share.reason",
    )


@dataclass(frozen=True)
class EffectRow:
    """The effect of a group with the fit that it is of."""

    fit: MixedFit
    own: MixedEffect


def mixed_table(result: FprGaps, names: Mapping[str, str]) -> ReportTable:
    """Return every group's effect; a side without a fit has one row with its reason."""
    rows = [
        EffectRow(fit, effect)
        for fit in result.mixed
        for effect in fit.effects or (MixedEffect("", no_estimate(fit.reason)),)
    ]
    return ReportTable.of_rows(
        "mixed",
        "Mixed logistic regression",
        rows,
        EffectRow,
        *("fit.side", "own.group"),
        Column("Group", "group_name", lambda row: names.get(row.own.group, MISSING)),
        *("own.effect", "fit.template_sd", "fit.word_sd", "fit.run_sd"),
        reason="fit.reason",
    )


def key_numbers(result: FprGaps, spans: ReportTable, level: str) -> tuple[KeyNumber, ...]:
    models = (result.result,)
    of_spans = (
        span_key(spans, row, f"Span, {row.span.side} side")
        for row in spans.rows
        if row.span.side in SIDES
    )
    beyond = beyond_key(models)
    return (*of_spans, *((beyond,) if beyond else ()), *unmarked_keys(models, level))


def side_blocks(
    gaps: ReportTable, result: ModelGaps, side: str, options: GapOptions
) -> tuple[Block, ...]:
    """Return the figure of one side, and its groups in the order of their gaps."""
    own = [row for row in gaps.rows if row.gap.side == side and not row.gap.filler]
    of_groups = [row for row in own if row.gap.role == "group"]
    controls = [row for row in own if row.gap.role == "unmarked"]
    return (
        gap_figure(gaps, (result,), side, options, words=True),
        gaps.printed(
            f"{SIDES[side]}-sentiment false positive rates, the largest gap first.",
            rows=[*ranked(of_groups, lambda row: row.gap.gap.value), *controls],
            columns=(gaps.column("group_name"), *_with_p(GROUP_COLUMNS, options)),
        ),
    )


def _with_p(names: tuple[str, ...], options: GapOptions) -> tuple[str, ...]:
    """Return the names with the p-value after the gap, where the interval has one."""
    place = names.index("gap") + 1
    own = ("p_value",) if options.interval in OF_ALL else ()
    return (*names[:place], *own, *names[place:])


def word_blocks(gaps: ReportTable, side: str, options: GapOptions) -> tuple[Block, ...]:
    rows = [row for row in gaps.rows if row.gap.side == side and row.gap.filler]
    shown = ranked(rows, lambda row: row.gap.gap.value)

    def of(row: Any) -> str:
        return ROLE_NAMES[row.gap.role] or str(gaps.column("group_name").read(row))

    return (
        gaps.printed(
            f"{SIDES[side]}-sentiment gaps word by word, the largest first.",
            rows=shown,
            columns=(
                "Word",
                Column("Group", value=of),
                *_with_p(WORD_COLUMNS, options),
                "Adjusted",
            ),
        ),
    )


class FprGapParameters(GapParameters):
    """The options of a report on the gaps of one classifier."""

    surprisals: str | None = Field(
        None,
        max_length=1_000_000,
        description="How surprising each mention is, as CSV with the columns group, word, "
        "surprisal (nats, best of the same model; lines of one word are averaged). Gaps are then "
        "regressed on it. A run of mention_surprisal among the runs serves as well.",
        json_schema_extra={"format": "csv"},
    )


class FprGapReport(AnalysisKind[FprGaps]):
    name = "fpr_gaps"
    title = _("Gaps in false positive rates")
    question = _("Does a classifier err more often when one group is named than another?")
    topic = Topic.CLASSIFIERS
    meanings = MEANINGS
    Parameters = FprGapParameters
    Result = FprGaps
    runs = RunsInput(
        _(
            "Runs of classification with one model, or with models trained from one, on one set; "
            "and perhaps a run with the surprisal of the mentions, best of the same model."
        ),
        measures=(*MEASURES, MentionSurprisal.name),
        most=None,
    )

    def check(self, chosen: Chosen, parameters: ReportParameters) -> None:
        runs, read = _split(chosen.runs)
        if not runs:
            raise ReportError("No run of classification is chosen. Choose at least one.")
        if len(read) > 1 or (read and getattr(parameters, "surprisals", None) is not None):
            raise ReportError(
                "The surprisal of the mention comes from several places. Choose one run of "
                "mention_surprisal, or give a file, not both."
            )
        producers = list(dict.fromkeys(producer_of(run) for run in runs))
        if len(producers) > 1 or len(set(map(sentences_hash, runs))) > 1:
            what = f"{len(producers)} models" if len(producers) > 1 else "several sets of sentences"
            raise ReportError(
                f"The runs are of {what}. Choose runs of one model on one set, or ask for a report "
                "of the kind “fpr_comparison”."
            )

        if isinstance(parameters, FprGapParameters) and parameters.surprisals is not None:
            read_surprisals(parameters.surprisals)

    def default_title(self, chosen: Chosen) -> str:
        run = next(iter(_split(chosen.runs)[0]), chosen.runs[0])
        return f"Does {producer_of(run)} err more often when a group is named?"

    def load(self, chosen: Chosen, parameters: FprGapParameters) -> Loaded:
        """Three queries a run."""
        runs, read = _split(chosen.runs)
        loaded = load_model_predictions(runs)
        (model,) = loaded.models
        _require_groups(model.roles)
        text = parameters.surprisals
        surprisals = None if text is None else read_surprisals(text, loaded.record["words"])
        for run in read:
            surprisals, digest = stored_surprisals(run, loaded.record["words"])
            loaded.record["runs"].append(run_record(run) | {"counts_for": run.model.name})
            loaded.hashes[run_key({"public_id": run.public_id})] = digest
        return Loaded(loaded.record, (model, surprisals), loaded.hashes)

    def analyze(self, loaded: Loaded, parameters: FprGapParameters) -> FprGaps:
        options = parameters.options
        model, surprisals = loaded.data
        return analyze_classifier(model, options, surprisals, tuple(gaps_of.SIDES))

    def lay_out(self, report: Report, result: FprGaps, view: Mapping[str, str]) -> Document:
        record: dict[str, Any] = report.inputs
        own, options, level = result.result, result.options, percent(result.options.level)
        models, of_gaps = (own,), gaps_of.gap_level(options)
        gaps = gaps_of.gap_table(models, record["groups"], options, of_gaps)
        spans = gaps_of.span_table(models, record["groups"], level)
        together = gaps_of.together_table(models, level)
        accuracy = gaps_of.accuracy_table(models)
        mention = mention_table(own, level)
        sides = [
            Section(f"{title} side", side_blocks(gaps, own, side, options), WHY[side])
            for side, title in gaps_of.SIDES.items()
        ]
        words = tuple(block for side in gaps_of.SIDES for block in word_blocks(gaps, side, options))
        of_mention = Section(
            "Surprisal of the mention",
            (
                mention.printed(
                    "Least-squares lines of the words’ gaps on their surprisal in nats.",
                    rows=[fit for fit in own.mention if fit.side in gaps_of.SIDES],
                ),
            ),
            WHY_MENTION,
        )
        more = tuple(
            (table, section)
            for table, section in (
                _section(
                    fallback_table(result, record["groups"], of_gaps),
                    "Gaps under other ways to count answers without a class.",
                    WHY_FALLBACK,
                ),
                _section(
                    factor_table(result),
                    "Shares of the variance of gaps over runs.",
                    WHY_FACTORS,
                ),
                _section(
                    mixed_table(result, record["groups"]),
                    "Effects of groups on the log odds of a false positive.",
                    WHY_MIXED,
                ),
            )
            if table.rows
        )
        return Document(
            question=question(result, record),
            facts=(f"{own.model}", f"Sentences: {own.data_set}"),
            keys=key_numbers(result, spans, of_gaps),
            sections=(
                *sides,
                *gaps_of.together_sections(together),
                Section("Word by word", words, WHY_WORDS),
                *((of_mention,) if own.mention else ()),
                *(section for _, section in more),
                Section(
                    "Spans and accuracy",
                    (
                        spans.printed(
                            "Span of the gaps on either side.",
                            rows=[row for row in spans.rows if row.span.side in gaps_of.SIDES],
                        ),
                        accuracy.printed("Share of sentences about groups with the right label."),
                    ),
                    WHY_SPANS,
                ),
            ),
            tables=(
                *(
                    gaps,
                    gaps_of.rate_table(models),
                    spans,
                    together,
                    accuracy,
                    mention,
                ),
                *(table for table, _ in more),
            ),
            method=(*gaps_of.method(options, of_gaps), *method(result)),
            caveats=(
                *gaps_of.mention_note(record),
                gaps_of.equivalence_note(models, options),
                *gaps_of.CAVEATS,
                *record["remarks"],
            ),
        )

    def headline(self, result: dict[str, Any]) -> str:
        spans = [
            span["span"]["value"]
            for span in result["result"]["spans"]
            if span["side"] == "negative" and span["span"]["value"] is not None
        ]
        return f"span {number(spans[0], 3)}" if spans else ""


def _split(runs: Sequence[Run]) -> tuple[list[Run], list[Run]]:
    """Return the runs with predictions, and those with surprisals."""
    read = [run for run in runs if run.measure == MentionSurprisal.name]
    return [run for run in runs if run.measure != MentionSurprisal.name], read


def _section(table: ReportTable, caption: str, why: str) -> tuple[ReportTable, Section]:
    """Return a table with its section, printed for the sides that the report is about."""
    rows = [row for row in table.rows if getattr(row, "fit", row).side in gaps_of.SIDES]
    return table, Section(table.title, (table.printed(caption, rows=rows),), why)


def _require_groups(roles: Mapping[str, str]) -> None:
    n = list(roles.values()).count("group")
    if n < 2:
        raise ReportError(f"The runs compare {n} group, and a gap needs at least two.")
