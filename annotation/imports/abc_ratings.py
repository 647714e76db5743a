"""Stores published group ratings as a closed study with the origin “imported”."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.imports.abc_demographics import parse_demographics
from annotation.imports.abc_file import (
    ParsedFile,
    Problem,
    RatingEntry,
    Vocabulary,
    build_vocabulary,
    parse_abc_file,
)
from annotation.imports.closed_study import store_closed_study
from annotation.imports.import_kind import digest_rows, refuse_second
from annotation.instruments.content_hash import hash_instrument
from annotation.models import (
    DataDecision,
    GroupAssignment,
    Instrument,
    Outcome,
    Participant,
    PayDecision,
    PoleSides,
    Rating,
    SocialGroup,
    Study,
    Submission,
    SubmissionState,
    TraitPair,
)
from annotation.models.tokens import spell
from annotation.steps.rating import RatingStep
from annotation.studies.creation import copy_groups, copy_scales, order_groups
from annotation.studies.participant_answers import store_summary
from annotation.studies.quality.damage import PlacedRating, describe_damage, find_damage

CITATION = (
    "Cao, Sotnikova, Daumé III, Rudinger and Zou (2022): Theory-Grounded Measurement of U.S. "
    "Social Stereotypes in English Language Models. NAACL 2022. MIT license."
)
TITLE = "Group ratings of Cao et al. (2022)"
DIGEST_SHOWN = 12
BATCH = 1000


class BadRowsError(Exception):
    """The file has bad rows and nothing was stored."""

    def __init__(self, parsed: ParsedFile) -> None:
        super().__init__(
            f"Nothing was imported: {parsed.n_skipped} of {parsed.n_skipped + len(parsed.rows)} "
            f"ratings stand in {len(parsed.problems)} bad places."
        )
        self.problems = parsed.problems


@dataclass(frozen=True)
class NamedContent:
    """A file's name and bytes."""

    name: str
    content: bytes

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True)
class ImportResult:
    """``n_described`` : people in the file of who took part, 0 without one.

    warnings : signs that the file was damaged on its way; they stop nothing
    """

    study: Study
    n_submissions: int
    n_groups: int
    n_scales: int
    n_ratings: int
    skipped: tuple[Problem, ...]
    n_described: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def n_skipped(self) -> int:
        """Values of the file that were left out."""
        return sum(problem.n_ratings for problem in self.skipped)


def import_abc_ratings(
    *,
    content: bytes,
    file_name: str,
    owner: AbstractBaseUser | None = None,
    title: str = TITLE,
    citation: str = CITATION,
    skip_bad: bool = False,
    demographics: NamedContent | None = None,
    parsed: ParsedFile | None = None,
) -> ImportResult:
    """Store a file of ratings as one closed study, or nothing at all.

    ``demographics`` says who took part: counts are kept per question, not people, since the
    published answers cannot be joined to ratings. ``parsed`` are the ratings of a file of another
    shape, which was read before.

    Raises `AbcFileError` for a file of another shape, `BadRowsError` for bad rows unless
    ``skip_bad``, `AlreadyImportedError` for ratings that a study holds already and
    `ValidationError` where no rating is left or the title is not valid.
    """
    digest = hashlib.sha256(content).hexdigest()
    is_table = parsed is not None
    if parsed is None:
        parsed = parse_abc_file(content, load_vocabulary())
    if parsed.problems and not skip_bad:
        raise BadRowsError(parsed)
    if not parsed.rows:
        raise ValidationError("Nothing was imported: no rating is left, all rows are bad.")
    refuse_second(Study, digest_ratings(parsed))
    published = parse_demographics(demographics.content) if demographics else None
    source = f"{citation}\nFile: {file_name}\nSHA-256: {digest}"
    try:
        with transaction.atomic():
            # Of published JSON, ids rest on the file, as they always have.
            seed = digest_ratings(parsed) if is_table else digest
            study = _store(parsed, digest=seed, owner=owner, title=title, source=source)
            if demographics and published:
                store_summary(
                    study=study,
                    n_people=published.n_people,
                    questions=published.questions,
                    source=f"File: {demographics.name}\nSHA-256: {demographics.digest}",
                )
    except IntegrityError:  # two imports of the same at once
        refuse_second(Study, digest_ratings(parsed))
        raise
    return ImportResult(
        study=study,
        n_submissions=len({row.annotator for row in parsed.rows}),
        n_groups=len({row.group for row in parsed.rows}),
        n_scales=len({row.scale for row in parsed.rows}),
        n_ratings=len(parsed.rows),
        skipped=parsed.problems,
        n_described=published.n_people if published else 0,
        warnings=find_warnings(parsed),
    )


