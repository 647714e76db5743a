"""When two texts are the same: their bodies with white space normalised. No database here."""

from __future__ import annotations

import hashlib


def hash_body(body: str) -> str:
    """Return the SHA-256, in hexadecimal, of ``body`` with every run of white space one blank.

    Letters stay as they are: “He be there” and “he be there” are two texts.
    """
    return hashlib.sha256(" ".join(body.split()).encode("utf-8", "surrogatepass")).hexdigest()
