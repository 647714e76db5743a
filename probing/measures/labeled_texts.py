"""Stimuli of training a classifier: texts with their classes, to train on and to measure with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, get_args

from probing.measures.probe_stimuli import SENTIMENT
from probing.measures.stimuli import StimuliError
from probing.measures.stored_stimuli import StoredStimuli
from probing.measures.streams import named_stream

TextSplit = Literal["train", "validation", "test"]
SPLITS: tuple[TextSplit, ...] = get_args(TextSplit)
#: How files call the parts of a data set.
SPLIT_NAMES: dict[str, TextSplit] = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("validation", "valid", "val", "dev", "development"), "validation"),
    **dict.fromkeys(("test", "testing"), "test"),
}


@dataclass(frozen=True)
class LabeledText:
    """A text with the number of its class; `split` is empty where it was not said."""

    text: str
    label: int
    split: TextSplit | Literal[""] = ""


@dataclass(frozen=True)
class LabeledTexts(StoredStimuli):
    """A labeled data set, every text in one split.

    name : of the data set, as reports print it
    classes : names of the labels by their numbers
    """

    texts: tuple[LabeledText, ...]
    name: str = ""
    classes: tuple[str, ...] = SENTIMENT

    def __post_init__(self) -> None:
        if not self.texts:
            raise StimuliError("There are no labeled texts. Choose a data set that has some.")
        for one in self.texts:
            if one.split not in SPLITS or not 0 <= one.label < len(self.classes):
                raise StimuliError(
                    f"A text has the label {one.label} in the split “{one.split}”. Labels go from "
                    f"0 to {len(self.classes) - 1}, and splits are {', '.join(SPLITS)}."
                )

    def part(self, split: TextSplit) -> tuple[LabeledText, ...]:
        """Return the texts of a split, in their order."""
        return tuple(one for one in self.texts if one.split == split)

    def counts(self) -> dict[tuple[str, str], int]:
        """Return the number of texts by split and class, zeros included."""
        found = Counter((one.split, one.label) for one in self.texts)
        return {
            (split, name): found[split, number]
            for split in SPLITS
            for number, name in enumerate(self.classes)
        }

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "classes": list(self.classes),
            "labelled_texts": [[one.text, one.label, one.split] for one in self.texts],
        }

    @classmethod
    def from_plain(cls, raw: Mapping[str, Any]) -> Self:
        return cls(
            tuple(LabeledText(*entry) for entry in raw["labelled_texts"]),
            raw["name"],
            tuple(raw["classes"]),
        )


def complete_splits(
    texts: Sequence[LabeledText], *, validation_share: float, test_share: float, seed: int
) -> tuple[LabeledText, ...]:
    """Return the texts, each with a split; a split that the data set lacks is drawn.

    A share of the texts to train on is drawn, of every class alike; equal texts stay together.
    Texts without a split are texts to train on, unless they are drawn.
    """
    given = [replace(one, split=one.split or "train") for one in texts]
    shares: dict[TextSplit, float] = {"test": test_share, "validation": validation_share}
    drawn: dict[str, TextSplit] = {}
    for split, share in shares.items():
        if any(one.split == split for one in given):
            continue
        for label in sorted({one.label for one in given}):
            known = {o.text: None for o in given if o.label == label and o.split == "train"}
            free = [text for text in known if text not in drawn]
            order = named_stream(seed, "split", split, label).permutation(len(free))
            number = min(round(share * len(known)), len(free))
            drawn.update({free[place]: split for place in order[:number]})
    return tuple(
        replace(one, split=drawn.get(one.text, "train")) if one.split == "train" else one
        for one in given
    )


def shared_texts(texts: Iterable[LabeledText]) -> list[str]:
    """Return texts that stand in several splits: what is trained on must not be tested."""
    seen: dict[str, set[str]] = {}
    for one in texts:
        seen.setdefault(one.text, set()).add(one.split)
    return [text for text, splits in seen.items() if len(splits) > 1]
