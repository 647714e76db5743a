"""Loads what an alignment report rests on: accepted ratings, a run's scores, and their names."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import Any, TypedDict

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from annotation.common.lazy import pd
from annotation.common.row_order import order_rows
from annotation.instruments.versions import published_instrument
from annotation.models import DataDecision, Domain, Study, StudyKind, SubmissionState
from annotation.studies.ratings import hash_ratings, load_accepted_ratings
from annotation.studies.study_arms import in_arm, list_arms
from evaluation.analyses.score_table import ScoreTable
from evaluation.models import Report
from evaluation.reports.parts.corpus_inputs import run_record
from evaluation.reports.parts.document import Provenance
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import count, listing
from evaluation.reports.parts.kind import Chosen, ReportKind, StudyInput
from evaluation.reports.parts.records import RunRecord, StudyRecord
from evaluation.reports.parts.score_words import asked_question, sentence_source
from probing.models import Run, RunStatus, Score

PAIR_SCORE = "pair_score"


class RatingsKind(ReportKind):
    """A kind that rests on the accepted ratings of a study."""

    study = StudyInput(StudyKind.ABC_SURVEY, _("Studies with accepted ratings."))

    def fitting_studies(self, studies: QuerySet[Study]) -> QuerySet[Study]:
        return (
            super()
            .fitting_studies(studies)
            .filter(submissions__data_decision=DataDecision.ACCEPTED, submissions__is_counted=True)
            .distinct()
        )

    def check(self, chosen: Chosen, parameters: Any) -> None:
        """Two queries at most."""
        arm = getattr(parameters, "arm", "")
        check_arm(chosen.the_study, arm)
        submissions = in_arm(chosen.the_study.submissions.all(), arm)
        if not submissions.filter(data_decision=DataDecision.ACCEPTED, is_counted=True).exists():
            raise ReportError(no_ratings(chosen.the_study))

    def sources(self, report: Report) -> list[Provenance]:
        """Return ratings with their import's file and hash, runs, and the analysis's signature."""
        signature = (report.result or {}).get("signature")
        lines = [line.partition(": ") for line in report.inputs["study"]["source"].splitlines()[1:]]
        return [
            *super().sources(report),
            *((name, "", text) for name, _colon, text in lines if text),
            *([("Analysis", "", signature)] if signature else []),
        ]


def no_ratings(study: Study) -> str:
    return (
        f"“{study}” has no accepted ratings. Accept submissions in the review queue, or import "
        "ratings."
    )


def check_arm(study: Study, arm: str) -> str:
    """Return the label of an arm, "" for no arm. `ReportError` for one that the study has not."""
    if not arm:
        return ""
    arms = list_arms(study)
    if arm not in arms:
        known = ", ".join(f"“{name}”" for name in arms) or "none"
        raise ReportError(f"“{study}” has no arm “{arm}”. Arms: {known}.")
    return arms[arm]


def title_of_arm(study: Study, label: str) -> str:
    """Return what a report calls the study, or the people of one arm of it."""
    return f"{study.title}, arm “{label}”" if label else study.title


@dataclass(frozen=True)
class GroupName:
    """How a group is written; ``domain`` is its first domain's name, empty without one."""

    slug: str
    plural: str
    domain: str


@dataclass(frozen=True)
class ScaleName:
    slug: str
    low: str
    high: str
    dimension: str


class Places:
    """What was rated: groups and scales in the instrument's order."""

    groups: tuple[GroupName, ...]
    scales: tuple[ScaleName, ...]

    @property
    def order(self) -> dict[str, list[str]]:
        """Slugs of groups and scales, as analyses take them."""
        return {
            "groups": [group.slug for group in self.groups],
            "scales": [scale.slug for scale in self.scales],
        }


