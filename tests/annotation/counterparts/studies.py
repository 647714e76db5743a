"""Writing studies for tests: twenty texts, ann and ben write."""

from __future__ import annotations

from typing import Any

from annotation.annotators.invitations import accept_invitation
from annotation.counterparts.assignment_service import add_writer
from annotation.counterparts.creation import create_writing_study
from annotation.counterparts.lifecycle import launch_writing_study
from annotation.counterparts.views import submit_counterpart
from annotation.models import Annotator, Corpus, Counterpart, Study, Text, WritingTask
from tests.annotation.annotators.people import make_account

SOURCES = (
    "I be so happy when I wake up from a bad dream cus they be feelin too real",
    "He finna leave",
    "They been knew that",
    "She be working late",
    "We was at the store when it started raining",
    "Ion know what he talking about",
    "You aint never lied",
    "He done ate all the food",
    "She my cousin",
    "Dey goin to the park wit us",
)


def make_corpus(n_texts: int = 20, **options: Any) -> Corpus:
    values = {"name": "Twenty posts", "license": "CC BY 4.0"}
    corpus = Corpus.objects.create(**{**values, **options})
    for number in range(n_texts):
        body = SOURCES[number % len(SOURCES)]
        if number >= len(SOURCES):
            body = f"{body} ({number})"
        Text.objects.create(
            corpus=corpus,
            slug=f"text-{number:03d}",
            variety=corpus.source_variety,
            body=body,
            body_hash=f"{number:064d}",
            source="posts" if number % 2 else "interviews",
            context="A post about dreams." if number == 0 else "",
        )
    return corpus


def make_writing_study(
    *names: str, corpus: Corpus | None = None, launched: bool = True, **options: Any
) -> Study:
    """Store a study in which the accounts ``names`` have places; launched if not said otherwise."""
    values: dict[str, Any] = {
        "title": "Counterparts, spring",
        "owner": None,
        "contact_email": "lab@example.org",
        "common_texts": 4,
        "shared_percent": 25,
        "seed": 11,
    }
    study = create_writing_study(corpus=corpus or make_corpus(), **{**values, **options})
    for name in names:
        join(study, name)
    return launch_writing_study(study=study) if launched else study


def join(study: Study, name: str) -> Annotator:
    place = add_writer(study=study)
    return accept_invitation(token=place.invitation_token, user=make_account(name))


def place_of(study: Study, name: str) -> Annotator:
    return study.annotators.get(user__username=name)


def tasks_of(study: Study, name: str) -> list[WritingTask]:
    return list(
        WritingTask.objects.filter(study=study, annotator__user__username=name)
        .select_related("text", "counterpart")
        .order_by("position")
    )


def write(task: WritingTask, body: str = "", **options: Any) -> Counterpart:
    return submit_counterpart(task=task, body=body, **options)
