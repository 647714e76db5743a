"""Word lists as a file with a row for a word or several; the first row describes a list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from annotation.common.table_file import Problem, Record
from annotation.common.text_shortening import shorten
from annotation.library.english_forms import Finding
from annotation.library.library_kind import Column, Draft, Known, LibraryKind, Values, read_draft
from probing.library.word_lists import find_fault, split_words
from probing.models import WordList, WordPurpose

FACTS = ("title", "license", "citation", "purpose")


class WordListKind(LibraryKind):
    """Named lists of words that are looked for in texts, or that end prompts."""

    name = "word-lists"
    noun = "word list"
    plural = "word lists"
    model = WordList
    fields = (*FACTS, "words")
    columns = (
        Column("slug", "the list's name, on every row, such as mild-words", needed=True),
        Column("title", "what the list is called; needed on its first row", needed=True),
        Column(
            "license",
            "its license or what was agreed; needed on its first row",
            needed=True,
            other_names=("licence",),
        ),
        Column("citation", "who made the list, and where it is from"),
        Column("purpose", f"what it is for: {', '.join(WordPurpose.values)}; empty is the first"),
        Column("words", "a word or phrase, or several", needed=True, other_names=("word",)),
    )
    example = (
        ("mild-words", "Mild words", "CC0", "Made up as an example", "lookup", "dang"),
        ("mild-words", "", "", "", "", "heck"),
        ("mild-words", "", "", "", "", "hot mess"),
    )

    def stored(self) -> dict[str, Values]:
        """Return every word list. One query."""
        return {
            entry.slug: {
                "title": entry.title.strip(),
                "license": entry.license.strip(),
                "citation": entry.citation.strip(),
                "purpose": entry.purpose,
                "words": tuple(entry.words),
            }
            for entry in WordList.objects.all()
        }

    @property
    def empty(self) -> Values:
        return {
            "title": "",
            "license": "",
            "citation": "",
            "purpose": WordPurpose.LOOKUP.value,
            "words": (),
        }

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
                self._take_words(row, split_words(str(row.values["words"])))

    def finish(self) -> Draft:
        """Return the list as an entry; without a column of words it keeps those that it has."""
        if self.has_words:
            self.draft.values["words"] = tuple(self.words.values())
        return self.draft

    def _take_words(self, row: Draft, words: Sequence[str]) -> None:
        if not words:
            self._refuse(row, "“words” is empty, expected a word.")
        for word in words:
            if fault := find_fault(word):
                self._refuse(row, f"“{shorten(word)}” {fault}")
            elif word.casefold() in self.words:
                self._refuse(row, f"“{word}” comes twice, expected every word once.")
            else:
                self.words[word.casefold()] = word

    def _refuse(self, row: Draft, message: str) -> None:
        self.draft.faults.append(Problem(row.line, message))
