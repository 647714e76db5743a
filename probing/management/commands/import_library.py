"""Imports entries of the library: kinds of `import_results`, by an older name."""

from __future__ import annotations

from typing import ClassVar

from annotation.management.import_command import ImportCommand
from probing.library.kinds import KINDS


class Command(ImportCommand):
    help = (
        "Imports entries of the library. `manage.py export_library KIND --example` writes a file "
        "to begin with."
    )
    kinds: ClassVar[dict[str, str] | None] = {name: name for name in KINDS}
