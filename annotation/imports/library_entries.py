"""Entries of the library from a file: groups and trait pairs here, others in further rooms.

An entry is found by its slug: one that is there is changed in the columns that the file has, one
that is not is added. Nothing is ever deleted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.common.table_file import Problem, Record, describe_import
from annotation.common.text_shortening import shorten
from annotation.imports.import_kind import (
    ImportColumn,
    Imported,
    ImportKind,
    ImportOption,
    ImportPlan,
    ImportRequest,
    ReadRows,
)
from annotation.library.group_kind import GroupKind
from annotation.library.library_kind import (
    Action,
    Change,
    Draft,
    Known,
    LibraryKind,
    Plan,
    Values,
    join,
)
from annotation.library.trait_kind import TraitKind

SLUG = re.compile(r"[-a-zA-Z0-9_]+")


@dataclass(frozen=True)
class EntriesPlan:
    """What an import of a file does, entry by entry, in the file's order."""

    kind: LibraryKind
    entries: tuple[Plan, ...]
    notices: tuple[str, ...] = ()

    def of(self, action: Action) -> list[Plan]:
        """Return the entries with which this is done."""
        return [entry for entry in self.entries if entry.action == action]

    @property
    def problems(self) -> list[Problem]:
        """Everything that keeps entries from being imported, in the lines' order."""
        found = [fault for entry in self.entries for fault in entry.faults]
        return sorted(found, key=lambda problem: problem.line)

    @property
    def remarks(self) -> list[Problem]:
        """What may be wrong with entries that can be imported."""
        return [Problem(entry.line, text) for entry in self.entries for text in entry.remarks]

    @cached_property
    def new_sets(self) -> list[str]:
        """Slugs of the sets that the import makes."""
        model = self.kind.set_model
        if model is None:
            return []
        named = {
            slug
            for entry in self.entries
            if entry.action in (Action.ADDED, Action.CHANGED)
            for slug in entry.values.get("sets", ())
        }
        known = set(model._default_manager.values_list("slug", flat=True))
        return sorted(named - known)


class LibraryEntries(ImportKind):
    """A kind of entries of the library; what becomes of each is shown before it is stored."""

    kind: ClassVar[LibraryKind]
    options: ClassVar[tuple[ImportOption, ...]] = (
        ImportOption(
            "as_written",
            "Take the words as written",
            "Takes what the check of article, number and capitals refuses: words of another "
            "language, or wrong on purpose.",
            is_flag=True,
        ),
    )

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        kind, opts = cls.kind, cls.kind.model._meta
        cls.name, cls.title = kind.name, kind.plural.capitalize()
        cls.permission = f"{opts.app_label}.add_{opts.model_name}"
        cls.purpose = (
            f"{cls.title} of the library, by slug: one that is there is changed in the columns of "
            "the file, others are added, nothing is deleted. Lists within a cell are separated by "
            "semicolons."
        )
        cls.columns = tuple(
            ImportColumn(one.name, one.meaning, one.name == "slug", one.other_names)
            for one in kind.columns
        )

    def is_open_to(self, user: Any) -> bool:
        """Whether an account may add and change entries, and the sets that hold them."""
        models = [self.kind.model, *filter(None, [self.kind.set_model])]
        return all(
            user.has_perm(f"{model._meta.app_label}.{verb}_{model._meta.model_name}")
            for model in models
            for verb in ("add", "change")
        )

    def links(self) -> list[tuple[Any, str]]:
        return [
            (_("Example file"), self._address("example")),
            (_("All that is there, as CSV"), self._address("export")),
        ]

    def plan(self, request: ImportRequest) -> ImportPlan:
        read = self.rows(request)
        found = plan_entries(self.kind, read, as_written=request.flag("as_written"))
        done = (Action.ADDED, Action.CHANGED, Action.UNCHANGED)
        sets = [f"New sets: {', '.join(found.new_sets)}."] if found.new_sets else []
        return ImportPlan(
            counts={str(action): len(found.of(action)) for action in done},
            problems=tuple(found.problems),
            warnings=(*read.warnings, *sets, *map(str, found.remarks)),
            data=found,
            entries=found.entries,
        )

    def store(self, request: ImportRequest, plan: ImportPlan) -> Imported:
        found: EntriesPlan = plan.data
        self.kind.store(
            added=found.of(Action.ADDED),
            changed=found.of(Action.CHANGED),
            user=request.user,
            reason=describe_import(request.content, request.file_name),
        )
        return Imported(str(self.title), self.name, self._address("changelist"))

    def _address(self, page: str) -> str:
        opts = self.kind.model._meta
        return reverse(f"admin:{opts.app_label}_{opts.model_name}_{page}")


