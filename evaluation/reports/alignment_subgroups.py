"""Alignment by subgroups of participants: whose ratings does a model's order follow?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.common.small_cells import DECLINED, UNANSWERED
from annotation.models import Study, StudyKind, Submission
from evaluation.analyses.alignment_result import AlignmentOptions
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.analyses.subgroup_result import CROSSED, TIMES, Question, SubgroupResult
from evaluation.analyses.subgroups import analyze_subgroups
from evaluation.models import Report
from evaluation.reports import alignment_subgroups_tables as tables
from evaluation.reports.alignment_subgroups_tables import ANSWERS_HASH
from evaluation.reports.parts.document import Choice, Choices, Document, Provenance, Section
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import count
from evaluation.reports.parts.kind import Chosen, Loaded, RunsInput, StudyInput
from evaluation.reports.parts.mention import MENTION, mention_caveat, summarize_mention
from evaluation.reports.parts.options import ArmParameters, IntervalParameters, names_in
from evaluation.reports.parts.participants import NAME as PARTICIPANTS
from evaluation.reports.parts.participants import (
    ParticipantParameters,
    load_participants,
    participants_section,
    participants_table,
)
from evaluation.reports.parts.provenance import sha
from evaluation.reports.parts.rating_inputs import (
    AlignmentInputs,
    RatingsKind,
    check_arm,
    load_alignment_inputs,
)
from evaluation.reports.parts.table import ReportTable
from evaluation.reports.parts.tau_questions import tau_headline
from probing.models import Run

# --- Loads what a report on subgroups rests on: ratings, scores, and who gave the ratings ---------

NOT_ASKED = "the study does not ask both, or they make no subgroups"


class SubgroupIntervals(IntervalParameters):
    """Fewer draws than elsewhere: the answers to every question are exchanged."""

    resamples: int = Field(
        1000,
        ge=100,
        le=5000,
        description="Exchanges of answers for the tests.",
    )


class SubgroupParameters(ParticipantParameters, SubgroupIntervals, ArmParameters):
    """The options of a report on subgroups."""

    questions: str | None = Field(
        None,
        max_length=1000,
        title="Questions that make subgroups",
        description="Slugs of the questions that make subgroups, separated by commas. Default: "
        "all that have answers to choose or bands; “arm” compares the arms of the study.",
    )
    crossings: str = Field(
        f"race{CROSSED}gender",
        max_length=1000,
        title="Crossed questions",
        description="Pairs of questions whose answers are crossed, such as race*gender, "
        "separated by commas; pairs that the study does not ask are left out.",
    )


@dataclass(frozen=True)
class SubgroupInputs:
    """``record["questions"]`` : slug of a question or crossing → how it is written."""

    alignment: AlignmentInputs
    questions: list[Question]
    crossings: list[tuple[str, str]]
    record: dict[str, Any]
    hashes: dict[str, str]


def load_subgroups(study: Study, run: Run, parameters: SubgroupParameters) -> SubgroupInputs:
    """Return the inputs of a report; `ReportError` for questions that the study does not ask.

    Ten queries, whatever the size of the study.
    """
    alignment = load_alignment_inputs(study=study, run=run, arm=parameters.arm)
    submissions = set(alignment.ratings["submission"].unique())
    who = load_participants(study, submissions, parameters)
    if who.answers is None:
        raise ReportError(f"The answers of “{study}” cannot be joined to its ratings.")
    asked = {
        question.slug: question
        for question in who.answers.questions
        if set().union(*question.given.values()) - {DECLINED, UNANSWERED}
    }
    wanted = _read_questions(parameters.questions, asked, study)
    labels = {slug: asked[slug].label for slug in wanted}
    crossings, left_out = _read_crossings(parameters.crossings, set(wanted))
    for first, second in crossings:
        labels[f"{first}{CROSSED}{second}"] = f"{labels[first]}{TIMES}{labels[second]}"
    record = alignment.record | {
        PARTICIPANTS: who.record,
        "questions": labels,
        "crossings_left_out": left_out,
    }
    return SubgroupInputs(
        alignment=alignment,
        questions=[
            Question(slug, asked[slug].answers, asked[slug].given) for slug in wanted
        ],
        crossings=crossings,
        record=record,
        hashes=alignment.hashes | {ANSWERS_HASH: who.answers.digest},
    )  # fmt: skip


def _read_questions(text: str | None, asked: Mapping[str, Any], study: Study) -> list[str]:
    wanted = list(dict.fromkeys(names_in(text)))
    absent = [slug for slug in wanted if slug not in asked]
    if absent:
        raise ReportError(
            f"“{study}” has no answers to {', '.join(f'“{slug}”' for slug in absent)} that make "
            f"subgroups. Questions: {', '.join(asked) or 'none'}."
        )
    if not asked:
        raise ReportError(f"“{study}” has no answers that make subgroups.")
    return wanted or list(asked)


def _read_crossings(text: str, known: set[str]) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """Return the pairs of known questions, and those that cannot be crossed with the reason."""
    found: list[tuple[str, str]] = []
    left_out: dict[str, str] = {}
    for entry in dict.fromkeys(names_in(text)):
        parts = [part.strip() for part in entry.split(CROSSED)]
        if len(parts) != 2 or parts[0] == parts[1]:
            raise ReportError(f"“{entry}” crosses no two questions, expected such as race*gender.")
        if set(parts) <= known:
            found.append((parts[0], parts[1]))
        else:
            left_out[entry] = NOT_ASKED
    return found, left_out


NOT_JOINED = (
    "“{study}” has no answers of participants that can be joined to its ratings. Ask demographic "
    "questions in a study; who took part in published data is on its alignment report."
)


class AlignmentSubgroups(RatingsKind):
    name = "alignment_subgroups"
    title = _("Alignment by participants")
    question = _("Whose ratings does a model follow: those of which subgroups of participants?")
    meanings = tables.MEANINGS
    Parameters = SubgroupParameters
    study = StudyInput(
        StudyKind.ABC_SURVEY,
        _("Studies with accepted ratings of participants who answered questions about themselves."),
    )
    runs = RunsInput(_("The report is built as soon as its run is finished."))
    views = ("question", "group")

    def fitting_studies(self, studies: QuerySet[Study]) -> QuerySet[Study]:
        return studies.filter(kind=self.study.kind, pk__in=_described_studies())

    def check(self, chosen: Chosen, parameters: SubgroupParameters) -> None:
        """Two queries at most."""
        study = chosen.the_study
        check_arm(study, parameters.arm)
        if not _described_studies().filter(study=study).exists():
            raise ReportError(NOT_JOINED.format(study=study))

    def default_title(self, chosen: Chosen) -> str:
        return f"Whose ratings do the associations of {chosen.runs[0].model.name} follow?"

    def load(self, chosen: Chosen, parameters: SubgroupParameters) -> Loaded:
        inputs = load_subgroups(chosen.the_study, chosen.runs[0], parameters)
        return Loaded(record=inputs.record, data=inputs, hashes=inputs.hashes)

    def compute(self, loaded: Loaded, parameters: SubgroupParameters) -> dict[str, Any]:
        inputs: SubgroupInputs = loaded.data
        alignment = inputs.alignment
        plain: dict[str, Any] = to_plain(
            analyze_subgroups(
                ratings=alignment.ratings,
                scores=alignment.score_table(parameters.level),
                questions=inputs.questions,
                crossings=inputs.crossings,
                minimum=parameters.smallest,
                options=AlignmentOptions(n_splits=0, **parameters.bootstrap),
                **alignment.order,
            )
        )
        groups = alignment.order["groups"]
        mention = summarize_mention(alignment.all_scores, groups, parameters.bootstrap)
        return plain | ({MENTION: mention} if mention else {})

    def document(self, report: Report, view: Mapping[str, str]) -> Document:
        """Lay the report out; ``question`` and ``group`` choose what is shown in detail."""
        record: dict[str, Any] = report.inputs
        stored = dict(report.result or {})
        mention: dict[str, Any] | None = stored.pop(MENTION, None)
        result, names = from_plain(SubgroupResult, stored), tables.Names.of(record)
        subgroups, pairs, groups, means = tables.all_tables(result, names)
        who = participants_section(record[PARTICIPANTS], origin=record["study"]["origin"])
        laid_out = Document(
            question=tables.question(record, result),
            keys=tables.key_numbers(result),
            sections=(
                *([who] if who else []),
                Section(
                    "Alignment with every subgroup",
                    (
                        tables.subgroup_figure(subgroups, result, names),
                        tables.subgroups_printed(subgroups, result),
                    ),
                    tables.WHY_OVERALL,
                ),
                Section(
                    "Every two subgroups",
                    (tables.pairs_printed(pairs, result),),
                    tables.WHY_PAIRS,
                ),
                *_detail(result, names, groups, means, view),
            ),
            tables=(subgroups, pairs, groups, means, participants_table(record[PARTICIPANTS])),
            method=tables.method(record, result),
            caveats=(
                *tables.caveats(record, result),
                *([mention_caveat(mention)] if mention else []),
            ),
            left_out=tables.left_out(record, result),
        )
        return self.complete(report, laid_out)

    def sources(self, report: Report) -> list[Provenance]:
        record = report.inputs
        n = count(len(record["questions"]), "question")
        answers = ("Answers of participants", n, sha(record["hashes"][tables.ANSWERS_HASH]))
        return [*super().sources(report), answers]

    def headline(self, result: dict[str, Any]) -> str:
        rows = [row for row in result["subgroups"] if row["question"]]
        return tau_headline([(row, row["tau"]) for row in rows]) if rows else ""


def _detail(
    result: SubgroupResult,
    names: tables.Names,
    groups: ReportTable,
    means: ReportTable,
    view: Mapping[str, str],
) -> tuple[Section, ...]:
    """Return the sections on one question, and on how its subgroups rate one group."""
    asked = {row.question for row in result.subgroups}
    shown = [slug for slug in result.questions if slug in asked]
    question = _wanted("question", view, shown, next(iter(shown), ""))
    rated = [row.group for row in result.by_group if row.question == question]
    # The group that the most subgroups rate shows the most.
    group = _wanted("group", view, list(names.groups), max(names.groups, key=rated.count))
    if not question:
        return ()

    def query(**changes: str) -> str:
        return "?" + urlencode({"question": question, "group": group, **changes})

    label = names.questions[question]
    questions = Choices(
        label="Another question",
        anchor="groups",
        options=tuple(
            Choice(names.questions[slug], query(question=slug), slug == question) for slug in shown
        ),
        figures=tuple(
            (
                names.questions[slug],
                tables.group_figure(result, names, groups.level, slug, query(question=slug)),
            )
            for slug in shown
            if slug != question
        ),
    )
    others = Choices(
        label="Another group",
        anchor="means",
        options=tuple(
            Choice(names.group(slug), query(group=slug), slug == group) for slug in names.groups
        ),
    )
    return (
        Section(
            f"Group by group: {label}",
            (
                tables.group_figure(result, names, groups.level, question, query()),
                questions,
                tables.groups_printed(groups, result, names, question),
            ),
            tables.WHY_GROUPS,
            anchor="groups",
        ),
        Section(
            f"How they rate {names.group(group)}: {label}",
            (
                tables.mean_figure(result, names, means.level, question, group, query()),
                others,
                tables.means_printed(means, result, names, question, group),
            ),
            tables.WHY_MEANS,
            anchor="means",
        ),
    )


def _wanted(name: str, view: Mapping[str, str], known: Sequence[str], default: str) -> str:
    """Return what the page's address asks for, or `ReportError` where there is no such part."""
    wanted = view.get(name, "")
    if wanted and wanted not in known:
        raise ReportError(f"The report has no {name} “{wanted}”.")
    return wanted or default


def _described_studies() -> QuerySet[Submission, int]:
    """Return the studies in which somebody with accepted ratings answered a question, or is in an
    arm.
    """
    described = Submission.objects.accepted().filter(Q(answers__isnull=False) | ~Q(arm=""))
    return described.order_by().values_list("study", flat=True)
