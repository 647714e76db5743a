"""The documentation as a site: built from `docs/`, served at `/docs/`."""