class Groups(LibraryEntries):
    kind = GroupKind()


class TraitPairs(LibraryEntries):
    kind = TraitKind()


def plan_entries(kind: LibraryKind, read: ReadRows, *, as_written: bool = False) -> EntriesPlan:
    """Return what importing rows would do. One query for each part of the kind's entries.

    as_written : takes what the check of English is certain about as a remark
    """
    broken = [Record(problem.line, fault=problem.message) for problem in read.problems]
    records = [*(Record(row.line, row.values) for row in read.rows), *broken]
    columns = {column.name: column for column in kind.columns}
    known = Known(kind.stored())
    drafts = kind.drafts(sorted(records, key=lambda record: record.line), columns)
    first_lines: dict[str, int] = {}
    for draft in drafts:
        first = first_lines.setdefault(draft.slug, draft.line)
        if draft.slug and first != draft.line:
            draft.faults.append(
                Problem(draft.line, f"“{draft.slug}” stands on line {first} already.")
            )
    plans = []
    for draft in kind.order(drafts):
        plan = _plan(kind, draft, known, as_written=as_written)
        if plan.action != Action.REFUSED:
            known.planned[plan.slug] = plan
        plans.append(plan)
    plans.sort(key=lambda plan: plan.line)
    return EntriesPlan(kind, tuple(plans), read.notices)


def _plan(kind: LibraryKind, draft: Draft, known: Known, *, as_written: bool) -> Plan:
    """Return what becomes of one draft."""
    if draft.faults and not draft.slug:
        return Plan(
            draft.line, draft.slug, Action.REFUSED, draft.values, faults=tuple(draft.faults)
        )
    old = known.stored.get(draft.slug)
    values = kind.complete(
        {**(old or kind.empty), **draft.values}, given=draft.values, old=old, known=known
    )
    changes = tuple(
        Change(name, (old or kind.empty)[name], value)
        for name, value in values.items()
        if value != (old or kind.empty)[name]
    )
    faults = [*draft.faults, *_slug_faults(draft)]
    if old is not None and not changes and not faults:
        return Plan(draft.line, draft.slug, Action.UNCHANGED, values)
    remarks: list[str] = []
    if not faults:
        faults += [Problem(draft.line, text) for text in _missing(kind, values)]
        faults += [Problem(draft.line, text) for text in _field_faults(kind, draft.slug, values)]
    if not faults:
        seen: set[str] = set()
        for finding in kind.check(draft.slug, values, known):
            if finding.message in seen:
                continue  # the same word in another form
            seen.add(finding.message)
            if finding.certain and (finding.firm or not as_written):
                faults.append(Problem(draft.line, str(finding)))
            else:
                remarks.append(str(finding))
    action = Action.CHANGED if old is not None else Action.ADDED
    return Plan(
        draft.line,
        draft.slug,
        Action.REFUSED if faults else action,
        values,
        changes if old is not None else (),
        tuple(faults),
        tuple(remarks),
    )


def _slug_faults(draft: Draft) -> Iterable[Problem]:
    if not draft.slug:
        yield Problem(draft.line, "“slug” is empty, expected the name that data go by.")
    elif not SLUG.fullmatch(draft.slug):
        yield Problem(
            draft.line,
            f"“slug” is “{shorten(draft.slug)}”, expected letters, digits, hyphens and "
            "underscores.",
        )


def _missing(kind: LibraryKind, values: Values) -> Iterable[str]:
    for column in kind.columns:
        if column.needed and column.name != "slug" and not values[column.name]:
            yield f"“{column.name}” is empty, expected {column.meaning}."


def _field_faults(kind: LibraryKind, slug: str, values: Values) -> Iterable[str]:
    """Validate each field of the model; say its value with what is wrong.

    Empty ones are told by the columns that are needed and by the kind's own check.
    """
    try:
        kind.build(slug, values).clean_fields()
    except ValidationError as error:
        for name, errors in error.error_dict.items():
            shown = shorten(slug if name == "slug" else join(values.get(name, "")))
            for found in errors:
                if found.code != "blank":
                    yield f"“{name}” is “{shown}”. {' '.join(found.messages)}"
