"""The main page of a study, and its figures as tables to download."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import chain
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.common.money import format_reward
from annotation.common.proportions import Proportion
from annotation.common.small_cells import DEFAULT_MINIMUM
from annotation.common.tables import Column, ColumnType, Table
from annotation.common.target_margins import OTHERS
from annotation.instruments.checks.rules import CHECK_RULES
from annotation.instruments.us_states import STATES
from annotation.instruments.versions import current_instrument
from annotation.models import (
    PAYMENT_PERMISSION,
    CheckKind,
    DataDecision,
    Origin,
    Panel,
    Study,
    StudyStatus,
    Submission,
    SubmissionOrigin,
)
from annotation.models.submission import EXTRAS, in_review
from annotation.panels.study_settings import load_panel_settings
from annotation.researcher.pages import formatting
from annotation.researcher.pages.export_page import ExportRow, describe_exports, list_addresses
from annotation.researcher.pages.formatting import Key
from annotation.researcher.pages.links import link_findings, participant_link
from annotation.researcher.pages.next_steps import find_study_steps
from annotation.researcher.studies.dashboard import (
    Box,
    describe_dashboard,
    draw_histogram,
    draw_slots,
)
from annotation.studies.dashboard import count_begun, count_leaving, load_dashboard
from annotation.studies.overview import Overview, load_overview
from annotation.studies.pilot import count_pilot
from annotation.studies.quotas import GroupQuota
from annotation.studies.readiness import examine_study
from annotation.studies.submission_summary import notice_submissions
from annotation.studies.target_quotas import (
    CellRow,
    Participants,
    StateCounts,
    load_participants,
)

# --- Targets and the map of states, in words and places, ready for their templates ----------------

TILE = 28
# One square for each state, about where it lies: column and row.
# fmt: off
TILES = {
    "Alaska": ("AK", 0, 0), "Maine": ("ME", 11, 0), "Vermont": ("VT", 10, 1),
    "New Hampshire": ("NH", 11, 1), "Washington": ("WA", 1, 2), "Idaho": ("ID", 2, 2),
    "Montana": ("MT", 3, 2), "North Dakota": ("ND", 4, 2), "Minnesota": ("MN", 5, 2),
    "Illinois": ("IL", 6, 2), "Wisconsin": ("WI", 7, 2), "Michigan": ("MI", 8, 2),
    "New York": ("NY", 9, 2), "Rhode Island": ("RI", 10, 2), "Massachusetts": ("MA", 11, 2),
    "Oregon": ("OR", 1, 3), "Nevada": ("NV", 2, 3), "Wyoming": ("WY", 3, 3),
    "South Dakota": ("SD", 4, 3), "Iowa": ("IA", 5, 3), "Indiana": ("IN", 6, 3),
    "Ohio": ("OH", 7, 3), "Pennsylvania": ("PA", 8, 3), "New Jersey": ("NJ", 9, 3),
    "Connecticut": ("CT", 10, 3), "California": ("CA", 1, 4), "Utah": ("UT", 2, 4),
    "Colorado": ("CO", 3, 4), "Nebraska": ("NE", 4, 4), "Missouri": ("MO", 5, 4),
    "Kentucky": ("KY", 6, 4), "West Virginia": ("WV", 7, 4), "Virginia": ("VA", 8, 4),
    "Maryland": ("MD", 9, 4), "Delaware": ("DE", 10, 4), "Arizona": ("AZ", 2, 5),
    "New Mexico": ("NM", 3, 5), "Kansas": ("KS", 4, 5), "Arkansas": ("AR", 5, 5),
    "Tennessee": ("TN", 6, 5), "North Carolina": ("NC", 7, 5), "South Carolina": ("SC", 8, 5),
    "District of Columbia": ("DC", 9, 5), "Oklahoma": ("OK", 4, 6), "Louisiana": ("LA", 5, 6),
    "Mississippi": ("MS", 6, 6), "Alabama": ("AL", 7, 6), "Georgia": ("GA", 8, 6),
    "Hawaii": ("HI", 1, 7), "Texas": ("TX", 4, 7), "Florida": ("FL", 9, 7),
}
# fmt: on


@dataclass(frozen=True)
class Tile:
    """A square of the map; ``css`` is its shade, ``text_css`` that of its letters."""

    letters: str
    name: str
    x: int
    y: int
    css: str
    text_css: str
    count: str
    target: str

    @property
    def text_x(self) -> int:
        return self.x + TILE // 2 - 1

    @property
    def text_y(self) -> int:
        return self.y + TILE // 2 + 3


def describe_targets(overview: Overview) -> dict[str, Any]:
    """Return what the templates of targets and map need. Five queries at most."""
    found = load_shown_participants(overview)
    return {
        "target_tables": [
            (table, [(_label(row), _difference(row), row) for row in table.rows])
            for table in found.tables
        ],
        "tiles": draw_tiles(found.states) if found.states else [],
        "tile_side": TILE - 2,
        "has_state_targets": bool(found.states and found.states.targets),
        "smallest": DEFAULT_MINIMUM,
    }


def load_shown_participants(overview: Overview) -> Participants:
    """Return who took part, beside the targets; nobody for an imported study."""
    instrument = overview.instrument
    if overview.study.origin == Origin.IMPORTED or instrument is None:
        return Participants((), None)
    return load_participants(overview.study, instrument_id=instrument.pk)


def _label(row: CellRow) -> str:
    return _("All others") if row.cell == OTHERS else row.cell


def _difference(row: CellRow) -> str:
    """Return the percentage points above the target, with a sign; "" where nobody is shown."""
    if row.observed is None or row.observed.n == 0:
        return ""
    text = f"{100 * (row.observed.share - row.target):+.1f}"
    return "0.0" if text in {"+0.0", "-0.0"} else text.replace("-", "−")


def draw_tiles(states: StateCounts) -> list[Tile]:
    """Return the map's squares in the order of the alphabet, shaded by count in four steps."""
    most = max(states.shown.values(), default=0)
    return [
        Tile(
            letters=letters,
            name=name,
            x=column * TILE,
            y=row * TILE,
            css=(shade := _shade(states.shown.get(name), most)),
            text_css="tile-text-on" if shade in {"tile-3", "tile-4"} else "text-ink",
            count=str(states.shown[name]) if name in states.shown else _("kept back"),
            target=formatting.percent(states.targets[name], digits=1)
            if name in states.targets
            else "",
        )
        for name, (letters, column, row) in sorted(TILES.items())
    ]


