#!/usr/bin/env python
"""Django's command line for Stereoscope."""

import gc
import os
import sys
from pathlib import Path


def main() -> None:
    # `platform/` is a plain folder without __init__.py: as a package it would shadow the standard
    # library's module of that name. What it holds is put on the path instead.
    sys.path.insert(1, str(Path(__file__).resolve().parent / "platform"))
    # What modules make while they load is no garbage, and searching it takes a tenth of the start.
    gc.set_threshold(100_000)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "stereoscope.settings")
    from django.core.management import execute_from_command_line
    from environs import EnvError

    try:
        execute_from_command_line(sys.argv)
    except EnvError as error:
        # One line that names the variable; docs/deployment.md has the table of all of them.
        sys.exit(f"The settings cannot be read: {error}")


if __name__ == "__main__":
    main()
