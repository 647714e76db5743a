"""Who took part: counts and shares per question, small cells kept back, for any report on people.

`load_participants` gives what is stored with a report; the rest lays it out from there.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, field_validator

from annotation.common.answer_bands import DEFAULT_BANDS, BandsError, parse_bands
from annotation.common.small_cells import (
    DECLINED,
    DEFAULT_MINIMUM,
    LEAST_MINIMUM,
    UNANSWERED,
    tabulate,
)
from annotation.instruments.demographics import LONGEST_CHOICE
from annotation.models import Origin, ParticipantSummary, Study
from annotation.studies.participant_answers import (
    CountedQuestion,
    ParticipantAnswers,
    load_participant_answers,
    read_summary,
)
from evaluation.charts.share_bars import ShareBar, SharePanel, share_bars_spec
from evaluation.metrics.shown import Shown
from evaluation.reports.parts.document import Figure, Prose, Section, Table
from evaluation.reports.parts.formatting import count
from evaluation.reports.parts.kind import ReportParameters
from evaluation.reports.parts.records import ParticipantsRecord, QuestionRecord
from evaluation.reports.parts.table import Column, ReportTable

NAME = "participants"
OTHERS = "Other answers"
ANSWERS = {DECLINED: "Preferred not to say", UNANSWERED: "Left out"}
JOINED, COUNTED = "answers", "counts"


class ParticipantParameters(ReportParameters):
    """Options of every report that says who took part."""

    smallest: int = Field(
        DEFAULT_MINIMUM,
        ge=LEAST_MINIMUM,
        le=1000,
        title="Smallest group of people",
        description="No number about the participants concerns fewer people than this.",
    )
    bands: str = Field(
        DEFAULT_BANDS,
        max_length=1000,
        title="Bands of numeric answers",
        description="Where the bands of numeric answers start, by question.",
    )

    @field_validator("bands")
    @classmethod
    def _read_bands(cls, text: str) -> str:
        try:
            parse_bands(text)
        except BandsError as error:
            raise ValueError(str(error)) from error
        return text


@dataclass(frozen=True)
class Participants:
    """``record`` is stored; ``answers`` are there where they can be joined to ratings."""

    record: ParticipantsRecord
    answers: ParticipantAnswers | None


def load_participants(
    study: Study, submissions: Collection[str], parameters: ParticipantParameters
) -> Participants:
    """Return who gave the ratings of those submissions. Three queries."""
    bands = parse_bands(parameters.bands)
    summary = ParticipantSummary.objects.filter(study=study).first()
    questions: Iterable[CountedQuestion]
    left_out: Mapping[str, str]
    if summary is not None:
        questions, left_out = read_summary(summary, bands=bands)
        answers, source, n = None, summary.source, summary.n_people
    else:
        answers = load_participant_answers(study, submissions=submissions, bands=bands)
        questions, left_out = [entry.counted for entry in answers.questions], answers.left_out
        source, n = "", len(set(submissions))
    record: ParticipantsRecord = {
        "kind": COUNTED if summary is not None else JOINED,
        "source": source,
        "smallest": parameters.smallest,
        "n_people": n if n >= parameters.smallest else None,
        "questions": [
            found
            for question in questions
            if (found := _tabulated(question, parameters.smallest)) is not None
        ],
        "left_out": dict(left_out),
    }
    return Participants(record, answers)


def _tabulated(question: CountedQuestion, smallest: int) -> QuestionRecord | None:
    """Return the table of a question as it is stored, None if nobody answered it."""
    if set().union(*question.people) <= {UNANSWERED}:
        return None
    is_long = len(question.answers) > LONGEST_CHOICE
    table = tabulate(
        question.people,
        answers=(*question.answers, DECLINED, UNANSWERED),
        several=question.several,
        minimum=smallest,
    )
    record: QuestionRecord = {
        "slug": question.slug,
        "label": question.label,
        "several": question.several,
        "n_people": table.n_people,
        # Of a long list, such as that of states, answers that nobody gave are left away.
        "shown": [(answer, n) for answer, n in table.shown.items() if n or not is_long],
        # Which answers are hidden is not stored: an answer that is missing says that of itself.
        "has_hidden": bool(table.hidden),
        "n_hidden": table.n_hidden,
    }
    if n := table.n_hidden_answers:
        record["n_hidden_answers"] = n
    return record


@dataclass(frozen=True)
class AnswerRow:
    """An answer as it is downloaded and as it is printed; a question without one has a note."""

    question: QuestionRecord
    answer: Annotated[str, Shown()]
    label: str
    n: Annotated[int | None, Shown("People", 0, whole=True)]
    note: str = ""

    @property
    def share(self) -> Annotated[float, Shown("%", 1, scale=100)]:
        people = self.question["n_people"]
        return math.nan if self.n is None or people is None else self.n / people


def participants_table(record: ParticipantsRecord) -> ReportTable:
    """Return every number that is shown about the participants."""
    return ReportTable.of_rows(
        NAME,
        "Who took part",
        [
            AnswerRow(question, answer, bar.label, bar.n)
            for question in record["questions"]
            for answer, bar in zip(_answers(question), _bars(question), strict=True)
        ],
        AnswerRow,
        Column("", "question", "question.slug"),
        Column("", "question_text", "question.label"),
        "answer",
        Column("Answer", value="label"),
        Column("Question", value="question.label", style="quiet"),
        *("n", "share"),
        Column("", "n_people", "question.n_people", whole=True),
        note="note",
    )


def participants_section(record: ParticipantsRecord, *, origin: str) -> Section | None:
    """Return the section with chart and table, None where nothing is known of the participants."""
    if not record["questions"]:
        return None
    shown = [question for question in record["questions"] if question["shown"]]
    blocks: list[Figure | Prose | Table] = [Prose(tuple(_sentences(record, origin)))]
    if shown:
        blocks += [_figure(shown), _printed(record)]
    return Section("Who took part", tuple(blocks))


def _printed(record: ParticipantsRecord) -> Table:
    """Return the table, with a line of its own for every question without an answer to show."""
    table = participants_table(record)
    rows = []
    for question in record["questions"]:
        if question["shown"]:
            rows += [row for row in table.rows if row.question is question]
        else:
            note = f"No answer can be shown with {record['smallest']} people or more."
            rows.append(AnswerRow(question, "", "All answers", None, note))
    return table.printed("Participants by what they said about themselves.", rows=rows)


def _sentences(record: ParticipantsRecord, origin: str) -> list[str]:
    smallest = record["smallest"]
    found = []
    if record["kind"] == COUNTED:
        found.append(
            f"Published counts of {count(record['n_people'] or 0, 'person', 'people')}. Their "
            "answers cannot be joined to ratings, so nothing can be said of how subgroups rate; "
            "their number may differ from that of the people whose ratings were published."
        )
    elif origin == Origin.SIMULATED:
        found.append("Simulated people: their answers are made up and describe nobody.")
    found.append(
        f"No number concerns fewer than {smallest} people. Smaller answers are put together as "
        f"“{OTHERS.lower()}”, with larger ones where a smaller number could be computed from the "
        "rest. Where several answers could be given, a person counts in each."
    )
    if record["left_out"]:
        texts = "; ".join(f"“{label}”: {why}" for label, why in record["left_out"].items())
        found.append(f"Not counted: {texts}.")
    return found


def _answers(question: QuestionRecord) -> list[str]:
    """Return the answers as they are downloaded, those that are put together last."""
    shown = [ANSWERS.get(answer, answer) for answer, _n in question["shown"]]
    return [*shown, OTHERS] if question["has_hidden"] else shown


def _bars(question: QuestionRecord) -> tuple[ShareBar, ...]:
    bars = [
        ShareBar(ANSWERS.get(answer, answer), n, quiet=answer in ANSWERS)
        for answer, n in question["shown"]
    ]
    if question["has_hidden"]:
        n = question.get("n_hidden_answers")
        label = count(n, "other answer") if n else OTHERS
        bars.append(ShareBar(label, question["n_hidden"], quiet=True))
    return tuple(bars)


def _figure(questions: list[QuestionRecord]) -> Figure:
    panels = [SharePanel(q["label"], _bars(q), q["n_people"] or 0) for q in questions]
    title = "Who took part"
    return Figure(
        NAME,
        "What the participants said about themselves, in percent of all of them.",
        share_bars_spec(panels, title=title),
        share_bars_spec(panels, title=title, narrow=True),
        data=NAME,
    )
