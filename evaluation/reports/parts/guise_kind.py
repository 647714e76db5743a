"""What the kinds of reports on runs of matched guise probing share."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, TypeVar

from evaluation.models import Norm, NormKind, Report
from evaluation.reports.parts.document import Document
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import count
from evaluation.reports.parts.guise_inputs import (
    MEASURE,
    LoadedGuise,
    StrengthParameters,
    corpora_of,
    guise_provenance,
    load_norms,
    norm_choices,
    norm_key,
    norm_record,
    require_pairs,
    require_purposes,
    stereotypical_attributes,
)
from evaluation.reports.parts.kind import AnalysisKind, Chosen, Loaded, RunsInput, Topic
from evaluation.reports.parts.perplexity_inputs import LoadedPerplexity, split_runs
from evaluation.reports.parts.provenance import banners, run_key
from evaluation.reports.parts.run_settings import settings_section, settings_table

R = TypeVar("R")


class GuiseKind(AnalysisKind[R]):
    """A kind that rests on runs of matched guise probing, perhaps beside runs on perplexity.

    A subclass lays out its own sections and tables; sections without a block are left out, and
    how the models were asked follows them. Readings that are missing stand before what else is.
    """

    topic = Topic.SPEAKERS
    #: What the prompts may ask about, and what to choose where they ask about anything else.
    purposes: ClassVar[Collection[str]]
    remedy: ClassVar[str]
    #: Whether runs must compare pairs.
    only_pairs: ClassVar[bool] = False
    #: The default title; “{models}” is the name of the model, or how many there are.
    asks: ClassVar[str]
    #: Parameters that name a norm, with its kind.
    norms: ClassVar[Mapping[str, NormKind]] = {}

    def choices(self, parameter: str) -> list[tuple[str, str]] | None:
        return norm_choices(self.norms[parameter]) if parameter in self.norms else None

    def check(self, chosen: Chosen, parameters: Any) -> None:
        guises, _perplexities = split_runs(chosen.runs)
        if not guises:
            raise ReportError("No run of matched guise probing is chosen. Choose at least one.")
        require_purposes(guises, self.purposes, self.remedy)
        if self.only_pairs:
            require_pairs(guises)
        if isinstance(parameters, StrengthParameters):
            attributes = sorted(guises[0].stimuli["attributes"])
            stereotypical_attributes(parameters.study, parameters.stereotypical, attributes)
        for parameter, kind in self.norms.items():
            if slug := getattr(parameters, parameter):
                load_norms(kind, [slug])

    def default_title(self, chosen: Chosen) -> str:
        models = list(dict.fromkeys(run.model.name for run in chosen.runs))
        return self.asks.format(models=models[0] if len(models) == 1 else f"{len(models)} models")

    def complete(self, report: Report, document: Document) -> Document:
        record: dict[str, Any] = report.inputs
        runs = record["runs"]
        settings = settings_table(runs)
        return super().complete(
            report,
            replace(
                document,
                banners=(*banners(runs), *document.banners),
                facts=tuple(f"Run {run['number']}: {run['label']}" for run in runs),
                sections=(
                    *(section for section in document.sections if section.blocks),
                    settings_section(settings),
                ),
                tables=(*document.tables, settings),
                left_out=(
                    *(
                        f"Run {run['number']}: {count(n, 'reading')}, {why}."
                        for run in runs
                        for why, n in run["missing"].items()
                    ),
                    *document.left_out,
                ),
                provenance=guise_provenance(record, report),
            ),
        )


def guise_runs(help_text: Any, *others: str) -> RunsInput:
    """Return that a kind rests on any number of runs of matched guise probing, and of others."""
    return RunsInput(help_text, measures=(MEASURE, *others), most=None)


def gather(
    chosen: Chosen,
    sources: Sequence[LoadedGuise | LoadedPerplexity],
    norms: Sequence[Norm],
    data: Any,
    **more: Any,
) -> Loaded:
    """Return what was read; the record has runs, corpora and norms, and `more`."""
    records = [norm_record(norm) for norm in norms]
    return Loaded(
        record={
            "runs": [one.record for one in sources],
            "corpora": corpora_of(chosen.runs),
            "norms": records,
            **more,
        },
        data=data,
        hashes={run_key(one.record): one.digest for one in sources}
        | {norm_key(norm): norm["hash"] for norm in records},
    )


def first_norm(kind: NormKind, slug: str | None) -> list[Norm]:
    """Return the norm of that name, or else the first that is stored, if any. One query."""
    return load_norms(kind, [slug] if slug else None)[:1]


def prompt_wordings(runs: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the prompts of all runs by their slugs."""
    return {slug: text for run in runs for slug, text in run["prompt_texts"].items()}
