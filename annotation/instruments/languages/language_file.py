"""A language as a file: one row for each text, with its key, its source and its translation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.core.exceptions import ValidationError

from annotation.common.language_codes import normalize_code
from annotation.common.table_file import Record, TableFileError, read_table
from annotation.common.tables import Column, ColumnType, Table, neutralize, stream_csv
from annotation.common.text_shortening import shorten
from annotation.instruments.languages.language_service import refuse_change, store_language
from annotation.instruments.languages.texts import (
    InstrumentText,
    find_translation_problem,
    list_texts,
)
from annotation.models import Instrument
from annotation.steps.texts import check_characters

KEY, SOURCE, TRANSLATION = "key", "source", "translation"
LARGEST_FILE = 2_000_000
COLUMNS = (
    Column(KEY, ColumnType.TEXT, "name", "which text it is; stays as it is"),
    Column(SOURCE, ColumnType.TEXT, "text", "the text in the instrument's own language"),
    Column(TRANSLATION, ColumnType.TEXT, "text", "the same in the other language"),
)


class LanguageFileError(ValueError):
    """A file that cannot be taken; ``problems`` are sentences, one for each thing to mend."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = list(problems)


@dataclass(frozen=True)
class ImportedLanguage:
    language: str
    n_texts: int


def stream_language(instrument: Instrument, language: str) -> Iterator[bytes]:
    """Yield the file of a language, filled in as far as it is there already. Five queries."""
    rows = [(text.key, text.source, text.translation) for text in list_texts(instrument, language)]
    # Spreadsheets need the mark to read letters beyond ASCII.
    return stream_csv(Table("language", COLUMNS, lambda: rows), bom=True)


def import_language(
    *, instrument: Instrument, language: str, content: bytes, file_name: str
) -> ImportedLanguage:
    """Put the language of a file in place of what the draft has of it: all of it or nothing.

    Raises `LanguageFileError` with everything that is wrong.
    """
    try:
        code = normalize_code(language)
    except ValueError as error:
        raise LanguageFileError([str(error)]) from None
    if len(content) > LARGEST_FILE:
        raise LanguageFileError(
            [f"The file has {len(content) / 1e6:.1f} MB, expected 2 MB at most."]
        )
    try:
        records = read_table(content, file_name).records
    except TableFileError as error:
        raise LanguageFileError([str(error)]) from None
    try:
        refuse_change(instrument, code)
        translations = _check(records, {text.key: text for text in list_texts(instrument, code)})
        store_language(instrument=instrument, language=code, translations=translations)
    except ValidationError as error:
        raise LanguageFileError(error.messages) from None
    return ImportedLanguage(code, len(translations))


def _check(records: Sequence[Record], texts: Mapping[str, InstrumentText]) -> dict[str, str]:
    """Return the translations by key. Raises `LanguageFileError` with everything that is wrong."""
    columns = next((record.values for record in records if not record.fault), {})
    if lacking := [name for name in (KEY, TRANSLATION) if records and name not in columns]:
        raise LanguageFileError(
            [f"The file has no column “{lacking[0]}”, expected “{KEY}” and “{TRANSLATION}”."]
        )
    translations: dict[str, str] = {}
    problems = [
        f"Line {record.line}: {problem}"
        for record in records
        if (problem := _read(record, texts, translations))
    ]
    problems += [
        f"“{key}” is missing: “{shorten(text.source)}”."
        for key, text in texts.items()
        if key not in translations
    ]
    if problems:
        raise LanguageFileError(problems)
    return translations


def _read(record: Record, texts: Mapping[str, InstrumentText], found: dict[str, str]) -> str:
    """Take a row into the translations that were found; return what is wrong with it."""
    if record.fault:
        return record.fault
    key = str(record.values[KEY]).strip()
    if key not in texts:
        return f"“{shorten(key)}” is no text of this version."
    if key in found:
        return f"“{key}” stands there twice."
    # Even where something is wrong with it, it is not missing besides.
    translation = found[key] = _restore(str(record.values[TRANSLATION]))
    source = texts[key].source
    if not translation:
        return f"“{key}” has no translation of “{shorten(source)}”."
    if SOURCE in record.values and not _same(_restore(str(record.values[SOURCE])), source):
        return f"“{key}” translates another text, the source is “{shorten(source)}” by now."
    try:
        check_characters(translation)
    except ValueError as error:
        return f"“{key}”: {error}"
    problem = find_translation_problem(source, translation)
    return problem and f"“{key}”: {problem}"


def _restore(cell: str) -> str:
    """Return a cell's text without the apostrophe that keeps spreadsheets from running it."""
    text = cell.replace("\r\n", "\n").replace("\r", "\n").strip()
    return text[1:] if text.startswith("'") and neutralize(text[1:]) == text else text


def _same(one: str, other: str) -> bool:
    return one.split() == other.split()
