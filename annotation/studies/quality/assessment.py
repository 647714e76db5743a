"""Flags of submissions and of whole studies: computed when asked for, never stored as such."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.common.quality_thresholds import Thresholds
from annotation.models import Study, Submission, SubmissionState
from annotation.studies.quality.flags import Assessment, Flag, FlagName, Severity, Undefined
from annotation.studies.quality.record import PageRecord, Record, Usual
from annotation.studies.quality.record_loader import load_records, load_usual
from annotation.studies.quality.response_indices import (
    FEWEST_PAGES,
    FEWEST_PEOPLE,
    Straightness,
    measure_speed,
    measure_straightness,
)

# --- One rule for each flag ---

Finding = Flag | Undefined | None
Rule = Callable[[Record, Usual, Thresholds], Finding]


def assess_record(record: Record, usual: Usual, thresholds: Thresholds) -> Assessment:
    """Return every flag that holds for a record, and those about which nothing is known."""
    findings = [rule(record, usual, thresholds) for rule in RULES.values()]
    return Assessment(
        flags=tuple(found for found in findings if isinstance(found, Flag)),
        undefined=tuple(found for found in findings if isinstance(found, Undefined)),
    )


def find_speeding(record: Record, usual: Usual, thresholds: Thresholds) -> Finding:
    limit = thresholds.speed_index
    if limit is None:
        return None
    seconds = {
        page: page.seconds for page in record.pages if page.seconds is not None and not page.skipped
    }
    speed = measure_speed(seconds, {page: usual.seconds_for(page) for page in seconds})
    if speed.n_pages < FEWEST_PAGES:
        return Undefined(
            FlagName.SPEEDING,
            _("Fewer than %(pages)d pages with times of %(people)d people to compare with")
            % {"pages": FEWEST_PAGES, "people": FEWEST_PEOPLE},
        )
    if speed.index <= limit or math.isclose(speed.index, limit):
        return None
    return Flag(
        FlagName.SPEEDING,
        speed.index,
        limit,
        _("%(factor).1f times as fast as usual, page by page (%(n)d pages)")
        % {"factor": speed.index, "n": speed.n_pages},
    )


def find_hurried_page(record: Record, usual: Usual, thresholds: Thresholds) -> Finding:
    limit = thresholds.seconds_per_line
    if limit is None:
        return None
    paces = [
        page.reading_seconds / len(lines)
        for page, lines in zip(record.rated_pages, record.lines, strict=False)
        if page.reading_seconds is not None and lines
    ]
    if not paces:
        return Undefined(FlagName.HURRIED_PAGE, _("No rating page has a time"))
    hurried = [pace for pace in paces if pace < limit]
    if not hurried:
        return None
    return Flag(
        FlagName.HURRIED_PAGE,
        min(hurried),
        limit,
        ngettext(
            "%(n)d rating page in less than %(limit)s s a line, the fastest in %(least).1f s",
            "%(n)d rating pages in less than %(limit)s s a line, the fastest in %(least).1f s",
            len(hurried),
        )
        % {"n": len(hurried), "limit": f"{limit:g}", "least": min(hurried)},
    )


def find_straight_lining(record: Record, usual: Usual, thresholds: Thresholds) -> Finding:
    if thresholds.straight_pages is None:
        return None
    pages = [
        page
        for lines in record.lines
        if (page := measure_straightness([line.place for line in lines])) is not None
    ]
    if not pages:
        return Undefined(FlagName.STRAIGHT_LINING, _("No page has four lines or more"))
    straight = [page for page in pages if is_straight(page, thresholds)]
    if len(straight) < thresholds.straight_pages:
        return None
    worst = max(straight, key=lambda page: (page.share, page.run, -page.spread))
    return Flag(
        FlagName.STRAIGHT_LINING,
        len(straight),
        thresholds.straight_pages,
        _(
            "%(straight)d of %(n)d pages nearly straight; on the straightest %(same)d of %(lines)d "
            "lines at %(place)s, %(run)d in a row, spread %(spread).1f"
        )
        % {
            "straight": len(straight),
            "n": len(pages),
            "same": worst.same,
            "lines": worst.n_lines,
            "place": f"{worst.place:g}",
            "run": worst.run,
            "spread": worst.spread,
        },
    )


def is_straight(page: Straightness, thresholds: Thresholds) -> bool:
    """Whether a page is straight by any of the three measures that are switched on."""
    share, run, spread = (
        thresholds.straight_share,
        thresholds.straight_run,
        thresholds.straight_spread,
    )
    return (
        (share is not None and page.share >= share)
        or (run is not None and page.run >= run)
        or (spread is not None and page.spread <= spread)
    )


def find_few_touches(record: Record, usual: Usual, thresholds: Thresholds) -> Finding:
    limit = thresholds.untouched_share
    if limit is None:
        return None
    changes = [line.changes for lines in record.lines for line in lines]
    if all(found is None for found in changes):
        return Undefined(FlagName.FEW_TOUCHES, _("The browser recorded no touches"))
    untouched = sum(not found for found in changes)
    share = untouched / len(changes)
    if share <= limit:
        return None
    mean = sum(found or 0 for found in changes) / len(changes)
    return Flag(
        FlagName.FEW_TOUCHES,
        share,
        limit,
        _("%(untouched)d of %(n)d lines answered without a touch, %(mean).1f changes a line")
        % {"untouched": untouched, "n": len(changes), "mean": mean},
    )


def find_impossible_times(record: Record, usual: Usual, thresholds: Thresholds) -> Finding:
    slack = thresholds.clock_seconds
    if slack is None:
        return None
    if not record.is_timed or not record.pages:
        return Undefined(FlagName.IMPOSSIBLE_TIMES, _("No page has a time"))
    problems: list[str] = []
    if record.finished_at is not None and record.finished_at < record.started_at:
        problems.append(_("finished before the start"))
    if backwards := sum(page.seconds is not None and page.seconds < 0 for page in record.pages):
        problems.append(
            ngettext(
                "%(n)d page sent before it was opened",
                "%(n)d pages sent before they were opened",
                backwards,
            )
            % {"n": backwards}
        )
    jumps = [jump for page in record.pages if (jump := _clock_jump(page)) > slack]
    if jumps:
        problems.append(
            _("the browser’s clock ran %(seconds).0f s beyond the page’s own time")
            % {"seconds": max(jumps)}
        )
    if not problems:
        return None
    text = "; ".join(problems)
    return Flag(
        FlagName.IMPOSSIBLE_TIMES, max(jumps, default=0.0), slack, text[0].upper() + text[1:]
    )


def _clock_jump(page: PageRecord) -> float:
    """Return the seconds by which the browser's times exceed what is possible, 0 for none.

    A page is never open for longer than from the step before to its sending, nor longer in view
    than open.
    """
    jumps = [0.0]
    if page.open_seconds is not None:
        if page.seconds is not None and page.seconds >= 0:
            jumps.append(page.open_seconds - page.seconds)
        if page.visible_seconds is not None:
            jumps.append(page.visible_seconds - page.open_seconds)
    return max(jumps)


def find_copied_text(record: Record, usual: Usual, thresholds: Thresholds) -> Finding:
    limit = thresholds.copied_characters
    if limit is None:
        return None
    shared = {text: usual.texts.get(text, 1) for text in record.texts if len(text) >= limit}
    others = max(shared.values(), default=1) - 1
    if others < 1:
        return None
    return Flag(
        FlagName.COPIED_TEXT,
        others,
        limit,
        ngettext(
            "A text of theirs stands in %(n)d other submission",
            "A text of theirs stands in %(n)d other submissions",
            others,
        )
        % {"n": others},
    )


def find_pasted_text(record: Record, usual: Usual, thresholds: Thresholds) -> Finding:
    limit = thresholds.pastes
    pastes = sum(page.pastes or 0 for page in record.pages)
    if limit is None or pastes < limit:
        return None
    return Flag(
        FlagName.PASTED_TEXT,
        pastes,
        limit,
        ngettext("Pasted %(n)d time into a text", "Pasted %(n)d times into a text", pastes)
        % {"n": pastes},
    )


def find_hidden_field(record: Record, usual: Usual, thresholds: Thresholds) -> Finding:
    filled = sum(page.filled_hidden_field for page in record.pages)
    if not thresholds.hidden_field or not filled:
        return None
    return Flag(
        FlagName.HIDDEN_FIELD,
        filled,
        1,
        ngettext(
            "Filled a field that nobody sees on %(n)d page",
            "Filled a field that nobody sees on %(n)d pages",
            filled,
        )
        % {"n": filled},
    )


def find_same_identity(record: Record, usual: Usual, thresholds: Thresholds) -> Finding:
    if not thresholds.same_identity:
        return None
    if record.same_identities is None:
        return Undefined(FlagName.SAME_IDENTITY, _("The panel gave no id"))
    if not record.same_identities:
        return None
    return Flag(
        FlagName.SAME_IDENTITY,
        record.same_identities,
        1,
        ngettext(
            "%(n)d other submission of the study under the same id of the panel",
            "%(n)d other submissions of the study under the same id of the panel",
            record.same_identities,
        )
        % {"n": record.same_identities},
    )


def find_other_studies(record: Record, usual: Usual, thresholds: Thresholds) -> Finding:
    limit = thresholds.other_studies
    if limit is None:
        return None
    if record.other_studies is None:
        return Undefined(FlagName.OTHER_STUDIES, _("The panel gave no id"))
    if record.other_studies < limit:
        return None
    return Flag(
        FlagName.OTHER_STUDIES,
        record.other_studies,
        limit,
        ngettext(
            "Took part in %(n)d other study on this platform",
            "Took part in %(n)d other studies on this platform",
            record.other_studies,
        )
        % {"n": record.other_studies},
        Severity.NOTE,
    )


RULES: dict[FlagName, Rule] = {
    FlagName.SPEEDING: find_speeding,
    FlagName.HURRIED_PAGE: find_hurried_page,
    FlagName.STRAIGHT_LINING: find_straight_lining,
    FlagName.FEW_TOUCHES: find_few_touches,
    FlagName.IMPOSSIBLE_TIMES: find_impossible_times,
    FlagName.COPIED_TEXT: find_copied_text,
    FlagName.PASTED_TEXT: find_pasted_text,
    FlagName.HIDDEN_FIELD: find_hidden_field,
    FlagName.SAME_IDENTITY: find_same_identity,
    FlagName.OTHER_STUDIES: find_other_studies,
}


@dataclass(frozen=True)
class FlagCounts:
    """``finished`` submissions, ``flagged`` of them with a warning; ``by_name``: flags."""

    finished: int
    flagged: int
    by_name: dict[FlagName, int]


class StudyAssessor:
    """Assesses submissions of one study part by part; reads once what is usual there."""

    def __init__(self, study: Study) -> None:
        self.study = study

    @cached_property
    def usual(self) -> Usual:
        return load_usual(self.study)

    def assess(self, submissions: Sequence[Submission]) -> dict[int, Assessment]:
        """Return what is conspicuous about submissions, by key. Six queries, four more at first.

        At most 20,000 submissions at a time.
        """
        thresholds = self.study.thresholds
        return {
            key: assess_record(record, self.usual, thresholds)
            for key, record in load_records(self.study, submissions).items()
        }


def assess_submissions(submissions: Iterable[Submission]) -> dict[int, Assessment]:
    """Return what is conspicuous about submissions, by key.

    One query, and ten for each study, however many submissions it has.
    """
    by_study: dict[int, list[Submission]] = {}
    for submission in submissions:
        by_study.setdefault(submission.study_id, []).append(submission)
    found: dict[int, Assessment] = {}
    for study in Study.objects.filter(pk__in=by_study):
        found |= StudyAssessor(study).assess(by_study[study.pk])
    return found


def count_flags(study: Study) -> FlagCounts:
    """Return how many finished submissions of a study have which flags. Eleven queries."""
    finished = list(Submission.objects.in_scope(study).filter(state=SubmissionState.FINISHED))
    found = StudyAssessor(study).assess(finished).values()
    names = Counter(flag.name for one in found for flag in one.flags)
    return FlagCounts(
        finished=len(finished),
        flagged=sum(one.has_warning for one in found),
        by_name={name: names[name] for name in FlagName},
    )
