"""Dry runs, and the creation of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pydantic
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet, Sum

from annotation.models import Corpus
from probing.library.sentences import article_problems
from probing.lm.certificate import Certificate
from probing.measures.base import AnyMeasure, Cost, Problem, ResultKind, ShardPlan, StimuliValue
from probing.measures.served_access import batch_problems
from probing.measures.stimuli import Stimuli
from probing.models import LanguageModel, ModelKind, Run, RunEventKind, RunOrigin, RunStatus, Shard
from probing.runs.certificates import ensure_certificate, explain_unfit, read_certificate
from probing.runs.dispatch import wake_workers
from probing.runs.errors import RunError
from probing.runs.events import log_event
from probing.runs.loaded_models import load_facts
from probing.runs.number_formats import why_not_in
from probing.runs.parameters import find_measure, load_inputs, validate_parameters
from probing.runs.prices import BATCH_SHARE, find_cap, price_tokens, read_cap, show_price
from probing.runs.training_splits import split_problems

LARGEST_SEED = 2**31 - 1
#: Results that belong to the texts of a corpus.
NEEDS_CORPUS = (ResultKind.COUNTERPARTS, ResultKind.TEXT_SCORES)

_STIMULI_WORDS = {
    "Stimuli": "groups and templates",
    "SentenceStimuli": "groups in sentences",
    "TextStimuli": "the texts of a corpus",
    "GuiseStimuli": "texts in two varieties with attributes",
    "ProbeStimuli": "labeled templates and lexicons",
    "LabeledTexts": "a labeled data set",
    "RatingStimuli": "the question of a study",
    "PromptedStimuli": "labeled templates and lexicons with prompts",
}


@dataclass(frozen=True)
class DryRun:
    """What a run would cost, and what would not work.

    Attributes
    ----------
    cost : shards, forward passes and tokens; None where a fatal problem keeps it from being told.
    seconds : one worker's time by the model's latest run of the measure, None before one ended.
    problems : everything found; a run with a fatal one cannot be created.
    served : whether passes are requests to a server, counted at most.
    money : what it may cost there at most; None where that is not known.
    currency : of ``money``.
    """

    cost: Cost | None
    seconds: float | None
    problems: tuple[Problem, ...]
    served: bool = False
    money: Decimal | None = None
    currency: str = ""

    @property
    def fatal(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.fatal)

    @property
    def notices(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if not problem.fatal)


def dry_run(
    *,
    measure: str,
    model: LanguageModel,
    stimuli: StimuliValue,
    parameters: Mapping[str, Any],
    corpus: Corpus | None = None,
    dtype: str = "",
) -> DryRun:
    """Say what a run would cost and what would not work. Reads the tokenizer; stores nothing."""
    try:
        checked = find_measure(measure)
        _check_stimuli(checked, stimuli, corpus)
        validated = validate_parameters(checked, parameters)
        tokenizer, changed = _load_facts(checked, model, dtype)
        completed = checked.complete(validated, tokenizer)
        return _try_out(checked, model, tokenizer, stimuli, completed, corpus, changed, dtype)
    except RunError as error:
        return DryRun(cost=None, seconds=None, problems=error.problems)


def create_run(
    *,
    measure: str,
    model: LanguageModel,
    stimuli: StimuliValue,
    parameters: Mapping[str, Any],
    seed: int,
    created_by: User | None,
    corpus: Corpus | None = None,
    dtype: str = "",
) -> Run:
    """Create a run with all its shards in one transaction, and wake workers once it is there.

    `corpus` is where the stimuli come from; none for groups and templates. `dtype` is the model's
    number format, that of the workers unless given.

    Raises :class:`RunError` with every fatal problem; then nothing is stored. What deserves a
    remark but stops nothing is kept with the run.
    """
    if not 0 <= seed <= LARGEST_SEED:
        raise RunError.at(
            "seed", f"The seed is {seed}, expected a whole number from 0 to {LARGEST_SEED}."
        )
    checked = find_measure(measure)
    _check_stimuli(checked, stimuli, corpus)
    validated = validate_parameters(checked, parameters)
    tokenizer, changed = _load_facts(checked, model, dtype)
    completed = checked.complete(validated, tokenizer)
    tried = _try_out(checked, model, tokenizer, stimuli, completed, corpus, changed, dtype)
    if tried.fatal:
        raise RunError(tried.fatal)
    plan = checked.plan(stimuli, completed, seed)
    run = Run(
        measure=measure,
        model=model,
        parameters=completed.model_dump(mode="json"),
        corpus=corpus,
        stimuli=stimuli.to_dict(),
        stimuli_hash=stimuli.content_hash(),
        seed=seed,
        dtype=dtype,
        shard_count=len(plan),
        notices=[f"{problem.where}: {problem.message}" for problem in tried.notices],
        created_by=created_by,
        code_version=settings.CODE_VERSION,
    )
    _store(run, plan)
    return run


def _store(run: Run, plan: list[ShardPlan]) -> None:
    with transaction.atomic():
        run.save(force_insert=True)
        Shard.objects.bulk_create(
            [
                Shard(run=run, index=part.index, title=part.title[:300], payload=part.payload)
                for part in plan
            ],
            batch_size=500,
        )
        log_event(
            run_id=run.pk,
            kind=RunEventKind.PLANNED,
            message=f"planned {len(plan)} shard{'s' * (len(plan) != 1)} in one transaction",
        )
        transaction.on_commit(wake_workers, robust=True)


def _check_stimuli(measure: AnyMeasure, stimuli: StimuliValue, corpus: Corpus | None) -> None:
    """Raise where the stimuli are of another kind, or their results could not be stored."""
    if not isinstance(stimuli, measure.stimuli_type):
        raise RunError.at(
            "stimuli",
            f"{measure.title} works on {_STIMULI_WORDS[measure.stimuli_type.__name__]}, but got "
            f"{_STIMULI_WORDS.get(type(stimuli).__name__, 'something else')}.",
        )
    if corpus is None and measure.result in NEEDS_CORPUS:
        raise RunError.at(
            "corpus", f"{measure.title} stores its results with a corpus. Choose the corpus."
        )


def _load_facts(measure: AnyMeasure, model: LanguageModel, dtype: str) -> tuple[Any, list[Problem]]:
    """Return what a dry run needs to know of the model, and that its files have changed if so.

    Raises :class:`RunError` if it does not fit.
    """
    from probing.lm import LanguageModelError

    try:
        facts = load_facts(model, measure.abilities, title=measure.title)
        before = read_certificate(model)
        now = ensure_certificate(model)
        if reason := explain_unfit(model, measure):
            raise RunError.at("model", reason)
        if reason := why_not_in(dtype, measure, model):
            raise RunError.at("dtype", reason)
        return facts, _describe_change(model, before, now)
    except LanguageModelError as error:
        raise RunError.at("model", str(error)) from error


def _describe_change(
    model: LanguageModel, before: Certificate | None, now: Certificate | None
) -> list[Problem]:
    """Say that a model's files are not those that were tried before, or those of its latest run."""
    if before is None or now is None:
        return []
    if before.fingerprint != now.fingerprint:
        since = f"since they were tested on {before.made_at:%Y-%m-%d}"
    else:
        computed = model.runs.filter(origin=RunOrigin.COMPUTED).exclude(model_revision="")
        latest = computed.order_by("-pk").first()
        if latest is None or latest.model_revision == now.fingerprint:
            return []
        since = f"since run {latest.pk}"
    message = (
        f"The files of “{model.name}” have changed {since}: scores of this run and of earlier "
        "ones are of different weights or settings."
    )
    return [Problem("model", message, False)]


