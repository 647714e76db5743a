"""Imports labelled templates, lexicons and labelled texts from CSV and TSV files.

Templates have a row each, with a column “template” or “text” and a column “label” or “sent”. Filled
sentences, as in the released samples (label, attribute, group, text; no heading), are turned back
into templates with the words of a lexicon. Labelled texts have a column “text” or “sentence”, a
column “label” or “sent”, and perhaps “split” (train, validation, test). A lexicon has a row for
each word of a group: “group”, perhaps “name” and “role”, and a column for every placeholder; “*”
fills any.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils.text import slugify

from annotation.common import table_file
from annotation.common.table_file import Heading, Problem, Record, TableFileError
from annotation.common.text_shortening import shorten
from annotation.library.library_kind import text_fault
from probing.measures.label_map import LabelMap, LabelMapError, read_label_map
from probing.measures.labelled_texts import SPLIT_NAMES, LabelledText
from probing.measures.probe_stimuli import ROLES, SENTIMENT, ProbeGroup, ProbeTemplate
from probing.measures.probe_templates import (
    ANY,
    ProbeTemplateError,
    fill,
    mention_templates,
    placeholders,
)
from probing.models import GroupLexicon, LabelledTemplateSet, LabelledTextSet
from probing.models.labelled_templates import LibraryFile

TEXT_COLUMNS = ("template", "text")
LABEL_COLUMNS = ("label", "sent", "y_true")
SAMPLE_HEADING = ("label", "attribute", "group", "text")
LEXICON_COLUMNS = ("group", "name", "role")
LONGEST_TEXT = 1000
SENTENCE_COLUMNS = ("text", "sentence", "template")
LONGEST_SENTENCE = 10_000
MOST_SENTENCES = 100_000

F = TypeVar("F", bound=LibraryFile)
E = TypeVar("E")


class BadRowsError(ValueError):
    """A file that cannot be taken in; ``problems`` names every bad row, if any."""

    def __init__(self, message: str, problems: Sequence[Problem] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)


@dataclass(frozen=True)
class ParsedFile:
    """Entries in the file's order, and what was left out of them."""

    entries: tuple[Any, ...]
    left_out: tuple[Problem, ...] = ()
    #: What was assumed of the file.
    notices: tuple[str, ...] = ()


def parse_templates(
    content: bytes,
    file_name: str,
    *,
    labels: str = "ternary",
    lexicon: Sequence[ProbeGroup] = (),
    skip_bad_rows: bool = False,
    heading: Heading | None = None,
) -> ParsedFile:
    """Return the templates of a file, each once.

    labels : a preset or a map as `read_label_map` reads it
    lexicon : groups whose words turn filled sentences back into templates
    heading : which columns of other names hold what

    Raises :class:`BadRowsError` naming every bad row unless these are to be left out.
    """
    label_map = read_labels(labels)
    records, columns, notices = read_table(content, file_name, SAMPLE_HEADING, heading=heading)
    text_column = needed_column(columns, TEXT_COLUMNS)
    label_column = needed_column(columns, LABEL_COLUMNS)
    group_column = columns.get("group", "")
    read = [
        (str(one.values.get(group_column, "")), tidy(one.values.get(text_column, "")))
        for one in records
    ]
    unfilled = dict(zip((one.line for one in records), unfill(read, lexicon), strict=True))
    found: dict[str, tuple[int, int]] = {}

    def read_row(record: Record) -> str:
        text = tidy(record.values.get(text_column, ""))
        if fault := record.fault or text_fault(text):
            return fault
        if not text or len(text) > LONGEST_TEXT:
            return f"The template has {len(text)} characters, expected 1 to {LONGEST_TEXT:,}."
        try:
            (label,) = label_map.collapse([record.values[label_column]])
            if lexicon:
                behind = unfilled[record.line]
                if behind is None:
                    return (
                        f"“{shorten(text)}” holds no word of the group "
                        f"“{record.values.get(group_column, '')}” in the lexicon with "
                        f"{', '.join(group.slug for group in lexicon)}."
                    )
                text = behind[0]
            placeholders(text)
        except (LabelMapError, ProbeTemplateError) as error:
            return str(error)
        line, known = found.setdefault(text, (record.line, label))
        if known != label:
            return f"The template has another label than on line {line}. Give it one label."
        if line != record.line and not lexicon:
            return f"The template stands on line {line} already."
        return ""

    bad = _read_rows(records, read_row, skip_bad_rows)
    width = len(str(len(found)))
    return ParsedFile(
        tuple(
            ProbeTemplate(f"{number:0{width}d}", text, label)
            for number, (text, (_, label)) in enumerate(found.items(), start=1)
        ),
        bad,
        notices,
    )


