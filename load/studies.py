"""The studies that participants take: the paper's design, and one with a single place left."""

from __future__ import annotations

from annotation.models import QuotaRule, Study
from annotation.studies.creation import create_study, human_study_groups
from annotation.studies.lifecycle import launch_study

# Nobody is turned away while a level is measured.
ENOUGH = 100_000


def make_survey(title: str) -> Study:
    """Return a live study of 25 groups on 16 scales, five rating pages, checks and questions."""
    return launch_study(
        study=create_study(
            title=title,
            owner=None,
            contact_email="lab@example.org",
            quota_per_group=ENOUGH,
            panel="prolific",
        )
    )


def make_last_place(places: int) -> Study:
    """Return a live study of one group with a hard quota of ``places``."""
    return launch_study(
        study=create_study(
            title="The last place",
            owner=None,
            contact_email="lab@example.org",
            groups=human_study_groups()[:1],
            flow=["consent", "rating", "demographics"],
            quota_per_group=places,
            quota_rule=QuotaRule.HARD,
            panel="prolific",
        )
    )
