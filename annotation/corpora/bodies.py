"""When two texts are the same, by their bodies. No database here."""

from __future__ import annotations

import hashlib
import re
import unicodedata

# Soft hyphens, zero-width blanks and marks of direction; joiners where no script needs them.
UNSEEN = re.compile(
    "[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]"
    "|(?<![^\x00-\x7f])[\u200c\u200d](?![^\x00-\x7f])"
)


def hash_body(body: str) -> str:
    """Return the SHA-256, in hexadecimal, of ``body`` with every run of white space one blank.

    Letters stay as they are: “He be there” and “he be there” are two texts.
    """
    return hashlib.sha256(" ".join(body.split()).encode("utf-8", "surrogatepass")).hexdigest()


def fold_body(body: str) -> str:
    """Return the hash of ``body`` as it looks: without unseen characters, accents composed.

    Texts that differ in `hash_body` and agree here are twins, of which a corpus keeps the first.
    """
    return hash_body(unicodedata.normalize("NFC", UNSEEN.sub("", body)))
