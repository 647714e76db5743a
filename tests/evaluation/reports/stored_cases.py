"""The inputs of the stored reports, made of real rows that are the same on every call.

A stored report was built on these inputs by the code of its day. Whoever changes what a case, or a
maker that it calls, puts into the database makes the contract fail for the wrong reason: give the
maker an option, or add a case. What the database would draw by chance and a report keeps (public
ids, numbers of runs, seeds, months of work) is fixed here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import time_machine
from django.db.models import F

from annotation.judgments.error_coding import SentErrors
from annotation.judgments.error_scheme import DEFAULT_SCHEME, store_scheme
from annotation.judgments.judgment_service import submit_judgment
from annotation.library.paired_groups import create_paired_groups
from annotation.models import (
    Corpus,
    DemographicAnswer,
    GroupSet,
    JudgmentItem,
    Origin,
    Rating,
    SocialGroup,
    Study,
    TraitPair,
)
from evaluation.models import Norm
from probing.measures.class_prompt_library import CLASS_PROMPTS
from probing.measures.probe_stimuli import ProbeStimuli
from probing.measures.prompted_stimuli import PromptedStimuli, vars_of
from probing.measures.stimuli import Group, Stimuli, Template, Trait
from probing.models import Run, Shard, ShardStatus, TextScore, WordList
from probing.runs.inputs import from_parquet, to_parquet
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
from tests.evaluation.reports.guises import (
    feature_stimuli,
    guise_stimuli,
    made_up_logs,
    store_guise_run,
    store_norms,
    store_perplexities,
)
from tests.evaluation.reports.pictures import (
    OPPOSITE,
    all_scales,
    make_guise_run,
    make_named_run,
    make_rated_groups,
    make_rated_guises,
    planted,
)
from tests.evaluation.reports.predictions import make_runs as make_prediction_runs
from tests.evaluation.reports.surveys import make_rated_study, make_scored_run

# Data statements name months of work, reports the minute at which they were built.
NOW = "2026-01-05T10:00:00+00:00"
FEW = {"resamples": 100}
HALVES = {**FEW, "splits": 100}
STUDY_ID, CORPUS_ID = "study0000001", "corpus000001"


@dataclass(frozen=True)
class Inputs:
    """What a report rests on."""

    study: Study | None = None
    corpus: Corpus | None = None
    runs: tuple[Run, ...] = ()
    second_study: Study | None = None


@dataclass(frozen=True)
class Case:
    """``make`` stores the inputs; with ``parameters`` they give the stored report of ``kind``.

    ``moved`` are the keys of its parameters and result that today's methods give otherwise or anew.
    CHANGELOG.md says why, and a later case of the kind has what they give today.
    """

    kind: str
    make: Callable[[], Inputs]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    moved: frozenset[str] = frozenset()


@contextmanager
def stopped_clock() -> Iterator[None]:
    """Inputs and reports are made at one moment."""
    with time_machine.travel(NOW, tick=False):
        yield


# --- Studies and runs that score groups ---------------------------------------------------------

RELEASED = {
    "prior": "noun", "adjectives": "pole", "list_average": "mean", "groups_per_shard": 9,
    "gamma": 1.0, "bias": "append", "subword": "max_change", "variant": "released",
}  # fmt: skip
PUBLISHED = {**RELEASED, "prior": "mask", "variant": "paper"}
REMARK = "In 3 of 96 adjective scores a word already won by the margin."
# man and woman deviate alike from the unmarked sentence: mention explains all of it.
ALIKE: dict[str, dict[str, float | None]] = {
    group: {"powerless-powerful": high, "poor-wealthy": high, "cold-warm": low}
    for group, (high, low) in {
        "man": (3.0, 1.0), "woman": (3.0, 1.0), "unmarked": (1.0, 2.0)
    }.items()
}  # fmt: skip
SOME_MISSING: dict[str, dict[str, float | None]] = {
    "man": {
        "cold-warm": None,
        "poor-wealthy": 0.5,
        "dishonest-sincere": 0.5,
        "traditional-modern": 0.5,
    },
    "woman": {
        "cold-warm": 0.0,
        "poor-wealthy": 1.0,
        "dishonest-sincere": 2.0,
        "traditional-modern": 3.0,
    },
}


def _study(**options: Any) -> Study:
    return _in_order(make_rated_study(**options))


def _in_order(study: Study) -> Study:
    """Give the submissions ids that sort as they were made, and the study its own."""
    for number, submission in enumerate(study.submissions.order_by("pk"), start=1):
        submission.public_id = f"submission{number:02d}"
        submission.save()
    return _named(study)


def _named(study: Study) -> Study:
    study.public_id = STUDY_ID
    study.save()
    return study


def _typical(group: str, trait: str) -> int:
    """A rating from 0 to 100 that differs from cell to cell."""
    slugs = list(TraitPair.objects.order_by("slug").values_list("slug", flat=True))
    return (37 * ("man", "woman", "elderly").index(group) + 23 * slugs.index(trait)) % 101


def _agreeing(study: Study) -> Study:
    """Move the ratings of a cell together: people agree, and numbers by chance do not."""
    for rating in Rating.objects.select_related("assignment__group", "scale"):
        typical = _typical(rating.assignment.group.slug, rating.scale.slug)
        rating.value = round(0.4 * rating.value + 0.6 * typical)
        rating.save()
    return study


def _following_run(number: int = 1, swing: int = 7, **options: Any) -> Run:
    """Return a run whose scores follow these ratings, the less the larger ``swing``."""
    traits = TraitPair.objects.values_list("slug", flat=True)
    scores = {
        group: {
            trait: _typical(group, trait) / 20 + float((13 * place + 5 * row) % swing)
            for place, trait in enumerate(sorted(traits))
        }
        for row, group in enumerate(("man", "woman", "elderly"))
    }
    return _run(number, scores=scores, **options)


def _described_study(submissions: int = 24, **options: Any) -> Study:
    """Half are men, a third women, the others describe themselves; half are 20, half 30."""
    study = _study(submissions=submissions, **options)
    questions = {question.slug: question for question in study.instruments.get().questions.all()}
    for i, submission in enumerate(study.submissions.order_by("pk")):
        share = i / submissions
        gender = "Man" if share < 1 / 2 else "Woman" if share < 5 / 6 else "I describe myself:"
        for slug, value in (("gender", [gender]), ("age", 20 if i % 2 else 30)):
            DemographicAnswer.objects.create(
                submission=submission, question=questions[slug], value=value
            )
    return study


def _simulated_study() -> Study:
    study = _described_study(12)
    study.origin = Origin.SIMULATED
    study.save()
    return study


def _run(number: int = 1, **options: Any) -> Run:
    return make_scored_run(**_names(number), **options)


def _names(number: int) -> dict[str, Any]:
    return {"id": 4000 + number, "public_id": f"run{number:09d}", "seed": number}


def _demo_run() -> Run:
    run = _run(scores=ALIKE, parameters=RELEASED, notices=[REMARK])
    run.model.is_demo = True
    run.model.save()
    return run


def _without(scores: Mapping[str, dict[str, float | None]], group: str) -> dict[str, Any]:
    return {slug: row for slug, row in scores.items() if slug != group}


def _template_run(study: Study) -> Run:
    """One template orders the traits of men as they stand, the other the opposite way."""
    run = _run()
    for sign, template in ((1, "that-group-is-trait"), (-1, "all-groups-are-trait")):
        scores = run.scores.filter(group="man", template=template).order_by("trait")
        for place, score in enumerate(scores):
            score.value = sign * float(place)
            score.save()
    return run


def _pair_groups(*slugs: str) -> None:
    group_set = GroupSet.objects.create(slug="few", title="Few")
    group_set.groups.set(SocialGroup.objects.filter(slug__in=slugs))
    create_paired_groups(group_set=group_set)


# Two traits of agency, one of beliefs, one of communion.
FOUR = ("powerless-powerful", "poor-wealthy", "conservative-liberal", "cold-warm")
RISING, FALLING = (1.0, 2.0, 3.0, 4.0), (4.0, 3.0, 2.0, 1.0)


def _pictures(*, with_speakers: bool) -> Inputs:
    spoken = planted(all_scales())
    named = spoken | {slug: 0.5 if spoken[slug] < 0 else -0.5 for slug in OPPOSITE}
    speakers = make_rated_guises(spoken) if with_speakers else None
    if speakers is not None:
        speakers.public_id = "study0000002"
        speakers.save()
    return Inputs(
        _in_order(make_rated_groups(spoken)),
        runs=(
            make_named_run(named, **_names(1)),
            make_guise_run(spoken, **_names(2)),
        ),
        second_study=speakers,
    )


def _speakers(*, with_model: bool) -> Inputs:
    """People about the speakers of four pairs, and a model on these and one pair more."""
    spoken = planted(all_scales())
    study = make_rated_guises(spoken)
    study.public_id = "study0000001"
    study.save()
    Corpus.objects.update(public_id="corpus000001")
    poles = [pole for scale in all_scales() for pole in (scale.low, scale.high)]
    stimuli = guise_stimuli(poles, 5, varieties=("AAL", "WME"))
    first, second = (
        tuple(replace(text, slug=f"p{n}") for n, text in enumerate(texts, start=1))
        for texts in (stimuli.first, stimuli.second)
    )
    effects = {scale.high: 0.4 * spoken[scale.slug] for scale in all_scales()}
    logs = made_up_logs(poles, 5, effects, noise=0.3)
    model = replace(stimuli, first=first, second=second)
    runs = (store_guise_run(model, *logs, corpus=Corpus.objects.get(), **_names(1)),)
    return Inputs(_in_order(study), runs=runs if with_model else ())


PAIRED = {
    "teenager": RISING,
    "elderly": RISING,
    "wealthy": FALLING,
    "veteran": FALLING,
    "teenager--wealthy": (1.5, 2.5, 3.5, 9.0),
    "wealthy--teenager": (0.0, 2.5, 2.75, 4.0),
    "elderly--veteran": RISING,
}
NORMS = (
    "first,second,dimension,pole\n"
    "wealthy,teenager,communion,high\nteenager,wealthy,agency,high\nblack,woman,agency,low\n"
)


def _table(values: Mapping[str, Sequence[float | None]], traits: Sequence[str]) -> dict[str, Any]:
    return {group: dict(zip(traits, row, strict=True)) for group, row in values.items()}


def _intersectional(extra: Mapping[str, Sequence[float | None]]) -> Inputs:
    _pair_groups("teenager", "elderly", "wealthy", "veteran", "black")
    return Inputs(runs=(_run(scores=_table({**PAIRED, **extra}, FOUR)),))


POLE_TRAITS = (
    Trait("cold-warm", "cold", "warm", "communion"),
    Trait("powerless-powerful", "powerless", "powerful", "agency"),
    Trait("poor-wealthy", "poor", "wealthy", "agency"),
)
POLE_TEMPLATES = (
    Template("that-group-is-trait", "That {singular} is {trait}."),
    Template("all-groups-are-trait", "All {plural} are {trait}."),
)
# Scores of cold, warm; powerless, powerful; poor, wealthy.
POLES = {
    "teenager": (1.0, 2.0, 3.0, 4.0, 0.0, 0.0),
    "wealthy": (2.0, 1.0, 1.0, 3.0, 0.0, 0.0),
    "teenager--wealthy": (5.0, 4.0, 0.5, 3.5, 0.0, 0.0),
}


def _poles() -> Inputs:
    _pair_groups("teenager", "wealthy")
    slugs = [trait.slug for trait in POLE_TRAITS]
    scores = {group: tuple(v[2 * i + 1] - v[2 * i] for i in range(3)) for group, v in POLES.items()}
    run = _run(scores=_table(scores, slugs))
    stimuli = Stimuli(
        groups=tuple(Group(slug, slug, f"{slug}s", slug.capitalize()) for slug in POLES),
        traits=POLE_TRAITS,
        templates=POLE_TEMPLATES,
    )
    run.stimuli, run.stimuli_hash = stimuli.to_dict(), stimuli.content_hash()
    run.save()
    for index, (template, shift) in enumerate(zip(POLE_TEMPLATES, (-0.25, 0.25), strict=True)):
        rows = [
            (template.slug, group, trait.slug, pole, word, values[2 * i + j] + shift, "")
            for group, values in POLES.items()
            for i, trait in enumerate(POLE_TRAITS)
            for j, (pole, word) in enumerate((("low", trait.low), ("high", trait.high)))
        ]
        columns = ["template", "group", "trait", "pole", "word", "value", "reason"]
        run.shards.create(
            index=index,
            title=template.text,
            payload={},
            status=ShardStatus.STORED,
            result=to_parquet(pd.DataFrame(rows, columns=columns)),
        )
    return Inputs(runs=(run,))


MARKED = {"unmarked": (1.0, 1.0), "white": (3.0, 1.0), "black": (3.0, 1.0), "asian": (1.0, 5.0)}


def _markedness(extra: Mapping[str, Sequence[float | None]], *, by_template: float = 0.0) -> Inputs:
    """``by_template``: what the unmarked sentence has more in the first template than it should."""
    _pair_groups("white", "teenager")
    scores = _table({**MARKED, **extra}, ("powerless-powerful", "cold-warm"))
    run = _run(scores=scores, notices=[REMARK])
    first = run.scores.exclude(template="").order_by("template").values("template")[:1]
    run.scores.filter(group="unmarked", template=first).update(value=F("value") + by_template)
    return Inputs(runs=(run,))


# --- Corpora, annotators, judges ----------------------------------------------------------------

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
    WordList.objects.create(slug="few", title="Few words", words=list(words), licence="MIT")


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
    return make_text_run(corpus, measure=measure, **_names(number), **options)


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


GUISE_WORDS = ("calm", "kind", "lazy", "loud", "musical", "rude")


def _guise_run(number: int, *, effects: Mapping[str, float], **options: Any) -> Run:
    n_pairs = options.pop("n_pairs", 8)
    how = {key: options.pop(key) for key in ("purpose", "varieties") if key in options}
    stimuli = guise_stimuli(options.pop("words", GUISE_WORDS), n_pairs, **how)
    logs = made_up_logs(stimuli.attributes, n_pairs, effects, seed=number)
    return store_guise_run(stimuli, *logs, **_names(number), **options)


def _jobs() -> Inputs:
    """Occupations that agree with “a”, one that does not, and prestige for most of them."""
    titles = {"Doctor": 8.0, "Cleaner": 2.0, "Judge": 8.5, "Opera singer": 6.0}
    Norm.objects.create(
        slug="gss", title="Survey", kind="prestige", values=titles, citation="Made up"
    )
    jobs = ("actor", "cleaner", "doctor", "judge", "singer")
    effects = {"doctor": -0.6, "judge": -0.5}
    return Inputs(runs=(_guise_run(1, effects=effects, words=jobs, purpose="occupations"),))


def _verdicts() -> Inputs:
    outcomes = {"guilt": ("acquitted", "convicted"), "penalty": ("death", "life")}
    return Inputs(
        runs=tuple(
            _guise_run(number, effects={words[0]: 0.3}, words=words, purpose=purpose)
            for number, (purpose, words) in enumerate(outcomes.items(), start=1)
        )
    )


def _guises() -> Inputs:
    """Two models on texts, one of them with names as well, beside two studies."""
    store_norms()
    return Inputs(
        runs=(
            _guise_run(1, effects={"lazy": 0.5, "loud": 0.3}),
            _guise_run(2, effects={"musical": 0.4}, name="other", notices=[REMARK]),
            _guise_run(
                3, effects={"kind": 1.0}, n_pairs=2, purpose="overt", varieties=("Black", "White")
            ),
        )
    )


def _features() -> Inputs:
    """Pairs of two features, of which one evokes the stereotype."""
    store_norms()
    stimuli = feature_stimuli(GUISE_WORDS, ("habitual_be", "in"), 6)
    first, second = made_up_logs(GUISE_WORDS, 12, {})
    first[:, :6, GUISE_WORDS.index("lazy")] += 0.8
    return Inputs(runs=(store_guise_run(stimuli, first, second, **_names(1)),))


def _controls() -> Inputs:
    """A variety, noise, and perplexities of the variety's pairs."""
    store_norms()
    run = _guise_run(1, effects={"lazy": 0.5}, n_pairs=14)
    noise = _guise_run(2, effects={}, n_pairs=14, varieties=("noise 10 %", "SAE"))
    # exp(2), exp(2.1) …, written out: the last digit of an array's powers depends on the processor.
    steps = (
        *(7.38905609893065, 8.16616991256765, 9.025013499434122),
        *(9.974182454814718, 11.023176380641601),
    )
    sides = (np.resize(steps, 14), np.full(14, steps[0]))
    return Inputs(runs=(run, noise, store_perplexities(run, *sides, **_names(3))))