def _try_out(
    measure: AnyMeasure,
    model: LanguageModel,
    tokenizer: Any,
    stimuli: StimuliValue,
    parameters: pydantic.BaseModel,
    corpus: Corpus | None,
    changed: Sequence[Problem],
    dtype: str,
) -> DryRun:
    from probing.lm import LanguageModelError

    try:
        problems = (
            *changed,
            *split_problems(measure, model, stimuli, corpus),
            *measure.problems(stimuli, parameters, tokenizer),
            *batch_problems(parameters, tokenizer),
            *_sentence_remarks(stimuli),
        )
        if any(problem.fatal for problem in problems):
            return DryRun(cost=None, seconds=None, problems=problems)
        cost = measure.estimate(stimuli, parameters, tokenizer)
        runs = model.runs.filter(measure=measure.name, dtype=dtype)
        pace = seconds_per_pass(runs, tokenizer)
    except LanguageModelError as error:
        raise RunError.at("model", str(error)) from error
    if model.kind == ModelKind.CHAT and cost.tokens > settings.CHAT_TOKENS_PER_RUN:
        message = (
            f"It may spend {cost.tokens:,} tokens with its server, and CHAT_TOKENS_PER_RUN allows "
            f"{settings.CHAT_TOKENS_PER_RUN:,}; there it stops, and can be resumed with more."
        )
        problems = (*problems, Problem("cost", message, False))
    money, cap = price_tokens(model, cost.tokens, cost.written), find_cap(model)
    if money is not None and getattr(parameters, "batches", False):
        money *= BATCH_SHARE
    if money is not None and cap is not None and money > cap:
        message = (
            f"It may cost {show_price(money, model.price_currency)}, and CHAT_MONEY_PER_RUN allows "
            f"{show_price(cap, model.price_currency)}; there it stops, and can be resumed with "
            "more."
        )
        problems = (*problems, Problem("cost", message, False))
    elif model.kind == ModelKind.CHAT and cap is None and (set_cap := read_cap()):
        message = (
            f"CHAT_MONEY_PER_RUN does not hold for this run: the model has no price in "
            f"{set_cap[1]}. CHAT_TOKENS_PER_RUN holds."
        )
        problems = (*problems, Problem("cost", message, False))
    seconds = None if pace is None else pace * cost.forward_passes
    served = model.kind == ModelKind.CHAT
    return DryRun(cost, seconds, problems, served, money, model.price_currency)


def _sentence_remarks(stimuli: StimuliValue) -> list[Problem]:
    """Return what reads wrong in the sentences of groups and templates, but stops nothing."""
    if not isinstance(stimuli, Stimuli):
        return []
    return article_problems(stimuli.groups, stimuli.templates)


def seconds_per_pass(runs: QuerySet[Run], tokenizer: Any) -> float | None:
    """Return the seconds that one forward pass took in the latest finished one of a model's runs.

    Of one measure and number format, since writing a text takes longer than reading one.
    Computing alone is counted, on the workers that the run had. None where no such run is
    finished yet. Three queries.
    """
    run = (
        runs.filter(status=RunStatus.FINISHED, origin=RunOrigin.COMPUTED)
        .order_by("-finished_at")
        .first()
    )
    if run is None:
        return None
    spent = run.shards.aggregate(seconds=Sum("seconds"))["seconds"]
    inputs = load_inputs(run)
    passes = inputs.measure.estimate(inputs.stimuli, inputs.parameters, tokenizer).forward_passes
    return spent / passes if spent and passes else None