def find_warnings(parsed: ParsedFile) -> tuple[str, ...]:
    """Return the signs of damage in a file, in its own words."""
    return tuple(
        describe_damage(damage, parsed.names, people_named=True)
        for damage in find_damage(map(PlacedRating._make, parsed.rows))
    )


def load_vocabulary() -> Vocabulary:
    """Return the spellings of the library's groups and trait pairs. Two queries."""
    return build_vocabulary(
        [
            (group.slug, (group.singular, group.plural, group.plural_capitalised))
            for group in SocialGroup.objects.all()
        ],
        TraitPair.objects.values_list("slug", "low", "high"),
    )


def digest_ratings(parsed: ParsedFile) -> str:
    """Return the hash of ratings, however their file wrote them."""
    return digest_rows(parsed.rows)


@transaction.atomic
def _store(
    parsed: ParsedFile,
    *,
    digest: str,
    owner: AbstractBaseUser | None,
    title: str,
    source: str,
) -> Study:
    rows = parsed.rows
    annotated = Counter(group for _, group in {(row.annotator, row.group) for row in rows})
    study = store_closed_study(
        title=title,
        owner=owner,
        source=source,
        rows_digest=digest_ratings(parsed),
        quota_per_group=min(annotated.values()),
    )
    instrument = _store_instrument(study, rows)
    assignments = _store_submissions(study, instrument, rows, digest)
    scales = {scale.slug: scale for scale in instrument.scales.all()}
    Rating.objects.bulk_create(
        [
            Rating(
                assignment=assignments[row.annotator, row.group],
                scale=scales[row.scale],
                value=row.value,
                # The low pole stood on the left throughout; the place on the page is not known.
                flipped=False,
            )
            for row in rows
        ],
        batch_size=BATCH,
    )
    return study


def _store_instrument(study: Study, rows: Sequence[RatingEntry]) -> Instrument:
    """Store the groups and scales that occur, frozen: nobody will see it differently again."""
    longest = max(Counter(name for name, _ in {(r.annotator, r.group) for r in rows}).values())
    instrument = Instrument.objects.create(
        study=study, flow=[RatingStep.name] * longest, pole_sides=PoleSides.FIXED
    )
    groups = SocialGroup.objects.filter(slug__in={row.group for row in rows})
    copy_groups(instrument=instrument, groups=order_groups(groups))
    pairs = TraitPair.objects.filter(slug__in={row.scale for row in rows})
    copy_scales(instrument=instrument, trait_pairs=pairs)
    instrument.content_hash = hash_instrument(instrument)
    instrument.frozen_at = timezone.now()
    instrument.save(update_fields=["content_hash", "frozen_at"])
    return instrument


def _store_submissions(
    study: Study, instrument: Instrument, rows: Sequence[RatingEntry], digest: str
) -> dict[tuple[str, str], GroupAssignment]:
    """Store one accepted submission per annotator; return the assignments by their names."""
    names = list(dict.fromkeys(row.annotator for row in rows))
    participants = Participant.objects.bulk_create(
        [Participant(pseudonym=f"{name}@{digest[:DIGEST_SHOWN]}") for name in names],
        batch_size=BATCH,
    )
    submissions = Submission.objects.bulk_create(
        [
            Submission(
                public_id=_derive_public_id(digest, name),
                study=study,
                instrument=instrument,
                participant=participant,
                state=SubmissionState.FINISHED,
                outcome=Outcome.COMPLETED,
                step_index=len(instrument.flow),
                data_decision=DataDecision.ACCEPTED,
                pay_decision=PayDecision.APPROVED,
            )
            for name, participant in zip(names, participants, strict=True)
        ],
        batch_size=BATCH,
    )
    by_name = dict(zip(names, submissions, strict=True))
    groups = {group.slug: group for group in instrument.groups.all()}
    positions: Counter[str] = Counter()
    keys = list(dict.fromkeys((row.annotator, row.group) for row in rows))
    assignments = []
    for name, slug in keys:
        positions[name] += 1
        assignments.append(
            GroupAssignment(submission=by_name[name], group=groups[slug], position=positions[name])
        )
    stored = GroupAssignment.objects.bulk_create(assignments, batch_size=BATCH)
    return dict(zip(keys, stored, strict=True))


def _derive_public_id(digest: str, name: str) -> str:
    """Return a submission's public id that is the same wherever this file is imported.

    Reports name their ratings by a hash over public ids: it must not change with the database.
    """
    return spell(int(hashlib.sha256(f"{digest}\n{name}".encode()).hexdigest(), 16))
