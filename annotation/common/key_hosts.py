"""Which host a key is sent to, by the variable that holds it, and by which way."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

LOOPBACK = {"localhost", "127.0.0.1", "::1"}


def is_meant_for(variable: str, url: str, hosts: Mapping[str, str]) -> bool:
    """Return whether ``hosts`` names the URL's host, alone or with its port, for a variable.

    >>> is_meant_for("MODEL_KEY_LAB", "https://llm.lab:8000/v1", {"MODEL_KEY_LAB": "llm.lab"})
    True
    """
    parts = urlsplit(url)
    return hosts.get(variable) in {parts.hostname, parts.netloc}


def is_safe_way(url: str, *, plain_here: bool) -> bool:
    """Return whether a key may travel to a URL: by https, or with ``plain_here`` on this machine.

    >>> is_safe_way("http://llm.lab:8000/v1", plain_here=True)
    False
    """
    parts = urlsplit(url)
    return parts.scheme == "https" or (plain_here and parts.hostname in LOOPBACK)