def parse_texts(
    content: bytes,
    file_name: str,
    *,
    labels: str = "ternary",
    skip_bad_rows: bool = False,
    heading: Heading | None = None,
) -> ParsedFile:
    """Return the labelled texts of a file, each once; errors are those of `parse_templates`.

    A column “split” says what is trained on and what only measured with.
    """
    label_map = read_labels(labels)
    records, columns, notices = read_table(content, file_name, heading=heading)
    text_column = needed_column(columns, SENTENCE_COLUMNS)
    label_column = needed_column(columns, LABEL_COLUMNS)
    split_column = columns.get("split")
    if len(records) > MOST_SENTENCES:
        raise BadRowsError(
            f"The file holds {len(records):,} rows, expected {MOST_SENTENCES:,} at most."
        )
    found: dict[str, tuple[int, LabelledText]] = {}

    def read_row(record: Record) -> str:
        text = tidy(record.values.get(text_column, ""))
        if fault := record.fault or text_fault(text):
            return fault
        if not text or len(text) > LONGEST_SENTENCE:
            return f"The text has {len(text):,} characters, expected 1 to {LONGEST_SENTENCE:,}."
        split = str(record.values[split_column]).strip().casefold() if split_column else ""
        if split_column and split not in SPLIT_NAMES:
            return f"The split is “{shorten(split)}”, expected train, validation or test."
        try:
            (label,) = label_map.collapse([record.values[label_column]])
        except LabelMapError as error:
            return str(error)
        read = LabelledText(text, label, SPLIT_NAMES[split] if split_column else "")
        line, known = found.setdefault(text, (record.line, read))
        if known.label != label:
            return f"The text has another label than on line {line}. Give it one label."
        if known.split != read.split:
            return f"The text stands on line {line} in the split {known.split}. Keep one of them."
        return "" if line == record.line else f"The text stands on line {line} already."

    bad = _read_rows(records, read_row, skip_bad_rows)
    return ParsedFile(tuple(text for _, text in found.values()), bad, notices)


def parse_lexicon(
    content: bytes,
    file_name: str,
    *,
    skip_bad_rows: bool = False,
    heading: Heading | None = None,
) -> ParsedFile:
    """Return the groups of a file; errors are those of `parse_templates`."""
    records, columns, notices = read_table(content, file_name, heading=heading)
    group_column = needed_column(columns, ("group",))
    slots = {name: heading for name, heading in columns.items() if name not in LEXICON_COLUMNS}
    if not slots:
        raise BadRowsError(
            "There is no column for a placeholder. Add one named like it, such as identity_adj, "
            f"or “{ANY}” for any."
        )
    found: dict[str, ProbeGroup] = {}

    def read_row(record: Record) -> str:
        if record.fault:
            return record.fault
        cell = {name: str(record.values[heading]).strip() for name, heading in columns.items()}
        if fault := next(filter(None, map(text_fault, cell.values())), ""):
            return fault
        slug = group_slug(cell["group"])
        if not slug:
            return f"“{group_column}” is “{shorten(cell['group'])}”. Name the group."
        role = cell.get("role", "").lower() or "group"
        if role not in ROLES:
            return f"The role is “{shorten(role)}”, expected one of: {', '.join(ROLES)}."
        filler = {name: " ".join(cell[name].split()) for name in slots}
        if role != "unmarked" and not all(filler.values()):
            return "A placeholder has no word. Only groups of the role unmarked have empty cells."
        new = ProbeGroup(slug, cell.get("name") or cell["group"], (), role)
        group = found.get(slug, new)
        if group.role != role:
            return f"The group has the role “{role}”, but was “{group.role}” before."
        if filler in group.fillers:
            return "The word stands in the file already."
        found[slug] = replace(group, fillers=(*group.fillers, filler))
        return ""

    bad = _read_rows(records, read_row, skip_bad_rows)
    return ParsedFile(tuple(found.values()), bad, notices)


@transaction.atomic
def import_file(
    model: type[F],
    parsed: ParsedFile,
    *,
    slug: str,
    title: str,
    licence: str,
    citation: str = "",
    user: AbstractBaseUser | None = None,
) -> F:
    """Store a parsed file as a new entry of the library; ValidationError, by field, otherwise."""
    entry = model(slug=slug, title=title, licence=licence, citation=citation)
    set_entries(entry, parsed)
    entry.full_clean()
    entry._history_user = user  # type: ignore[attr-defined] # as django-simple-history has it
    entry.save()
    return entry


def set_entries(entry: LibraryFile, parsed: ParsedFile) -> None:
    """Put what a file gave into an entry, without saving it."""
    names = {LabelledTemplateSet: "templates", GroupLexicon: "groups", LabelledTextSet: "texts"}
    setattr(entry, names[type(entry)], [_plain(one) for one in parsed.entries])


def _plain(entry: Any) -> dict[str, Any]:
    """Return an entry as it is stored: without a split where the file names none."""
    return {name: value for name, value in asdict(entry).items() if (name, value) != ("split", "")}


