"""The panel settings of a study: stored ones, or the usual ones of a study that has none yet."""

from __future__ import annotations

from annotation.models import Panel, PanelSettings, Study


def load_panel_settings(study: Study) -> PanelSettings:
    """Return a study's settings; unsaved ones where it has none. One query, once for a study.

    A new Prolific study lets in signed links only: anybody can write a known id into a link.
    """
    try:
        return study.panel_settings
    except PanelSettings.DoesNotExist:
        return PanelSettings(study=study, signed_links=study.panel == Panel.PROLIFIC)
