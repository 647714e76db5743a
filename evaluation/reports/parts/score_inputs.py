"""Loads the scores of a run as a table of groups by traits, with the names of both."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from annotation.common.lazy import pd
from annotation.common.row_order import order_rows
from annotation.models import SocialGroup, TraitPair
from evaluation.reports.parts.corpus_inputs import hash_rows, run_record
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.score_words import asked_question, sentence_source
from probing.models import Run, RunStatus, Score

PAIR_SCORE = "pair_score"


@dataclass(frozen=True)
class TraitName:
    """A trait pair as it is written."""

    slug: str
    low: str
    high: str
    dimension: str

    @property
    def text(self) -> str:
        return f"{self.low} – {self.high}"


@dataclass(frozen=True)
class RunScores:
    """``table``: groups by traits, NaN = no score, mean over templates.

    by_template : columns group, scale, template, value; one row a template, NaN = no score
    names : slug of every scored group → its plural
    """

    table: pd.DataFrame
    by_template: pd.DataFrame
    names: dict[str, str]
    traits: tuple[TraitName, ...]
    record: dict[str, Any]
    digest: str


def load_run_scores(run: Run) -> RunScores:
    """Return the pair scores of a finished run; names as they were when it was made.

    Raises `ReportError` where the run is not finished or has no pair score. Three queries.
    """
    if run.status != RunStatus.FINISHED:
        raise ReportError(f"{run} is {run.get_status_display().lower()}, expected a finished run.")
    found = Score.objects.filter(run=run, name=PAIR_SCORE)
    scores = order_rows(found.values_list("group", "trait", "template", "value"), 0, 1, 2)
    rows = [(group, trait, value) for group, trait, template, value in scores if not template]
    if not rows:
        raise ReportError(f"{run} has no scores of groups on trait pairs.")
    frame = pd.DataFrame(rows, columns=["group", "trait", "value"]).astype({"value": float})
    table = frame.set_index(["group", "trait"])["value"].unstack("trait")
    traits = _trait_names(run, set(table.columns))
    return RunScores(
        table=table[[trait.slug for trait in traits]],
        by_template=pd.DataFrame(
            [row for row in scores if row[2]] or scores,
            columns=["group", "scale", "template", "value"],
        ).astype({"value": float}),
        names=_group_names(run, [str(slug) for slug in table.index]),
        traits=traits,
        record={
            "run": run_record(run)
            | {
                "templates": [entry["text"] for entry in run.stimuli.get("templates", [])],
                "sentences": sentence_source(run),
                "question": asked_question(run),
            },
            "traits": [asdict(trait) for trait in traits],
        },
        digest=hash_rows(list(row) for row in rows),
    )


def run_groups(run: Run) -> set[str]:
    """Return the slugs of the groups that a run scores, as far as its stimuli say."""
    return {entry["slug"] for entry in run.stimuli.get("groups", [])}


def _group_names(run: Run, slugs: list[str]) -> dict[str, str]:
    names = dict(SocialGroup.objects.filter(slug__in=slugs).values_list("slug", "plural"))
    names |= {entry["slug"]: entry["plural"] for entry in run.stimuli.get("groups", [])}
    return {slug: names.get(slug, slug) for slug in slugs}


def _trait_names(run: Run, scored: set[str]) -> tuple[TraitName, ...]:
    """Return the scored traits in the run's order; those that only the library knows follow it."""
    entries = {
        slug: TraitName(slug, low, high, dimension)
        for slug, low, high, dimension in TraitPair.objects.values_list(
            "slug", "low", "high", "dimension"
        )
    }
    stated = {
        entry["slug"]: TraitName(entry["slug"], entry["low"], entry["high"], entry["dimension"])
        for entry in run.stimuli.get("traits", [])
    }
    known = stated | {slug: name for slug, name in entries.items() if slug not in stated}
    strangers = {slug: TraitName(slug, slug, slug, "") for slug in sorted(scored - set(known))}
    return tuple(name for slug, name in (known | strangers).items() if slug in scored)
