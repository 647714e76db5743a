"""False positives counted by group, word, template and run, and drawn templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from annotation.common.lazy import pd
from evaluation.analyses.resample_options import ResamplingOptions
from probing.measures.false_positives import false_positive_rate

Floats = NDArray[np.float64]
IntervalKind = Literal["simultaneous", "these-runs", "t", "released"]
#: What an answer that names no class counts as: the class that was drawn, nothing, or the worst and
#: the best.
Fallback = Literal["random", "drop", "errors", "correct"]


@dataclass(frozen=True)
class GapOptions(ResamplingOptions):
    """Options of the analysis.

    interval : which interval stands beside a gap: of all gaps at once for runs like these or for
        these runs, or Student's or the released one over runs
    margin : gaps smaller than this count as none; for the equivalence test
    released_eps : rates as the released code has them
    fallback : what answers without a class count as
    """

    interval: IntervalKind = "simultaneous"
    margin: float = 0.02
    released_eps: bool = False
    fallback: Fallback = "random"


@dataclass(frozen=True)
class Predictions:
    """What one model said of one set of sentences.

    sentences : (n,) rows with group, filler, template, label; filler and template are empty where
        they are not known
    predicted : (n_runs, n) numbers of classes
    roles : role of every group (“group”, “placebo”, “unmarked”), in the order of tables
    matched : (n_runs, n) False where an answer named no class; None without answers
    factors : (n_runs,) rows with wording, order and seed of every run; None without prompts
    """

    model: str
    data_set: str
    sentences: pd.DataFrame
    predicted: NDArray[np.int64]
    runs: tuple[str, ...]
    roles: Mapping[str, str]
    classes: tuple[str, ...]
    matched: NDArray[np.bool_] | None = None
    factors: pd.DataFrame | None = None


@dataclass(frozen=True)
class Unit:
    """A group, or a filler of one, with the places of its cells."""

    group: str
    filler: str
    role: str
    n_fillers: int
    cells: tuple[int, ...]


@dataclass
class CountTable:
    """Counts by class, run, unit and template.

    fp : (n_classes, n_runs, n_units, n_templates); negatives : the same, one run for all where
        these have the same sentences
    right : (n_runs, n_units) right predictions; sizes : (n_runs, n_units) sentences, likewise
    """

    units: list[Unit]
    fp: Floats
    negatives: Floats
    right: Floats
    sizes: Floats
    n_templates: int
    reference: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        self.reference = np.array([u.role == "group" and not u.filler for u in self.units])

    def rates(self, *, released_eps: bool = False) -> Floats:
        """Return rates (n_classes, n_runs, n_units)."""
        fp, negatives = self.fp.sum(-1), self.negatives.sum(-1)
        return false_positive_rate(fp, negatives, released_eps=released_eps)

    def gaps(self, rates: Floats) -> Floats:
        """Return the rates minus their mean over the groups that are compared."""
        return rates - rates[:, :, self.reference].mean(axis=2, keepdims=True)


def count_errors(predictions: Predictions, fallback: Fallback = "random") -> CountTable:
    """Return the counts that rates and their replicates are made of."""
    frame, predicted = predictions.sentences, np.asarray(predictions.predicted)
    keys = list(zip(frame["group"], frame["filler"], strict=True))
    cells = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    templates = {slug: place for place, slug in enumerate(sorted(set(frame["template"])))}
    shape = (len(cells), len(templates))
    place = np.array([cells[key] for key in keys]) * shape[1]
    place += np.array([templates[slug] for slug in frame["template"]])
    labels = frame["label"].to_numpy()

    named = np.ones((1, len(frame)), dtype=bool)
    if predictions.matched is not None and fallback != "random":
        named = np.asarray(predictions.matched, dtype=bool)
    kept = named if fallback == "drop" else np.ones((1, len(frame)), dtype=bool)

    def sums(mask: NDArray[np.bool_]) -> Floats:
        return np.bincount(place, mask, minlength=shape[0] * shape[1]).reshape(shape).astype(float)

    classes = range(len(predictions.classes))
    said = np.broadcast_to(named, predicted.shape)
    worst, best = fallback == "errors", fallback == "correct"
    fp = np.array(
        [
            [
                sums((labels != c) & (((row == c) & own) | (~own & worst)))
                for row, own in zip(predicted, said, strict=True)
            ]
            for c in classes
        ]
    )
    negatives = np.array([[sums((labels != c) & row) for row in kept] for c in classes])
    right = np.array(
        [
            sums(((labels == row) & own) | (~own & best)).sum(1)
            for row, own in zip(predicted, said, strict=True)
        ]
    )
    sizes = np.array([sums(row).sum(1) for row in kept])
    units = list(_units(predictions.roles, cells))
    member = np.zeros((len(units), len(cells)))
    for row, unit in enumerate(units):
        member[row, list(unit.cells)] = 1
    return CountTable(
        units,
        np.einsum("uk,crkt->crut", member, fp),
        np.einsum("uk,crkt->crut", member, negatives),
        right @ member.T,
        sizes @ member.T,
        len(templates) if "" not in templates else 0,
    )


def _units(roles: Mapping[str, str], cells: Mapping[tuple[str, str], int]) -> Iterator[Unit]:
    """Yield every group that has sentences, then its fillers where they are known."""
    for group, role in roles.items():
        own = {filler: place for (name, filler), place in cells.items() if name == group}
        if not own:
            continue
        known = 0 if "" in own else len(own)
        yield Unit(group, "", role, known, tuple(own.values()))
        for filler, place in own.items() if known else ():
            yield Unit(group, filler, role, 1, (place,))
