"""Word lists as a file with a row for each word; what describes a list stands on its first row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from django.contrib.auth.models import AbstractBaseUser
from simple_history.utils import bulk_create_with_history, bulk_update_with_history

from annotation.imports.table_file import Problem, Record, shorten
from annotation.library.findings import Finding
from annotation.library.library_kind import (
    Column,
    Draft,
    Known,
    LibraryKind,
    Plan,
    Values,
    read_draft,
)
from probing.library.word_lists import find_fault
from probing.models import WordList

FACTS = ("title", "licence", "citation")
FIELDS = ("title", "licence", "citation", "words")


class WordListKind(LibraryKind):
    """Named lists of words that are looked for in texts."""

    name = "word-lists"
    noun = "word list"
    plural = "word lists"
    model = WordList
    columns = (
        Column("slug", "the list's name, on every row, such as mild-words", needed=True),
        Column("title", "what the list is called; needed on its first row", needed=True),
        Column(
            "licence",
            "its licence or what was agreed; needed on its first row",
            needed=True,
            other_names=("license",),
        ),
        Column("citation", "who made the list, and where it is from"),
        Column("words", "one word or phrase", needed=True, other_names=("word",)),
    )
    example = (
        ("mild-words", "Mild words", "CC0", "Made up as an example", "dang"),
        ("mild-words", "", "", "", "heck"),
        ("mild-words", "", "", "", "hot mess"),
    )

    def stored(self) -> dict[str, Values]:
        """Return every word list. One query."""
        return {
            entry.slug: {
                "title": entry.title.strip(),
                "licence": entry.licence.strip(),
                "citation": entry.citation.strip(),
                "words": tuple(entry.words),
            }
            for entry in WordList.objects.all()
        }

    @property
    def empty(self) -> Values:
        return {"title": "", "licence": "", "citation": "", "words": ()}

    def drafts(self, records: Sequence[Record], columns: Mapping[str, Column]) -> list[Draft]:
        """Return an entry for each list; its rows may stand anywhere in the file."""
        lists: dict[str, _ReadList] = {}
        unnamed: list[Draft] = []
        for record in records:
            row = read_draft(record, columns)
            if row.slug:
                lists.setdefault(row.slug, _ReadList(Draft(row.line, row.slug, {}))).take(row)
            else:
                unnamed.append(row)
        return [*(read.finish() for read in lists.values()), *unnamed]

    def rows(self, slug: str, values: Values) -> Iterator[tuple[str, ...]]:
        facts = tuple(str(values[name]) for name in FACTS)
        for number, word in enumerate(values["words"]):
            yield (slug, *(facts if number == 0 else ("",) * len(facts)), word)

    def build(self, slug: str, values: Values) -> WordList:
        return WordList(
            slug=slug, words=list(values["words"]), **{name: values[name] for name in FACTS}
        )

    def check(self, slug: str, values: Values, known: Known) -> Iterable[Finding]:
        return ()

    def store(
        self,
        *,
        added: Sequence[Plan],
        changed: Sequence[Plan],
        user: AbstractBaseUser | None,
        reason: str,
    ) -> None:
        history = {"default_user": user, "default_change_reason": reason}
        bulk_create_with_history(
            [self.build(plan.slug, plan.values) for plan in added], WordList, **history
        )
        plans = {plan.slug: plan for plan in changed}
        edited = list(WordList.objects.filter(slug__in=plans))
        for entry in edited:
            values = plans[entry.slug].values
            for name in FACTS:
                setattr(entry, name, values[name])
            entry.words = list(values["words"])
        bulk_update_with_history(edited, WordList, FIELDS, **history)


@dataclass
class _ReadList:
    """A list while its rows are read; `words` are by their form without case."""

    draft: Draft
    words: dict[str, str] = field(default_factory=dict)
    has_words: bool = False

    def take(self, row: Draft) -> None:
        """Add a row's word, and what the row says of the list: an empty cell says nothing."""
        self.draft.faults += row.faults
        for name in FACTS:
            value = row.values.get(name, "")
            before = self.draft.values.setdefault(name, value) if value else value
            if before != value:
                self._refuse(row, f"“{name}” is “{value}”, but was “{before}” before.")
        if "words" in row.values:
            self.has_words = True
            if not row.faults:
                self._take_word(row, " ".join(str(row.values["words"]).split()))

    def finish(self) -> Draft:
        """Return the list as an entry; without a column of words it keeps those that it has."""
        if self.has_words:
            self.draft.values["words"] = tuple(self.words.values())
        return self.draft

    def _take_word(self, row: Draft, word: str) -> None:
        if not word:
            self._refuse(row, "“words” is empty, expected a word.")
        elif fault := find_fault(word):
            self._refuse(row, f"“{shorten(word)}” {fault}")
        elif word.casefold() in self.words:
            self._refuse(row, f"“{word}” comes twice, expected every word once.")
        else:
            self.words[word.casefold()] = word

    def _refuse(self, row: Draft, message: str) -> None:
        self.draft.faults.append(Problem(row.line, message))
