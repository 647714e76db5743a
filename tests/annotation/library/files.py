"""Files of library entries as people bring them."""

from __future__ import annotations

from typing import Any

from annotation.imports.import_kind import ImportRequest, import_file, import_kinds, plan_import
from annotation.imports.library_entries import EntriesPlan
from annotation.library.group_kind import GroupKind
from annotation.library.library_kind import LibraryKind
from annotation.library.trait_kind import TraitKind

GROUPS = GroupKind()
TRAITS = TraitKind()


def lines(*rows: str) -> bytes:
    return "".join(f"{row}\n" for row in rows).encode()


def request_for(
    content: bytes, name: str = "entries.csv", *, as_written: bool = False, user: Any = None
) -> ImportRequest:
    return ImportRequest(content, name, {"as_written": "yes"} if as_written else {}, user)


def read(kind: LibraryKind, content: bytes, name: str = "entries.csv") -> EntriesPlan:
    """Return what importing a file would do, entry by entry."""
    found: EntriesPlan = plan_import(import_kinds()[kind.name], request_for(content, name)).data
    return found


def plan(kind: LibraryKind, *rows: str, as_written: bool = False) -> EntriesPlan:
    asked = request_for(lines(*rows), as_written=as_written)
    found: EntriesPlan = plan_import(import_kinds()[kind.name], asked).data
    return found


def store(
    kind: LibraryKind, content: bytes, *, as_written: bool = False, user: Any = None, **options: Any
) -> EntriesPlan:
    """Import a file and return what was done."""
    asked = request_for(content, as_written=as_written, user=user)
    found: EntriesPlan = import_file(import_kinds()[kind.name], asked, **options)[1].data
    return found


def told(found: EntriesPlan) -> list[str]:
    return [str(problem) for problem in found.problems]
