"""Templates and word lists of the library from a file."""

from __future__ import annotations

from annotation.imports.library_entries import LibraryEntries
from probing.library.template_kind import TemplateKind
from probing.library.word_list_kind import WordListKind


class Templates(LibraryEntries):
    kind = TemplateKind()


class WordLists(LibraryEntries):
    kind = WordListKind()
