"""Collapsing maps: which class a label of another data set, or of a classifier, stands for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from probing.measures.probe_stimuli import SENTIMENT

NEGATIVE, NEUTRAL, POSITIVE = SENTIMENT
#: Kohankhaki et al., §3.3 and §3.4: SST5's five labels and SemEval's polarities; “ternary” has the
#: numbers of the released files and the usual spellings.
PRESETS: dict[str, dict[str, str]] = {
    "ternary": {
        spelling: name
        for number, name in enumerate(SENTIMENT)
        for spelling in (str(number), name, name[:3], f"label_{number}")
    },
    "sst5": {
        **dict(zip("01234", (NEGATIVE, NEGATIVE, NEUTRAL, POSITIVE, POSITIVE), strict=True)),
        **{f"{how}{name}": name for how in ("", "very ", "somewhat ") for name in SENTIMENT[::2]},
        NEUTRAL: NEUTRAL,
    },
    "semeval": {
        **dict.fromkeys(("-3", "-2"), NEGATIVE),
        **dict.fromkeys(("-1", "0", "1"), NEUTRAL),
        **dict.fromkeys(("2", "3"), POSITIVE),
    },
}
#: Labels of two classes, which ternary does not have; the first stands for negative.
TWO_CLASSES = (("false", "true"), ("no", "yes"), ("f", "t"), ("n", "y"))
SHOWN = 8
#: A whole number as tables save it in a column of decimals.
WHOLE = re.compile(r"([+-]?\d+)\.0+")


class LabelMapError(ValueError):
    """A map that cannot be read, or labels outside of it; the message lists what is known."""


@dataclass(frozen=True)
class LabelMap:
    """Classes by label; labels are compared without case and white space at their ends;
    “1.0” is 1.

    classes : in the order of their numbers
    """

    of: Mapping[str, str]
    classes: tuple[str, ...] = SENTIMENT

    def collapse(self, labels: Iterable[object]) -> list[int]:
        """Return the number of every label's class.

        Raises :class:`LabelMapError` naming all labels that the map does not have.
        """
        spelled = [_spell(label) for label in labels]
        if unknown := Counter(label for label in spelled if label not in self.of):
            named = ", ".join(f"“{label}” ({n})" for label, n in unknown.most_common(SHOWN))
            raise LabelMapError(
                f"Labels outside of the map: {named}. The map has: {', '.join(self.of)}. Choose "
                f"another preset ({', '.join(PRESETS)}), or add them as in “bad=negative”."
            )
        return [self.classes.index(self.of[label]) for label in spelled]


def _spell(label: object) -> str:
    text = str(label).strip().casefold()
    whole = WHOLE.fullmatch(text)
    return whole[1] if whole else text


def read_label_map(text: str, classes: Sequence[str] = SENTIMENT) -> LabelMap:
    """Return a preset by its name, or the map in “0=negative, 1=neutral, good=positive”.

    Raises :class:`LabelMapError` for entries of another shape and for unknown classes.
    """
    if text.strip() in PRESETS:
        return LabelMap(PRESETS[text.strip()], tuple(classes))
    found: dict[str, str] = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        label, equals, name = (part.strip().casefold() for part in entry.rpartition("="))
        if not (equals and label):
            raise LabelMapError(
                f"The map has the entry “{entry}”. Write LABEL=CLASS, such as 0=negative, or one "
                f"of the presets {', '.join(PRESETS)}."
            )
        if name not in classes:
            raise LabelMapError(
                f"The map has the class “{name}”, expected one of: {', '.join(classes)}."
            )
        if found.setdefault(label, name) != name:
            raise LabelMapError(f"The map has “{label}” twice. Give every label one class.")
    if not found:
        raise LabelMapError(
            f"The map is empty. Write entries such as 0=negative, or one of {', '.join(PRESETS)}."
        )
    return LabelMap(found, tuple(classes))


def guess_label_map(labels: Iterable[object]) -> tuple[str, str]:
    """Return the map for labels of which nothing else is known, and what to say of it: “yes” and
    “no” are positive and negative; everything else is ternary."""
    found = {_spell(label) for label in labels} - {""}
    for low, high in TWO_CLASSES:
        if found and found <= {low, high}:
            text = f"{low}={NEGATIVE}, {high}={POSITIVE}"
            return text, f"The labels were read as {text}. If they mean something else, say so."
    if found == {"0", "1"}:
        return "ternary", (
            f"The labels are 0 and 1 alone and were read as {NEGATIVE} and {NEUTRAL}. If 1 is "
            f"{POSITIVE}, give the labels 0={NEGATIVE}, 1={POSITIVE}."
        )
    return "ternary", ""
