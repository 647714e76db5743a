"""Stimuli of measures of texts: pairs of texts and prompts, as plain frozen values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from probing.measures.prompts import ParsedPrompt, parse_prompt
from probing.measures.stimuli import StimuliError
from probing.measures.stored_stimuli import StoredStimuli


@dataclass(frozen=True)
class AnnotatedSpan:
    """A span that somebody marked: character offsets in the text, and its kind."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True)
class TextStimulus:
    """One text; `spans` are those that came with it, such as noun phrases."""

    slug: str
    body: str
    spans: tuple[AnnotatedSpan, ...] = ()

    def __post_init__(self) -> None:
        if not self.body.strip():
            raise StimuliError(f"The text '{self.slug}' is empty.")
        for span in self.spans:
            if not 0 <= span.start < span.end <= len(self.body):
                raise StimuliError(
                    f"The text '{self.slug}' has {len(self.body)} characters, but a span from "
                    f"{span.start} to {span.end}."
                )


@dataclass(frozen=True)
class PairStimulus:
    """A text and its counterpart. `origin` is where it was drawn from, such as CORAAL."""

    slug: str
    source: TextStimulus
    target: TextStimulus
    origin: str = ""


@dataclass(frozen=True)
class PromptStimulus:
    """A wording, and how it calls the varieties."""

    slug: str
    text: str
    variety_names: Mapping[str, str] = field(default_factory=dict)

    @property
    def parsed(self) -> ParsedPrompt:
        return parse_prompt(self.text)


@dataclass(frozen=True)
class TextStimuli(StoredStimuli):
    """Pairs in two varieties; `examples` are training pairs, never among `pairs`."""

    source_variety: str
    target_variety: str
    pairs: tuple[PairStimulus, ...]
    prompts: tuple[PromptStimulus, ...] = ()
    examples: tuple[PairStimulus, ...] = ()

    def __post_init__(self) -> None:
        doubled = [
            slug
            for slug, times in Counter(pair.slug for pair in (*self.pairs, *self.examples)).items()
            if times > 1
        ]
        if doubled:
            raise StimuliError(
                f"The pair '{doubled[0]}' comes twice. Training pairs are never evaluated."
            )

    @cached_property
    def _pairs(self) -> dict[str, PairStimulus]:
        return {pair.slug: pair for pair in self.pairs}

    def pair(self, slug: str) -> PairStimulus:
        try:
            return self._pairs[slug]
        except KeyError:
            raise StimuliError(f"The stimuli have no pair '{slug}'.") from None

    @classmethod
    def from_plain(cls, raw: Mapping[str, Any]) -> Self:
        return cls(
            source_variety=raw["source_variety"],
            target_variety=raw["target_variety"],
            pairs=tuple(_pair(entry) for entry in raw["pairs"]),
            prompts=tuple(PromptStimulus(**entry) for entry in raw.get("prompts", ())),
            examples=tuple(_pair(entry) for entry in raw.get("examples", ())),
        )


def _pair(entry: Mapping[str, Any]) -> PairStimulus:
    return PairStimulus(
        slug=entry["slug"],
        source=_text(entry["source"]),
        target=_text(entry["target"]),
        origin=entry.get("origin", ""),
    )


def _text(entry: Mapping[str, Any]) -> TextStimulus:
    spans = tuple(AnnotatedSpan(**span) for span in entry.get("spans", ()))
    return TextStimulus(slug=entry["slug"], body=entry["body"], spans=spans)
