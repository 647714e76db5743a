"""Collects static files, but only when one of them has changed."""

from __future__ import annotations

import hashlib
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command


def collect_static_files() -> bool:
    """Bring `STATIC_ROOT` up to date; return whether there was anything to do."""
    stamp = Path(settings.STATIC_ROOT) / ".sources-sha256"
    wanted = _hash_sources()
    if stamp.exists() and stamp.read_text() == wanted:
        return False
    call_command("collectstatic", interactive=False, verbosity=0)
    stamp.write_text(wanted)
    return True


def _hash_sources() -> str:
    """Return a hash of the names, sizes and times of all static files."""
    digest = hashlib.sha256(settings.STORAGES["staticfiles"]["BACKEND"].encode())
    for finder in get_finders():
        for name, storage in finder.list([]):
            facts = Path(storage.path(name)).stat()
            digest.update(f"{name}\t{facts.st_size}\t{facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()
