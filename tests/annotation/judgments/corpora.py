"""Corpora with counterparts by people and by two models, for tests of judging."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotation.corpora.bodies import hash_body
from annotation.judgments.creation import create_judgment_study
from annotation.judgments.lifecycle import launch_judgment_study
from annotation.models import (
    Annotator,
    Corpus,
    Counterpart,
    JudgmentTask,
    Split,
    Study,
    TaskState,
    Text,
    TextPair,
)
from tests.annotation.annotators.people import make_annotated_study, make_annotator

# Letters, as public ids are; nothing on a page of judges may hold them.
RUNS = {"aaaa1111bbbb": "tiny-bart@0f3c", "cccc2222dddd": "tiny-gpt@9e1d"}


def make_text(corpus: Corpus, slug: str, variety: str, body: str, **options: Any) -> Text:
    return Text.objects.create(
        corpus=corpus, slug=slug, variety=variety, body=body, body_hash=hash_body(body), **options
    )


def make_corpus(
    n_pairs: int = 4, *, name: str = "Posts", runs: Sequence[str] = tuple(RUNS)
) -> Corpus:
    """Store pairs that every run has rewritten in both directions."""
    corpus = Corpus.objects.create(name=name, license="CC BY 4.0")
    for number in range(1, n_pairs + 1):
        make_pair(corpus, number, runs=runs)
    return corpus


def make_pair(
    corpus: Corpus,
    number: int,
    *,
    runs: Sequence[str] = tuple(RUNS),
    split: str = Split.EVALUATION,
    target: Text | None = None,
) -> TextPair:
    aal = make_text(
        corpus,
        f"aal-{number}",
        "AAL",
        f"they be reading book {number}",
        split=split,
        source="Posts",
    )
    wme = target or make_text(
        corpus, f"wme-{number}", "WME", f"They usually read book {number}.", split=split
    )
    pair = TextPair.objects.create(
        corpus=corpus, slug=f"pair-{number}", source_text=aal, target_text=wme
    )
    for place, run in enumerate(runs):
        add_counterpart(aal, "WME", run, f"They read book {number} ({'one' if place else 'two'}).")
        if target is None:
            add_counterpart(wme, "AAL", run, f"dey read book {number} {'yo' if place else 'fam'}")
    return pair


def add_counterpart(text: Text, variety: str, run: str, body: str) -> Counterpart:
    return Counterpart.objects.create(
        text=text,
        variety=variety,
        body=body,
        reason="" if body else "the model wrote nothing",
        run=run,
        model=RUNS[run],
    )


def make_study(corpus: Corpus, **options: Any) -> Study:
    """Store a draft study of all pairs and both runs."""
    values = {
        "title": "Judging, spring",
        "owner": None,
        "contact_email": "lab@example.org",
        "corpus": corpus,
        "runs": list(RUNS),
        "n_texts": corpus.pairs.count(),
        "overlap_percent": 0,
        "seed": 5,
    }
    return create_judgment_study(**{**values, **options})


def launch(study: Study, *names: str) -> Study:
    """Give every name a place and launch."""
    for name in names:
        make_annotator(study, name)
    return launch_judgment_study(study=study)


def write_counterpart(name: str, text: Text) -> Annotator:
    """Let the account ``name`` rewrite a text in a study of its own."""
    study = make_annotated_study(title=f"Writing by {name} of {text.slug}")
    place = make_annotator(study, name)
    other = {"AAL": "WME", "WME": "AAL"}[text.variety]
    Counterpart.objects.create(text=text, variety=other, body=f"{name} wrote this", annotator=place)
    return place


def tasks_of(study: Study, name: str) -> list[JudgmentTask]:
    return list(
        JudgmentTask.objects.filter(study=study, annotator__user__username=name)
        .exclude(state=TaskState.WITHDRAWN)
        .select_related("item__pair", "item__text", "annotator")
        .order_by("position")
    )


def answers(value: int = 4) -> dict[str, str]:
    return {
        "human_likeness": str(value),
        "linguistic_match": "5",
        "meaning_preservation": "3",
        "tone_preservation": "2",
    }
