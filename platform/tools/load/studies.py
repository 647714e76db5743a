"""The studies that participants take: the paper's design, and one with a single place left."""

from __future__ import annotations

from typing import Any

from annotation.models import Panel, PanelSettings, QuotaRule, Study
from annotation.studies.creation import create_study, human_study_groups
from annotation.studies.lifecycle import launch_study

# Nobody is turned away while a level is measured.
ENOUGH = 100_000


def make_survey(title: str) -> Study:
    """Return a live study of 25 groups on 16 scales, five rating pages, checks and questions."""
    return _launch(title=title, quota_per_group=ENOUGH)


def make_last_place(places: int) -> Study:
    """Return a live study of one group with a hard quota of ``places``."""
    return _launch(
        title="The last place",
        groups=human_study_groups()[:1],
        flow=["consent", "rating", "demographics"],
        quota_per_group=places,
        quota_rule=QuotaRule.HARD,
    )


def _launch(**content: Any) -> Study:
    """Launch a study that people come to with ids alone, as nobody signs links here."""
    study = create_study(
        owner=None, contact_email="lab@example.org", panel=Panel.PROLIFIC, **content
    )
    PanelSettings.objects.create(study=study, signed_links=False)
    return launch_study(study=study)
