"""Builds the site, but only when one of its sources has changed."""

from __future__ import annotations

import hashlib
import logging
import shutil
from pathlib import Path

# --- Where the sources of the documentation lie

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
STATIC = ROOT / "static" / "stereoscope"
CONFIGURATION = Path(__file__).with_name("mkdocs.yml")


# --- The site

STAMP = ".sources-sha256"
# What the pages are made of besides their texts.
SOURCES = (
    DOCS,
    CONFIGURATION.parent,
    ROOT / "probing" / "measures",
    ROOT / "evaluation" / "reports",
)
SUFFIXES = {".md", ".yml", ".py", ".css", ".svg", ".png", ".webp"}


class DocumentationError(Exception):
    """The site could not be built; the message is what MkDocs says."""


def build_documentation(folder: Path, *, strict: bool = False) -> bool:
    """Bring the site in ``folder`` up to date; return whether there was anything to do.

    With ``strict``, a link that leads nowhere raises `DocumentationError`; without, it is let pass.
    The old site is there until the new one is whole.
    """
    wanted = hash_sources()
    stamp = folder / STAMP
    if not strict and stamp.exists() and stamp.read_text() == wanted:
        return False
    # Loaded here: whoever does not build needs none of it.
    from mkdocs.commands.build import build
    from mkdocs.config import load_config
    from mkdocs.exceptions import Abort, MkDocsException

    draft = folder.with_name(f"{folder.name}-draft")
    shutil.rmtree(draft, ignore_errors=True)
    logging.getLogger("mkdocs").setLevel(logging.WARNING)
    try:
        build(load_config(str(CONFIGURATION), site_dir=str(draft), strict=strict))
    except (Abort, MkDocsException) as error:
        raise DocumentationError(str(error)) from error
    (draft / "404.html").unlink(missing_ok=True)  # the platform has a page of its own
    (draft / STAMP).write_text(wanted)
    shutil.rmtree(folder, ignore_errors=True)
    draft.rename(folder)
    return True


def hash_sources() -> str:
    """Return a hash of the names, sizes and times of everything that the site is made of."""
    digest = hashlib.sha256()
    files = [file for source in SOURCES for file in source.rglob("*") if file.suffix in SUFFIXES]
    for file in sorted([*files, STATIC / "docs.css", STATIC / "mark.svg"]):
        facts = file.stat()
        digest.update(f"{file}\t{facts.st_size}\t{facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()
