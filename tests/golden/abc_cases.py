"""The stored cases of Cao et al. (2022), as stimuli that our measures take.

The files spell templates with ``<sgroup>``, ``<pgroup>`` and ``<cpgroup>`` for the three surface
forms and ``<mask>`` for the adjective, and list the groups in one order for all templates.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from probing.lm import load_masked
from probing.lm.masked import MaskedLanguageModel
from probing.measures.registry import get_measure
from probing.measures.stimuli import Group, Stimuli, Template, Trait

MODELS = ("bert", "roberta")

_SLOTS = {
    "<sgroup>": "{singular}",
    "<pgroup>": "{plural}",
    "<cpgroup>": "{Plural}",
    "<mask>": "{trait}",
}


@dataclass(frozen=True)
class AbcCase:
    """One golden file with the stimuli that it was made from."""

    data: dict[str, Any]
    stimuli: Stimuli
    lm: MaskedLanguageModel

    @property
    def tolerance(self) -> dict[str, float]:
        """The file's own tolerance, as numpy's arguments."""
        stated = self.data["header"]["tolerance"]
        return {"atol": stated["abs"], "rtol": stated["rel"]}

    @cached_property
    def words(self) -> frozenset[str]:
        """The adjectives that are scored."""
        return frozenset(word for trait in self.stimuli.traits for word in (trait.low, trait.high))

    def expected(self, path: tuple[str, ...]) -> pd.Series:
        """The values below `path` in every template, by (template, group, word); None is NaN."""
        values = {}
        for template in self.stimuli.templates:
            stored = self.data["templates"][_stored_text(template.text)]
            for group, name in zip(self.stimuli.groups, stored["groups"], strict=True):
                found: Any = stored
                for key in path:
                    found = found[key]
                for word, value in found[name].items():
                    if word in self.words:
                        values[template.slug, group.slug, word] = value
        return pd.Series(values, dtype=float)


@cache
def load_case(shared_dir: Path, kind: str, model: str) -> AbcCase:
    """Return the golden file ``abc_<kind>_<model>.json`` with its stimuli and its checkpoint."""
    file = shared_dir / "golden" / "expected" / f"abc_{kind}_{model}.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    # One thread: the suite runs several processes side by side.
    lm = load_masked(shared_dir / "golden" / "models" / f"tiny-{model}", threads=1)
    return AbcCase(data, _stimuli(data), lm)


def compute_rows(case: AbcCase, measure: str, **parameters: Any) -> pd.DataFrame:
    """Run a measure as the work engine does and return the rows of all its shards."""
    return pd.concat(compute_frames(case, measure, **parameters), ignore_index=True)


def compute_frames(case: AbcCase, measure: str, **parameters: Any) -> list[pd.DataFrame]:
    """Plan, then compute every shard from its payload as it comes out of a JSON column."""
    found = get_measure(measure)
    chosen = found.Parameters(**parameters)
    payloads = [json.loads(json.dumps(shard.payload)) for shard in found.plan(case.stimuli, chosen)]
    return [found.compute(payload, case.stimuli, chosen, case.lm) for payload in payloads]


def values_by_word(rows: pd.DataFrame) -> pd.Series:
    """Return the rows' values by (template, group, word)."""
    return rows.groupby(["template", "group", "word"])["value"].first()


def unsafe_distances(case: AbcCase) -> dict[tuple[str, str, str], float]:
    """The larger of the stored distances of group and prior, where one is 0.98 or more."""
    unsafe = {}
    for template, stored in zip(
        case.stimuli.templates, case.data["templates"].values(), strict=True
    ):
        for group, name in zip(case.stimuli.groups, stored["groups"], strict=True):
            for word, entry in stored["set_unsafe"].get(name, {}).items():
                if word not in case.words:
                    continue
                unsafe[template.slug, group.slug, word] = max(entry.values())
    return unsafe


def with_lists(case: AbcCase) -> Stimuli:
    """The stimuli of the file with its whole lists, as far as the tokenizer knows all words."""
    known = {word for word, tokens in case.data["subwords"].items() if "[UNK]" not in tokens}
    poles = [
        (pole, tuple(words[1:]))
        for pole, words in case.data["trait_lists"].items()
        if set(words) <= known
    ]
    traits = tuple(
        Trait(f"{low}-{high}", low, high, "golden", low_words, high_words)
        for (low, low_words), (high, high_words) in zip(poles[::2], poles[1::2], strict=False)
    )
    return Stimuli(case.stimuli.groups, traits, case.stimuli.templates)


def assert_matches(found: pd.Series, expected: pd.Series, tolerance: dict[str, float]) -> None:
    """Every expected entry is there and agrees within the file's tolerance."""
    assert len(expected) > 0
    aligned = found.reindex(pd.MultiIndex.from_tuples(expected.index))
    np.testing.assert_allclose(aligned.to_numpy(), expected.to_numpy(), **tolerance)


def _stimuli(data: dict[str, Any]) -> Stimuli:
    texts = list(data["templates"])
    forms = {
        slot: next(data["templates"][text]["groups"] for text in texts if slot in text)
        for slot in ("<sgroup>", "<pgroup>", "<cpgroup>")
    }
    groups = [
        Group(f"group-{number}", *names)
        for number, names in enumerate(zip(*forms.values(), strict=True))
    ]
    # The checkpoint of one file does not know all letters; the released code scored its unknown
    # token there, which we refuse to do.
    words = [word for word, tokens in data["subwords"].items() if "[UNK]" not in tokens]
    if len(words) % 2:  # an adjective without a partner is paired with the first one
        words.append(words[0])
    traits = [
        Trait(f"{low}-{high}", low, high, "golden")
        for low, high in zip(words[::2], words[1::2], strict=True)
    ]
    templates = [
        Template(f"template-{number}", _our_text(text)) for number, text in enumerate(texts)
    ]
    return Stimuli(tuple(groups), tuple(traits), tuple(templates))


def _our_text(stored: str) -> str:
    for slot, ours in _SLOTS.items():
        stored = stored.replace(slot, ours)
    return stored


def _stored_text(ours: str) -> str:
    for slot, text in _SLOTS.items():
        ours = ours.replace(text, slot)
    return ours
