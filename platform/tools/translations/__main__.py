"""`python -m tools.translations`: renew the catalogs from the sources and compile them."""

from __future__ import annotations

import os
import sys

import django


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "stereoscope.settings")
    django.setup()
    from tools.translations.catalog import LANGUAGES, build_files, read_catalog

    for file, content in list(build_files()):
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or file.read_bytes() != content:
            file.write_bytes(content)
            sys.stdout.write(f"{file.name} renewed\n")
    missing = 0
    for language in LANGUAGES:
        for message in read_catalog(language):
            texts = message.string if isinstance(message.string, tuple) else (message.string,)
            if message.id and not all(texts):
                missing += 1
                sys.stdout.write(f"{language}: {message.id!r} has no translation\n")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