def stored_templates(entry: LabelledTemplateSet) -> tuple[ProbeTemplate, ...]:
    """Return the templates of a set, their slugs with the set's before them."""
    return tuple(
        ProbeTemplate(f"{entry.slug}-{one['slug']}", one["text"], one["label"])
        for one in entry.templates
    )


def stored_texts(entry: LabelledTextSet) -> tuple[LabelledText, ...]:
    """Return the labelled texts of a set."""
    return tuple(LabelledText(**one) for one in entry.texts)


def stored_groups(entry: GroupLexicon) -> tuple[ProbeGroup, ...]:
    """Return the groups of a lexicon."""
    return tuple(ProbeGroup(**{**one, "fillers": tuple(one["fillers"])}) for one in entry.groups)


def unfill(
    sentences: Sequence[tuple[str, str]], lexicon: Iterable[ProbeGroup]
) -> list[tuple[str, int] | None]:
    """Return the template behind each sentence and the place of its filler, None without one.

    sentences : (group, text)

    Of several templates that a sentence may come from, the one that most sentences share.
    """
    words = {group.slug: _words(group) for group in lexicon}
    candidates: list[list[tuple[str, int]]] = []
    for group, text in sentences:
        name, fillers = words.get(group, ("", {}))
        places = {word: place for place, word in enumerate(fillers)}
        candidates.append(
            [
                (template, places[word])
                for template, word in mention_templates(text, fillers, name)
                if fill(template, {name: word}) == text
            ]
        )
    votes = Counter(template for some in candidates for template, _ in some)
    unmarked = {fill(template, {}): template for template in votes}
    for some, (group, text) in zip(candidates, sentences, strict=True):
        if "" in words.get(group, ("", []))[1] and text in unmarked:
            some.append((unmarked[text], words[group][1].index("")))
    return [max(some, key=lambda one: votes[one[0]], default=None) for some in candidates]


def _words(group: ProbeGroup) -> tuple[str, list[str]]:
    """Return a group's first placeholder by the alphabet, and what its fillers put there."""
    name = min(group.fillers[0])
    return "group" if name == ANY else name, [filler[name] for filler in group.fillers]


def group_slug(name: str) -> str:
    """Return the slug of a group of that name, empty where nothing of it is left."""
    return slugify(name.replace("_", "-")).replace("-", "_")


def tidy(text: object) -> str:
    """Return a cell with single spaces."""
    return " ".join(str(text).split())


def read_labels(labels: str) -> LabelMap:
    """Return a map of labels; :class:`BadRowsError` where it cannot be read."""
    try:
        return read_label_map(labels, SENTIMENT)
    except LabelMapError as error:
        raise BadRowsError(str(error)) from error


def read_table(
    content: bytes,
    file_name: str,
    without_heading: Sequence[str] = (),
    *,
    heading: Heading | None = None,
) -> tuple[list[Record], dict[str, str], tuple[str, ...]]:
    """Return the rows as texts, the headings by their names in lower case, and what was assumed.

    without_heading : columns of a file of as many that begins with a row at once
    heading : which columns of other names hold what
    """

    def name_columns(cells: list[str]) -> Sequence[str] | None:
        known = {*LABEL_COLUMNS} & {cell.strip().casefold() for cell in cells}
        return without_heading if len(cells) == len(without_heading) and not known else None

    try:
        table = table_file.read_table(
            content, file_name, or_json=True, name_columns=name_columns, heading=heading
        )
    except TableFileError as error:
        raise BadRowsError(str(error)) from error
    records = table.records
    headings = dict.fromkeys(name for record in records for name in record.values)
    if not headings:
        bad = [Problem(record.line, record.fault) for record in records]
        raise BadRowsError(f"Nothing was imported: all {len(bad)} rows are bad.", bad)
    texts = [
        one
        if one.fault
        else Record(one.line, {name: _as_text(one.values.get(name)) for name in headings})
        for one in records
    ]
    return texts, {name.strip().casefold(): name for name in headings}, table.notices


def _as_text(value: object) -> str:
    return "" if value is None else str(value)


def needed_column(columns: dict[str, str], names: Sequence[str]) -> str:
    """Return the heading of the first of the named columns that is there."""
    for name in names:
        if name in columns:
            return columns[name]
    raise BadRowsError(
        f"The columns are {', '.join(columns)}. One of them must be called "
        f"{' or '.join(f'“{name}”' for name in names)}."
    )


def _read_rows(
    records: Sequence[Record], read_row: Callable[[Record], str], skip_bad_rows: bool
) -> tuple[Problem, ...]:
    """Read every row and return the bad ones; raises where they are not to be left out."""
    bad = tuple(Problem(record.line, why) for record in records if (why := read_row(record)))
    if bad and (not skip_bad_rows or len(bad) == len(records)):
        n = len(bad)
        raise BadRowsError(
            f"Nothing was imported: {n} of {len(records)} rows {'is' if n == 1 else 'are'} bad.",
            bad,
        )
    return bad
