"""What rows of a corpus have to do with one another and with what is stored already.

A text is in a corpus once and may have several counterparts, a counterpart may serve several texts,
and either comes with the same spans. A pair is in a corpus once, an id names one thing, and a body
never stands in both splits, in whichever variety: training texts are never evaluated. The later of
two rows is the bad one. Bodies that look the same are the same (`fold_body`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from annotation.common.table_file import Problem
from annotation.corpora.bodies import fold_body
from annotation.corpora.corpus_rows import ParsedCorpus, Row, Side

IN_CORPUS = "in the corpus already"
TWIN = "but for white space, characters that cannot be seen, or how accents are written"


@dataclass
class Known:
    """What a corpus holds. Places are words such as “on line 3” or “in the corpus already”.

    names : place of every id
    bodies : body and place of every (variety, folded body)
    pairs : place of every two folded bodies
    splits : split and place of every folded body
    """

    names: dict[str, str] = field(default_factory=dict)
    bodies: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    pairs: dict[tuple[str, str], str] = field(default_factory=dict)
    splits: dict[str, tuple[str, str]] = field(default_factory=dict)

    def add_stored(
        self,
        texts: Iterable[tuple[str, str, str]],
        names: Iterable[str],
        pairs: Iterable[tuple[str, str]],
    ) -> None:
        """Take in stored texts (variety, body, split), ids, and the bodies of pairs."""
        for variety, body, split in texts:
            folded = fold_body(body)
            self.bodies[variety, folded] = (body, IN_CORPUS)
            self.splits.setdefault(folded, (split, IN_CORPUS))
        self.names.update(dict.fromkeys(names, IN_CORPUS))
        for source, target in pairs:
            self.pairs[fold_body(source), fold_body(target)] = IN_CORPUS


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
    return replace(
        parsed,
        rows=tuple(good),
        problems=tuple(problems),
        notices=(*parsed.notices, *map(str, checker.twins)),
    )


@dataclass
class _Checker:
    known: Known
    target_variety: str
    spans: dict[tuple[str, str], tuple[Side, str]] = field(default_factory=dict)
    twins: list[Problem] = field(default_factory=list)

    def check(self, row: Row) -> list[str]:
        here = f"on line {row.line}"
        faults = []
        if row.name and (place := self.known.names.get(row.name)):
            faults.append(f"the id “{row.name}” stands {place}, expected one of its own.")
        sides = [(row.variety, row.text, fold_body(row.text.body))]
        if row.target is not None:
            sides.append((self.target_variety, row.target, fold_body(row.target.body)))
        pair = (sides[0][2], sides[-1][2])
        twins = []
        for number, (variety, side, folded) in enumerate(sides):
            body, place = self.known.bodies.get((variety, folded), (side.body, ""))
            aside = f", {TWIN}" if body != side.body else ""
            if row.target is None and place:
                faults.append(
                    f"the same text in {variety} stands {place}{aside}, expected it once."
                )
            elif aside:
                twins.append(
                    f"the same text in {variety} stands {place}{aside}; it is stored once."
                )
            before = self.spans.get((variety, folded))
            if before is not None and before[0].spans != side.spans:
                what = "counterpart" if number else "text"
                faults.append(f"the same {what} {before[1]} has other spans.")
        if row.target is not None and (place := self.known.pairs.get(pair)):
            faults.append(f"the same pair stands {place}, expected it once.")
        for variety, _side, folded in sides:
            split, place = self.known.splits.get(folded, (row.split, ""))
            if split != row.split:
                faults.append(
                    f"the text in {variety} is for {row.split}, but it stands {place} for {split}; "
                    "training texts are never evaluated."
                )
        if not faults:
            self.twins += [Problem(row.line, twin) for twin in twins]
            self._remember(row, sides, pair, here)
        return faults

    def _remember(
        self, row: Row, sides: list[tuple[str, Side, str]], pair: tuple[str, str], here: str
    ) -> None:
        if row.name:
            self.known.names[row.name] = here
        if row.target is not None:
            self.known.pairs[pair] = here
        for variety, side, folded in sides:
            self.known.splits.setdefault(folded, (row.split, here))
            self.known.bodies.setdefault((variety, folded), (side.body, here))
            self.spans.setdefault((variety, folded), (side, here))
