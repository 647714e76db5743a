"""The contract between a kind of report and whatever asks for, builds and shows reports.

A kind says what it needs (`study`, `corpus`, `runs`, `Parameters`), reads it (`load`), computes
(`compute`) and lays it out (`document`). Adding a kind is adding a class and a line in the
registry: forms, interface, command line, waiting and all formats follow.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar, Generic, TypeVar

from django.db.models import QuerySet, TextChoices
from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel, ConfigDict

from annotation.models import Corpus, Study
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.models import Report
from evaluation.reports.parts.data_statement import read_statement
from evaluation.reports.parts.document import Document, Provenance, Table
from evaluation.reports.parts.provenance import (
    WITHHELD,
    access_caveats,
    banners,
    closing_lines,
    record_runs,
    source_facts,
    source_lines,
)
from probing.models import Run

R = TypeVar("R")

EVEN_ENDS = (
    "Where both ends of an interval are printed alike, it is narrower than the last digit, or "
    "everything that was drawn again was alike: then nothing in these data varies, which is not to "
    "say that the value is certain."
)
#: “4.0 to 4.0”, as `formatting.interval` prints it.
_EVEN_ENDS = re.compile(r"(?<![\w.+−])([+−]?\d+(?:\.\d+)?) to \1(?![\w.])")


class Topic(TextChoices):
    """What a report is about: the heading below which the choice of kinds lists it."""

    PEOPLE = "people", _("People")
    PEOPLE_AND_MODELS = "people-and-models", _("People and models")
    SPEAKERS = "speakers", _("Texts and their speakers")
    CLASSIFIERS = "classifiers", _("Classifiers")


class ReportParameters(BaseModel):
    """Base of every schema of options: unknown names are errors, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True)
class StudyInput:
    """The report rests on one study of this kind. ``help`` says which studies fit.

    label : of the field in the form, by default “Study”
    """

    kind: str
    help: Any
    label: Any = ""
    required: bool = True


@dataclass(frozen=True)
class CorpusInput:
    """The report rests on one corpus."""

    help: Any


@dataclass(frozen=True)
class RunsInput:
    """The report rests on runs of these measures; ``most`` is None for any number.

    measures : None for every measure that scores groups
    """

    help: Any
    measures: tuple[str, ...] | None = None
    least: int = 1
    most: int | None = 1


@dataclass(frozen=True)
class Chosen:
    """What somebody chose for a report, or what a stored report rests on."""

    study: Study | None = None
    corpus: Corpus | None = None
    runs: tuple[Run, ...] = ()
    second_study: Study | None = None

    @property
    def the_study(self) -> Study:
        """The study, of a kind that needs one; requests without it are refused before."""
        if self.study is None:
            raise ValueError("this kind of report needs a study")
        return self.study

    @property
    def the_corpus(self) -> Corpus:
        if self.corpus is None:
            raise ValueError("this kind of report needs a corpus")
        return self.corpus


@dataclass(frozen=True)
class Loaded:
    """``record`` is stored with the report: names, counts, hashes. ``data`` is what is computed on.

    hashes : name of an input → SHA-256 of its data, so that a later check can name what changed
    """

    record: dict[str, Any]
    data: Any
    hashes: dict[str, str]


