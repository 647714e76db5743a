"""Alignment: people's ratings of groups beside a model's scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.models import StudyKind
from evaluation.analyses.alignment import analyze_alignment
from evaluation.analyses.alignment_result import AlignmentOptions, AlignmentResult
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.models import Report
from evaluation.reports.alignment import prose
from evaluation.reports.alignment.figures import AlignmentFigures
from evaluation.reports.alignment.tables import (
    Names,
    alignment_tables,
    by_tau,
    key_numbers,
    printed_cells,
    printed_groups,
)
from evaluation.reports.parts.document import Choice, Choices, Document, Provenance, Section
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import count
from evaluation.reports.parts.kind import (
    Chosen,
    Loaded,
    RunsInput,
    StudyInput,
)
from evaluation.reports.parts.mention import MENTION, mention_caveat, summarize_mention
from evaluation.reports.parts.options import ArmParameters, IntervalParameters
from evaluation.reports.parts.participants import NAME as PARTICIPANTS
from evaluation.reports.parts.participants import (
    ParticipantParameters,
    load_participants,
    participants_section,
    participants_table,
)
from evaluation.reports.parts.rating_inputs import (
    AlignmentInputs,
    RatingsKind,
    load_alignment_inputs,
)
from evaluation.reports.parts.score_words import measure_short
from evaluation.reports.parts.table import ReportTable
from evaluation.reports.parts.tau_questions import TITLE, WHY, tau_headline


class AlignmentParameters(ParticipantParameters, IntervalParameters, ArmParameters):
    """The options of an alignment report."""

    splits: int = Field(
        1000,
        ge=100,
        le=100_000,
        title="Split halves",
        description="Random halves of the people for the noise ceiling.",
    )


class Alignment(RatingsKind):
    name = "alignment"
    title = _("Alignment of people and model")
    question = _("Do a model’s associations of groups with traits follow people’s ratings?")
    meanings = prose.MEANINGS
    Parameters = AlignmentParameters
    study = StudyInput(
        StudyKind.ABC_SURVEY,
        _(
            "Studies with accepted ratings. Accept submissions in the review queue, or import "
            "published ratings with “manage.py import_abc_ratings”."
        ),
    )
    runs = RunsInput(_("The report is built as soon as its run is finished."))
    views = ("group",)

    def default_title(self, chosen: Chosen) -> str:
        return f"Do the group associations of {chosen.runs[0].model.name} follow people’s?"

    def load(self, chosen: Chosen, parameters: AlignmentParameters) -> Loaded:
        inputs = load_alignment_inputs(
            study=chosen.the_study, run=chosen.runs[0], arm=parameters.arm
        )
        who = load_participants(
            chosen.the_study, set(inputs.ratings["submission"].unique()), parameters
        )
        return Loaded(
            record=inputs.record | {PARTICIPANTS: who.record},
            data=inputs,
            hashes=inputs.hashes,
        )

    def compute(self, loaded: Loaded, parameters: AlignmentParameters) -> dict[str, Any]:
        inputs: AlignmentInputs = loaded.data
        result = analyze_alignment(
            ratings=inputs.ratings,
            scores=inputs.score_table(parameters.level),
            options=AlignmentOptions(n_splits=parameters.splits, **parameters.bootstrap),
            **inputs.order,
        )
        plain: dict[str, Any] = to_plain(result)
        mention = summarize_mention(inputs.all_scores, result.groups, parameters.bootstrap)
        return plain | ({MENTION: mention} if mention else {})

    def document(self, report: Report, view: Mapping[str, str]) -> Document:
        """Lay the report out with one group in detail, by default that with the highest τ."""
        record: dict[str, Any] = report.inputs
        stored = dict(report.result or {})
        mention: dict[str, Any] | None = stored.pop(MENTION, None)
        result: AlignmentResult = from_plain(AlignmentResult, stored)
        names = Names.of(record)
        tables = alignment_tables(result, names)
        group = view.get("group", "") or by_tau(tables["groups"])[0].group
        if group not in result.groups:
            raise ReportError(f"The report has no group “{group}”.")
        figures = AlignmentFigures(result, record, tables, measure=measure_short(record))
        who = participants_section(record[PARTICIPANTS], origin=record["study"]["origin"])
        laid_out = Document(
            question=prose.question(record, result),
            keys=key_numbers(result),
            sections=(
                Section("Three questions", (tables["questions"].printed(TITLE),), why=WHY),
                Section("The two pictures", (figures.heat_maps,), why=prose.PICTURES),
                _detail(group, tables, figures, names, measure_short(record)),
                Section(
                    "Agreement by group",
                    (figures.forest, printed_groups(tables["groups"])),
                    why=prose.agreement(len(names.scales)),
                ),
                *prose.reliability(result),
                *([who] if who else []),
            ),
            tables=(
                *tables.values(),
                *([participants_table(record[PARTICIPANTS])] if who else []),
            ),
            method=prose.method(record, result),
            caveats=(
                *prose.caveats(record, result),
                *([mention_caveat(mention)] if mention else []),
            ),
            left_out=prose.left_out(result, names),
        )
        return self.complete(report, laid_out)

    def sources(self, report: Report) -> list[Provenance]:
        study = report.inputs["study"]
        n = count(study["finished"] - study["accepted"], "finished submission")
        return [*super().sources(report), ("Left out", f"{n} not accepted", "")]

    def headline(self, result: dict[str, Any]) -> str:
        return tau_headline([(result["pooled"], result["pooled"]["tau"])])


def _detail(
    group: str,
    tables: Mapping[str, ReportTable],
    figures: AlignmentFigures,
    names: Names,
    measure: str,
) -> Section:
    rows = by_tau(tables["groups"])
    choices = Choices(
        label="Another group",
        anchor="detail",
        options=tuple(
            Choice(names.groups[row.group], f"?group={row.group}", row.group == group)
            for row in rows
        ),
        figures=tuple(
            (names.groups[row.group], figures.profile(row.group))
            for row in tables["groups"].rows
            if row.group != group
        ),
        multiples=figures.multiples([row.group for row in rows]),
        caption="Every group, highest τ first: people’s mean ratings (circles, 0 to 100) and the "
        "model’s mean scores (diamonds) with their intervals, on the same axes throughout.",
    )
    return Section(
        f"One group in detail: {names.groups[group]}",
        (figures.profile(group), choices, printed_cells(tables["cells"], names, group, measure)),
        why=prose.DETAIL,
        anchor="detail",
    )
