"""Template tags of the composition root: help beside what it explains."""
