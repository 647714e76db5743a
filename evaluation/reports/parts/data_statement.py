"""The data statement of a corpus (Bender and Friedman 2018), from its record and its studies'.

What no record answers is said to be not stated or not recorded; nothing is made up. Annotators are
counted and described together, never named or described one by one.
"""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Max, Min, Q, QuerySet

from annotation.annotators.statement import STATEMENT_PARTS
from annotation.counterparts.creation import split_examples
from annotation.models import (
    AnnotatorStatement,
    Corpus,
    Counterpart,
    JudgmentTask,
    Study,
    StudyKind,
    TaskState,
    TextPair,
    WritingTask,
)
from evaluation.reports.parts.document import Statement
from evaluation.reports.parts.formatting import count

NOT_STATED = "Not stated."
NOT_RECORDED = "not recorded."
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
    described = [one for one in map(_describe, _load_studies(corpus)) if one is not None]
    sections = []
    for heading, name in SECTIONS:
        stated = getattr(corpus, name).strip()
        paragraphs = [stated] if stated else []
        if name == "annotator_demographics":
            paragraphs += [_background(study) for study, _lines in described]
        sections.append({"heading": heading, "paragraphs": paragraphs or [NOT_STATED]})
        if name == "annotator_demographics":
            origins = _imported(corpus) + [line for _study, lines in described for line in lines]
            sections.append(
                {
                    "heading": "How the counterparts came about",
                    "paragraphs": origins or [NOT_STATED],
                }
            )
    provenance = [f"License: {corpus.license}."]
    if corpus.access_note:
        provenance.append(f"Access: {corpus.access_note}")
    if corpus.citation:
        provenance.append(f"Citation: {corpus.citation}")
    sections.append({"heading": "License and access", "paragraphs": provenance})
    return sections


def read_statement(record: list[dict[str, Any]]) -> tuple[Statement, ...]:
    """Return the statement of a report's record."""
    return tuple(Statement(part["heading"], tuple(part["paragraphs"])) for part in record)


def _load_studies(corpus: Corpus) -> QuerySet[Study]:
    return (
        Study.objects.filter(Q(writing__corpus=corpus) | Q(judging__corpus=corpus))
        .select_related("writing", "annotator_statement")
        .annotate(n_pairs=Count("gold_pairs", filter=Q(gold_pairs__corpus=corpus)))
        .order_by("pk")
    )


def _describe(study: Study) -> tuple[Study, list[str]] | None:
    """Return how a study's counterparts or judgments came about, None where nothing is done."""
    writing = study.kind == StudyKind.COUNTERPART_WRITING
    lines = _writing(study) if writing else _judging(study)
    return (study, [*lines, _conditions(study)]) if lines else None


def _imported(corpus: Corpus) -> list[str]:
    imported = TextPair.objects.filter(corpus=corpus, study=None).count()
    return [f"{count(imported, 'pair')} came with the corpus."] if imported else []


def _writing(study: Any) -> list[str]:
    done = _count_done(WritingTask.objects.filter(study=study), "text")
    if not done["tasks"]:
        return []
    refused = Counterpart.objects.filter(task__study=study, not_interpretable=True).count()
    lines = [
        f"In “{study.title}” {count(done['people'], 'annotator')} wrote "
        f"{count(done['tasks'] - refused, 'counterpart')} of {count(done['units'], 'text')}"
        f"{_period(done)}; {count(refused, 'time')} a text was called not interpretable. "
        f"{count(study.n_pairs, 'pair')} of the corpus came of it."
    ]
    guidelines, _examples = split_examples([str(line) for line in study.writing.guidelines])
    if guidelines:
        lines.append("Guidelines: " + " ".join(f"({i}) {g}" for i, g in enumerate(guidelines, 1)))
    return lines


def _judging(study: Study) -> list[str]:
    done = _count_done(JudgmentTask.objects.filter(study=study), "item")
    if not done["tasks"]:
        return []
    return [
        f"In “{study.title}” {count(done['people'], 'judge')} gave "
        f"{count(done['tasks'], 'judgment')} of {count(done['units'], 'counterpart')}"
        f"{_period(done)}, without knowing who wrote them and never of a text that they had "
        f"rewritten."
    ]


def _count_done(tasks: QuerySet[Any], unit: str) -> dict[str, Any]:
    """Return numbers of tasks, people and units, and when the work began and ended. One query."""
    return tasks.filter(state=TaskState.DONE).aggregate(
        tasks=Count("pk"),
        people=Count("annotator", distinct=True),
        units=Count(unit, distinct=True),
        first=Min("done_at"),
        last=Max("done_at"),
    )


def _period(done: dict[str, Any]) -> str:
    """Return the months of the work; days would say too much about few people."""
    if not done["first"]:
        return ""
    first, last = (f"{done[name]:%B %Y}" for name in ("first", "last"))
    return f" in {first}" if first == last else f" from {first} to {last}"


def _background(study: Study) -> str:
    stated = _recorded(study, "background")
    return f"Annotators of “{study.title}”: {stated or NOT_RECORDED}"


def _conditions(study: Study) -> str:
    """Return what is recorded of recruitment, training and pay.

    The reward of a study is that of surveys: annotators are paid outside of the platform.
    """
    stated = [
        f"{STATEMENT_PARTS[name]}: {_recorded(study, name) or NOT_RECORDED}"
        for name in ("recruitment", "training", "pay")
    ]
    ethics = [f"Ethics reference: {study.ethics_reference}"] if study.ethics_reference else []
    return f"Annotators of “{study.title}”. " + " ".join(
        part if part.endswith((".", "!", "?")) else f"{part}." for part in (*stated, *ethics)
    )


def _recorded(study: Study, name: str) -> str:
    """Return a part of a study's statement, "" where it has none."""
    statement: AnnotatorStatement | None = getattr(study, "annotator_statement", None)
    return " ".join(getattr(statement, name, "").split())
