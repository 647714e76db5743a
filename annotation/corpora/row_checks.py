"""What rows of a corpus have to do with one another and with what is stored already.

A text is in a corpus once, an id names one thing, and a body never stands in both splits, in
whichever variety: training texts are never evaluated. The later of two rows is the bad one. A
counterpart may serve several texts, so that a target may come again, with the same spans.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from annotation.common.table_file import Problem
from annotation.corpora.bodies import hash_body
from annotation.corpora.corpus_rows import ParsedCorpus, Row, Side

IN_CORPUS = "in the corpus already"


@dataclass
class Known:
    """What a corpus holds. Places are words such as “on line 3” or “in the corpus already”.

    names : place of every id
    bodies : place of every (variety, hash of the body)
    splits : split and place of every body's hash
    """

    names: dict[str, str] = field(default_factory=dict)
    bodies: dict[tuple[str, str], str] = field(default_factory=dict)
    splits: dict[str, tuple[str, str]] = field(default_factory=dict)

    def add_stored(self, texts: Iterable[tuple[str, str, str]], names: Iterable[str]) -> None:
        """Take in stored texts (variety, hash of the body, split) and ids."""
        for variety, digest, split in texts:
            self.bodies[variety, digest] = IN_CORPUS
            self.splits.setdefault(digest, (split, IN_CORPUS))
        self.names.update(dict.fromkeys(names, IN_CORPUS))


def check_rows(parsed: ParsedCorpus, known: Known, target_variety: str) -> ParsedCorpus:
    """Return the file without the rows that clash, and with their problems, in lines' order."""
    checker = _Checker(known, target_variety)
    good, problems = [], list(parsed.problems)
    for row in parsed.rows:
        faults = checker.check(row)
        problems += [Problem(row.line, fault) for fault in faults]
        if not faults:
            good.append(row)
    problems.sort(key=lambda problem: problem.line)
    return ParsedCorpus(parsed.layout, tuple(good), tuple(problems))


@dataclass
class _Checker:
    known: Known
    target_variety: str
    target_spans: dict[str, tuple[Side, str]] = field(default_factory=dict)

    def check(self, row: Row) -> list[str]:
        here = f"on line {row.line}"
        digest = hash_body(row.text.body)
        faults = []
        if row.name and (place := self.known.names.get(row.name)):
            faults.append(f"the id “{row.name}” stands {place}, expected one of its own.")
        if place := self.known.bodies.get((row.variety, digest)):
            faults.append(f"the same text in {row.variety} stands {place}, expected it once.")
        sides = [(row.variety, row.text, digest)]
        if row.target is not None:
            target = hash_body(row.target.body)
            sides.append((self.target_variety, row.target, target))
            before = self.target_spans.get(target)
            if before is not None and before[0].spans != row.target.spans:
                faults.append(f"the same counterpart {before[1]} has other spans.")
        for variety, _side, body in sides:
            split, place = self.known.splits.get(body, (row.split, ""))
            if split != row.split:
                faults.append(
                    f"the text in {variety} is for {row.split}, but it stands {place} for {split}; "
                    "training texts are never evaluated."
                )
        if not faults:
            self._remember(row, sides, here)
        return faults

    def _remember(self, row: Row, sides: list[tuple[str, Side, str]], here: str) -> None:
        if row.name:
            self.known.names[row.name] = here
        for number, (variety, side, body) in enumerate(sides):
            self.known.splits.setdefault(body, (row.split, here))
            if number == 0:
                self.known.bodies[variety, body] = here
            else:
                self.target_spans.setdefault(body, (side, here))
