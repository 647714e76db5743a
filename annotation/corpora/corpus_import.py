"""Imports a file of texts or pairs as a new corpus, or into one that is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from annotation.common.table_file import Heading, Problem, describe_import
from annotation.corpora.bodies import fold_body
from annotation.corpora.corpus_file import parse_corpus_file
from annotation.corpora.corpus_rows import Layout, ParsedCorpus, Row, Side, Varieties
from annotation.corpora.corpus_storage import store_rows
from annotation.models import Corpus
from annotation.models.corpus import VARIETY_LENGTH

# --- What rows of a corpus have to do with one another and with what is stored already ------------

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


# --- Imports a file of texts or pairs as a new corpus, or into one that is there ------------------


class BadRowsError(Exception):
    """The file has bad rows and nothing was stored; ``problems`` names every one."""

    def __init__(self, parsed: ParsedCorpus) -> None:
        bad = parsed.n_rows - len(parsed.rows)
        super().__init__(f"Nothing was imported: {bad} of {parsed.n_rows} rows are bad.")
        self.problems = parsed.problems


@dataclass(frozen=True)
class ImportResult:
    """What an import stored, or would store in a dry run, where ``corpus`` is None if new.

    by_source : good rows by (source, split)
    skipped : problems of the rows that were left out
    notices : what was assumed of the file, and what of it is not read
    """

    corpus: Corpus | None
    layout: Layout
    n_texts: int
    n_pairs: int
    by_source: Mapping[tuple[str, str], int]
    skipped: tuple[Problem, ...]
    notices: tuple[str, ...] = ()

    @property
    def n_skipped(self) -> int:
        """Rows that were left out."""
        return len({problem.line for problem in self.skipped})


def import_corpus(
    *,
    content: bytes,
    file_name: str,
    into: Corpus | None = None,
    name: str = "",
    license: str = "",
    source_variety: str = "AAL",
    target_variety: str = "WME",
    owner: AbstractBaseUser | None = None,
    user: AbstractBaseUser | None = None,
    other_varieties: Sequence[str] = (),
    heading: Heading | None = None,
    skip_bad_rows: bool = False,
    dry_run: bool = False,
    **facts: Any,
) -> ImportResult:
    """Store a file's texts or pairs, all rows or none.

    into : adds to this corpus, whose varieties hold; else a new one is made of `name`, `license`,
        the varieties, `owner` and ``facts`` (further fields of `Corpus`)
    user : who imports, for the history
    other_varieties : further ones that single texts may be in, beside those that are there
    heading : what is known of the file's columns; None finds them by their names
    skip_bad_rows : leaves bad rows out instead of refusing the file
    dry_run : does everything but keep it

    Raises `TableFileError` for a file that cannot be read, `BadRowsError` for bad rows and
    `ValidationError`, by field, for facts that are not valid and where no row is left.
    """
    with transaction.atomic():
        if into is None:
            corpus = Corpus(
                name=name.strip(),
                license=license.strip(),
                source_variety=source_variety.strip(),
                target_variety=target_variety.strip(),
                owner=owner,  # type: ignore[misc]
                **facts,
            )
            check_corpus(corpus)
        else:
            corpus = Corpus.objects.select_for_update().get(pk=into.pk)
        parsed = _read(content, file_name, corpus, other_varieties, heading)
        if parsed.problems and not skip_bad_rows:
            raise BadRowsError(parsed)
        if not parsed.rows:
            raise ValidationError("Nothing was imported: no row is left, all are bad.")
        reason = describe_import(content, file_name)
        if into is None:
            corpus._history_user = user  # type: ignore[attr-defined] # as django-simple-history has it
            corpus._change_reason = reason  # type: ignore[attr-defined]
            try:
                with transaction.atomic():
                    corpus.save()
            except IntegrityError as error:  # somebody else took the name just now
                raise ValidationError({"name": "A corpus with this name is there."}) from error
        n_texts, n_pairs = store_rows(corpus=corpus, rows=parsed.rows, user=user, reason=reason)
        if dry_run:
            transaction.set_rollback(True)
    return ImportResult(
        corpus=into if dry_run else corpus,
        layout=parsed.layout,
        n_texts=n_texts,
        n_pairs=n_pairs,
        by_source=Counter((row.source, row.split) for row in parsed.rows),
        skipped=parsed.problems,
        notices=parsed.notices,
    )


def check_corpus(corpus: Corpus) -> None:
    """Raise `ValidationError`, by field, for facts of a corpus that are not valid."""
    if corpus.source_variety.casefold() == corpus.target_variety.casefold():
        raise ValidationError(
            {"target_variety": f"Both varieties are “{corpus.target_variety}”, expected two."}
        )
    if Corpus.objects.filter(name=corpus.name).exclude(pk=corpus.pk).exists():
        raise ValidationError(
            {"name": f"A corpus is already called “{corpus.name}”. Choose another name."}
        )
    corpus.full_clean()


def _read(
    content: bytes,
    file_name: str,
    corpus: Corpus,
    other_varieties: Sequence[str],
    heading: Heading | None,
) -> ParsedCorpus:
    """Return the checked rows. Two queries, none for a corpus that is new."""
    others = [name.strip() for name in other_varieties if name.strip()]
    if longest := next((name for name in others if len(name) > VARIETY_LENGTH), ""):
        raise ValidationError(
            f"The variety “{longest}” has {len(longest)} characters, expected {VARIETY_LENGTH} at "
            "most."
        )
    known = Known()
    if corpus.pk is not None:
        texts = list(corpus.texts.values_list("variety", "body", "split", "slug", "pk"))
        others += [variety for variety, *_ in texts]
        pairs = list(corpus.pairs.values_list("slug", "source_text_id", "target_text_id"))
        bodies = {pk: body for _, body, _, _, pk in texts}
        known.add_stored(
            [(variety, body, split) for variety, body, split, *_ in texts],
            [*(slug for *_, slug, _ in texts), *(slug for slug, *_ in pairs)],
            [(bodies[source], bodies[target]) for _, source, target in pairs],
        )
    named = (corpus.source_variety, corpus.target_variety)
    varieties = Varieties(*named, tuple(dict.fromkeys(one for one in others if one not in named)))
    parsed = parse_corpus_file(content, file_name, varieties, heading)
    return check_rows(parsed, known, corpus.target_variety)
