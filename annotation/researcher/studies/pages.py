"""The pages and downloads of a study with participants."""

from __future__ import annotations

import hashlib
from copy import copy
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from annotation.common.tables import stream_csv
from annotation.exports.downloads import (
    PAYMENT_FILE,
    build_attachment,
    build_payment_download,
)
from annotation.instruments.versions import create_version, current_instrument, discard_version
from annotation.models import PAYMENT_PERMISSION, Study, StudyStatus, SubmissionOrigin
from annotation.models.submission import EXTRAS
from annotation.researcher.pages.export_page import ExportPage
from annotation.researcher.pages.formatting import money_of
from annotation.researcher.pages.page import Confirmation, button
from annotation.researcher.pages.study_page import (
    BEFORE_LAUNCH,
    ActionPage,
    StudyPage,
    ask_to_close,
    ask_to_launch,
)
from annotation.researcher.studies.dashboard import describe_flags
from annotation.researcher.studies.overview import build_figure_table, describe_live, describe_study
from annotation.studies.ledger import Ledger
from annotation.studies.lifecycle import (
    archive_study,
    close_study,
    pause_study,
    publish_version,
    restore_study,
)
from annotation.studies.pilot import (
    end_pilot,
    launch_with_pilot,
    launch_without_pilot,
    start_pilot,
)


class StudyOverview(StudyPage):
    route = "<int:pk>/overview/"
    name = tab = "overview"
    folder = "study"

    def get_context_data(self) -> dict[str, Any]:
        described = describe_study(
            self.study,
            self.user,
            may_change=self.may_change,
            include=[extra for extra in EXTRAS if extra in self.request.GET],
        )
        return {**super().get_context_data(), **described}


class Fragment(StudyPage):
    """A part of the overview that browsers ask for again and again."""

    folder = "study"

    def describe(self) -> dict[str, Any]:
        raise NotImplementedError

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        """Return the part, or 304 without a body where the browser has just this one."""
        context = {"study": self.study, **self.describe()}
        html = render_to_string(self.get_template_names(), context, request)
        etag = quote_etag(hashlib.sha256(html.encode()).hexdigest()[:32])
        response = HttpResponse(html)
        response["ETag"] = etag
        return get_conditional_response(request, etag=etag, response=response) or response


class LiveFragment(Fragment):
    route = "<int:pk>/live/"
    name = "live"

    def describe(self) -> dict[str, Any]:
        return describe_live(self.study, may_change=self.may_change)


class FlagsFragment(Fragment):
    route = "<int:pk>/flags/"
    name = "flags"

    def describe(self) -> dict[str, Any]:
        return describe_flags(self.study)


class CurrentInstrument(StudyPage):
    """Leads to the newest version of the instrument."""

    route = "<int:pk>/instrument/"
    name = "instrument"

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        instrument = current_instrument(self.study)
        if instrument is None:
            raise Http404
        return redirect("admin:annotation_instrument_change", instrument.pk)


FREEZES = _(
    "The study can be paused and closed at any time. The instrument is frozen: what people see "
    "can only be changed by a new version. Panel and currency stay as they are, and whether a "
    "pilot counts is decided for good."
)
CLOSE = ask_to_close(
    _(
        "Nobody new can start; participants who have started can continue. The days after "
        "which panel ids and answers are erased count from now on. It can be opened again."
    )
)
PUBLISH = Confirmation(
    _("Put this version in force?"),
    _(
        "It is frozen: nobody can edit it any more, and its hash stands for what people "
        "saw. Whoever starts from now on sees it. Participants who have started keep the "
        "version that they saw. Later edits make a new version."
    ),
    _("Put this version in force"),
)
DISCARD = Confirmation(
    _("Discard this draft?"),
    _(
        "All that was changed since the version before it is lost, translations and "
        "previews included. The version before it stays."
    ),
    _("Discard draft"),
)


