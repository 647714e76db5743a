"""The panels. Adding one is adding a file and a line here, see docs/adding-a-panel.md."""

from __future__ import annotations

from annotation.panels.base import PanelKind
from annotation.panels.link import LinkPanel
from annotation.panels.mturk import MTurk
from annotation.panels.prolific import Prolific

PANELS: dict[str, PanelKind] = {panel.name: panel for panel in (LinkPanel(), Prolific(), MTurk())}


def get_panel(name: str) -> PanelKind:
    """Return the panel of this name. Raises `KeyError` for one that is not registered."""
    return PANELS[name]
