"""Loads runs of matched guise probing, and the norms that they are set beside."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from annotation.common.lazy import np, npt
from evaluation.analyses.guise_draws import GuiseRun
from evaluation.metrics.attribute_agreement import human_top
from evaluation.models import Norm, NormKind, Report
from evaluation.reports.parts.corpus_inputs import corpus_record, hash_rows, text_run_record
from evaluation.reports.parts.document import Provenance
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import listing
from evaluation.reports.parts.options import IntervalParameters
from evaluation.reports.parts.provenance import closing_lines, corpus_lines_bare, run_lines
from evaluation.reports.parts.records import CorpusRecord
from probing.measures.guise_library import OVERT
from probing.measures.guise_logprobs import GuiseLogprobs, read_logprobs
from probing.models import ModelKind, Run, RunStatus
from probing.runs.parameters import load_inputs, load_shard_frames

MEASURE = "matched_guise"


class StrengthParameters(IntervalParameters):
    """Whose stereotype the strength δ is of."""

    study: str = Field(
        "katz",
        max_length=100,
        title="Norm of the stereotype",
        description="Norm with percentages of people whose attributes make the stereotype.",
    )
    stereotypical: Literal["five", "all"] = Field(
        "five",
        title="Attributes of the stereotype",
        description="Which of them: its first five, as the printed numbers of the paper, or all "
        "that it names.",
    )


@dataclass(frozen=True)
class LoadedGuise:
    """A run with its attributes in alphabetical order.

    empty : (n_prompts, n_attributes) ln P after the prompts without a text
    """

    run: GuiseRun
    attributes: tuple[str, ...]
    empty: npt.NDArray[np.float64]
    record: dict[str, Any]
    digest: str


def prompt_purposes(run: Run) -> set[str]:
    """Return what a run's prompts ask about, as far as its stimuli say."""
    return {str(prompt.get("purpose", "")) for prompt in run.stimuli.get("prompts", ())}


def require_purposes(runs: Sequence[Run], wanted: Collection[str], remedy: str) -> None:
    """Raise `ReportError` for a run whose prompts ask about anything else."""
    for run in runs:
        if other := prompt_purposes(run) - set(wanted):
            raise ReportError(f"{run} asks about {listing(sorted(other))}. {remedy}")


def model_label(run: Run, average: str) -> str:
    """Return what a run's scores are averaged under: its model, or the family of its model."""
    return (run.model.family or run.model.name) if average == "family" else run.model.name


def load_guise_run(
    run: Run, label: str, *, tiers: Collection[str] = ("full", "top_k")
) -> LoadedGuise:
    """Return the log probabilities of a finished run, of one of the `tiers` of access. Two queries.

    Pairs are compared one by one only where every probability is known. Raises `ReportError`
    where the run is not finished, or was given less access.
    """
    if run.status != RunStatus.FINISHED:
        raise ReportError(f"{run} is {run.get_status_display().lower()}, expected a finished run.")
    inputs = load_inputs(run)
    parameters: Any = inputs.parameters  # of matched guise probing
    stimuli = inputs.stimuli
    read = read_logprobs(stimuli, load_shard_frames(run))
    _require_access(run, read, tiers)
    paired = stimuli.paired and read.is_exact
    order = np.argsort(np.array(stimuli.attributes), kind="stable")
    slugs = [[text.slug for text in texts] for texts in stimuli.texts]
    texts = hash_rows([[*stimuli.varieties, *slugs]])
    digest = hashlib.sha256()
    for values in (read.first, read.second, read.empty):
        digest.update(np.ascontiguousarray(values, dtype=np.float32).tobytes())
    overt = prompt_purposes(run) == {OVERT}
    named = slugs[0] if overt else stimuli.varieties
    setting = run.corpus.name if run.corpus else ", ".join(named)
    return LoadedGuise(
        run=GuiseRun(
            model=label,
            probe="overt" if overt else "covert",
            setting=setting,
            prompts=tuple(prompt.slug for prompt in stimuli.prompts),
            texts=texts,
            first=read.first[..., order],
            second=read.second[..., order],
            agrees=read.agrees[..., order],
            paired=paired,
            base=run.parameters["base"],
            version=run.model.name,
        ),
        attributes=tuple(stimuli.attributes[place] for place in order),
        empty=read.empty[..., order],
        record=text_run_record(run, f"{label}, {setting}")
        | {
            "setting": setting,
            "probe": "overt" if overt else "covert",
            "varieties": list(stimuli.varieties),
            "paired": paired,
            "access": read.access,
            "idle": parameters.idle(served=run.model.kind == ModelKind.CHAT),
            "n_first": len(stimuli.first),
            "n_second": len(stimuli.second),
            "attribute_list": stimuli.attribute_list,
            "prompt_texts": {prompt.slug: prompt.text for prompt in stimuli.prompts},
            "missing": read.reasons,
        },
        digest=digest.hexdigest(),
    )


