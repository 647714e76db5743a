"""The data statement of a corpus (Bender and Friedman 2018), from its record and its studies'.

What no record answers is said to be not stated; nothing is made up. Annotators are counted, never
named or described one by one.
"""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Max, Min, Q

from annotation.models import (
    Corpus,
    Counterpart,
    JudgmentTask,
    Study,
    StudyKind,
    TaskState,
    TextPair,
    WritingTask,
)
from evaluation.reports.document import Statement
from evaluation.reports.formatting import count

NOT_STATED = "Not stated."
SECTIONS = (
    ("Curation rationale", "curation_rationale"),
    ("Language variety", "language_variety"),
    ("Speaker demographics", "speaker_demographics"),
    ("Annotator demographics", "annotator_demographics"),
    ("Speech situation", "speech_situation"),
    ("Text characteristics", "text_characteristics"),
)


def load_statement(corpus: Corpus) -> list[dict[str, Any]]:
    """Return the sections as plain values for a report's record. Two queries and two a study."""
    sections = [
        {"heading": heading, "paragraphs": [getattr(corpus, name).strip() or NOT_STATED]}
        for heading, name in SECTIONS
    ]
    place = next(i for i, (_, name) in enumerate(SECTIONS) if name == "annotator_demographics")
    sections.insert(
        place + 1, {"heading": "How the counterparts came about", "paragraphs": _origins(corpus)}
    )
    provenance = [f"Licence: {corpus.licence}."]
    if corpus.access_note:
        provenance.append(f"Access: {corpus.access_note}")
    if corpus.citation:
        provenance.append(f"Citation: {corpus.citation}")
    sections.append({"heading": "Licence and access", "paragraphs": provenance})
    return sections


def read_statement(record: list[dict[str, Any]]) -> tuple[Statement, ...]:
    """Return the statement of a report's record."""
    return tuple(Statement(part["heading"], tuple(part["paragraphs"])) for part in record)


def _origins(corpus: Corpus) -> list[str]:
    imported = TextPair.objects.filter(corpus=corpus, study=None).count()
    lines = [f"{count(imported, 'pair')} came with the corpus."] if imported else []
    studies = (
        Study.objects.filter(Q(writing__corpus=corpus) | Q(judging__corpus=corpus))
        .annotate(n_pairs=Count("gold_pairs", filter=Q(gold_pairs__corpus=corpus)))
        .order_by("pk")
    )
    for study in studies:
        writing = study.kind == StudyKind.COUNTERPART_WRITING
        lines += _writing(study) if writing else _judging(study)
    return lines or [NOT_STATED]


def _writing(study: Any) -> list[str]:
    done = WritingTask.objects.filter(study=study, state=TaskState.DONE).aggregate(
        tasks=Count("pk"),
        people=Count("annotator", distinct=True),
        texts=Count("text", distinct=True),
        first=Min("done_at"),
        last=Max("done_at"),
    )
    if not done["tasks"]:
        return []
    refused = Counterpart.objects.filter(task__study=study, not_interpretable=True).count()
    lines = [
        f"In “{study.title}” {count(done['people'], 'annotator')} wrote "
        f"{count(done['tasks'] - refused, 'counterpart')} of {count(done['texts'], 'text')}"
        f"{_period(done)}; {count(refused, 'time')} a text was called not interpretable. "
        f"{count(study.n_pairs, 'pair')} of the corpus came of it. {_pay(study)}"
    ]
    guidelines = [str(line) for line in study.writing.guidelines]
    if guidelines:
        lines.append("Guidelines: " + " ".join(f"({i}) {g}" for i, g in enumerate(guidelines, 1)))
    return lines


def _judging(study: Study) -> list[str]:
    done = JudgmentTask.objects.filter(study=study, state=TaskState.DONE).aggregate(
        tasks=Count("pk"),
        people=Count("annotator", distinct=True),
        items=Count("item", distinct=True),
        first=Min("done_at"),
        last=Max("done_at"),
    )
    if not done["tasks"]:
        return []
    return [
        f"In “{study.title}” {count(done['people'], 'judge')} gave "
        f"{count(done['tasks'], 'judgment')} of {count(done['items'], 'counterpart')}"
        f"{_period(done)}, without knowing who wrote them and never of a text that they had "
        f"rewritten. {_pay(study)}"
    ]


def _period(done: dict[str, Any]) -> str:
    """Return the months of the work; days would say too much about few people."""
    if not done["first"]:
        return ""
    first, last = (f"{done[name]:%B %Y}" for name in ("first", "last"))
    return f" in {first}" if first == last else f" from {first} to {last}"


def _pay(study: Study) -> str:
    """Return what is known of pay. Annotators are paid outside: the reward is that of surveys."""
    ethics = f" Ethics reference: {study.ethics_reference}." if study.ethics_reference else ""
    return f"What they were paid is not recorded here.{ethics}"
