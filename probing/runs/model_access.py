"""What the administrator lets models be: in which folders, on which servers, with which keys."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings

from annotation.common.key_hosts import is_meant_for, is_safe_way
from probing.lm.errors import ModelFilesError
from probing.lm.sources import base_of
from probing.runs.errors import RunError

KEY_VARIABLE = re.compile(r"MODEL_KEY_[A-Z0-9_]{1,70}")


def check_folder(location: str) -> None:
    """Raise :class:`RunError` for a path outside of the folders that may hold models.

    The base of an adapter has to be inside as well. The message is the same whatever is there: it
    must not tell which files a server has.
    """
    folder = Path(location).expanduser()
    roots = [Path(root).expanduser().resolve() for root in settings.MODEL_ROOTS]

    def require_inside(place: Path) -> None:
        if not any(place.resolve().is_relative_to(root) for root in roots):
            raise RunError.at(
                "location",
                f"No model can be read from “{place}”. Enter a hub id such as bert-base-cased, or "
                f"a folder or GGUF file inside {' or '.join(map(str, roots))}.",
            )

    require_inside(folder)
    with suppress(ModelFilesError):  # what is damaged is refused where it is read
        base = Path(base_of(folder) or folder)
        if base.is_absolute() or base.exists():
            require_inside(base)


def check_key(variable: str, base_url: str) -> None:
    """Raise :class:`RunError` unless ``variable`` holds a key that is meant for this server."""
    if not variable:
        return
    if not KEY_VARIABLE.fullmatch(variable):
        # Not repeated in the message: it may be the key itself.
        raise RunError.at(
            "key_variable",
            "Enter the name of an environment variable that begins with MODEL_KEY_, such as "
            "MODEL_KEY_OPENAI, and never the key itself.",
        )
    if not is_meant_for(variable, base_url, settings.MODEL_KEY_HOSTS):
        host = urlsplit(base_url).netloc
        raise RunError.at(
            "key_variable",
            f"The key in {variable} is not meant for {host}. Ask the administrator to add "
            f"{variable}={host} to MODEL_KEY_HOSTS, or choose the variable of this server.",
        )
    if not is_safe_way(base_url, plain_here=settings.PLAIN_LOOPBACK_KEYS):
        raise RunError.at(
            "key_variable",
            f"Keys are sent by https alone, and the base URL is {base_url}. Enter one that begins "
            "with https, or no key. For a server on the workers’ own machine, the administrator "
            "can set PLAIN_LOOPBACK_KEYS=true.",
        )