def _models() -> Inputs:
    """Two sizes, covert, overt and with perplexities; the larger one has human feedback."""
    store_norms()
    runs = []
    for place, (name, size) in enumerate((("small", 10**8), ("large", 10**9))):
        effects = {"lazy": 0.2 + 0.3 * place}
        covert = _guise_run(1 + 3 * place, effects=effects, name=name)
        overt = _guise_run(
            2 + 3 * place,
            effects={"kind": 0.5 * place},
            n_pairs=2,
            purpose="overt",
            varieties=("Black", "White"),
            name=name,
        )
        covert.model.parameter_count = size
        covert.model.kind = "causal"
        covert.model.save()
        sides = (np.linspace(20, 40, 8) / (1 + place), np.linspace(10, 15, 8))
        runs += [covert, overt, store_perplexities(covert, *sides, **_names(3 + 3 * place))]
    return Inputs(runs=tuple(runs))


def _intelligence() -> Inputs:
    """Adjectives, and two IQ values."""
    words = ("intelligent", "kind", "smart", "stupid")
    return Inputs(
        runs=(
            _guise_run(1, effects={"stupid": 0.4}, words=words),
            _guise_run(2, effects={"70": 0.3}, words=("70", "130"), purpose="intelligence"),
        )
    )


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
    return Inputs(study=_named(study))


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
    study = _named(judging.launch(study, "dan", "eve"))
    # A report's hashes hold the numbers of the items.
    items = JudgmentItem.objects.filter(study=study).order_by("pk")
    for number, key in enumerate(list(items.values_list("pk", flat=True)), start=7001):
        _renumber(JudgmentItem, key, number)
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