def describe_launch(study: Study, *, counts_pilot: bool = False) -> list[str]:
    """Return what a launch promises to participants and costs, and what becomes of a pilot.

    As many queries as what is still to pay, and one.
    """
    facts = []
    if study.reward_cents:
        # A pilot that stays apart leaves all ratings still to be paid for.
        counted = copy(study)
        counted.status = study.status if counts_pilot else StudyStatus.LIVE
        ledger = Ledger(counted)
        facts.append(
            gettext(
                "Participants are promised %(reward)s each, about %(total)s for all that is still "
                "wanted. The amount stands in the settings."
            )
            % {
                "reward": money_of(ledger, study.reward_cents),
                "total": money_of(ledger, ledger.with_fee(ledger.to_go.amount_minor)),
            }
        )
    else:
        facts.append(gettext("Participants are promised no pay. The settings can change that."))
    n = study.submissions.filter(origin=SubmissionOrigin.PILOT).count()
    if n and counts_pilot:
        said = ngettext(
            "The %(n)s submission of the pilot counts with the live data.",
            "The %(n)s submissions of the pilot count with the live data.",
            n,
        )
        facts.append(said % {"n": f"{n:,}"})
    elif n:
        apart = ngettext(
            "The %(n)s submission of the pilot stays apart and counts nowhere.",
            "The %(n)s submissions of the pilot stay apart and count nowhere.",
            n,
        )
        facts.append(apart % {"n": f"{n:,}"})
    return facts


class StudyActions(ActionPage):
    """What becomes of a study, and of the newest version of its instrument."""

    def ask_to_launch_apart(self) -> Confirmation | None:
        """Only a first launch freezes anything: later ones open the study again."""
        is_first = self.study.status in BEFORE_LAUNCH
        return ask_to_launch(FREEZES, describe_launch(self.study)) if is_first else None

    def ask_to_launch_with_pilot(self) -> Confirmation:
        return ask_to_launch(FREEZES, describe_launch(self.study, counts_pilot=True))

    @button("launch", ask=ask_to_launch_apart)
    def launch(self) -> str:
        launch_without_pilot(study=self.study)
        return gettext("The study is live. Its instrument is frozen.")

    @button("launch-with-pilot", ask=ask_to_launch_with_pilot)
    def launch_with_pilot(self) -> str:
        launch_with_pilot(study=self.study)
        return gettext("The study is live. The pilot’s submissions count from now on.")

    @button("pilot")
    def start_pilot(self) -> str:
        start_pilot(study=self.study)
        return gettext("The study is piloting. Its instrument is frozen.")

    @button("end-pilot", leads_to="instrument")
    def end_pilot(self) -> str:
        end_pilot(study=self.study)
        return gettext("The pilot has ended. The next version is a draft, open to edits.")

    @button("pause")
    def pause(self) -> str:
        pause_study(study=self.study)
        return gettext("The study is paused. Participants who have started can continue.")

    @button("close", ask=lambda _page: CLOSE)
    def close(self) -> str:
        close_study(study=self.study)
        return gettext("The study is closed. Nobody new can start.")

    @button("archive")
    def archive(self) -> str:
        archive_study(study=self.study)
        return gettext("The study is archived.")

    @button("restore")
    def restore(self) -> str:
        restore_study(study=self.study)
        return gettext("The study is back from the archive.")

    @button("new-version", leads_to="instrument")
    def create_version(self) -> str:
        create_version(study=self.study)
        return gettext("A draft of the next version is open to edits.")

    @button("publish", ask=lambda _page: PUBLISH, leads_to="instrument")
    def publish(self) -> str:
        publish_version(study=self.study)
        return gettext("The newest version is in force from now on.")

    @button("discard", ask=lambda _page: DISCARD, leads_to="instrument")
    def discard(self) -> str:
        if instrument := current_instrument(self.study):
            discard_version(instrument=instrument)
        return gettext("The draft is discarded.")


class StudyExports(ExportPage):
    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        if kwargs["name"] != PAYMENT_FILE:
            return super().get(request, **kwargs)
        if not (self.may_change and self.user.has_perm(PAYMENT_PERMISSION)):
            raise PermissionDenied
        return build_payment_download(self.study, bom="bom" in request.GET)


class FigureTable(StudyPage):
    """The numbers of one figure of the overview."""

    route = "<int:pk>/figure/<slug:name>/"
    name = "figure"

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        try:
            table = build_figure_table(self.study, kwargs["name"])
        except KeyError:
            raise Http404 from None
        file_name = f"stereoscope-{self.study.public_id}-{table.name}.csv"
        return build_attachment(stream_csv(table), file_name)
