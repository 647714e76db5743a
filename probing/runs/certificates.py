"""Certificates of registered models: made, kept with the model, renewed; and what they allow.

A small model in a folder is tried with its own weights when it is registered, a larger one with
random weights in a copy of fewer and narrower layers, and with its own when a worker first loads
it. A certificate holds as long as files and libraries stay the same.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pydantic
from django.conf import settings
from django.utils import timezone

from annotation.library.abc_model import TRAIT_PAIRS
from probing.lm.certificate import QUESTIONS, Certificate, Check, Tried, versions
from probing.lm.errors import (
    LanguageModelError,
    ModelFilesError,
    UnknownWordError,
    WordEdgeError,
    WrongModelKindError,
)
from probing.lm.sources import inspect_model
from probing.measures.base import AnyMeasure
from probing.measures.guise_library import ATTRIBUTE_LISTS
from probing.measures.registry import MEASURES
from probing.measures.stimuli import Stimuli
from probing.models import LanguageModel, ModelKind, ModelSource
from probing.runs.loaded_models import (
    LoadedModel,
    explain_facts,
    facts_role,
    file_stamp,
    load_apart,
    load_facts,
    read_facts,
)
from probing.runs.model_compatibility import ABILITIES, compatibility_error

if TYPE_CHECKING:
    from probing.lm.sources import ModelFacts

#: What a certificate's trials read, and their outcomes, in words.
TRIED: dict[str, str] = {
    "weights": "with its own weights",
    "copy": "with random weights in a small copy; with its own when a worker first loads them",
    "files": "by its files alone; with its weights when a worker first loads them",
    "unread": "by its files alone, since its weights can’t be read",
}
OUTCOMES: dict[str, str] = {
    "passed": "Passed",
    "failed": "Failed",
    "look": "Look closer",
    "noted": "Noted",
}
_SHOWN_WORDS = 8
#: Trials of files that this process has tried, whichever row they are registered in.
_made: dict[tuple[str, ...], Certificate] = {}
_trying = threading.Lock()


@dataclass(frozen=True)
class MeasureFit:
    """Whether a model can serve a measure: `reason` says why not, `how` what it takes by itself."""

    name: str
    title: str
    can: bool
    reason: str = ""
    how: str = ""


@dataclass(frozen=True)
class CutWords:
    """Adjectives of the library by their tokens in a plain sentence; `of` is how many there are."""

    several: tuple[str, ...] = ()
    joined: tuple[str, ...] = ()
    of: int = 0


def read_certificate(model: LanguageModel) -> Certificate | None:
    """Return the stored certificate of a model; None without one or if it can't be read."""
    if not model.certificate:
        return None
    try:
        return Certificate.model_validate(model.certificate)
    except pydantic.ValidationError:  # of another version of the platform
        return None


def why_outdated(model: LanguageModel) -> str:
    """Return why a model has no certificate that holds; "" if it has one, or needs none."""
    if not has_certificate(model):
        return ""
    certificate = read_certificate(model)
    return certificate.outdated(_stamp(model)) if certificate else "It has not been tested yet."


def has_certificate(model: LanguageModel) -> bool:
    """Whether models from this source are tried here: those whose files are at hand."""
    return model.source in (ModelSource.PATH, ModelSource.HUB)


def ensure_certificate(model: LanguageModel) -> Certificate | None:
    """Return the model's certificate, made anew if files or libraries have changed."""
    if not has_certificate(model):
        return None
    return certify(model) if why_outdated(model) else read_certificate(model)


def certify(model: LanguageModel, *, again: bool = False) -> Certificate:
    """Try a model and keep what was found with it. Takes seconds; loads small models alone.

    `again` repeats trials that this process has already made of the same files.
    """
    key = _key(model)
    # One at a time: two requests would hold two models in memory.
    with _trying:
        if again or key not in _made:
            _made[key] = _try_files(model)
        return _keep(model, _made[key])