def _shade(count: int | None, most: int) -> str:
    if count is None:
        return "tile-hidden"
    if count == 0:
        return "tile-0"
    return f"tile-{_quarter(count, most)}"


def _quarter(count: int, most: int) -> int:
    """Return 1 to 4: in which quarter of the way to the largest count this one lies."""
    return min(4, 1 + 4 * (count - 1) // max(1, most))


# --- The figures of a study's main page as tables to download

TEXT, NUMBER = ColumnType.TEXT, ColumnType.NUMBER


def build_figure_table(study: Study, name: str) -> Table:
    """Return the table behind a figure of the page. Raises `KeyError` for an unknown name."""
    overview = load_overview(study)
    return {
        "leaving": _leaving_table,
        "funnel": _stage_table,
        "times": _time_table,
        "quotas": _quota_table,
        "checks": _check_table,
        "targets": _target_table,
        "states": _state_table,
    }[name](overview)


def _stage_table(overview: Overview) -> Table:
    columns = (
        Column("stage", TEXT, ", ".join(formatting.STAGE_LABELS), "stage of the way"),
        Column("count", NUMBER, "0 or more", "submissions that came so far"),
        Column("share_of_stage_before", NUMBER, "0 to 1", "count over the count before"),
    )
    rows = [(stage.key, stage.count, stage.share) for stage in overview.stages]
    return Table("funnel", columns, lambda: rows)


def _leaving_table(overview: Overview) -> Table:
    columns = (
        Column("page", TEXT, "kind of page", "page of the flow"),
        Column("number", NUMBER, "1 or more", "among the pages of its kind"),
        Column("came", NUMBER, "0 or more", "submissions that came to it or beyond"),
        Column("left", NUMBER, "0 or more", "of these, visits that stopped there"),
        Column("ended", NUMBER, "0 or more", "of these, visits that the survey ended"),
    )
    rows = [
        (page.kind, page.number, page.came, page.left, page.ended)
        for page in count_leaving(overview.study, overview.instruments)
    ]
    return Table("leaving", columns, lambda: rows)


def _time_table(overview: Overview) -> Table:
    columns = (
        Column("minutes_from", NUMBER, "0 or more", "start of the bin"),
        Column("minutes_to", NUMBER, "0 or more", "end of the bin, not in it"),
        Column("count", NUMBER, "0 or more", "finished submissions"),
    )
    pace = overview.pace
    if pace.median_seconds is None:
        return Table("times", columns, list)
    rows = draw_histogram(
        pace.durations, median=pace.median_seconds, fast_limit=pace.fast_limit
    ).rows
    return Table("times", columns, lambda: rows)


def _quota_table(overview: Overview) -> Table:
    columns = (
        *(
            (
                Column("text", TEXT, "slug", "the text"),
                Column("begins", TEXT, "text", "its variety and how it begins"),
            )
            if overview.study.rates_texts
            else (
                Column("group", TEXT, "slug", "the group"),
                Column("group_text", TEXT, "text", "the group as people read it"),
            )
        ),
        Column("wanted", NUMBER, "1 or more", "accepted ratings wanted"),
        Column("accepted", NUMBER, "0 or more", "accepted ratings"),
        Column("in_review", NUMBER, "0 or more", "finished, not decided"),
        Column("in_progress", NUMBER, "0 or more", "rated by people on their way"),
        Column("reserved", NUMBER, "0 or more", "given to people on their way, not rated yet"),
        Column("open", NUMBER, "0 or more", "places left"),
    )
    begun = count_begun(overview.study)
    rows = [
        (
            quota.group.slug,
            quota.group.plural,
            quota.wanted,
            quota.accepted,
            quota.waiting,
            (rated := min(quota.in_progress, begun.get(quota.group.slug, 0))),
            quota.in_progress - rated,
            quota.open,
        )
        for quota in overview.quotas
    ]
    return Table("quotas", columns, lambda: rows)


def _check_table(overview: Overview) -> Table:
    columns = (
        Column("check", TEXT, "kind, or any", "kind of check"),
        Column("asked", NUMBER, "0 or more", "finished submissions that were asked"),
        Column("failed", NUMBER, "0 or more", "of them, how many failed"),
        Column("not_askable", NUMBER, "0 or more", "finished submissions that could not be asked"),
        Column("share", NUMBER, "0 to 1", "failed over asked"),
        Column("wilson_low", NUMBER, "0 to 1", "lower end of Wilson's 95 % interval"),
        Column("wilson_high", NUMBER, "0 to 1", "upper end"),
    )
    rows = [
        (
            result.kind.value if result.kind else "any",
            result.failed.n,
            result.failed.count,
            result.not_asked,
            *_list_interval(result.failed),
        )
        for result in overview.checks
    ]
    return Table("checks", columns, lambda: rows)


def _target_table(overview: Overview) -> Table:
    kept_back = "; empty where it is kept back"
    columns = (
        Column("question", TEXT, "slug", "demographic question"),
        Column("answer", TEXT, f"text, or {OTHERS}", "answer, or all without a share of their own"),
        Column("target", NUMBER, "0 to 1", "share of people wanted"),
        Column("people", NUMBER, "0 or more", f"of them, how many answered so{kept_back}"),
        Column("of_people", NUMBER, "0 or more", f"accepted or in review, who answered{kept_back}"),
        Column("share", NUMBER, "0 to 1", f"people over all who answered{kept_back}"),
        Column("wilson_low", NUMBER, "0 to 1", "lower end of Wilson's 95 % interval"),
        Column("wilson_high", NUMBER, "0 to 1", "upper end"),
        Column("places", TEXT, "open, full or empty", "where people are chosen by their answers"),
    )
    chooses = overview.study.samples_by_margins
    rows = [
        (
            table.slug,
            row.cell,
            row.target,
            row.observed.count if row.observed else None,
            table.n,
            *_list_interval(row.observed),
            ("full" if row.is_full else "open") if chooses else "",
        )
        for table in load_shown_participants(overview).tables
        for row in table.rows
    ]
    return Table("targets", columns, lambda: rows)


def _state_table(overview: Overview) -> Table:
    columns = (
        Column("state", TEXT, "name", "state of the United States"),
        Column("people", NUMBER, "0 or more", "accepted or in review; empty where kept back"),
        Column("target", NUMBER, "0 to 1", "share of people wanted; empty without one"),
    )
    states = load_shown_participants(overview).states
    if states is None:
        return Table("states", columns, list)
    rows = [(state, states.shown.get(state), states.targets.get(state)) for state in sorted(STATES)]
    return Table("states", columns, lambda: rows)


def _list_interval(share: Proportion | None) -> tuple[float | None, float | None, float | None]:
    """Return a share and its interval, empty where it is of nobody."""
    return (share.share, share.low, share.high) if share and share.n else (None, None, None)


# --- The main page of a study

# --- The numbers at the head of a study's page, each with a sentence on what it means -------------


def build_keys(overview: Overview) -> list[Key]:
    if overview.study.origin == Origin.IMPORTED:
        return _build_imported_keys(overview)
    return [
        _build_ratings_key(overview),
        _build_now_key(overview),
        _build_time_key(overview),
        _build_cost_key(overview),
    ]


def _build_ratings_key(overview: Overview) -> Key:
    people, texts = overview.counts.accepted, overview.study.rates_texts
    counted = (
        ngettext(
            "%(n)d person, one rating for each text that was read.",
            "%(n)d people, one rating for each text that was read.",
            people,
        )
        if texts
        else ngettext(
            "%(n)d person, one rating for each group that was rated.",
            "%(n)d people, one rating for each group that was rated.",
            people,
        )
    )
    note = counted % {"n": people}
    missing = overview.ratings_missing
    more = (
        ngettext("%(n)s rating is missing.", "%(n)s ratings are missing.", missing)
        % {"n": f"{missing:,}"}
        if missing
        else (_("Every text is full.") if texts else _("Every group is full."))
    )
    return Key(
        _("Accepted ratings of texts") if texts else _("Accepted ratings of groups"),
        [
            (
                f"{overview.ratings_accepted:,}",
                _("of %(n)s wanted") % {"n": f"{overview.ratings_wanted:,}"},
            )
        ],
        f"{note} {more}" if people else more,
    )


def _build_now_key(overview: Overview) -> Key:
    now, held = overview.counts.rating_now, overview.places_held
    minutes = overview.study.reservation_minutes
    note = (
        ngettext(
            "%(held)d place is held for %(minutes)d minutes.",
            "%(held)d places are held for %(minutes)d minutes.",
            held,
        )
        % {"held": held, "minutes": minutes}
        if held
        else _("No place is held.")
    )
    return Key(_("Rating now"), [(f"{now:,}", ngettext("person", "people", now))], note)


def _build_time_key(overview: Overview) -> Key:
    if overview.pace.median_seconds is None:
        return Key(_("Time to finish"), [(formatting.MISSING, "")], _("Nobody has finished yet."))
    note = _("Median of %(n)s.") % {"n": f"{len(overview.pace.durations):,}"}
    if overview.cents_an_hour is not None:
        pay = formatting.money(overview.cents_an_hour, overview.study.currency)
        note += " " + _("That pays %(pay)s an hour.") % {"pay": pay}
    return Key(_("Time to finish"), formatting.duration_parts(overview.pace.median_seconds), note)


def _build_cost_key(overview: Overview) -> Key:
    study, counts = overview.study, overview.counts
    if not study.reward_cents:
        return Key(_("Cost so far"), [(formatting.MISSING, "")], _("The study pays no reward."))
    notes = [_("Rewards approved, without the panel’s fees.")]
    if counts.pay_waiting:
        waiting = formatting.money(overview.cents_waiting, study.currency)
        notes.append(_("%(money)s wait for a decision.") % {"money": waiting})
    if counts.accepted:
        each = formatting.money(overview.cents_approved / counts.accepted, study.currency)
        notes.append(_("%(money)s an accepted person.") % {"money": each})
    return Key(
        _("Cost so far"),
        [(formatting.money(overview.cents_approved, study.currency), "")],
        " ".join(notes),
    )


def _build_imported_keys(overview: Overview) -> list[Key]:
    groups = len(overview.quotas)
    counts = [quota.accepted for quota in overview.quotas]
    scales = overview.instrument.scales.count() if overview.instrument else 0
    return [
        Key(
            _("People"),
            [(f"{overview.counts.accepted:,}", "")],
            _("Everyone in the file counts as accepted."),
        ),
        Key(
            _("Ratings of groups"),
            [(f"{overview.ratings_accepted:,}", "")],
            _("One for each person and group."),
        ),
        Key(
            _("Groups"),
            [(str(groups), "")],
            _("Rated by %(low)d to %(high)d people each.")
            % {"low": min(counts, default=0), "high": max(counts, default=0)},
        ),
        Key(_("Trait scales"), [(str(scales), "")], _("From 0 to 100, the low pole at 0.")),
    ]


WAITING_ROWS = 5
REFRESHED = {StudyStatus.PILOTING, StudyStatus.LIVE, StudyStatus.PAUSED}
#: What they ask for follows from the ratings.
CHECKS_OF_RATINGS = {CheckKind.MARKED_TRAITS, CheckKind.REPEATED_GROUP}
CHECK_AXIS = 0.5  # the intervals of checks are drawn from 0 to at least this share


@dataclass(frozen=True)
class QuotaRow:
    """``rated`` of those being rated have sent the group's page, for ``held`` a place is kept."""

    quota: GroupQuota
    boxes: list[Box]
    rated: int
    held: int
    waiting: int
    to_go: int
    beyond: int


def describe_study(
    study: Study, user: User, *, may_change: bool, include: Collection[str] = ()
) -> dict[str, Any]:
    """Return the context of the whole page: the live part and what stays.

    include : what exports hold besides the submissions that count, some of `EXTRAS`
    """
    instrument = current_instrument(study) if study.status == StudyStatus.DRAFT else None
    findings = link_findings(examine_study(study, instrument), study) if instrument else []
    may_export_payments = may_change and user.has_perm(PAYMENT_PERMISSION)
    return {
        **describe_live(study, may_change=may_change),
        "is_imported": study.origin == Origin.IMPORTED,
        "participant_link": participant_link(study),
        "promised": format_reward(study.reward_cents, study.currency),
        "has_unsigned_links": study.panel == Panel.PROLIFIC
        and study.status not in {StudyStatus.CLOSED, StudyStatus.ARCHIVED}
        and not load_panel_settings(study).signed_links,
        "launch_problems": [finding for finding in findings if finding.blocks],
        "launch_thoughts": [finding for finding in findings if not finding.blocks],
        "exports": list_exports(study, include, may_export_payments=may_export_payments),
        "export_scopes": list_export_scopes(study, include),
        "source_lines": study.source.splitlines(),
        "next_steps": find_study_steps(study, user),
    }


def describe_live(study: Study, *, may_change: bool) -> dict[str, Any]:
    """Return what changes while people rate. Some twenty queries, whatever its size."""
    overview = load_overview(study)
    dashboard = load_dashboard(study, overview.instruments, overview.crowd)
    waiting = list(
        Submission.objects.in_scope(study)
        .filter(in_review())
        .order_by("finished_at", "pk")[:WAITING_ROWS]
    )
    stage_labels = formatting.TEXT_STAGE_LABELS if study.rates_texts else formatting.STAGE_LABELS
    return {
        "pilot": count_pilot(study) if study.pilot_started_at else None,
        "overview": overview,
        "counts": overview.counts,
        "is_refreshed": study.status in REFRESHED,
        "may_change": may_change,
        "status_badge": formatting.study_badge(study),
        "origin_badge": formatting.origin_badge(study),
        "keys": build_keys(overview),
        "stages": [
            (stage_labels[stage.key], stage.key == "accepted", stage) for stage in overview.stages
        ],
        "most_of_stage": max(1, overview.stages[0].count),
        "quota_rows": [
            _build_quota_row(quota, begun=dashboard.begun.get(quota.group.slug, 0))
            for quota in overview.quotas
        ],
        "has_beyond": any(quota.taken > quota.wanted for quota in overview.quotas),
        "slow_groups": [quota.group.plural for quota in overview.slow_groups],
        "waiting": notice_submissions(waiting, fast_limit=overview.pace.fast_limit),
        **_describe_checks(overview),
        **_describe_times(overview),
        **describe_dashboard(overview, dashboard),
        **describe_targets(overview),
    }


def _describe_times(overview: Overview) -> dict[str, Any]:
    """Return the drawing of times and what it marks."""
    pace = overview.pace
    quartiles = pace.quartiles_seconds
    if pace.median_seconds is None:
        return {"histogram": None}
    return {
        "histogram": draw_histogram(
            pace.durations,
            median=pace.median_seconds,
            fast_limit=pace.fast_limit,
            quartiles=quartiles,
        ),
        "median_text": formatting.duration(pace.median_seconds),
        "quartile_texts": [formatting.duration(end) for end in quartiles or ()],
        "limit_text": formatting.duration(pace.fast_limit),
    }


def list_exports(
    study: Study, include: Collection[str], *, may_export_payments: bool
) -> list[ExportRow]:
    """Return title, content and files of each download, payments for those who may pay."""
    query = f"?{urlencode(dict.fromkeys(include, 1))}" if include else ""
    exports: list[ExportRow] = [
        (title, content, [(label, f"{address}{query}") for label, address in files])
        for title, content, files in describe_exports(study, "study")
    ]
    if may_export_payments and study.origin != Origin.IMPORTED:
        content = _(
            "The panel’s ids with outcome and decision. For payment only: it names people and "
            "cannot be joined with their answers."
        )
        files = list_addresses("payments", "study", study.pk, ends=[".csv"])
        exports.append((_("Payments"), content, files))
    return exports


def list_export_scopes(study: Study, include: Collection[str]) -> list[tuple[str, Any, bool]]:
    """Return what exports can hold besides: its name in addresses, its label, and whether it is
    chosen. One query.
    """
    found = set(
        chain.from_iterable(
            study.submissions.order_by().values_list("origin", "data_decision").distinct()
        )
    )
    names = {
        SubmissionOrigin.PILOT: _("The pilot"),
        SubmissionOrigin.PREVIEW: _("Previews"),
        DataDecision.EXCLUDED: _("Excluded submissions"),
    }
    return [(one.value, names[one], one in include) for one in EXTRAS if one in found]


def _build_quota_row(quota: GroupQuota, *, begun: int) -> QuotaRow:
    # A visit that goes on after its end has been read once can be counted in one of the two.
    rated = min(begun, quota.in_progress)
    return QuotaRow(
        quota=quota,
        boxes=draw_slots(quota),
        rated=rated,
        held=quota.in_progress - rated,
        waiting=quota.waiting + quota.in_progress,
        to_go=max(0, quota.wanted - quota.accepted),
        beyond=max(0, quota.taken - quota.wanted),
    )


def _describe_checks(overview: Overview) -> dict[str, Any]:
    """Return labels with results, and the end of their axis: a half, or the whole if needed."""
    beyond = any(result.failed.high > CHECK_AXIS for result in overview.checks)
    at_least = overview.instrument.agreement_at_least if overview.instrument else None
    return {
        "check_caption": _caption_checks(
            [result.kind for result in overview.checks if result.kind is not None]
        ),
        "check_axis": 1.0 if beyond else CHECK_AXIS,
        "check_rows": [
            (formatting.check_label(result.kind, at_least=at_least), result)
            for result in overview.checks
        ],
    }


def _caption_checks(kinds: list[CheckKind]) -> str:
    """Return what the numbers of these kinds are of, and what a failed check may lead to."""
    sentences = [_("Of those who finished and were asked. Intervals after Wilson.")]
    if set(kinds) & CHECKS_OF_RATINGS:
        sentences.append(_("A check is not askable where the ratings leave nothing to ask about."))
    grounds = [kind for kind in kinds if CHECK_RULES[kind].may_reject]
    if not grounds:
        sentences.append(_("Failing a check may exclude data and never costs pay."))
    elif len(grounds) == len(kinds):
        sentences.append(
            _(
                "Failing a check may exclude data, and be a ground to reject pay where the panel "
                "allows it."
            )
        )
    else:
        names = " · ".join(formatting.check_label(kind) for kind in grounds)
        sentences.append(
            _(
                "Failing a check may exclude data. Only these may be a ground to reject pay where "
                "the panel allows it: %(names)s."
            )
            % {"names": names}
        )
    return " ".join(sentences)
