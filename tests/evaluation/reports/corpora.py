"""Corpora, runs and studies of counterparts for the tests of reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.models import Corpus, Counterpart, Text, TextPair
from probing.models import LanguageModel, ModelSource, Run, RunStatus, TextScore

PAIRS = (
    ("He be working late", "He is often working late", "posts"),
    ("She ain't never lied", "She has never lied", "posts"),
    ("They damn tired", "They are damn tired", "lyrics"),
    ("We was at the store", "We were at the store", "lyrics"),
)


def make_pairs(pairs: Sequence[tuple[str, str, str]] = PAIRS, **options: Any) -> Corpus:
    """Store a corpus of pairs: text in AAL, its counterpart in WME, source."""
    values = {"name": "Four pairs", "license": "CC BY 4.0", "is_shared": True} | options
    corpus = Corpus.objects.create(**values)
    for number, (aal, wme, source) in enumerate(pairs):
        texts = [
            Text.objects.create(
                corpus=corpus,
                slug=f"p{number}-{variety.lower()}",
                variety=variety,
                body=body,
                body_hash=f"{number}{variety}".ljust(64, "0"),
                source=source,
            )
            for variety, body in (("AAL", aal), ("WME", wme))
        ]
        TextPair.objects.create(
            corpus=corpus, slug=f"p{number}", source_text=texts[0], target_text=texts[1]
        )
    return corpus


def dense_pairs() -> list[tuple[str, str, str]]:
    """Return twelve pairs: six AAL texts without a feature, and six with one or two “ain’t”.

    All have ten words; of either six, three are posts and three are lyrics.
    """
    plain = "they all went to see the big red house"
    pairs = []
    for number in range(12):
        begin = ("so", "ain't", "ain't ain't")[0 if number < 6 else 1 + number % 2]
        words = [*begin.split(), *plain.split()][:9]
        source = ("posts", "lyrics")[number % 6 // 3]
        pairs.append((" ".join([*words, f"t{number}"]), f"{plain} yes t{number}", source))
    return pairs


def make_text_run(corpus: Corpus, *, measure: str, name: str = "tiny", **options: Any) -> Run:
    """Store a finished run on a corpus, with its stimuli as the engine stores them."""
    model, _ = LanguageModel.objects.get_or_create(
        name=name, defaults={"source": ModelSource.PATH, "location": f"/models/{name}"}
    )
    pairs = TextPair.objects.filter(corpus=corpus).select_related("source_text", "target_text")
    stimuli = {
        "source_variety": corpus.source_variety,
        "target_variety": corpus.target_variety,
        "pairs": [
            {
                "slug": pair.slug,
                "origin": pair.source_text.source,
                "source": {"slug": pair.source_text.slug, "body": pair.source_text.body},
                "target": {"slug": pair.target_text.slug, "body": pair.target_text.body},
            }
            for pair in pairs.order_by("slug")
        ],
    }
    values = {
        "parameters": {},
        "stimuli": stimuli,
        "stimuli_hash": "0" * 64,
        "status": RunStatus.FINISHED,
        "code_version": "test",
        "model_revision": "abc123",
    } | options
    return Run.objects.create(measure=measure, model=model, corpus=corpus, **values)


def store_counterparts(run: Run, bodies: Mapping[tuple[str, str], str]) -> None:
    """Store what a model made: (slug of the text, variety that was asked for) → body."""
    for (slug, variety), body in bodies.items():
        Counterpart.objects.create(
            text=Text.objects.get(corpus=run.corpus, slug=slug),
            variety=variety,
            body=body,
            reason="" if body else "the model refused",
            model=f"{run.model.name}@{run.model_revision}",
            run=run.public_id,
        )


def store_span_values(run: Run, values: Mapping[tuple[str, str], Sequence[float]]) -> None:
    """Store (pair, variety) → perplexity of each trial, with an entropy of a tenth of it."""
    TextScore.objects.bulk_create(
        TextScore(
            run=run,
            name=name,
            pair=pair,
            variety=variety,
            condition="random",
            trial=trial,
            value=value * share,
            n=1,
        )
        for (pair, variety), found in values.items()
        for trial, value in enumerate(found)
        for name, share in (("span_perplexity", 1.0), ("top5_entropy", 0.1))
    )
