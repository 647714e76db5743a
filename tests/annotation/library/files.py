"""Files of library entries as people bring them."""

from __future__ import annotations

from annotation.library.group_kind import GroupKind
from annotation.library.library_import import ImportPlan, plan_import
from annotation.library.library_kind import LibraryKind
from annotation.library.trait_kind import TraitKind

GROUPS = GroupKind()
TRAITS = TraitKind()


def lines(*rows: str) -> bytes:
    return "".join(f"{row}\n" for row in rows).encode()


def plan(kind: LibraryKind, *rows: str, as_written: bool = False) -> ImportPlan:
    return plan_import(
        kind=kind, content=lines(*rows), file_name="entries.csv", as_written=as_written
    )


def told(found: ImportPlan) -> list[str]:
    return [str(problem) for problem in found.problems]