def _predictions(*models: str) -> tuple[Run, ...]:
    """Return imported predictions of these models, with numbers and names of their own."""
    for number, run in enumerate(make_prediction_runs(models), start=1):
        names = _names(number)
        _renumber(Run, run.pk, names["id"])
        Run.objects.filter(pk=names["id"]).update(public_id=names["public_id"], code_version="0.1")
    return tuple(Run.objects.select_related("model").order_by("pk"))


def _prompted() -> tuple[Run, ...]:
    """Return predictions as a model’s answers: two wordings, three seeds, some without a class."""
    (run,) = _predictions("m1")
    wordings = (CLASS_PROMPTS[0], CLASS_PROMPTS[3])
    stimuli = PromptedStimuli(**vars_of(ProbeStimuli.from_json(run.stimuli)), wordings=wordings)
    shards = list(run.shards.order_by("index"))
    said = [from_parquet(shard.result)["predicted"].tolist() for shard in shards]
    for shard, wording in zip(shards, wordings, strict=True):
        parts = [
            pd.DataFrame(
                {
                    "repeat": f"{wording.slug} · {seed}",
                    "wording": wording.slug,
                    "order": "negative, neutral, positive",
                    "seed": seed,
                    "sentence": range(len(said[0])),
                    "predicted": said[(shard.index + seed) % 2],
                    "matched": [(place + seed) % 5 > 0 for place in range(len(said[0]))],
                    "answer": "",
                }
            )
            for seed in (2024, 2025, 2026)
        ]
        Shard.objects.filter(pk=shard.pk).update(result=to_parquet(pd.concat(parts)))
    Run.objects.filter(pk=run.pk).update(
        measure="prompted_classification",
        parameters={},
        stimuli=stimuli.to_dict(),
        stimuli_hash=stimuli.content_hash(),
    )
    return tuple(Run.objects.select_related("model").order_by("pk"))


