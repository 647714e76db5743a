"""Trait pairs as rows of a file: two poles, and a list of synonyms for each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from annotation.library.english_forms import (
    Finding,
    capitalize,
    firm,
    lower_case_names,
    needless_capital,
)
from annotation.library.library_kind import Column, Known, LibraryKind, Values
from annotation.models import TraitPair

ADJECTIVE = re.compile(r"[^\W\d_]+(?:[-'’ ][^\W\d_]+)*")


class TraitKind(LibraryKind):
    """Trait pairs with their lists of adjectives."""

    name = "trait-pairs"
    noun = "trait pair"
    plural = "trait pairs"
    model = TraitPair
    fields = ("low", "high", "dimension", "low_synonyms", "high_synonyms", "position")
    columns = (
        Column("slug", "the name that data go by, such as cold-warm", needed=True),
        Column("low", "the adjective of pole 0", needed=True),
        Column("high", "the adjective of pole 100", needed=True),
        Column("dimension", "agency, beliefs or communion", needed=True),
        Column("low_synonyms", "further adjectives of the low pole", several=True),
        Column("high_synonyms", "further adjectives of the high pole", several=True),
        Column("position", "order in tables and charts; without one, behind all others"),
    )
    example = (
        ("lazy-hardworking", "lazy", "hardworking", "agency", "idle; sluggish",
         "diligent; industrious", ""),
        ("rude-polite", "rude", "polite", "communion", "impolite", "courteous; well-mannered", ""),
    )  # fmt: skip

    def stored(self) -> dict[str, Values]:
        """Return every trait pair in the order of tables. One query."""
        return {pair.slug: self.read(pair) for pair in TraitPair.objects.all()}

    def complete(
        self, values: Values, *, given: Values, old: Values | None, known: Known
    ) -> Values:
        planned = [plan.values for plan in known.planned.values()]
        position = values["position"] or (old or {}).get("position")
        if not position:
            taken = [int(str(entry["position"])) for entry in (*known.stored.values(), *planned)]
            position = str(max(taken, default=0) + 1)
        dimension = str(values["dimension"]).casefold()
        return {**values, "position": position, "dimension": dimension}

    def check(self, slug: str, values: Values, known: Known) -> Iterable[Finding]:
        return check_trait(
            str(values["low"]),
            str(values["high"]),
            tuple(values["low_synonyms"]),
            tuple(values["high_synonyms"]),
        )


def check_trait(
    low: str, high: str, low_synonyms: Sequence[str], high_synonyms: Sequence[str]
) -> Iterator[Finding]:
    """Yield what is wrong with two poles and their lists of adjectives."""
    if low.casefold() == high.casefold():
        yield firm(f"Both poles are “{low}”, expected two opposite adjectives.", "high")
    poles = (("low", low, low_synonyms), ("high", high, high_synonyms))
    for name, pole, synonyms in poles:
        yield from _pole(name, pole, synonyms)
    both = {word.casefold() for word in (low, *low_synonyms)} & {
        word.casefold() for word in (high, *high_synonyms)
    }
    if both and low.casefold() != high.casefold():
        listed = ", ".join(f"“{word}”" for word in sorted(both))
        yield firm(f"{listed} stands for both poles, expected for one.", "high_synonyms")


def _pole(name: str, pole: str, synonyms: Sequence[str]) -> Iterator[Finding]:
    field = f"{name}_synonyms"
    for word, where in ((pole, name), *((word, field) for word in synonyms)):
        if not ADJECTIVE.fullmatch(word):
            yield firm(
                f"“{word}” is no adjective, expected letters, hyphens and single spaces.", where
            )
            continue
        for found, certain in lower_case_names(word):
            yield Finding(
                certain,
                f"“{found}” is written with a capital as a name, “{capitalize(found)}”.",
                where,
                f"All people are {word}.",
            )
        if needless_capital(word):
            yield Finding(
                False,
                f"“{word}” begins with a capital within the sentence; that is right for names "
                "alone.",
                where,
                f"All people are {word}.",
            )
    seen: set[str] = set()
    for word in (pole, *synonyms):
        if word.casefold() in seen:
            yield firm(f"“{word}” comes twice for the {name} pole, expected once.", field)
        seen.add(word.casefold())
