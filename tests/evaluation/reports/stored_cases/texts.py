"""Cases of corpora, annotators and judges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotation.judgments.error_coding import DEFAULT_SCHEME, SentErrors, store_scheme
from annotation.judgments.views import submit_judgment
from annotation.models import Corpus, JudgmentItem
from probing.models import Run, TextScore, WordList
from tests.annotation.counterparts import studies as writing
from tests.annotation.judgments import corpora as judging
from tests.evaluation.reports.corpora import (
    PAIRS,
    dense_pairs,
    make_pairs,
    make_text_run,
    store_counterparts,
    store_span_values,
)
from tests.evaluation.reports.stored_cases.case import (
    CORPUS_ID,
    FEW,
    Case,
    Inputs,
    named,
    names_of,
    renumber,
)

ANSWERS = {
    ("p0-wme", "AAL"): "He is often working late",
    ("p1-wme", "AAL"): "She has never lied",
    ("p2-wme", "AAL"): "They are damn tired",
    ("p3-wme", "AAL"): "",
    ("p0-aal", "WME"): "He is often working late",
    ("p1-aal", "WME"): "She has never lied",
    ("p2-aal", "WME"): "They are tired",
    ("p3-aal", "WME"): "We were at the store",
}
PROMPT = {
    "slug": "plain",
    "text": "Translate {source} into {target}:\n{text}",
    "variety_names": {"AAL": "African American Vernacular English"},
}
ASKED = {"temperature": 0.7, "beams": None, "pairs_per_shard": 20}


def _corpus(pairs: Sequence[tuple[str, str, str]] = PAIRS, **options: Any) -> Corpus:
    return make_pairs(pairs, public_id=CORPUS_ID, **options)


def _words(*words: str) -> None:
    WordList.objects.create(slug="few", title="Few words", words=list(words), license="MIT")


def _dataset() -> Inputs:
    _words("damn")
    corpus = _corpus(
        (*PAIRS, ("=1+1 ain't", "one and one", "=SUM(A1)")),
        curation_rationale="To study rewriting.",
        access_note="Ask the authors.",
        citation="Somebody (2020)",
    )
    return Inputs(corpus=corpus)


def _text_run(corpus: Corpus, number: int, *, measure: str, **options: Any) -> Run:
    return make_text_run(corpus, measure=measure, **names_of(number), **options)


def _counterparts(*, several: bool) -> Inputs:
    corpus = _corpus()
    runs = [_text_run(corpus, 1, measure="counterpart_generation", parameters=ASKED)]
    store_counterparts(runs[0], ANSWERS)
    if several:
        _words("damn")
        runs[0].stimuli = {**runs[0].stimuli, "prompts": [PROMPT]}
        runs[0].notices = ["Written with sampling at temperature 0.7."]
        runs[0].save()
        runs.append(_text_run(corpus, 2, measure="counterpart_generation", name="other"))
        store_counterparts(runs[1], {(f"p{i}-aal", "WME"): f"Something else {i}" for i in range(4)})
    return Inputs(corpus=corpus, runs=tuple(runs))


def _dense() -> Inputs:
    """Gaps by feature, and hits against the gold counterparts."""
    pairs = dense_pairs()
    corpus = _corpus(pairs)
    run = _text_run(corpus, 1, measure="counterpart_generation", parameters=ASKED)
    answers = {}
    for number, (aal, wme, _source) in enumerate(pairs):
        kept = aal.split()[number % 4 :] if "ain" in aal else aal.split()
        answers[f"p{number}-wme", "AAL"] = " ".join(kept)
        answers[f"p{number}-aal", "WME"] = wme.replace("big", "big red") if number % 3 else wme
    store_counterparts(run, answers)
    _words("red")
    return Inputs(corpus=corpus, runs=(run,))


def _spans(*, missing: bool) -> Inputs:
    corpus = _corpus()
    runs = [_text_run(corpus, 1, measure="span_prediction")]
    values = {
        ("p0", "AAL"): [10, 30],
        ("p1", "AAL"): [20, 40],
        ("p0", "WME"): [10, 10],
        ("p1", "WME"): [20, 10],
    }
    store_span_values(runs[0], values)
    if missing:
        TextScore.objects.filter(pair="p0", variety="AAL", trial=0).update(
            value=None, reason="the text has one word"
        )
        runs.append(_text_run(corpus, 2, measure="span_prediction", name="other"))
        store_span_values(runs[1], {("p0", "AAL"): [3]})
        TextScore.objects.filter(run=runs[1]).update(condition="noun_phrase")
    return Inputs(corpus=corpus, runs=tuple(runs))


def _writing(*names: str) -> Inputs:
    """The second says less, and once nothing at all."""
    study = writing.make_writing_study(*names, corpus=writing.make_corpus(public_id=CORPUS_ID))
    for name in names:
        for number, task in enumerate(writing.tasks_of(study, name)):
            if name != names[0] and number == 2:
                writing.write(task, not_interpretable=True, reason="unknown word", detail="cus")
                continue
            cut = None if name == names[0] else -1
            writing.write(task, f"{task.text.body.replace('be ', 'is ', 1)} indeed"[:cut])
    return Inputs(study=named(study))


# Human-likeness by producer and variety; the other aspects are 5, 3 and 2 for everyone.
RATED = {
    ("human", "AAL"): 5,
    ("human", "WME"): 4,
    ("tiny-bart", "AAL"): 2,
    ("tiny-bart", "WME"): 4,
    ("tiny-gpt", "AAL"): 5,
    ("tiny-gpt", "WME"): 5,
}


def make_judgments(*, overlap: int, owed: int = 0, **design: Any) -> Inputs:
    corpus = judging.make_corpus()
    corpus.public_id = CORPUS_ID
    corpus.save()
    study = judging.make_study(corpus, overlap_percent=overlap, **design)
    study = named(judging.launch(study, "dan", "eve"))
    # A report's hashes hold the numbers of the items.
    items = JudgmentItem.objects.filter(study=study).order_by("pk")
    for number, key in enumerate(list(items.values_list("pk", flat=True)), start=7001):
        renumber(JudgmentItem, key, number)
    tasks = [task for name in ("dan", "eve") for task in judging.tasks_of(study, name)]
    for task in tasks[: len(tasks) - owed]:
        producer = task.item.producer.partition("@")[0]
        answers = judging.answers(RATED[producer, task.item.variety])
        # Where there is a scheme, judges mark one word or two of what models wrote in AAL.
        is_wrong = producer != "human" and task.item.variety == "AAL"
        words = ["0", "1"][: task.annotator.number] if is_wrong else []
        errors = SentErrors({"misread": words}, none=not words)
        submit_judgment(task=task, ratings=answers, errors=errors)
    _words("1")
    return Inputs(study=study)


CASES: dict[str, Case] = {
    "dataset": Case("dataset", _dataset, {**FEW, "word_list": "few"}),
    "dataset-plain": Case("dataset", lambda: Inputs(corpus=_corpus()), FEW),
    "agreement": Case("agreement", lambda: _writing("ann", "ben"), {**FEW, "shuffles": 10}),
    "agreement-alone": Case(
        "agreement",
        lambda: _writing("ann"),
        {**FEW, "shuffles": 10, "distance": "words", "expected": "shuffle"},
    ),
    "counterparts": Case(
        "counterparts",
        lambda: _counterparts(several=True),
        {**FEW, "test": "student", "examples": 2, "word_list": "few"},
    ),
    "counterparts-plain": Case(
        "counterparts",
        lambda: _counterparts(several=False),
        {**FEW, "examples": 0, "test": "paired", "stemming": True},
    ),
    "counterparts-features": Case(
        "counterparts", _dense, {**FEW, "examples": 0, "word_list": "few"}
    ),
    "judgments": Case(
        "judgments",
        lambda: make_judgments(overlap=100),
        {**FEW, "test": "student", "examples": 2, "word_list": "few"},
    ),
    "judgments-owed": Case(
        "judgments",
        lambda: make_judgments(overlap=0, owed=3),
        {**FEW, "measurement": "interval", "test": "welch", "examples": 0},
    ),
    "judgments-errors": Case(
        "judgments",
        lambda: make_judgments(overlap=100, error_scheme=store_scheme(DEFAULT_SCHEME)),
        {**FEW, "examples": 0},
    ),
    "spans": Case("spans", lambda: _spans(missing=False), FEW),
    "spans-missing": Case("spans", lambda: _spans(missing=True), FEW),
}