def _renumber(model: Any, old: int, new: int) -> None:
    """Give a row another primary key, and those that point to it."""
    model.objects.filter(pk=old).update(**{model._meta.pk.attname: new})
    for relation in model._meta.related_objects:
        if relation.many_to_many:
            continue
        rows = relation.related_model.objects.filter(**{relation.field.attname: old})
        rows.update(**{relation.field.attname: new})


# --- What methods have changed since a report was stored -----------------------------------------

#: Alpha's intervals resample people, and random halves are drawn by a group's name.
PEOPLE_RESAMPLED = frozenset(
    {"low", "high", "n_resamples", "interval_reason", "resampled", "split_half"}
)

#: Streams of people, scales, halves, templates and exchanged answers are keyed by name.
STREAMS_NAMED = frozenset(
    {"signature", "interval", "ceiling", "n_thinned"}
    | {"p_resampled", "p_resampled_holm", "p_resampled_table"}
)
DIFFERENCES_DRAWN = STREAMS_NAMED.union(
    ("people", "wide", "tau_wide", "precision_wide", "reference", "expected", "p_value", "p_holm")
)
#: Gaps have the intervals of their tests.
GAPS_TESTED = frozenset({"gaps", "contrasts"})
TEMPLATES_DRAWN = frozenset({"low", "high", "equivalence_p"})

