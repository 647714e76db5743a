"""What was made elsewhere, as files: one contract for every kind of import.

A kind reads a file into a plan without storing anything: what it would store, every bad row, every
warning. Pages, the command and the API all show the plan and then store it by the same two
functions. Whatever is stored is marked as imported, with its producer and how it was obtained.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q

from annotation.common.table_file import SUFFIXES, Heading, TableFileError, read_heading
from annotation.corpora.access import visible_corpora
from annotation.models import Corpus


@dataclass(frozen=True)
class ImportColumn:
    """A column of a kind's files; `other_names` are those of our own downloads."""

    name: str
    meaning: str
    needed: bool = False
    other_names: tuple[str, ...] = ()


@dataclass(frozen=True)
class ImportOption:
    """What an import asks for besides its file. `choices` returns values with their labels."""

    name: str
    label: Any
    help: Any
    needed: bool = False
    choices: Callable[[AbstractBaseUser | None], list[tuple[str, str]]] | None = None


@dataclass(frozen=True)
class ImportRequest:
    """A file with its options. Without a `user`, as for the command, nothing is out of sight."""

    content: bytes
    file_name: str
    options: Mapping[str, str] = field(default_factory=dict)
    user: AbstractBaseUser | None = None

    def option(self, name: str) -> str:
        return str(self.options.get(name) or "").strip()

    @property
    def heading(self) -> Heading:
        """What the options say of the file's columns. Raises `TableFileError`."""
        return read_heading(self.option(COLUMNS.name).split(","), is_there=None)


@dataclass(frozen=True)
class ImportPlan:
    """What importing a file would do.

    counts : number of what would be stored, by its name in the plural
    problems : one for every bad place, each a line to print
    warnings : what may be wrong and stops nothing
    data : what the kind needs to store it
    """

    counts: Mapping[str, int]
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    data: Any = None

    @property
    def is_empty(self) -> bool:
        return not any(self.counts.values())


@dataclass(frozen=True)
class Imported:
    """What was stored: how it is called, its public id, and its page in the admin."""

    name: str
    public_id: str
    address: str


class BadImportError(Exception):
    """The file has bad rows and nothing was stored; `plan` names every one."""

    def __init__(self, plan: ImportPlan) -> None:
        n = len(plan.problems)
        super().__init__(f"Nothing was imported: {n} {'place is' if n == 1 else 'places are'} bad.")
        self.plan = plan


class ImportKind(ABC):
    """One kind of files that were made elsewhere."""

    #: As the command, the API and addresses call it.
    name: ClassVar[str]
    title: ClassVar[Any]
    #: What an import stores, in a sentence.
    purpose: ClassVar[Any]
    suffixes: ClassVar[tuple[str, ...]] = SUFFIXES
    columns: ClassVar[tuple[ImportColumn, ...]] = ()
    options: ClassVar[tuple[ImportOption, ...]] = ()
    #: Whoever imports needs this permission.
    permission: ClassVar[str]

    @abstractmethod
    def plan(self, request: ImportRequest) -> ImportPlan:
        """Return what would be stored. Raises `TableFileError` and `ValidationError`."""

    @abstractmethod
    def store(self, request: ImportRequest, plan: ImportPlan) -> Imported:
        """Store a plan; runs in a transaction."""


def plan_import(kind: ImportKind, request: ImportRequest) -> ImportPlan:
    """Return what importing a file would do; stores nothing.

    Raises `TableFileError` for a file that cannot be read as a whole, and `ValidationError`, by
    option, for missing or unknown options.
    """
    if not request.file_name.lower().endswith(kind.suffixes):
        raise TableFileError(f"Choose a file that ends in {' or '.join(kind.suffixes)}.")
    known = {option.name: option for option in kind.options}
    faults = {
        name: "This is no option of the import."
        for name in request.options
        if name not in known and request.option(name)
    }
    faults |= {
        option.name: "This is needed."
        for option in kind.options
        if option.needed and not request.option(option.name)
    }
    if faults:
        raise ValidationError(faults)
    return kind.plan(request)


@transaction.atomic
def import_file(
    kind: ImportKind, request: ImportRequest, *, skip_bad_rows: bool = False
) -> tuple[Imported, ImportPlan]:
    """Store a file, all or nothing, and return what was stored.

    skip_bad_rows : leaves bad rows out instead of refusing the file

    Raises as `plan_import`, `BadImportError` for bad rows, and `ValidationError` where no row is
    left.
    """
    plan = plan_import(kind, request)
    if plan.problems and not skip_bad_rows:
        raise BadImportError(plan)
    if plan.is_empty:
        raise ValidationError("Nothing was imported: no row is left, all are bad.")
    return kind.store(request, plan), plan


def corpora_seen(user: AbstractBaseUser | None) -> list[tuple[str, str]]:
    """Return public ids and names of the corpora that an import can be for. One query."""
    found = Corpus.objects.all() if user is None else visible_corpora(user)
    return list(found.order_by("name").values_list("public_id", "name"))


CORPUS = ImportOption(
    "corpus",
    "Corpus",
    "The corpus whose pairs the file is about.",
    needed=True,
    choices=corpora_seen,
)
OBTAINED = ImportOption(
    "obtained",
    "How it was obtained",
    "Who made it, when and how: a publication, a service and its date. Reports print it.",
    needed=True,
)


COLUMNS = ImportOption(
    "columns",
    "Columns of other names",
    "Which column holds what, such as value=Q7, with commas between. Columns of a file without a "
    "heading are 1, 2 …",
)


def find_corpus(request: ImportRequest) -> Corpus:
    """Return the corpus of a request, by public id or name. Raises `ValidationError`."""
    wanted = request.option("corpus")
    seen = Corpus.objects.all() if request.user is None else visible_corpora(request.user)
    found = seen.filter(Q(public_id=wanted) | Q(name=wanted)).first()
    if found is None:
        raise ValidationError({"corpus": f"There is no corpus “{wanted}” that you may see."})
    return found
