"""The numbers at the head of a study's page, each with a sentence on what it means."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Origin
from annotation.researcher.pages import formatting
from annotation.researcher.pages.formatting import Key
from annotation.studies.overview import Overview


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
