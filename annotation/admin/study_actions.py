"""What the buttons of a study's pages do: services of its life, and what is said afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.utils.translation import gettext_lazy

from annotation.admin.asking import Question
from annotation.models import Study
from annotation.studies.lifecycle import (
    archive_study,
    close_study,
    current_instrument,
    pause_study,
    publish_version,
    restore_study,
)
from annotation.studies.piloting import (
    end_pilot,
    launch_with_pilot,
    launch_without_pilot,
    start_pilot,
)
from annotation.studies.versions import create_version, discard_version


def _discard_draft(*, study: Study) -> None:
    instrument = current_instrument(study)
    if instrument is not None:
        discard_version(instrument=instrument)


STUDY_ACTIONS: dict[str, tuple[Callable[..., Any], Any]] = {
    "launch": (
        launch_without_pilot,
        gettext_lazy("The study is live. Its instrument is frozen."),
    ),
    "launch-with-pilot": (
        launch_with_pilot,
        gettext_lazy("The study is live. The pilot’s submissions count from now on."),
    ),
    "pilot": (start_pilot, gettext_lazy("The study is piloting. Its instrument is frozen.")),
    "end-pilot": (
        end_pilot,
        gettext_lazy("The pilot has ended. The next version is a draft, open to edits."),
    ),
    "pause": (pause_study, gettext_lazy("The study is paused. Who has started goes on.")),
    "close": (close_study, gettext_lazy("The study is closed. Nobody new can start.")),
    "archive": (archive_study, gettext_lazy("The study is archived.")),
    "restore": (restore_study, gettext_lazy("The study is back from the archive.")),
    "new-version": (create_version, gettext_lazy("A draft of the next version is open to edits.")),
    "publish": (publish_version, gettext_lazy("The newest version is in force from now on.")),
    "discard": (_discard_draft, gettext_lazy("The draft is discarded.")),
}

ASKED_FIRST = {
    "discard": Question(
        gettext_lazy("Discard this draft?"),
        gettext_lazy(
            "All that was changed since the version before it is lost, translations and previews "
            "included. The version before it stays."
        ),
        gettext_lazy("Discard draft"),
    ),
}
TO_INSTRUMENT = {"new-version", "discard", "publish", "end-pilot"}