def certify_loaded(model: LanguageModel, loaded: LoadedModel) -> None:
    """Try a model's own weights when they are first loaded, and keep what was found.

    Raises :class:`WrongModelKindError` if its numbers contradict each other.
    """
    if not has_certificate(model):
        return
    certificate = read_certificate(model)
    stale = certificate is None or certificate.outdated(_stamp(model))
    if stale or certificate is None or certificate.tried != "weights":
        key = (*_key(model), "loaded")
        if key not in _made:
            _made[key] = _describe(
                model, "weights", _try_loaded(model, loaded), loaded.device, loaded.revision
            )
        certificate = _keep(model, _made[key])
    if message := _contradiction(certificate):
        raise WrongModelKindError(f"“{model.name}” can't be used: {message}")


def why_unusable(model: LanguageModel) -> str:
    """Return why the weights of a model serve no measure; "" if they serve some."""
    certificate = read_certificate(model)
    weights = certificate.check("weights") if certificate else None
    if weights is None or weights.outcome != "failed":
        return ""
    return "" if any(fit.can for fit in measure_fits(model)) else weights.result


def measure_fits(model: LanguageModel) -> list[MeasureFit]:
    """Return for every measure whether the model can serve it, and why not.

    Reads what is stored: no model is loaded. The one table that page, command line, and API show.
    """
    certificate = read_certificate(model)
    return [_fit(model, measure, certificate) for measure in MEASURES.values()]


def grouped_fits(fits: list[MeasureFit]) -> list[tuple[MeasureFit, list[MeasureFit]]]:
    """Return measures that share an outcome and its reason, each with the first of them.

    The first has the reason without its own title: “Needs a causal language model …”.
    """
    found: dict[tuple[bool, str], list[MeasureFit]] = {}
    for fit in fits:
        why = fit.reason.removeprefix(f"{fit.title} ") or fit.how
        found.setdefault((fit.can, why[:1].upper() + why[1:]), []).append(fit)
    return [
        (replace(some[0], how=why) if can else replace(some[0], reason=why), some)
        for (can, why), some in found.items()
    ]


def explain_unfit(model: LanguageModel, measure: AnyMeasure) -> str:
    """Return why a model can't serve a measure, "" if nothing is known against it."""
    return _fit(model, measure, read_certificate(model)).reason


def describe_tried(certificate: Certificate) -> str:
    """Return whose weights the trials read, in words."""
    unread = certificate.check("weights")
    failed = certificate.tried == "files" and unread is not None and unread.outcome == "failed"
    return TRIED["unread" if failed else certificate.tried]


def checks_with_questions(certificate: Certificate) -> list[tuple[str, str, Check]]:
    """Return each check with its title and what it asks, in the order of the certificate."""
    return [(*QUESTIONS.get(one.name, (one.name, "")), one) for one in certificate.checks]


def _fit(model: LanguageModel, measure: AnyMeasure, certificate: Certificate | None) -> MeasureFit:
    reason = (
        compatibility_error(title=measure.title, abilities=measure.abilities, model=model) or ""
    )
    if not reason and model.kind == ModelKind.CHAT:
        try:
            load_facts(model, measure.abilities, title=measure.title)
        except LanguageModelError as error:
            reason = str(error)
    if not reason and certificate is not None:
        found = (certificate.abilities.get(one, "") for one in sorted(measure.abilities))
        reason = next(filter(None, found), "") or _contradiction(certificate)
    how = ""
    if not reason and certificate is not None:
        how = certificate.settings.get(measure.name, "")
        if certificate.joined and measure.stimuli_type is Stimuli:
            caution = _joined(len(certificate.joined), certificate.words)
            how = f"{how}; {caution}" if how else caution
    return MeasureFit(measure.name, measure.title, not reason, reason, how)


def _contradiction(certificate: Certificate) -> str:
    """Return the trial that speaks against all numbers of a model; "" if there is none."""
    for title, question, check in checks_with_questions(certificate):
        if check.outcome == "failed" and check.name != "weights":
            return f"the test “{title}” failed ({question} {check.result})."
    return ""


