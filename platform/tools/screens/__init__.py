"""Pictures of every page, taken of a demo in a browser: `python -m tools.screens`."""
