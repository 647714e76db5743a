"""Imports what classifiers are asked about from one file: the way of command, page and API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from annotation.common.table_file import Heading
from probing.library.labelled_files import (
    ParsedFile,
    import_file,
    parse_lexicon,
    parse_templates,
    parse_texts,
    stored_groups,
)
from probing.library.labelled_pairs import parse_pairs
from probing.models import GroupLexicon, LabelledTemplateSet, LabelledTextSet
from probing.models.labelled_templates import LibraryFile
from probing.runs.probe_stimuli import find_entries

#: What a file may hold, and which entry of the library it becomes. Pairs bring a lexicon as well.
KINDS: dict[str, type[LibraryFile]] = {
    "templates": LabelledTemplateSet,
    "lexicon": GroupLexicon,
    "texts": LabelledTextSet,
    "pairs": LabelledTemplateSet,
}


@dataclass(frozen=True)
class Imported:
    """``lexicon`` comes with pairs alone."""

    entry: LibraryFile
    parsed: ParsedFile
    lexicon: GroupLexicon | None = None


def import_stimuli(
    *,
    kind: str,
    content: bytes,
    file_name: str,
    labels: str = "ternary",
    words: str = "",
    skip_bad_rows: bool = False,
    dry_run: bool = False,
    user: AbstractBaseUser | None = None,
    heading: Heading | None = None,
    **facts: Any,
) -> Imported:
    """Store a file as a new entry of the library, all of it or nothing.

    kind : one of `KINDS`
    words : slug of the lexicon whose words are taken out of filled sentences
    dry_run : does everything but keep it
    heading : which columns of other names hold what
    facts : slug, title, licence, citation

    Raises `BadRowsError` naming every bad row, `RunError` for an unknown lexicon, and
    `ValidationError`, by field, for facts that are not valid.
    """
    skip: dict[str, Any] = {"skip_bad_rows": skip_bad_rows, "heading": heading}
    groups = None
    if kind == "lexicon":
        parsed = parse_lexicon(content, file_name, **skip)
    elif kind == "pairs":
        parsed, groups = parse_pairs(content, file_name, labels=labels, heading=heading)
    elif kind == "texts":
        parsed = parse_texts(content, file_name, labels=labels, **skip)
    else:
        lexicons = find_entries(GroupLexicon, [words] if words else [])
        known = [group for entry in lexicons for group in stored_groups(entry)]
        parsed = parse_templates(content, file_name, labels=labels, lexicon=known, **skip)
    with transaction.atomic():
        entry = import_file(KINDS[kind], parsed, user=user, **facts)
        lexicon = groups and import_file(GroupLexicon, groups, user=user, **facts)
        if dry_run:
            transaction.set_rollback(True)
    return Imported(entry, parsed, lexicon or None)