def _try_files(model: LanguageModel) -> Certificate:
    """Try a model that is not loaded yet: its weights if they are few, else a small copy."""
    from probing.lm.examination import MOST_WEIGHTS
    from probing.lm.weights import revision_of

    facts = inspect_model(model.location, model.revision or None)
    revision = revision_of(facts)
    if model.source == ModelSource.HUB:
        result = "not looked at before a worker fetches them"
        checks = [Check(name="weights", outcome="noted", result=result)]
        return _describe(model, "files", [*checks, *_try_copy(facts)], "", revision)
    if facts.parameter_count is not None and facts.parameter_count <= MOST_WEIGHTS:
        try:
            loaded = load_apart(model)
        except LanguageModelError as error:
            return _describe(model, "files", [_unread(error)], "", revision, _damage(error))
        return _describe(model, "weights", _try_loaded(model, loaded), loaded.device, revision)
    from probing.lm.loaders import require_weights

    try:
        require_weights(model.location)
    except LanguageModelError as error:
        return _describe(model, "files", [_unread(error)], "", revision, _damage(error))
    stored = Check(name="weights", outcome="passed", result="all stored; read when a worker loads")
    copied = list(_try_copy(facts))
    tried: Tried = "copy" if copied else "files"
    return _describe(model, tried, [stored, *copied], "", revision)


def _unread(error: LanguageModelError) -> Check:
    return Check(name="weights", outcome="failed", result=str(error))


def _damage(error: LanguageModelError) -> str:
    """Return why not even a model without its head can be read; "" if one can."""
    return str(error) if isinstance(error, ModelFilesError) else ""


def _try_loaded(model: LanguageModel, loaded: LoadedModel) -> list[Check]:
    from probing.lm.trials import Trials

    lm = loaded.lm
    network = lm.network
    found = [Check(name="weights", outcome="passed", result="all stored and read")]
    causal = _causal(model, network) if model.kind == ModelKind.CAUSAL else None
    masked = getattr(lm, "model", lm) if model.kind == ModelKind.MASKED else None
    trials = Trials(
        network,
        model.kind,
        pad_id=lm.tokenizer.pad_id,
        max_length=lm.tokenizer.max_length,
        causal=causal,
        masked=masked,
    )
    return [*found, *trials.run(), *trials.measure()]


def _try_copy(facts: ModelFacts) -> Iterator[Check]:
    """Yield the trials of a small model of random weights; none if none can be built."""
    from probing.lm.examination import build_copy
    from probing.lm.trials import Trials

    if facts.kind != "causal":
        return
    network = build_copy(facts)
    if network is not None:
        yield from Trials(network, "causal", pad_id=0).run()


def _causal(model: LanguageModel, network: Any) -> Any:
    from probing.lm import load_text_tokenizer
    from probing.lm.causal import CausalModel
    from probing.lm.loaders import BATCH_TOKENS

    tokenizer: Any = load_text_tokenizer(model.location, revision=model.revision or None)
    return CausalModel(network, tokenizer, revision="", batch_tokens=BATCH_TOKENS)


def _describe(
    model: LanguageModel,
    tried: Tried,
    checks: list[Check],
    device: str,
    revision: str,
    damage: str = "",
) -> Certificate:
    """Return the certificate, with what the tokenizer and the configuration tell."""
    facts: dict[str, Any] = {}
    abilities: dict[str, str] = {}
    broken = next((one.result for one in checks if one.outcome == "failed"), "")
    unread = broken if checks[0].name == "weights" and checks[0].outcome == "failed" else ""
    for ability in sorted(ABILITIES[model.kind]):
        role = facts_role({ability})
        try:
            if role not in facts:
                facts[role] = read_facts(model, role)
            if isinstance(facts[role], LanguageModelError):
                raise facts[role]
            lack = explain_facts(model, {ability}, facts[role])
            # Classifiers are trained from checkpoints without a head, too.
            abilities[ability] = lack or (damage if role == "base" else unread)
        except LanguageModelError as error:
            facts[role] = error
            abilities[ability] = str(error)
    usable = {role: one for role, one in facts.items() if not isinstance(one, Exception)}
    cut = _words(usable.get("slot"))
    return Certificate(
        made_at=timezone.now(),
        tried=tried,
        fingerprint=revision,
        stamp=_stamp(model),
        versions=versions(),
        device=device,
        checks=(*checks, *_notes(model, usable, cut)),
        abilities=abilities,
        settings=_settings(model, usable),
        several=cut.several,
        joined=cut.joined,
        words=cut.of,
    )