class ReportKind(ABC):
    """One kind of report. Instances hold no state."""

    name: ClassVar[str]
    title: ClassVar[Any]
    #: One line, as the choice of kinds shows it.
    question: ClassVar[Any]
    topic: ClassVar[Topic] = Topic.PEOPLE_AND_MODELS
    Parameters: ClassVar[type[ReportParameters]] = ReportParameters
    study: ClassVar[StudyInput | None] = None
    #: Set beside the first study.
    second_study: ClassVar[StudyInput | None] = None
    corpus: ClassVar[CorpusInput | None] = None
    runs: ClassVar[RunsInput | None] = None
    #: Libraries whose versions are stored, since numbers or drawings depend on them.
    libraries: ClassVar[tuple[str, ...]] = ("numpy", "scipy", "pandas", "vl-convert-python")
    #: What the numbers at the head mean, by their labels; “…” stands for any words in a label.
    meanings: ClassVar[Mapping[str, str]] = {}
    #: Queries of the page that choose a part of it, such as a group.
    views: ClassVar[tuple[str, ...]] = ()

    def fitting_studies(self, studies: QuerySet[Study]) -> QuerySet[Study]:
        """Return those of ``studies`` that a report can rest on."""
        return studies.filter(kind=self.study.kind) if self.study else studies.none()

    def fitting_second_studies(self, studies: QuerySet[Study]) -> QuerySet[Study]:
        """Return those of ``studies`` that can stand beside the first."""
        wanted = self.second_study
        return studies.filter(kind=wanted.kind) if wanted else studies.none()

    def fits_stimuli(self, groups: Collection[str], n_templates: int) -> bool:
        """Return whether a report can rest on a run of these groups (slugs, empty where its
        stimuli do not say) and so many templates.
        """
        return True

    def choices(self, parameter: str) -> list[tuple[str, str]] | None:
        """Return (value, label) of what a parameter can be, None where its schema says it all."""
        return None

    def check(self, chosen: Chosen, parameters: Any) -> None:  # noqa: B027
        """Raise `ReportError` if a report on what was chosen could never be built."""

    @abstractmethod
    def default_title(self, chosen: Chosen) -> str:
        """Return a title that asks a question and states no verdict."""

    @abstractmethod
    def load(self, chosen: Chosen, parameters: Any) -> Loaded:
        """Read everything from the database; `ReportError` where there is nothing to compute."""

    @abstractmethod
    def compute(self, loaded: Loaded, parameters: Any) -> dict[str, Any]:
        """Return the result as plain JSON; equal inputs and parameters give equal numbers."""

    @abstractmethod
    def document(self, report: Report, view: Mapping[str, str]) -> Document:
        """Return the document of a final report from its record alone.

        `ReportError` where ``view`` asks for a part that the report does not have.
        """

    def complete(self, report: Report, document: Document) -> Document:
        """Return the document with what every report says of itself, where it does not yet."""
        record: dict[str, Any] = report.inputs
        study: dict[str, Any] = record.get("study", {})
        origin, obtained = study.get("origin", ""), study.get("obtained", "")
        access = access_caveats(record["corpus"]) if "corpus" in record else []
        return replace(
            document,
            keys=tuple(replace(key, meaning=self.meaning_of(key.label)) for key in document.keys),
            title=document.title or report.title,
            banners=(
                *(document.banners or banners(record_runs(record), origin, obtained)),
                *([f"Numbers left out here: {record[WITHHELD]}."] if WITHHELD in record else []),
            ),
            facts=document.facts or source_facts(record),
            caveats=tuple(dict.fromkeys((*document.caveats, *access, *_even_ends(document)))),
            statement=document.statement or read_statement(record.get("statement", [])),
            provenance=document.provenance or (tuple(self.sources(report)), closing_lines(report)),
        )

    def meaning_of(self, label: str) -> str:
        """Return what a number at the head means, by the first label that fits, or nothing."""
        return next(
            (text for known, text in self.meanings.items() if _label_pattern(known).match(label)),
            "",
        )

    def sources(self, report: Report) -> list[Provenance]:
        """Return the lines of provenance that say what a final report rests on."""
        return source_lines(report.inputs)

    def headline(self, result: dict[str, Any]) -> str:
        """Return the number that lists show beside a report, with its name, or nothing."""
        return ""


def _even_ends(document: Document) -> tuple[str, ...]:
    """Return the caveat on intervals without width, where a table or a head number shows one."""
    cells = (
        text
        for block in document.blocks
        if isinstance(block, Table)
        for row in block.rows
        for text in row.cells
    )
    lines = (line for key in document.keys for line in key.lines)
    return (EVEN_ENDS,) if any(map(_EVEN_ENDS.search, (*cells, *lines))) else ()


@cache
def _label_pattern(known: str) -> re.Pattern[str]:
    """Return what matches every label that is written like ``known``."""
    return re.compile(".*".join(map(re.escape, known.split("…"))) + r"\Z")


class AnalysisKind(ReportKind, Generic[R]):
    """A kind whose result is the record of one analysis and nothing besides."""

    #: The dataclass that the analysis returns.
    Result: type[R]

    @abstractmethod
    def analyze(self, loaded: Loaded, parameters: Any) -> R:
        """Return the record of the analysis; no database."""

    @abstractmethod
    def lay_out(self, report: Report, result: R, view: Mapping[str, str]) -> Document:
        """Return the document of a final report; see `document` and `complete`."""

    def compute(self, loaded: Loaded, parameters: Any) -> dict[str, Any]:
        plain: dict[str, Any] = to_plain(self.analyze(loaded, parameters))
        return plain

    def document(self, report: Report, view: Mapping[str, str]) -> Document:
        laid_out = self.lay_out(report, from_plain(self.Result, report.result), view)
        return self.complete(report, laid_out)
