"""Which host a key is sent to: the administrator lists it, by the variable that holds the key."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit


def is_meant_for(variable: str, url: str, hosts: Mapping[str, str]) -> bool:
    """Return whether ``hosts`` names the URL's host, alone or with its port, for a variable.

    >>> is_meant_for("MODEL_KEY_LAB", "https://llm.lab:8000/v1", {"MODEL_KEY_LAB": "llm.lab"})
    True
    """
    parts = urlsplit(url)
    return hosts.get(variable) in {parts.hostname, parts.netloc}
