"""The word that ends a prompt: which passes and look-ups its subwords need.

Hofmann et al. (2024), Methods, Probing: a causal model is read after the last token of the prompt,
a masked one at a mask that follows the prompt, T5 after ``<extra_id_0>``. A word of one token is
read there. A longer one is read by the chain rule: each subword after those before it; in a masked
model it stands as that many masks, of which the first hold its earlier subwords.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import torch

Row = tuple[int, ...]


@dataclass(frozen=True)
class OpenEnd:
    """The ids of a prompt with its end open, and those of each word that may follow."""

    ids: Row
    words: tuple[Row, ...]


@dataclass(frozen=True)
class Opening:
    """How the end of a prompt is opened: subwords that are known, masks that are open.

    `answers` where a decoder begins an answer of its own instead of filling a hidden span.
    """

    known: Row
    masks: int
    answers: bool = False


class EndWordReader(ABC):
    """What models that read the end of a prompt have in common."""

    #: Whether a word of several subwords stands as so many masks.
    _opens_masks = False

    @abstractmethod
    def _read_ends(
        self, rows: Sequence[Row], opening: Opening
    ) -> Iterator[tuple[Sequence[int], torch.Tensor]]:
        """Yield places of `rows`, and the logits at their opened ends, (n, vocabulary)."""

    def end_logprobs(self, ends: Sequence[OpenEnd]) -> npt.NDArray[np.float64]:
        """Return ln P(word | prompt) in nats, (n_ends, n_words), for ends of `open_ends`.

        All have the same number of words. Softmax in float64 over the full vocabulary, of the
        logits at the end alone. Ends of one prompt with different texts belong into one call: what
        they begin with is read once.
        """
        import torch

        from probing.lm.numerics import pick_many_logprobs

        found = np.zeros((len(ends), len(ends[0].words) if ends else 0), dtype=np.float64)
        alike: dict[tuple[Row, ...], list[int]] = {}
        for place, end in enumerate(ends):
            alike.setdefault(end.words, []).append(place)
        for words, members in alike.items():
            rows = [ends[place].ids for place in members]
            for opening, (columns, targets) in plan_words(words, masks=self._opens_masks).items():
                wanted = torch.from_numpy(targets)
                for chosen, logits in self._read_ends(rows, opening):
                    places = np.asarray(members)[np.asarray(chosen)]
                    found[np.ix_(places, np.asarray(columns))] += pick_many_logprobs(
                        logits, wanted
                    ).numpy()
        return found

    def begin_logprobs(self, rows: Sequence[Row], pieces: Sequence[Row]) -> npt.NDArray[np.float64]:
        """Return ln P that what follows each row begins with these ids, (n_rows, n_pieces).

        Where some pieces begin with others, the shorter ones are not followed by what the longer
        ones go on with: 5 is 5 and not the beginning of 57. All add up to one at most.
        """
        import torch

        from probing.lm.numerics import pick_many_logprobs

        found = np.zeros((len(rows), len(pieces)), dtype=np.float64)
        planned = {o.known: found_at for o, found_at in plan_words(pieces, masks=False).items()}
        for known, places, logits in self._read_answers(rows, list(planned)):
            columns, targets = planned[known]
            wanted, place_of = np.unique(targets, return_inverse=True)
            shorter = [column for column, ids in enumerate(pieces) if ids == known]
            read = pick_many_logprobs(logits, torch.from_numpy(wanted)).numpy()
            found[np.ix_(np.asarray(places), np.asarray(columns))] += read[:, place_of]
            going_on = np.minimum(np.exp(read).sum(axis=1, keepdims=True), 1.0)
            with np.errstate(divide="ignore"):
                found[np.ix_(np.asarray(places), np.asarray(shorter, dtype=int))] += np.log1p(
                    -going_on
                )
        return found

    def _read_answers(
        self, rows: Sequence[Row], beginnings: Sequence[Row]
    ) -> Iterator[tuple[Row, Sequence[int], torch.Tensor]]:
        """Yield a beginning of answers, places of `rows`, and the logits after both.

        Of every beginning, all shorter ones are among `beginnings` as well.
        """
        for known in beginnings:
            for places, logits in self._read_ends(rows, Opening(known, 0, answers=True)):
                yield known, places, logits


def plan_words(
    pieces: Sequence[Row], *, masks: bool
) -> Mapping[Opening, tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Return, for every opening, which words are looked up there and at which token.

    Words of one token share one opening, and words that begin alike share what they begin with.
    """
    found: dict[Opening, list[tuple[int, int]]] = {}
    for column, ids in enumerate(pieces):
        for place, target in enumerate(ids):
            opening = Opening(ids[:place], len(ids) - place if masks else 0)
            found.setdefault(opening, []).append((column, target))
    arrays = {opening: np.array(rows, dtype=np.int64).T for opening, rows in found.items()}
    return {opening: (columns, targets) for opening, (columns, targets) in arrays.items()}


def shared_beginning(rows: Sequence[Row]) -> int:
    """Return how many tokens all rows begin with; at least one of each stays outside."""
    first, last = min(rows), max(rows)  # in order, all others lie between these two
    most = min(map(len, rows)) - 1
    return next((n for n in range(most) if first[n] != last[n]), most)
