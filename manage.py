#!/usr/bin/env python
"""Django's command line for Stereoscope."""

import os
import sys
from pathlib import Path


def main() -> None:
    # `platform/` is a plain folder without __init__.py: as a package it would shadow the standard
    # library's module of that name. What it holds is put on the path instead.
    sys.path.insert(1, str(Path(__file__).resolve().parent / "platform"))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "stereoscope.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
