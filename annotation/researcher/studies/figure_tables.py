"""The figures of a study's main page as tables to download."""

from __future__ import annotations

from annotation.common.proportions import Proportion
from annotation.common.tables import Column, ColumnType, Table
from annotation.common.target_margins import OTHERS
from annotation.instruments.us_states import STATES
from annotation.models import Study
from annotation.researcher.pages import formatting
from annotation.researcher.studies.svg_charts import draw_histogram
from annotation.researcher.studies.target_quotas_figures import load_shown_participants
from annotation.studies.dashboard import count_begun, count_leaving
from annotation.studies.overview import Overview, load_overview

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
