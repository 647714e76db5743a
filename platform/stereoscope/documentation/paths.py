"""Where the sources of the documentation lie."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
STATIC = ROOT / "static" / "stereoscope"
CONFIGURATION = Path(__file__).with_name("mkdocs.yml")
