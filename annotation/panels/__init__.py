"""Panels: where participants come from, and what their panel can be asked to do."""
