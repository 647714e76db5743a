"""Made-up sentences whose adjective says the class."""

from __future__ import annotations

import random

#: Words that the tiny checkpoints know, by class: negative, neutral, positive.
ADJECTIVES = (
    ("cold", "poor", "dishonest"),
    ("old", "young", "tall"),
    ("warm", "wealthy", "honest"),
)
SPLITS = {"train": 48, "validation": 15, "test": 18}


def compose_texts(
    numbers: dict[str, int] | None = None, seed: int = 0
) -> list[tuple[str, int, str]]:
    """Return (text, label, split) of distinct sentences, every class as often as the others."""
    draw = random.Random(seed)
    nouns = ("man", "woman", "person", "people", "men", "women")
    seen: set[str] = set()
    found = []
    for split, number in (numbers or SPLITS).items():
        while sum(one[2] == split for one in found) < number:
            label = sum(one[2] == split for one in found) % 3
            words = [draw.choice(nouns), "and", draw.choice(nouns), draw.choice(("is", "are"))]
            text = " ".join(["the", *words, draw.choice(ADJECTIVES[label])])
            if text not in seen:
                seen.add(text)
                found.append((text, label, split))
    return found