@dataclass(frozen=True)
class AlignmentInputs(Places):
    """``ratings``: submission, group, scale, value. ``scores``: group, scale, value, by template.

    ``groups`` and ``scales`` are those that people and model have in common, in the instrument's
    order; the names of groups that only one side has are in the record. ``all_scores`` has these
    groups too, among them the unmarked baseline where the run scores it.
    """

    ratings: pd.DataFrame
    scores: pd.DataFrame
    all_scores: pd.DataFrame
    score_reasons: dict[tuple[str, str], str]
    groups: tuple[GroupName, ...]
    scales: tuple[ScaleName, ...]
    record: dict[str, Any]

    @property
    def hashes(self) -> dict[str, str]:
        return {
            "study ratings_hash": self.record["study"]["ratings_hash"],
            "run scores_hash": self.record["run"]["scores_hash"],
        }

    def score_table(self, level: float) -> ScoreTable:
        return ScoreTable.from_long(self.scores, reasons=self.score_reasons, level=level)


@dataclass(frozen=True)
class People(Places):
    """Accepted ratings of a study with the names of what was rated, in the instrument's order.

    names : slug → plural of every group that the instrument asks about
    """

    study: Study
    ratings: pd.DataFrame
    groups: tuple[GroupName, ...]
    scales: tuple[ScaleName, ...]
    names: dict[str, str]
    record: dict[str, Any]


@dataclass(frozen=True)
class ModelScores:
    """Pair scores of a run by template, and why a cell has none.

    names : slug → plural of every group that the run's stimuli name
    """

    run: Run
    scores: pd.DataFrame
    reasons: dict[tuple[str, str], str]
    names: dict[str, str]
    record: RunRecord

    @property
    def groups(self) -> set[str]:
        return set(self.scores["group"])

    @property
    def scales(self) -> set[str]:
        return set(self.scores["scale"])


class ReviewRecord(TypedDict):
    """Finished submissions of a study, or of one arm of it, and what the review made of them."""

    finished: int
    accepted: int
    excluded: int


def count_submissions(study: Study, arm: str) -> ReviewRecord:
    """Three queries."""
    finished = study.submissions.filter(state=SubmissionState.FINISHED, is_counted=True)
    submissions = in_arm(finished, arm)
    return {
        "finished": submissions.count(),
        "accepted": submissions.filter(data_decision=DataDecision.ACCEPTED).count(),
        "excluded": submissions.filter(data_decision=DataDecision.EXCLUDED).count(),
    }


def load_people(study: Study, *, arm: str = "") -> People:
    """Return the accepted ratings of ``study``, or of one arm; `ReportError` where there are none.

    Eight queries, whatever the size of the study, and one for an arm.
    """
    label = check_arm(study, arm)
    ratings = load_accepted_ratings(study, arm=arm)
    if ratings.empty:
        raise ReportError(no_ratings(study))
    instrument = published_instrument(study)
    if instrument is None:
        raise ReportError(f"“{study}” has no frozen instrument.")
    rated = set(ratings["group"].unique())
    domains = dict(Domain.choices)
    asked = list(instrument.groups.all())
    return People(
        study=study,
        ratings=ratings,
        groups=tuple(
            GroupName(
                group.slug, group.plural, str(domains[group.domains[0]]) if group.domains else ""
            )
            for group in asked
            if group.slug in rated
        ),
        scales=tuple(
            ScaleName(scale.slug, scale.low, scale.high, scale.dimension)
            for scale in instrument.scales.all()
        ),
        names={group.slug: group.plural for group in asked},
        record={
            "public_id": study.public_id,
            "title": title_of_arm(study, label),
            **({"arm": arm} if arm else {}),
            "origin": study.origin,
            "source": study.source,
            "instrument_version": instrument.version,
            "instrument_hash": instrument.content_hash,
            "groups_per_submission": _count_rated_groups(ratings),
            **count_submissions(study, arm),
            "ratings": len(ratings),
            "ratings_hash": hash_ratings(ratings),
        },
    )


