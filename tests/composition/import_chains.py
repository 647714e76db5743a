"""Imports what every process of the platform imports, and tells who asks for heavy libraries.

Runs in a process of its own, since the suite itself has imported everything:

    python -m tests.composition.import_chains torch scipy pandas

prints, as JSON, a chain of modules for each of these that was imported, the one that asks first.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

OUR_APPS = ("annotation", "probing", "evaluation", "stereoscope")


class ChainFinder:
    """Finds no module; notes which modules were just importing when a watched one was asked for."""

    def __init__(self, watched: set[str]) -> None:
        self.occasion = ""
        self.chains: dict[str, list[str]] = {}
        self._watched = watched

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> None:
        if name in self._watched and name not in self.chains:
            self.chains[name] = [*_importing_modules(), self.occasion]


def _importing_modules() -> list[str]:
    """Return whose top-level code runs now, the innermost first, and any function in between."""
    found = []
    frame = sys._getframe(2)
    while frame is not None:
        name, function = frame.f_globals["__name__"], frame.f_code.co_name
        if not name.startswith(("importlib.", "_frozen", __name__)) and name != "__main__":
            found.append(name if function == "<module>" else f"{name}.{function}()")
        frame = frame.f_back
    return found


def import_everything(finder: ChainFinder) -> None:
    """Import what commands, workers and web processes do before their first piece of work."""
    import django

    finder.occasion = "django.setup()"
    django.setup()
    from django.core.management import get_commands, load_command_class

    for command, app in get_commands().items():
        if app in OUR_APPS:
            finder.occasion = f"manage.py {command} --help"
            load_command_class(app, command).create_parser("manage.py", command).format_help()
    finder.occasion = "celery worker"
    import_module("stereoscope.celery").app.loader.import_default_modules()
    finder.occasion = "the first page"
    import_module("stereoscope.wsgi")


def main() -> None:
    finder = ChainFinder(set(sys.argv[1:]))
    sys.meta_path.insert(0, finder)  # type: ignore[arg-type]
    import_everything(finder)
    json.dump(finder.chains, sys.stdout)


if __name__ == "__main__":
    main()
