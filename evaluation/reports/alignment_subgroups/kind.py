"""Alignment by subgroups of participants: whose ratings does a model's order follow?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from annotation.models import Study, StudyKind, Submission
from evaluation.analyses.alignment_result import AlignmentOptions
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.analyses.subgroup_result import SubgroupResult
from evaluation.analyses.subgroups import analyze_subgroups
from evaluation.models import Report
from evaluation.reports.alignment_subgroups import prose, tables
from evaluation.reports.alignment_subgroups.inputs import (
    SubgroupInputs,
    SubgroupParameters,
    load_subgroups,
)
from evaluation.reports.parts.document import Choice, Choices, Document, Provenance, Section
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import count
from evaluation.reports.parts.kind import Chosen, Loaded, RunsInput, StudyInput
from evaluation.reports.parts.mention import MENTION, mention_caveat, summarize_mention
from evaluation.reports.parts.participants import NAME as PARTICIPANTS
from evaluation.reports.parts.participants import participants_section, participants_table
from evaluation.reports.parts.provenance import sha
from evaluation.reports.parts.rating_inputs import RatingsKind, check_arm
from evaluation.reports.parts.table import ReportTable
from evaluation.reports.parts.tau_questions import tau_headline

NOT_JOINED = (
    "“{study}” has no answers of participants that can be joined to its ratings. Ask demographic "
    "questions in a study; who took part in published data is on its alignment report."
)


class AlignmentSubgroups(RatingsKind):
    name = "alignment_subgroups"
    title = _("Alignment by participants")
    question = _("Whose ratings does a model follow: those of which subgroups of participants?")
    meanings = prose.MEANINGS
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
            question=prose.question(record, result),
            keys=tables.key_numbers(result),
            sections=(
                *([who] if who else []),
                Section(
                    "Alignment with every subgroup",
                    (
                        tables.subgroup_figure(subgroups, result, names),
                        tables.subgroups_printed(subgroups, result),
                    ),
                    prose.WHY_OVERALL,
                ),
                Section(
                    "Every two subgroups",
                    (tables.pairs_printed(pairs, result),),
                    prose.WHY_PAIRS,
                ),
                *_detail(result, names, groups, means, view),
            ),
            tables=(subgroups, pairs, groups, means, participants_table(record[PARTICIPANTS])),
            method=prose.method(record, result),
            caveats=(
                *prose.caveats(record, result),
                *([mention_caveat(mention)] if mention else []),
            ),
            left_out=prose.left_out(record, result),
        )
        return self.complete(report, laid_out)

    def sources(self, report: Report) -> list[Provenance]:
        record = report.inputs
        n = count(len(record["questions"]), "question")
        answers = ("Answers of participants", n, sha(record["hashes"][prose.ANSWERS_HASH]))
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
            prose.WHY_GROUPS,
            anchor="groups",
        ),
        Section(
            f"How they rate {names.group(group)}: {label}",
            (
                tables.mean_figure(result, names, means.level, question, group, query()),
                others,
                tables.means_printed(means, result, names, question, group),
            ),
            prose.WHY_MEANS,
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