def load_model_scores(run: Run) -> ModelScores:
    """Return the pair scores of a finished run; `ReportError` for another state. One query."""
    if run.status != RunStatus.FINISHED:
        raise ReportError(f"{run} is {run.get_status_display().lower()}, expected a finished run.")
    scores, reasons = _load_scores(run)
    return ModelScores(
        run=run,
        scores=scores,
        reasons=reasons,
        names={entry["slug"]: entry["plural"] for entry in run.stimuli.get("groups", [])},
        record=run_record(run)
        | {
            "templates": [template["text"] for template in run.stimuli.get("templates", [])],
            "sentences": sentence_source(run),
            "question": asked_question(run),
            "scores_hash": _hash_scores(scores),
        },
    )


def load_alignment_inputs(*, study: Study, run: Run, arm: str = "") -> AlignmentInputs:
    """Return the inputs of a report on ``study``, or one arm of it, and a finished ``run``.

    Raises `ReportError` where people or model have nothing to compare. Nine queries, whatever
    the size of the study.
    """
    model = load_model_scores(run)
    people = load_people(study, arm=arm)
    groups = tuple(group for group in people.groups if group.slug in model.groups)
    scales = tuple(scale for scale in people.scales if scale.slug in model.scales)
    if not groups:
        raise ReportError(f"“{study}” and {run} have no group in common.")
    if not scales:
        raise ReportError(f"“{study}” and {run} have no trait scale in common.")
    common = {group.slug for group in groups}
    names = model.names | people.names
    return AlignmentInputs(
        ratings=people.ratings,
        scores=model.scores[model.scores["group"].isin(common)].reset_index(drop=True),
        all_scores=model.scores,
        score_reasons=model.reasons,
        groups=groups,
        scales=scales,
        record={
            "study": people.record,
            "run": model.record,
            "groups": [asdict(group) for group in groups],
            "scales": [asdict(scale) for scale in scales],
            "other_groups": {slug: name for slug, name in names.items() if slug not in common},
        },
    )


def _load_scores(run: Run) -> tuple[pd.DataFrame, dict[tuple[str, str], str]]:
    """Return pair scores by template, and why a cell has no score at all. One query."""
    found = Score.objects.filter(run=run, name=PAIR_SCORE)
    rows = order_rows(found.values_list("group", "trait", "template", "value", "reason"), 0, 1, 2)
    reasons = {
        (group, trait): reason
        for group, trait, template, value, reason in rows
        if not template and value is None
    }
    frame = pd.DataFrame(
        [
            (group, trait, template, float("nan") if value is None else value)
            for group, trait, template, value, _reason in rows
            if template
        ],
        columns=["group", "scale", "template", "value"],
    )
    return frame, reasons


def _count_rated_groups(ratings: pd.DataFrame) -> int:
    """Return how many groups most submissions rated."""
    counts = ratings.groupby("submission")["group"].nunique().sort_values()
    return int(counts.iloc[len(counts) // 2])


def _hash_scores(scores: pd.DataFrame) -> str:
    """Return the SHA-256 of the scores in their stored order."""
    digest = hashlib.sha256()
    for row in scores.itertuples(index=False):
        digest.update(f"{row.group}\t{row.scale}\t{row.template}\t{row.value!r}\n".encode())
    return digest.hexdigest()


def say_accepted(study: StudyRecord) -> str:
    """Return how many submissions of a recorded study were accepted, as a clause."""
    n, finished = study["accepted"], study["finished"]
    if n == finished == 1:
        return "The one finished submission was accepted"
    verb = "was" if n == 1 else "were"
    return f"{count(n, 'submission')} of {finished} finished ones {verb} accepted"


def left_out_in_review(study: ReviewRecord | StudyRecord) -> tuple[str, ...]:
    """Return how many finished submissions do not count, and why, as a line or none."""
    n, excluded = study["finished"] - study["accepted"], study["excluded"]
    if not n:
        return ()
    parts = [f"{excluded} excluded in the review"] if excluded else []
    parts += [f"{n - excluded} not accepted"] if n > excluded else []
    of = count(study["finished"], "finished submission")
    return (f"{n} of {of}: {listing(parts)}. The rest counts.",)
