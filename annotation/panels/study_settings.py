"""The panel settings of a study: stored ones, or the usual ones of a study that has none yet."""

from __future__ import annotations

from annotation.models import PanelSettings, Study


def load_panel_settings(study: Study) -> PanelSettings:
    """Return a study's settings; unsaved ones where it has none. One query, once for a study."""
    try:
        return study.panel_settings
    except PanelSettings.DoesNotExist:
        return PanelSettings(study=study)