def _notes(model: LanguageModel, facts: dict[str, Any], cut: CutWords) -> Iterator[Check]:
    if cut.of:
        single = cut.of - len(cut.several) - len(cut.joined)
        parts = [f"{single} of {cut.of} adjectives are one token"]
        if cut.several:
            parts.append(f"several: {_shown(cut.several)}")
        if cut.joined:
            parts.append(f"{_joined(len(cut.joined), cut.of)}: {_shown(cut.joined)}")
        yield Check(
            name="words",
            outcome="look" if cut.joined else "noted",
            result="; ".join(parts),
            value=float(len(cut.several)),
        )
    if (text := facts.get("text")) is not None and model.kind in ("causal", "seq2seq"):
        result = "yes" if text.has_chat_template else "no: prompts are read as they are"
        yield Check(name="template", outcome="noted", result=result)
    if model.source == ModelSource.PATH and (form := inspect_model(model.location).form):
        yield Check(name="form", outcome="noted", result=form)
    for one in facts.values():
        length = getattr(one, "max_length", None)
        read = getattr(one, "facts", None)
        switch = getattr(read, "switch_length", None)
        stated = getattr(read, "max_length", length)
        result = "not bounded" if stated is None else f"{stated:,} tokens"
        if switch:
            result += f"; other rotary positions beyond {switch:,}"
        yield Check(name="length", outcome="noted", result=result, value=stated)
        return


def _shown(words: tuple[str, ...]) -> str:
    return ", ".join(words[:_SHOWN_WORDS]) + (" …" if len(words) > _SHOWN_WORDS else "")


def _joined(n: int, of: int) -> str:
    """Return that words have no tokens of their own, and which sentence was tried."""
    from probing.lm.slot_tokenizers import PLAIN

    return (
        f"the tokenizer joins {n} of {of} adjectives with what is beside them in “{PLAIN.before}…"
        f"{PLAIN.after}”, so runs refuse them in templates that end so"
    )


def _words(slots: Any) -> CutWords:
    """Return how the tokenizer cuts the adjectives of the library."""
    if slots is None:
        return CutWords()
    poles = [pole for pair in TRAIT_PAIRS for pole in (pair.low, pair.high)]
    words = list(dict.fromkeys([*poles, *(word for one in ATTRIBUTE_LISTS for word in one.words)]))
    several, joined = [], []
    for word in words:
        try:
            if len(slots.split(word).ids) > 1:
                several.append(word)
        except WordEdgeError:
            joined.append(word)
        except UnknownWordError:
            several.append(word)
    return CutWords(tuple(several), tuple(joined), len(words))


def _settings(model: LanguageModel, facts: dict[str, Any]) -> dict[str, str]:
    """Return each measure's defaults for this model, in words."""
    found = {}
    for name, measure in MEASURES.items():
        lm = facts.get(facts_role(measure.abilities))
        # Parameters that have to be given leave nothing to be completed.
        with suppress(pydantic.ValidationError, LanguageModelError, AttributeError):
            if lm is None or not measure.abilities <= ABILITIES[model.kind]:
                continue
            given = measure.Parameters()
            completed = measure.complete(given, lm)
            described = measure.Parameters.model_json_schema()["properties"]
            changed = [
                f"{described[key].get('title', key)}: {_in_words(value)}"
                for key, value in completed.model_dump(mode="json").items()
                if value != given.model_dump(mode="json")[key]
            ]
            if changed:
                found[name] = "; ".join(changed)
    return found


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(_in_words, value)) if isinstance(value, list) else str(value)


def _keep(model: LanguageModel, certificate: Certificate) -> Certificate:
    model.certificate = certificate.model_dump(mode="json")
    LanguageModel.objects.filter(pk=model.pk).update(certificate=model.certificate)
    return certificate


def _key(model: LanguageModel) -> tuple[str, ...]:
    place = (model.source, model.kind, model.location, model.revision, _stamp(model))
    return (*place, settings.MODEL_DEVICE, settings.MODEL_DTYPE, *versions().values())


def _stamp(model: LanguageModel) -> str:
    return hashlib.sha256(repr(file_stamp(model)).encode()).hexdigest()[:16]
