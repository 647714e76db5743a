"""Imports word lists from text files: words or phrases on lines, comments behind #."""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from annotation.common.table_file import TableFileError, decode
from annotation.library.library_kind import SEPARATOR
from probing.models import WordList, WordPurpose

LONGEST_WORD = 80
COMMENT = re.compile(r"(?:^|\s)#.*")
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class WordFileError(ValueError):
    """A file that cannot be taken in; ``problems`` names its bad lines, if any."""

    def __init__(self, message: str, problems: tuple[LineProblem, ...] = ()) -> None:
        super().__init__(message)
        self.problems = problems


@dataclass(frozen=True)
class LineProblem:
    """A line that is bad, or was left out, and why."""

    line: int
    message: str

    def __str__(self) -> str:
        return f"Line {self.line}: {self.message}"


@dataclass(frozen=True)
class ParsedWords:
    """Words in the file's order, each once; ``left_out`` are blank lines and repeated words."""

    words: tuple[str, ...]
    left_out: tuple[LineProblem, ...]


def parse_word_file(content: bytes) -> ParsedWords:
    """Return the words of a text file, as `annotation.common.table_file` decodes it.

    A line holds one word or phrase, or several with semicolons between; what follows a # at its
    beginning or behind a blank is a comment. Blank lines and words that come again, in whatever
    case, are left out and named. Raises `WordFileError` for lines that are not UTF-8, for words
    that are too long or hold control characters or commas, and for a file without words.
    """
    try:
        text = decode(content) if content.strip() else ""
    except TableFileError as error:
        raise WordFileError(str(error)) from error
    first_lines: dict[str, int] = {}
    words: list[str] = []
    bad: list[LineProblem] = []
    left_out: list[LineProblem] = []
    lines = re.split(r"\r\n|\n|\r", text)
    for number, line in enumerate(lines if lines[-1].strip() else lines[:-1], start=1):
        if not line.strip():  # a comment alone is meant to be there
            left_out.append(LineProblem(number, "is blank."))
        for word in split_words(COMMENT.sub("", line)):
            if fault := find_fault(word):
                bad.append(LineProblem(number, fault))
            elif word.casefold() in first_lines:
                first = first_lines[word.casefold()]
                left_out.append(LineProblem(number, f"“{word}” is already on line {first}."))
            else:
                first_lines[word.casefold()] = number
                words.append(word)
    if bad:
        counted = "1 line is" if len(bad) == 1 else f"{len(bad)} lines are"
        raise WordFileError(f"Nothing was imported: {counted} bad.", tuple(bad))
    if not words:
        raise WordFileError("The file holds no word, expected one on each line.")
    return ParsedWords(tuple(words), tuple(left_out))


@transaction.atomic
def import_word_list(
    *,
    content: bytes,
    slug: str,
    title: str,
    license: str,
    citation: str = "",
    purpose: str = WordPurpose.LOOKUP,
    user: AbstractBaseUser | None = None,
) -> tuple[WordList, ParsedWords]:
    """Store a file as a new list; return it with what was left out of the file.

    Raises `WordFileError` for the file and `ValidationError`, by field, for the rest.
    """
    parsed = parse_word_file(content)
    word_list = WordList(
        slug=slug,
        title=title,
        license=license,
        citation=citation,
        purpose=purpose,
        words=list(parsed.words),
    )
    word_list.full_clean()
    word_list._history_user = user  # type: ignore[attr-defined] # as django-simple-history has it
    word_list.save()
    return word_list, parsed


def find_fault(word: str) -> str:
    """Return what keeps a text from being a word of a list, empty for a good one."""
    if re.search(r"[\ud800-\udfff]", word):
        return "is not UTF-8 text."
    if CONTROL.search(word):
        return "holds a control character, expected plain text."
    if len(word) > LONGEST_WORD:
        return f"has {len(word)} characters, expected {LONGEST_WORD} at most."
    if "," in word or "|" in word:
        return "holds several words, or a comma: separate words by semicolons."
    return ""


def split_words(cell: str) -> list[str]:
    """Return the words of a cell or line, each without needless white space."""
    return [" ".join(word.split()) for word in cell.split(SEPARATOR) if word.strip()]
