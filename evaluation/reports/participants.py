"""Who took part: counts and shares per question, small cells kept back, for any report on people.

`load_participants` gives what is stored with a report; the rest lays it out from there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pydantic import Field, field_validator

from annotation.models import Origin, ParticipantSummary, Study
from annotation.studies.answer_bands import DEFAULT_BANDS, BandsError, parse_bands
from annotation.studies.demographics import LONGEST_CHOICE
from annotation.studies.participant_answers import (
    CountedQuestion,
    ParticipantAnswers,
    load_participant_answers,
)
from annotation.studies.participant_summary import read_summary
from annotation.studies.small_cells import (
    DECLINED,
    DEFAULT_MINIMUM,
    LEAST_MINIMUM,
    UNANSWERED,
    tabulate,
)
from evaluation.charts.share_bars import ShareBar, SharePanel, ShareWords, share_bars_spec
from evaluation.reports.cells import to_frame
from evaluation.reports.document import (
    Column,
    DataTable,
    Figure,
    Prose,
    Section,
    Table,
    TableBuilder,
)
from evaluation.reports.formatting import MISSING, count
from evaluation.reports.kinds.base import ReportParameters

NAME = "participants"
COLUMNS = ("question", "question_text", "answer", "n", "share", "n_people")
OTHERS = "Other answers"
ANSWERS = {DECLINED: "Preferred not to say", UNANSWERED: "Left out"}
JOINED, COUNTED = "answers", "counts"


class ParticipantParameters(ReportParameters):
    """Options of every report that says who took part."""

    smallest: int = Field(
        DEFAULT_MINIMUM,
        ge=LEAST_MINIMUM,
        le=1000,
        description="No number about the participants concerns fewer people than this.",
    )
    bands: str = Field(
        DEFAULT_BANDS,
        max_length=1000,
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

    record: dict[str, Any]
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
    record = {
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


def _tabulated(question: CountedQuestion, smallest: int) -> dict[str, Any] | None:
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
    return {
        "slug": question.slug,
        "label": question.label,
        "several": question.several,
        "n_people": table.n_people,
        # Of a long list, such as that of states, answers that nobody gave are left away.
        "shown": [[answer, n] for answer, n in table.shown.items() if n or not is_long],
        # Which answers are hidden is not stored: an answer that is missing says that of itself.
        "has_hidden": bool(table.hidden),
        "n_hidden": table.n_hidden,
    }


def participants_section(record: dict[str, Any], *, origin: str) -> Section | None:
    """Return the section with chart and table, None where nothing is known of the participants."""
    if not record["questions"]:
        return None
    shown = [question for question in record["questions"] if question["shown"]]
    blocks: list[Figure | Prose | Table] = [Prose(tuple(_sentences(record, origin)))]
    if shown:
        blocks += [_figure(shown), _table(record)]
    return Section("Who took part", tuple(blocks))


def participants_table(record: dict[str, Any]) -> DataTable:
    """Return every number that is shown about the participants."""
    return DataTable(NAME, "Who took part", _frame(record))


def _frame(record: dict[str, Any]) -> pd.DataFrame:
    rows = []
    for question in record["questions"]:
        counted = [(ANSWERS.get(answer, answer), n) for answer, n in question["shown"]]
        if question["has_hidden"]:
            counted.append((OTHERS, question["n_hidden"]))
        rows += [
            {
                "question": question["slug"],
                "question_text": question["label"],
                "answer": answer,
                "n": n,
                "share": None if n is None else n / question["n_people"],
                "n_people": question["n_people"],
            }
            for answer, n in counted
        ]
    frame = to_frame(rows, COLUMNS)
    return frame.astype({"n": "Int64", "n_people": "Int64", "share": "float64"})


def _sentences(record: dict[str, Any], origin: str) -> list[str]:
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


def _bars(question: dict[str, Any]) -> tuple[ShareBar, ...]:
    bars = [
        ShareBar(ANSWERS.get(answer, answer), n, quiet=answer in ANSWERS)
        for answer, n in question["shown"]
    ]
    if question["has_hidden"]:
        bars.append(ShareBar(OTHERS, question["n_hidden"], quiet=True))
    return tuple(bars)


def _figure(questions: list[dict[str, Any]]) -> Figure:
    panels = [SharePanel(q["label"], _bars(q), q["n_people"]) for q in questions]
    words = ShareWords(title="Who took part")
    return Figure(
        NAME,
        "What the participants said about themselves, in per cent of all of them.",
        share_bars_spec(panels, words=words),
        share_bars_spec(panels, words=words, narrow=True),
        data=NAME,
    )


def _table(record: dict[str, Any]) -> Table:
    table = TableBuilder(
        caption="Participants by what they said about themselves.",
        data=NAME,
        columns=(
            Column("Answer"),
            Column("Question", style="quiet"),
            Column("People", number=True),
            Column("%", number=True),
        ),
    )
    for question in record["questions"]:
        if not question["shown"]:
            note = f"No answer can be shown with {record['smallest']} people or more."
            table.add("All answers", question["label"], MISSING, MISSING, note=note)
            continue
        for bar in _bars(question):
            share = MISSING if bar.n is None else f"{100 * bar.n / question['n_people']:.1f}"
            n = MISSING if bar.n is None else str(bar.n)
            table.add(bar.label, question["label"], n, share)
    return table.build()
