"""The panel’s own study: its places, pausing it and starting it again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from annotation.models import Study
from annotation.panels.base import PanelClient, PanelStudy
from annotation.panels.registry import get_panel
from annotation.panels.study_settings import load_panel_settings

ACTIONS = frozenset({"PAUSE", "START"})


def read_panel_study(*, study: Study) -> PanelStudy:
    """Return the panel's own study. Raises `PanelError`."""
    with _connect(study) as client:
        return client.read_study()


def increase_places(*, study: Study, total: int) -> int:
    """Set how many people may take part at the panel; return the number that it has then.

    Places can only become more: a panel has promised those that there are. Raises `ValidationError`
    and `PanelError`.
    """
    with _connect(study) as client:
        now = client.read_study()
        if total <= now.places:
            raise ValidationError(
                _("The panel’s study has %(now)s places, expected more than that.")
                % {"now": f"{now.places:,}"}
            )
        client.increase_places(total)
        return client.read_study().places


def change_panel_status(*, study: Study, action: str) -> None:
    """Pause the panel's study or start it again. Raises `PanelError`."""
    if action not in ACTIONS:
        raise ValueError(f"{action!r} is no action, expected PAUSE or START")
    with _connect(study) as client:
        client.change_status(action)


@contextmanager
def _connect(study: Study) -> Iterator[PanelClient]:
    client = get_panel(study.panel).connect(study, load_panel_settings(study), patient=False)
    try:
        yield client
    finally:
        client.close()
