"""The catalogs of the platform's texts: found in the sources, written by people, compiled."""
