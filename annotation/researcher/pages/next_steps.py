"""What comes after a study or a corpus: links to the form that goes on from there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _

from annotation.models import Corpus, Study, StudyKind, StudyStatus


@dataclass(frozen=True)
class NextStep:
    """``note`` says in a sentence what one gets there."""

    label: str
    note: str
    address: str


def find_study_steps(study: Study, user: User) -> list[NextStep]:
    """Return what can follow a study that was launched. No query."""
    if study.status == StudyStatus.DRAFT:
        return []
    steps: list[NextStep] = []
    if user.has_perm("probing.add_run") and study.kind == StudyKind.ABC_SURVEY:
        steps += _link(
            _("Ask a language model the same"),
            _("A new run with this study’s groups and scales."),
            "admin:probing_run_add",
            study=study.pk,
        )
    if user.has_perm("probing.add_run") and study.kind == StudyKind.GUISE_RATING:
        steps += _link(
            _("Ask a language model about the same speakers"),
            _("A new run of matched guise probing."),
            "admin:probing_run_add",
            measure="matched_guise",
        )
    if user.has_perm("evaluation.add_report"):
        steps += _link(
            _("Build a report"),
            _("Kinds of reports that rest on a study like this one."),
            "admin:evaluation_report_add",
            study=study.pk,
        )
    return steps


def find_corpus_steps(corpus: Corpus, user: User, *, has_pairs: bool) -> list[NextStep]:
    """Return what can be made of a corpus with texts. No query."""
    may_create = user.has_perm("annotation.add_study")
    steps: list[NextStep] = []
    if may_create:
        steps += _link(
            _("Have counterparts written"),
            _("Annotators say the same in the other variety."),
            "admin:annotation_writingstudy_add",
            corpus=corpus.pk,
        )
    if has_pairs and may_create:
        steps += _link(
            _("Have counterparts judged"),
            _("Judges compare what people and models wrote."),
            "admin:annotation_judgmentstudy_add",
            corpus=corpus.pk,
        )
        steps += _link(
            _("Ask people about the speakers"),
            _("Participants rate who might have written a text."),
            "admin:annotation_study_add",
            kind=StudyKind.GUISE_RATING,
            corpus=corpus.pk,
        )
    if has_pairs and user.has_perm("probing.add_run"):
        steps += _link(
            _("Ask a language model about the speakers"),
            _("A new run of matched guise probing on these pairs."),
            "admin:probing_run_add",
            measure="matched_guise",
            corpus=corpus.pk,
        )
    if user.has_perm("evaluation.add_report"):
        steps += _link(
            _("Build a report"),
            _("Kinds of reports that rest on a corpus."),
            "admin:evaluation_report_add",
            corpus=corpus.pk,
        )
    return steps


def _link(label: str, note: str, page: str, **query: Any) -> list[NextStep]:
    try:
        address = reverse(page)
    except NoReverseMatch:  # an installation without that room
        return []
    return [NextStep(label, note, f"{address}?{urlencode(query)}")]
