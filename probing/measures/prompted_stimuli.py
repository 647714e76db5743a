"""Stimuli of prompted classification: labeled sentences, wordings, and demonstrations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from probing.measures.class_prompts import ClassPrompt
from probing.measures.probe_stimuli import SENTIMENT, ProbeStimuli
from probing.measures.stimuli import StimuliError
from probing.measures.streams import named_stream


@dataclass(frozen=True)
class Demonstration:
    """A text with the number of its class, shown before the text that is asked about."""

    text: str
    label: int


@dataclass(frozen=True)
class Shots:
    """What is shown in the repeat with this seed, in the order in which it is shown."""

    seed: int
    demonstrations: tuple[Demonstration, ...]


@dataclass(frozen=True)
class PromptedStimuli(ProbeStimuli):
    """Labeled sentences about groups, wordings that ask for their class, and demonstrations.

    shots : one entry for each repeat; empty = nothing is shown
    """

    wordings: tuple[ClassPrompt, ...] = ()
    shots: tuple[Shots, ...] = ()

    @property
    def n_shots(self) -> int:
        return len(self.shots[0].demonstrations) if self.shots else 0

    def wording(self, slug: str) -> ClassPrompt:
        """Return the wording of that name; :class:`StimuliError` where there is none."""
        found = next((one for one in self.wordings if one.slug == slug), None)
        if found is None:
            raise StimuliError(f"There is no wording “{slug}” in these stimuli.")
        return found

    def shown(self, seed: int) -> tuple[Demonstration, ...]:
        """Return the demonstrations of the repeat with that seed."""
        return next((one.demonstrations for one in self.shots if one.seed == seed), ())

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {
            "wordings": [asdict(wording) for wording in self.wordings],
            "shots": [asdict(one) for one in self.shots],
        }

    @classmethod
    def from_plain(cls, raw: Mapping[str, Any]) -> Self:
        return cls(
            **vars_of(ProbeStimuli.from_plain(raw)),
            wordings=tuple(ClassPrompt(**entry) for entry in raw["wordings"]),
            shots=tuple(
                Shots(
                    entry["seed"],
                    tuple(Demonstration(**one) for one in entry["demonstrations"]),
                )
                for entry in raw["shots"]
            ),
        )


def vars_of(stimuli: ProbeStimuli) -> dict[str, Any]:
    """Return the fields of stimuli, for another kind of them."""
    names = ("templates", "groups", "name", "classes", "cells")
    return {name: getattr(stimuli, name) for name in names}


def draw_shots(
    known: Sequence[Demonstration],
    n: int,
    seeds: Sequence[int],
    classes: Sequence[str] = SENTIMENT,
) -> tuple[Shots, ...]:
    """Return `n` demonstrations for every seed, as many of each class, in random order.

    Kohankhaki et al., §3.4: balanced, in random order, the same for all models. The released code
    sorts them as they stand in the file.

    Raises :class:`StimuliError` where `n` cannot be balanced, or a class has too few texts.
    """
    if n < 1 or n % len(classes):
        fits = max(1, round(n / len(classes))) * len(classes)
        raise StimuliError(
            f"{n} demonstrations cannot be as many for each of {len(classes)} classes "
            f"({', '.join(classes)}). Choose a multiple, such as {fits}."
        )
    each = n // len(classes)
    by_class = [[one for one in known if one.label == number] for number, _ in enumerate(classes)]
    short = [
        f"{name} ({len(own)})"
        for name, own in zip(classes, by_class, strict=True)
        if len(own) < each
    ]
    if short:
        texts = "1 text" if each == 1 else f"{each} texts"
        raise StimuliError(
            f"{n} demonstrations need {texts} of each class, but the set has fewer: "
            f"{', '.join(short)}. Choose another set, or fewer demonstrations."
        )
    found = []
    for seed in seeds:
        rng = named_stream(seed, "demonstrations")
        drawn = [own[place] for own in by_class for place in rng.permutation(len(own))[:each]]
        found.append(Shots(seed, tuple(drawn[place] for place in rng.permutation(n))))
    return tuple(found)