def _require_access(run: Run, read: GuiseLogprobs, tiers: Collection[str]) -> None:
    if read.access not in tiers:
        raise ReportError(
            f"{run} has the access “{read.access}”, expected {listing(list(tiers))}. Its own page "
            "and its download have its scores with their bounds."
        )
    if any(np.isneginf(side).any() for side in (read.first, read.second)):
        raise ReportError(
            f"{run} knows no probability at all of some attributes after some texts. Choose a run "
            "with more access; its own page has its scores with their bounds."
        )


def require_one_access(loaded: Sequence[LoadedGuise]) -> None:
    """Raise `ReportError` where runs that are averaged were obtained in different ways."""
    found: dict[tuple[str, str], str] = {}
    for one in loaded:
        key, access = (one.run.model, one.run.probe), one.record["access"]
        if found.setdefault(key, access) != access:
            raise ReportError(
                f"The runs of {one.run.model} have the access “{found[key]}” and “{access}”. "
                "Scores of different tiers are never averaged: choose runs of one tier."
            )


def access_in_words(runs: Sequence[dict[str, Any]]) -> str:
    """Return where probabilities come from, by the tier of the runs."""
    told = {
        "full": "over the whole vocabulary",
        "top_k": "from the likeliest tokens that a server tells, where the listed attributes that "
        "are not among them have what the parameter missing_mass says",
    }
    tiers = list(dict.fromkeys(run["access"] for run in runs))
    return " or ".join(f"{told[tier]} (access: {tier})" for tier in tiers)


def common_attributes(loaded: Sequence[LoadedGuise]) -> tuple[str, ...]:
    """Return the attributes of all runs; `ReportError` where they, or tiers of access, differ."""
    require_one_access(loaded)
    first = loaded[0]
    for other in loaded[1:]:
        if other.attributes != first.attributes:
            raise ReportError(
                f"The runs {first.record['number']} and {other.record['number']} have different "
                "attributes. Choose runs of one list of attributes."
            )
    return first.attributes


def load_norms(kind: NormKind, slugs: Sequence[str] | None = None) -> list[Norm]:
    """Return norms of a kind in their order, or those named. One query.

    Raises `ReportError` for a name that is not there.
    """
    norms = {norm.slug: norm for norm in Norm.objects.filter(kind=kind)}
    if slugs is None:
        return list(norms.values())
    for slug in slugs:
        if slug not in norms:
            known = ", ".join(norms) or "none; import some with “manage.py import_norms”"
            raise ReportError(f"There is no norm “{slug}” of this kind. Norms: {known}.")
    return [norms[slug] for slug in slugs]


def stereotypical_attributes(
    slug: str, extent: str, attributes: Sequence[str]
) -> tuple[Norm, list[str]]:
    """Return a study, and those of its attributes whose δ is taken. One query.

    extent : “five”, the first five of the list, as the released code; “all” that the study names.
    Raises `ReportError` where δ would compare nothing.
    """
    norm = load_norms(NormKind.PERCENT, [slug])[0]
    chosen = human_top(norm.values, attributes, 5 if extent == "five" else len(attributes))
    if not 0 < len(chosen) < len(attributes):
        raise ReportError(
            f"“{norm.title}” names {len(chosen)} of the {len(attributes)} attributes; δ compares "
            "those that it names with others. Choose another study or other runs."
        )
    return norm, chosen


def require_pairs(runs: Sequence[Run]) -> None:
    """Raise `ReportError` for a run that does not compare pairs."""
    for run in runs:
        if not run.stimuli.get("paired"):
            raise ReportError(f"{run} compares sets of texts. Choose runs on pairs.")


def norm_choices(kind: NormKind) -> list[tuple[str, str]]:
    """Return (slug, title) of the norms of a kind. One query."""
    return list(Norm.objects.filter(kind=kind).values_list("slug", "title"))


def norm_record(norm: Norm) -> dict[str, Any]:
    """Return what a report keeps of a norm."""
    return {
        "slug": norm.slug,
        "title": norm.title,
        "year": norm.year,
        "n": len(norm.values),
        "citation": norm.citation,
        "note": norm.note,
        "hash": hash_rows([sorted(norm.values.items())]),
    }


def norm_key(norm: dict[str, Any]) -> str:
    """Return the name of a norm's data among the hashes of a report."""
    return f"norm {norm['slug']}"


def norm_lines(norms: Sequence[dict[str, Any]]) -> list[Provenance]:
    """Return every norm with its source and the hash of its values."""
    return [
        (f"Norm {norm['slug']}", norm["citation"], f"sha256 {norm['hash'][:16]}") for norm in norms
    ]


def corpora_of(runs: Sequence[Run]) -> list[CorpusRecord]:
    """Return what a report keeps of the corpora that its runs read, each once."""
    found = {run.corpus.pk: corpus_record(run.corpus) for run in runs if run.corpus is not None}
    return list(found.values())


def guise_provenance(
    record: dict[str, Any], report: Report
) -> tuple[tuple[Provenance, ...], tuple[Provenance, ...]]:
    """Return corpora, norms and runs, and what ends every report."""
    return (
        (
            *(line for corpus in record["corpora"] for line in corpus_lines_bare(corpus)),
            *norm_lines(record["norms"]),
            *run_lines(record["runs"], record["hashes"]),
        ),
        closing_lines(report),
    )
