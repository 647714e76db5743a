"""Cao et al. (2022), Theory-Grounded Measurement of U.S. Social Stereotypes."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from annotation.models import Origin
from evaluation.analyses.alignment_result import AlignmentResult, GroupAlignment
from evaluation.analyses.plain_record import from_plain
from evaluation.metrics import kendall_tau_b
from evaluation.reproductions.items import Item, MissingSourceError, Paper, Sources, Value

ORIGIN = "github.com/TristaCao/U.S_Stereotypes (dataset)"
#: Tables A11 to A13 as printed: a row for each table and group, a column for measure/family.
BY_GROUP = Path(__file__).with_name("cao2022_by_group.csv")
COLUMNS = tuple(
    (measure, family)
    for measure in ("ceat", "ilps", "ilps_star", "set")
    for family in ("roberta", "bert")
)
NAMES = {"ceat": "CEAT", "ilps": "ILPS", "ilps_star": "ILPS*", "set": "SeT"} | {
    "roberta": "RoBERTa",
    "bert": "BERT",
}
#: In the order of `COLUMNS`.
TAU = (0.019, 0.111, 0.169, 0.094, 0.175, 0.015, 0.199, 0.116)
PRECISION = (0.500, 0.587, 0.620, 0.533, 0.653, 0.560, 0.653, 0.613)
TAU_OF_TEST_GROUPS = (0.028, 0.123, 0.142, 0.071, 0.173, -0.007, 0.174, 0.093)
#: Their annotations chose the templates.
PILOT_GROUPS = frozenset({"asian", "black", "hispanic", "immigrant"})
COMMANDS = (
    "manage.py import_abc_ratings data_full.json",
    "manage.py probe --measure set --model roberta-large",
    "manage.py report alignment --study STUDY --run RUN",
)
CHECKPOINT = "The paper names BERT and RoBERTa without their size."
NO_JOIN = (
    "The released demographics carry other ids than the ratings, so that they can't be joined."
)
PAIRED = (
    "manage.py pair_groups",
    "manage.py probe --measure set --model roberta-large --groups PAIRS",
    "manage.py report intersectional --run RUN",
)


def _alignments(sources: Sources) -> dict[tuple[str, str], tuple[str, AlignmentResult]]:
    """Return the newest alignment with imported ratings and its model, by measure and family."""
    found: dict[tuple[str, str], tuple[str, AlignmentResult]] = {}
    for measure, family in COLUMNS:
        reports = sources.reports("alignment", measure=measure, model__family=family)
        for report in reports:
            if report.study is None or report.study.origin != Origin.IMPORTED:
                continue
            model = report.runs.get().model.name
            found[measure, family] = model, from_plain(AlignmentResult, report.result)
            break
    if not found:
        raise MissingSourceError(
            "There is no alignment report on the imported ratings with a model of the families "
            "BERT or RoBERTa."
        )
    return found


def _each_column(
    what: str, published: tuple[float, ...], read: Callable[[AlignmentResult], float]
) -> Callable[[Sources], Iterator[Value]]:
    """Return what compares one number of each measure and family."""

    def compute(sources: Sources) -> Iterator[Value]:
        found = _alignments(sources)
        for column, value in zip(COLUMNS, published, strict=True):
            measure, family = (NAMES[name] for name in column)
            if column not in found:
                reason = "There is no report on this measure and family."
                yield Value(f"{what}, {measure}, {family}", value, None, reason=reason)
                continue
            model, result = found[column]
            named = f"{what}, {measure}, {family} ({model})"
            yield Value(named, value, read(result), reason=CHECKPOINT)

    return compute


def _overall(sources: Sources) -> Iterator[Value]:
    yield from _each_column("τ", TAU, lambda result: result.pooled.tau.value)(sources)
    precision = _each_column("P@3", PRECISION, lambda result: result.pooled.precision.value)
    yield from precision(sources)


def _tau_of_test_groups(result: AlignmentResult) -> float:
    cells = [cell for cell in result.cells if cell.group not in PILOT_GROUPS]
    human = np.array([cell.human.mean for cell in cells])
    model = np.array([cell.model.mean for cell in cells])
    both = ~(np.isnan(human) | np.isnan(model))
    return float(kendall_tau_b(human[both], model[both]).value)


def _each_group(
    table: str, what: str, decimals: int, read: Callable[[GroupAlignment], float]
) -> Callable[[Sources], Iterator[Value]]:
    """Return what compares a printed table of groups."""

    def compute(sources: Sources) -> Iterator[Value]:
        found = _alignments(sources)
        with BY_GROUP.open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["table"] == table]
        for column, (model, result) in found.items():
            ours = {line.group: read(line) for line in result.by_group}
            measure, family = (NAMES[name] for name in column)
            for row in rows:
                if printed := row["/".join(column)]:
                    named = f"{what}, {row['group']}, {measure}, {family} ({model})"
                    value = ours.get(row["group"])
                    yield Value(named, float(printed), value, decimals, reason=CHECKPOINT)

    return compute


def _released_means(sources: Sources) -> Iterator[Value]:
    """The released table of means, from the released ratings."""
    ratings = json.loads(sources.file("data_full.json", ORIGIN).read_text(encoding="utf-8"))
    released = json.loads(
        sources.file("Aggregated_scores.json", ORIGIN).read_text(encoding="utf-8")
    )
    given: dict[tuple[str, str], list[float]] = {}
    for groups in ratings.values():
        for group, scales in groups.items():
            for scale, value in scales.items():
                given.setdefault((group, scale), []).append(float(value))
    for group, scales in released.items():
        for scale, value in scales.items():
            ours = given.get((group, scale))
            yield Value(
                f"{group}, {scale}",
                float(value),
                float(np.mean(ours)) if ours else None,
                decimals=2,
                reason="" if ours else "There is no such rating.",
            )


PAPER = Paper(
    "cao2022",
    "Cao et al. (2022): Theory-Grounded Measurement of U.S. Social Stereotypes in English "
    "Language Models",
    (
        Item(
            "released-means",
            "Mean ratings in Aggregated_scores.json, from data_full.json",
            _released_means,
            reason="Two means of women in the released table are not those of the released "
            "ratings: untrustworthy – trustworthy and poor – wealthy.",
        ),
        Item("table-1", "Trait pairs", is_text=True, reason="Definitions; the library holds them."),
        Item("table-2", "Earlier work", is_text=True, reason="A comparison in words."),
        Item("table-3", "Groups", is_text=True, reason="Definitions; the library holds them."),
        Item("table-4", "Templates", is_text=True, reason="Definitions; the library holds them."),
        Item(
            "table-5",
            "Templates chosen for each measure and model",
            reason="It needs the models, and the five annotations of each pilot group that the "
            "authors drew, which the released file doesn't mark.",
            commands=(*COMMANDS[:2], "manage.py report template_selection --study STUDY --run RUN"),
        ),
        Item("table-6", "Overall τ and P@3", _overall, commands=COMMANDS),
        Item(
            "table-a7",
            "Adjectives of each trait",
            is_text=True,
            reason="Definitions; the library holds them.",
        ),
        Item(
            "table-a8",
            "Domains that dominate",
            reason="It needs RoBERTa and the paired groups.",
            commands=PAIRED,
        ),
        Item(
            "table-a9",
            "τ of paired groups with their parts, by domain",
            reason="It needs RoBERTa and the paired groups.",
            commands=PAIRED,
        ),
        Item(
            "table-a10",
            "Emergent associations",
            reason="It needs RoBERTa and the paired groups.",
            commands=PAIRED,
        ),
        Item(
            "table-a11",
            "τ of each group",
            _each_group("a11", "τ", 3, lambda line: line.tau.value),
            commands=COMMANDS,
        ),
        Item(
            "table-a12",
            "P@3 of each group, top traits",
            _each_group("a12", "P@3", 2, lambda line: line.precision_top.value),
            commands=COMMANDS,
        ),
        Item(
            "table-a13",
            "P@3 of each group, bottom traits",
            _each_group("a13", "P@3", 2, lambda line: line.precision_bottom.value),
            commands=COMMANDS,
        ),
        *(
            Item(f"table-a{number}", about, reason=NO_JOIN)
            for number, about in (
                (14, "Ratings by white annotators"),
                (15, "Ratings by Black annotators"),
                (16, "Ratings by white men"),
                (17, "Ratings by white women"),
                (18, "τ by demographics of annotators"),
            )
        ),
        Item(
            "table-a19",
            "τ without the pilot groups",
            _each_column("τ", TAU_OF_TEST_GROUPS, _tau_of_test_groups),
            commands=COMMANDS,
        ),
        Item("figure-1", "Ratings of men", reason="The figure prints no numbers."),
        Item("figure-a2", "The survey", is_text=True, reason="A picture of the survey."),
    ),
)