#: Intervals of mention include the error of the unmarked sentence.
BASELINE_RESAMPLED = frozenset({"low", "high", "interval_reason", "n_templates"})
MENTION_BY_TEMPLATE = frozenset({"mention"})
#: Every component group has a stream of its own; all paired groups, a least excess and the curve.
COMPONENTS_WEIGHED = frozenset(
    {"low", "high", "interval_reason", "summary_of_all", "least_excess", "norm_curve"}
)

# --- The cases ----------------------------------------------------------------------------------

# The first case of a kind has its name; others say after a hyphen what they have besides.
CASES: dict[str, Case] = {
    "alignment": Case(
        "alignment", lambda: Inputs(_study(), runs=(_run(),)), HALVES, moved=STREAMS_NAMED
    ),
    "alignment-mention": Case(
        "alignment",
        lambda: Inputs(_simulated_study(), runs=(_demo_run(),)),
        {**HALVES, "smallest": 3, "seed": 11, "level": 0.9},
        moved=STREAMS_NAMED,
    ),
    "alignment-missing": Case(
        "alignment",
        lambda: Inputs(_study(), runs=(_run(scores=SOME_MISSING),)),
        HALVES,
        moved=STREAMS_NAMED,
    ),
    "alignment-one-rater": Case(
        "alignment",
        lambda: Inputs(_study(submissions=1), runs=(_run(scores=SOME_MISSING),)),
        HALVES,
        moved=STREAMS_NAMED,
    ),
    "alignment-questions": Case(
        "alignment",
        lambda: Inputs(_agreeing(_study()), runs=(_following_run(),)),
        HALVES,
        moved=STREAMS_NAMED,
    ),
    "covert_overt_human": Case(
        "covert_overt_human",
        lambda: _pictures(with_speakers=True),
        {**HALVES, "first_group": "man", "second_group": "woman"},
    ),
    "covert_overt_human-three": Case(
        "covert_overt_human",
        lambda: _pictures(with_speakers=False),
        {**HALVES, "first_group": "man", "second_group": "woman"},
    ),
    "alignment_comparison": Case(
        "alignment_comparison",
        lambda: Inputs(_study(), runs=(_run(1, name="first"), _run(2, name="second"))),
        {**HALVES, "pilot_groups": "man"},
        moved=DIFFERENCES_DRAWN,
    ),
    "alignment_comparison-mention": Case(
        "alignment_comparison",
        lambda: Inputs(
            _study(),
            runs=(
                _run(1, scores=_without(ALIKE, "unmarked"), parameters=PUBLISHED),
                _run(2, scores=ALIKE, parameters=RELEASED, notices=[REMARK]),
                _run(3, scores=SOME_MISSING, name="third"),
            ),
        ),
        HALVES,
        moved=DIFFERENCES_DRAWN,
    ),
    "alignment_comparison-questions": Case(
        "alignment_comparison",
        lambda: Inputs(
            _agreeing(_study()),
            runs=(
                _following_run(1, name="close"),
                _following_run(2, swing=11, name="less close"),
                _run(3, name="by chance"),
            ),
        ),
        {**HALVES, "pilot_groups": "man"},
        moved=DIFFERENCES_DRAWN,
    ),
    "alignment_subgroups": Case(
        "alignment_subgroups",
        lambda: Inputs(_described_study(), runs=(_run(scores=ALIKE),)),
        {**FEW, "smallest": 4},
        moved=DIFFERENCES_DRAWN,
    ),
    "alignment_subgroups-crossed": Case(
        "alignment_subgroups",
        lambda: Inputs(_described_study(), runs=(_run(scores=SOME_MISSING),)),
        {
            **FEW,
            "questions": "age, gender",
            "crossings": "age*gender, race*gender",
            "smallest": 3,
        },
        moved=DIFFERENCES_DRAWN,
    ),
    "alignment_subgroups-too-few": Case(
        "alignment_subgroups",
        lambda: Inputs(_described_study(), runs=(_run(scores=ALIKE),)),
        {**FEW, "smallest": 30},
        moved=DIFFERENCES_DRAWN,
    ),
    "alignment_subgroups-questions": Case(
        "alignment_subgroups",
        lambda: Inputs(_agreeing(_described_study()), runs=(_following_run(),)),
        {**FEW, "smallest": 4},
        moved=DIFFERENCES_DRAWN,
    ),
    "intersectional": Case(
        "intersectional",
        lambda: _intersectional({}),
        {**FEW, "norms": NORMS, "top": 2},
        moved=COMPONENTS_WEIGHED,
    ),
    "intersectional-curve": Case(
        "intersectional",
        lambda: _intersectional({}),
        {**FEW, "norms": NORMS, "top": 5, "least_excess": 0.5},
    ),
    "intersectional-mention": Case(
        "intersectional",
        lambda: _intersectional(
            {"unmarked": (1.0, 1.0, 2.0, 2.0), "veteran--elderly": (1.0, None, None, 2.0)}
        ),
        {**FEW, "threshold": 0.7},
        moved=COMPONENTS_WEIGHED | MENTION_BY_TEMPLATE,
    ),
    "intersectional-poles": Case(
        "intersectional",
        _poles,
        {**FEW, "traits": "poles", "norms": NORMS},
        moved=COMPONENTS_WEIGHED,
    ),
    "markedness": Case(
        "markedness",
        lambda: _markedness({"white--teenager": (9.0, 9.0)}),
        {**FEW, "level": 0.9},
        moved=BASELINE_RESAMPLED,
    ),
    "markedness-missing": Case(
        "markedness",
        lambda: _markedness({"black": (3.0, None), "asian": (1.0, 1.0)}),
        FEW,
        moved=BASELINE_RESAMPLED,
    ),
    "markedness-templates": Case(
        "markedness",
        lambda: _markedness({"black": (3.0, None), "asian": (1.0, 1.0)}, by_template=1.0),
        FEW,
    ),
    "template_selection": Case(
        "template_selection",
        lambda: Inputs(study := _study(), runs=(_template_run(study),)),
        {**HALVES, "pilot_groups": "man", "annotations": 12},
        moved=STREAMS_NAMED,
    ),
    "template_selection-mention": Case(
        "template_selection",
        lambda: Inputs(_study(), runs=(_run(scores=ALIKE, parameters=RELEASED, notices=[REMARK]),)),
        {**HALVES, "pilot_groups": "man", "annotations": 3},
        moved=STREAMS_NAMED | MENTION_BY_TEMPLATE,
    ),
    "template_selection-questions": Case(
        "template_selection",
        lambda: Inputs(_agreeing(_study()), runs=(_following_run(),)),
        {**HALVES, "pilot_groups": "man", "annotations": 6},
        moved=STREAMS_NAMED,
    ),
    "rating_agreement": Case(
        "rating_agreement", lambda: Inputs(_study()), HALVES, moved=PEOPLE_RESAMPLED
    ),
    "rating_agreement-one-rater": Case(
        "rating_agreement",
        lambda: Inputs(_study(submissions=1)),
        {**FEW, "splits": 0, "measurement": "ordinal"},
        moved=PEOPLE_RESAMPLED,
    ),
    "rating_agreement-people": Case("rating_agreement", lambda: Inputs(_study()), HALVES),
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
        moved=GAPS_TESTED,
    ),
    "counterparts-plain": Case(
        "counterparts",
        lambda: _counterparts(several=False),
        {**FEW, "examples": 0, "test": "paired", "stemming": True},
        moved=GAPS_TESTED,
    ),
    "counterparts-features": Case(
        "counterparts", _dense, {**FEW, "examples": 0, "word_list": "few"}, moved=GAPS_TESTED
    ),
    "judgments": Case(
        "judgments",
        lambda: make_judgments(overlap=100),
        {**FEW, "test": "student", "examples": 2, "word_list": "few"},
        moved=GAPS_TESTED,
    ),
    "judgments-owed": Case(
        "judgments",
        lambda: make_judgments(overlap=0, owed=3),
        {**FEW, "measurement": "interval", "test": "welch", "examples": 0},
        moved=GAPS_TESTED,
    ),
    "judgments-errors": Case(
        "judgments",
        lambda: make_judgments(overlap=100, error_scheme=store_scheme(DEFAULT_SCHEME)),
        {**FEW, "examples": 0},
        moved=GAPS_TESTED,
    ),
    "spans": Case("spans", lambda: _spans(missing=False), FEW),
    "spans-missing": Case("spans", lambda: _spans(missing=True), FEW),
    "matched_guise": Case("matched_guise", _guises, {**FEW, "permutations": 200}),
    "guise_occupations": Case("guise_occupations", _jobs, FEW),
    "guise_decisions": Case("guise_decisions", _verdicts, FEW),
    "guise_features": Case("guise_features", _features, FEW),
    "guise_controls": Case("guise_controls", _controls, FEW),
    "guise_models": Case(
        "guise_models", _models, {**FEW, "without_feedback": "small", "with_feedback": "large"}
    ),
    "guise_ratings": Case(
        "guise_ratings", lambda: _speakers(with_model=True), {**FEW, "splits": 50}
    ),
    "guise_ratings-people": Case(
        "guise_ratings", lambda: _speakers(with_model=False), {**FEW, "splits": 0}
    ),
    "guise_intelligence": Case("guise_intelligence", _intelligence, FEW),
    "matched_guise-crossed": Case(
        "matched_guise", _guises, {**FEW, "permutations": 200, "average": "model"}
    ),
    "guise_occupations-crossed": Case("guise_occupations", _jobs, FEW),
    "guise_decisions-crossed": Case("guise_decisions", _verdicts, FEW),
    "matched_guise-alone": Case(
        "matched_guise",
        lambda: Inputs(runs=(_guise_run(1, effects={"lazy": 0.5}),)),
        {**FEW, "permutations": 200, "matching": "pooled"},
    ),
    "fpr_gaps": Case(
        "fpr_gaps", lambda: Inputs(runs=_predictions("m1")), FEW, moved=TEMPLATES_DRAWN
    ),
    "fpr_gaps-prompted": Case("fpr_gaps", lambda: Inputs(runs=_prompted()), FEW),
    "fpr_comparison": Case(
        "fpr_comparison",
        lambda: Inputs(runs=_predictions("m1", "m2")),
        {**FEW, "interval": "t", "released_eps": True},
        moved=TEMPLATES_DRAWN,
    ),
    "alignment-streams": Case(
        "alignment",
        lambda: Inputs(_agreeing(_study()), runs=(_following_run(),)),
        {**HALVES, "seed": 3},
    ),
    "alignment_comparison-streams": Case(
        "alignment_comparison",
        lambda: Inputs(
            _agreeing(_study()), runs=(_following_run(1, name="close"), _run(2, name="by chance"))
        ),
        {**HALVES, "pilot_groups": "man"},
    ),
    "alignment_subgroups-streams": Case(
        "alignment_subgroups",
        lambda: Inputs(_agreeing(_described_study()), runs=(_following_run(),)),
        {**FEW, "smallest": 4, "questions": "gender"},
    ),
    "template_selection-streams": Case(
        "template_selection",
        lambda: Inputs(_agreeing(_study()), runs=(_following_run(),)),
        {**HALVES, "pilot_groups": "man", "annotations": 3},
    ),
    "fpr_gaps-streams": Case("fpr_gaps", lambda: Inputs(runs=_predictions("m1")), FEW),
    "fpr_comparison-streams": Case(
        "fpr_comparison", lambda: Inputs(runs=_predictions("m1", "m2")), FEW
    ),
    "counterparts-tested": Case("counterparts", _dense, {**FEW, "examples": 0}),
    "judgments-tested": Case(
        "judgments", lambda: make_judgments(overlap=100), {**FEW, "test": "welch", "examples": 0}
    ),
}
